"""Reads quantities: numbers with units, ranges, bounds, shares, frequencies, ages, counts of things."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise

from pytest_medfaith import defaults
from pytest_medfaith.quantities.ages import read_ages_in_words
from pytest_medfaith.quantities.bounds import bounded, words_before
from pytest_medfaith.quantities.counting import counted_keys, is_count
from pytest_medfaith.quantities.fractions import read_multiples, read_parts_of_units, read_shares
from pytest_medfaith.quantities.frequencies import read_frequencies, read_products, with_frequencies
from pytest_medfaith.quantities.numerals import Numeral, read_numerals
from pytest_medfaith.quantities.quantity import Quantity
from pytest_medfaith.quantities.times import read_times_in_words
from pytest_medfaith.quantities.unit_reading import Unit, unit_at

# Numbers that are no quantities: citations, confidence intervals, p-values, dates, sizes of samples.
_MASK = re.compile(
    r"\[\s?\d{1,3}(?:\s?[,–-]\s?\d{1,3}){0,20}\s?\]"
    r"|\b\d{2}(?:\.\d)?\s?%\s*(?:CI|CrI|confidence|credible|intervals?)\b[^;)\]]*?(?=[;)\]]|\.\s|\.$|$)"
    r"|\b(?:CI|CrI|(?:confidence|credib(?:le|ility)|prediction|uncertainty|compatibility|"
    r"interquartile) intervals?|interquartile range|IQR|SD)\b[\s:,=]*(?:of\s+|"
    r"from\s+)?[-−]?\d[\d.·]*\s*%?\s*(?:-|–|to|,)\s*[-−]?\d[\d.·]*\s*%?"
    r"|\bp\s*(?:[-\s]?values?\s*)?(?:=|<|>|≤|≥|of|was|for \w+|under|below)\s*0?[.·]\d+"
    r"|(?<![\d.])\d{1,2}(?:st|nd|rd|th)?\s+(?-i:Jan|Feb|Mar|Apr|May|June?|July?|Aug|Sept?|Oct|Nov|"
    r"Dec)(?-i:[a-z]*)\b|\b(?-i:Jan|Feb|Mar|Apr|May|June?|July?|Aug|Sept?|Oct|Nov|"
    r"Dec)(?-i:[a-z]*)\.?\s+\d{1,2}(?:st|nd|rd|th)?(?![\d.%]|\s*(?:%|mg|patients|people))"
    r"|\bn\s?=\s?\d[\d,]*|±\s?\d[\d.·]*|\bI[2²]\s?=?\s?\d{1,3}\s?%",
    re.IGNORECASE,
)
# Words before a number that names rather than measures: "type 2", "day 5".
_LABEL_BEFORE = re.compile(
    r"\b(?:types?|grades?|stages?|phases?|class(?:es)?|categor(?:y|ies)|tiers?|steps?|cycle|figure|fig|"
    r"table|days?|weeks?|months?|years?|visit|vitamin|covid|omega|factor|arm|group|cohort|chromosome|"
    r"exon|codon|trial|study|NYHA|GOLD|number|version|question|part|section|trimester|call|dial|ring|phone|"
    r"interleukin|IL|HPV|serotypes?|gene|protein|variant|CD|level|line|item|"
    r"no)[\s.]+(?:\w\s+(?:to|and|or)\s+|\d+\s+(?:to|and|or|-|–)\s+)?$",
    re.IGNORECASE,
)
# "6- to 8-year-olds" and "6-to-8-year-old" are ranges too.
_RANGE = re.compile(r"\s*(?:-\s*(?=to\b))?(?P<joint>-|–|—|−|to|and|or)(?:(?<=to)-)?\s*", re.IGNORECASE)
_BETWEEN = re.compile(r"\bbetween\s+(?:\w+\s+)?$", re.IGNORECASE)
_LISTED = re.compile(r"\s*(?:,|,?\s+(?:and|or|to|versus|vs\.?|instead of|rather than)\b)\s*", re.IGNORECASE)
_LONGEST_LIST = 12  # numbers; a longer run is a table, and looking through all of it takes quadratic time
_SET_AGAINST = re.compile(r"\b(?:and|versus|vs\.?|against|with|than|to|or)\s+$", re.IGNORECASE)
_SENTENCE_END = re.compile(r"[.;]\s")
_YEAR = 365.25  # days
_AGE_BEFORE = re.compile(
    r"\b(?:aged?|ages|age (?:of|from|at)|the age of|turn(?:s|ed|ing)?|"
    r"(?:baby|infant|newborn|child|toddler|boy|girl|man|woman) "
    r"of|older than|younger than|(?:people|adults|children|women|men|patients|those|anyone|persons|boys|"
    r"girls|everyone|babies|someone|infants|(?:who|they|you|he|she|people|adults|children|women|men|patients|"
    r"those|anyone|persons?|woman|man|patient|child|boy|girl|someone|baby|infant|ones?) (?:are|is)) (?:aged "
    r")?(?:over|under|above|below|past|beyond|from)|over-|under-)(?:\s+(?:at "
    r"least|over|under|above|below|between|from|up to|about|around))?\s*$",
    re.IGNORECASE,
)
_AGE_AFTER = re.compile(
    r"s?[\s-]*(?:years?[\s-]+(?:old|of age|or older|or younger|and older|and over|or over|and younger|"
    r"or above)|or older|or younger|and older)",
    re.IGNORECASE,
)
# "Men of 65 and over"; "people of three countries" are of no age.
_PEOPLE_OF = re.compile(
    r"\b(?:people|adults|children|women|men|patients|girls|boys|those) of\s+$", re.IGNORECASE
)
_AND_OVER = re.compile(
    r"\s+(?:or|and)\s+(?:over|above|older|younger|under|more|below|upwards?)\b(?!\s+(?!years?\b)\w+s\b)",
    re.IGNORECASE,
)
_OF_A_GROUP = re.compile(
    r"\s+(?:or\s+(?:all|both|more)\b|(?:or\s+\w+\s+)?of\s+(?:the|these|those|them)\b)", re.IGNORECASE
)
_OLD = re.compile(r"[\s-]*(?:old|of age)\b", re.IGNORECASE)
_CHANGE_AFTER = re.compile(
    r"\s*(?:(?:relative|absolute|risk|clinically)\s+)?(?:lower|higher|fewer|more|less|greater|smaller|"
    r"shorter|longer|reductions?|increased?|decreased?|drop|rise|fall|cut|gain|loss|decline|improvement|"
    r"better|worse|faster|slower)\b",
    re.IGNORECASE,
)
_CHANGE_BEFORE = re.compile(
    r"\bby\s+(?:about |around |some |nearly |almost |roughly |at least |more than |less than |up to |a |"
    r"only |as much as |between )?$",
    re.IGNORECASE,
)
# Words before a difference of temperatures, which is converted without the 32 degrees of Fahrenheit's zero.
_SHIFT_BEFORE = re.compile(
    r"\b(?:(?:rise|increase|drop|fall|decrease|reduction|difference|"
    r"change)s?(?:\s+in\s+(?:\w+\s+){1,3})?\s+of|rises?|rose|falls?|fell|drops?|dropped)"
    r"\s+(?:(?:about|around|some|nearly|almost|roughly|at least|more than|less than|up to|only|"
    r"between)\s+)?$",
    re.IGNORECASE,
)
_OF_ANOTHER = re.compile(
    r"\s+(?:as\s+(?:much|many|likely|often|common|high|long|great)|of (?:what|that)|"
    r"the (?:dose|rate|risk|number|amount|incidence|odds|chance))\b",
    re.IGNORECASE,
)


@lru_cache(maxsize=defaults.TEXTS_KEPT)
def read_quantities(text: str) -> tuple[Quantity, ...]:
    """Returns the quantities of `text` in order of place, amounts in base units (grams for a mass).

    "0.5 g twice a day" gives a mass of 0.5 with `times` (2, 2), and the frequency of 2 a day. Calendar years,
    citations, confidence intervals, p-values, numbers that name something (type 2, day 5) and numbers that
    may be two (2 500 mg) are left out.
    """
    # Marks, not blanks, replace the masked words: blanks would join the numbers around them.
    masked = _MASK.sub(lambda found: "¤" * len(found[0]), text)
    numerals = read_numerals(masked)
    taken = bytearray(
        len(text)
    )  # 1 for a character that an earlier reader used, or of a number that may be two
    for numeral in numerals:
        if numeral.doubtful:
            taken[numeral.start : numeral.end] = b"\1" * (numeral.end - numeral.start)
    found: list[Quantity] = []
    for readings in (
        read_parts_of_units(masked),
        read_products(masked),
        read_frequencies(masked),
        read_ages_in_words(masked),
        _shares(masked, numerals),
        read_times_in_words(masked),
        _measures(masked, numerals),
    ):
        fresh = [quantity for quantity in readings if not any(taken[quantity.start : quantity.end])]
        for quantity in fresh:
            taken[quantity.start : quantity.end] = b"\1" * (quantity.end - quantity.start)
            found.append(bounded(quantity, masked))
    return tuple(with_frequencies(sorted(found, key=lambda quantity: quantity.start), masked))


def _shares(text: str, numerals: Sequence[Numeral]) -> Iterator[Quantity]:
    """Yields shares and multiples with their role; the share of an amount is a multiple: "half the rate"."""
    for share in (*read_shares(text, numerals), *read_multiples(text)):
        dimension = "multiple" if _OF_ANOTHER.match(text, share.end) else share.dimension
        role = _role(text, share.start, share.end, dimension)
        yield replace(share, dimension=dimension, role=role)


def _measures(text: str, numerals: Sequence[Numeral]) -> Iterator[Quantity]:
    """Yields numbers with units, ages and counts, in order."""
    index = 0
    while index < len(numerals):
        used, quantities = _measures_at(text, numerals, index)
        yield from quantities
        index += used


def _measures_at(text: str, numerals: Sequence[Numeral], index: int) -> tuple[int, list[Quantity]]:
    """Returns (number of numerals that the measure at `index` uses, its quantities: two for "130/80")."""
    first = numerals[index]
    second = numerals[index + 1] if index + 1 < len(numerals) else None
    unit = unit_at(text, first.end)
    ahead = words_before(text, first.start)
    is_decade = text[first.end : first.end + 2] in (
        "s",
        "s ",
    )  # "in their 80s", but "over-65s" are people of an age
    if (not unit and _LABEL_BEFORE.search(ahead)) or (is_decade and not _AGE_BEFORE.search(ahead)):
        return 1, []
    if second and text[first.end : second.start].strip() == "/":
        shared = unit_at(text, second.end)
        return 2, _pair(first, second, shared) if shared else []
    if second and _is_range(text, unit.end if unit else first.end, first, second):
        last_unit = unit_at(text, second.end)
        if not (unit or last_unit or is_count(text, first)):
            return 2, []
        measure = _measure(text, first, second, unit or last_unit, last_unit or unit)
        one_kind = not (unit and last_unit) or unit.dimension == last_unit.dimension
        if one_kind and measure.low < measure.high:
            return 2, [measure]
    if not unit and not _AGE_BEFORE.search(ahead):
        unit = _borrowed_unit(text, numerals, index)
    return 1, [_measure(text, first, first, unit, unit)] if unit or is_count(text, first) else []


def _is_range(text: str, end: int, first: Numeral, second: Numeral) -> bool:
    """Returns whether two numbers may be the ends of a range: "5-10", "5 or 6", "between 5 and 10".

    Args:
        text: the text.
        end: where the first number ends, with its unit.
        first: the first number.
        second: the second number.
    """
    found = _RANGE.fullmatch(text, end, second.start)
    if not found:
        return False
    return found["joint"].lower() != "and" or _BETWEEN.search(words_before(text, first.start)) is not None


def _pair(first: Numeral, second: Numeral, unit: Unit) -> list[Quantity]:
    """Returns both numbers of "130/80 mm Hg", each with the span of the pair."""
    return [
        Quantity(
            number.value * unit.factor,
            number.value * unit.factor,
            unit.dimension,
            first.start,
            unit.end,
            step=number.step * unit.factor,
            role=role,
        )
        for number, role in ((first, "first"), (second, "second"))
    ]


def _measure(
    text: str, first: Numeral, second: Numeral, first_unit: Unit | None, last_unit: Unit | None
) -> Quantity:
    """Returns the quantity from `first` to `second`, which are the same numeral where there is no range.

    Without units it is an age, a count or a plain number.
    """
    if first_unit and last_unit:
        dimension = "temperature" if last_unit.dimension == "fahrenheit" else last_unit.dimension
        end, role = last_unit.end, _role(text, first.start, last_unit.end, dimension)
        low, high = _in_base(first.value, first_unit, role), _in_base(second.value, last_unit, role)
        if dimension == "time" and (old := _OLD.match(text, end)):
            end, role = old.end(), "age"
        step = second.step * last_unit.factor
        return Quantity(low, high, dimension, first.start, end, step=step, role=role)
    start, end = first.start, second.end
    if _states_age(text, start, end):
        low, high, step = first.value * _YEAR, second.value * _YEAR, second.step * _YEAR
        return Quantity(low, high, "time", start, end, step=step, role="age")
    heads = counted_keys(text, end)
    dimension = "count" if heads else "plain"
    return Quantity(first.value, second.value, dimension, start, end, step=second.step, heads=heads)


def _states_age(text: str, start: int, end: int) -> bool:
    """Returns whether the words around a number without a unit say that it is an age: "aged 65"."""
    ahead = words_before(text, start)
    of_people = _PEOPLE_OF.search(ahead) and _AND_OVER.match(text, end)
    return bool(_AGE_BEFORE.search(ahead) or _AGE_AFTER.match(text, end) or of_people)


def _in_base(value: float, unit: Unit, role: str) -> float:
    """Returns a value in the base unit; Fahrenheit in Celsius, a change without the offset of 32."""
    if unit.dimension == "fahrenheit":
        return (value if role == "change" else value - 32) / 1.8
    return value * unit.factor


def _role(text: str, start: int, end: int, dimension: str) -> str:
    """Returns "age" or "change" where the words around `start:end` say so, else ""."""
    ahead = words_before(text, start)
    if dimension == "time" and _AGE_BEFORE.search(ahead):
        return "age"
    changed = _CHANGE_AFTER.match(text, end) or _CHANGE_BEFORE.search(ahead)
    if dimension == "temperature":
        changed = changed or _SHIFT_BEFORE.search(ahead)
    return "change" if changed and dimension in ("fraction", "points", "multiple", "temperature") else ""


def _borrowed_unit(text: str, numerals: Sequence[Numeral], index: int) -> Unit | None:
    """Returns the unit that a bare number takes from a number near it, with the bare number's end; or None.

    In "12.5, 25 and 50 mg" the last number of the list has the unit. In "322 minutes with melatonin and 303
    with placebo" the number before has it.
    """
    end = numerals[index].end
    for number, following in pairwise(numerals[index : index + _LONGEST_LIST]):
        if not _LISTED.fullmatch(text, number.end, following.start):
            break
        if unit := unit_at(text, following.end):
            return replace(unit, end=end)
    if (
        counted_keys(text, end)
        or _OF_A_GROUP.match(text, end)
        or not _SET_AGAINST.search(words_before(text, numerals[index].start))
    ):
        return None
    for earlier in reversed(numerals[max(0, index - 3) : index]):
        if _SENTENCE_END.search(text[earlier.end : numerals[index].start]):
            return None
        if unit := unit_at(text, earlier.end):
            return replace(unit, end=end)
        if counted_keys(text, earlier.end):
            return None  # "for three years to avert one case, versus 14": people, not years
    return None
