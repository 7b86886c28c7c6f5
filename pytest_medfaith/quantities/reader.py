"""Reads quantities: numbers with units, ranges, bounds, shares, frequencies, ages, counts of things."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise, takewhile

from pytest_medfaith.english.stems import word_key
from pytest_medfaith.quantities.bounds import (
    before,
    bound_after,
    bound_of,
    is_course,
    is_denied_bound,
    is_rough,
    loose_word,
)
from pytest_medfaith.quantities.fractions import Share, read_multiples, read_shares
from pytest_medfaith.quantities.frequencies import Frequency, frequency_after_amount, read_frequencies
from pytest_medfaith.quantities.numerals import Numeral, read_numerals
from pytest_medfaith.quantities.quantity import Quantity
from pytest_medfaith.quantities.unit_reading import Unit, unit_at
from pytest_medfaith.quantities.units import unit_of

_MASK = re.compile(
    r"\[\s?\d{1,3}(?:\s?[,–-]\s?\d{1,3}){0,20}\s?\]"  # citations
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
# Numbers that name rather than measure.
_LABEL_BEFORE = re.compile(
    r"\b(?:types?|grades?|stages?|phases?|class(?:es)?|categor(?:y|ies)|tiers?|steps?|cycle|figure|fig|"
    r"table|days?|weeks?|months?|years?|visit|vitamin|covid|omega|factor|arm|group|cohort|chromosome|"
    r"exon|codon|trial|study|NYHA|GOLD|number|version|question|part|section|trimester|call|dial|ring|phone|"
    r"interleukin|IL|HPV|serotypes?|gene|protein|variant|CD|level|line|item|"
    r"no)[\s.]+(?:\w\s+(?:to|and|or)\s+|\d+\s+(?:to|and|or|-|–)\s+)?$",
    re.IGNORECASE,
)
_RANGE = re.compile(r"\s*(?P<joint>-|–|—|−|to|and|or)\s*", re.IGNORECASE)
_BETWEEN = re.compile(r"\bbetween\s+(?:\w+\s+)?$", re.IGNORECASE)
_LISTED = re.compile(r"\s*(?:,|,?\s+(?:and|or|to|versus|vs\.?|instead of|rather than)\b)\s*", re.IGNORECASE)
_LONGEST_LIST = (
    12  # numbers; a longer run of them is a table, and looking ahead through all of it takes quadratic time
)
_SET_AGAINST = re.compile(r"\b(?:and|versus|vs\.?|against|with|than|to|or)\s+$", re.IGNORECASE)
_OLD = re.compile(r"[\s-]*(?:old|of age)\b", re.IGNORECASE)
_ONE_UNIT = re.compile(
    r"\b(?:(?:for|in|within|after|than|about|around|least|most|until|over|nearly|almost|lasting|past|under|"
    r"only|just|before|to|takes?|took|lasts?|lasted|first|or)\s+|(?=half\s+an\s+hour\b|"
    r"a\s+quarter\s+of\s+an\s+hour\b))"
    r"(?P<span>(?P<half>half\s+|(?:a\s+)?quarter\s+of\s+|three\s+quarters\s+of\s+)?an?\s+(?P<unit>second|"
    r"minute|hour|day|night|week|fortnight|month|year|decade)(?P<more>\s+and\s+a\s+half)?)\b",
    re.IGNORECASE,
)
_TIME_LABEL = re.compile(
    r"\b(?P<unit>days?|weeks?|months?)\s+(?P<number>\d{1,3})\b(?!\s*(?:%|mg|g\b|ml|of the cycle))",
    re.IGNORECASE,
)
_YEAR = 365.25  # days
_HALVES = {"half": 0.5, "three": 0.75, "quarter": 0.25}

_AGE_BEFORE = re.compile(
    r"\b(?:aged?|ages|age (?:of|from|at)|the age of|older than|younger than|"
    r"(?:people|adults|children|women|men|patients|those|anyone|persons|boys|girls|everyone|babies|someone|"
    r"infants|are|is) "
    r"(?:aged )?(?:over|under|above|below|past|beyond|from)|over-|under-)(?:\s+(?:at least|over|under|above|"
    r"below|between|from|up to|about|around))?\s*$",
    re.IGNORECASE,
)
_AGE_AFTER = re.compile(
    r"s?[\s-]*(?:years?[\s-]+(?:old|of age|or older|or younger|and older|and over|or over|and younger|"
    r"or above)|or older|or younger|and older)",
    re.IGNORECASE,
)
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
_OF_ANOTHER = re.compile(
    r"\s+(?:as\s+(?:much|many|likely|often|common|high|long|great)|of (?:what|that)|"
    r"the (?:dose|rate|risk|number|amount|incidence|odds|chance))\b",
    re.IGNORECASE,
)
# A temperature by which another differs has no zero to convert from.
_SHIFT_BEFORE = re.compile(
    r"\b(?:(?:rise|increase|drop|fall|decrease|reduction|difference|"
    r"change)s?(?:\s+in\s+(?:\w+\s+){1,3})?\s+of|rises?|rose|falls?|fell|drops?|dropped)"
    r"\s+(?:(?:about|around|some|nearly|almost|roughly|at least|more than|less than|up to|only|"
    r"between)\s+)?$",
    re.IGNORECASE,
)
_HEAD = re.compile(r"[\s-]*([^\W\d_][\w’'-]*(?:\s+[^\W\d_][\w’'-]*){0,3})")
_HEAD_STOPS = frozenset(
    "and or but of in on at with for to from by per than versus vs was were is are had have has did do does "
    "may can should will who that which if when after before over during within as against a an the "
    """not no be been being times more less while because so each every under above below into between among
    without about then""".split()
)
_PEOPLE = frozenset(
    word_key(word)
    for word in "people patients participants adults children women men subjects persons individuals volunteers infants babies newborns boys girls adolescents outpatients inpatients residents workers nurses "
    """students users smokers recipients survivors veterans carriers mothers neonates schoolchildren toddlers
    teenagers cases members donors couples""".split()
)
_IN_A_YEAR = re.compile(r"\sin\s+(?!\d\d[05]0$)(?:1[89]|20)\d\d$")  # "12 in 2010" is no share; "1 in 2000" is
# What 2000 counts in "2000 deaths"; such a number alone, or beside a study, is a calendar year.
_COUNTED = frozenset(
    word_key(word)
    for word in "deaths births episodes events visits admissions hospitalizations samples specimens procedures operations injections doses tablets pills pregnancies families households "
    "twins calories kilocalories steps hospitals".split()
) | {"person"}
_DATED = frozenset(
    word_key(word)
    for word in """trial study guideline survey review report analysis meta-analysis cohort outbreak
    epidemic pandemic season census update statement consensus olympics election earthquake""".split()
)
_ON_A_DATE = re.compile(
    r"(?:\b(?:in|since|during|by|until|till|before|after|circa|early|late|mid|year|spring|summer|autumn|"
    r"winter|january|february|march|april|may|june|july|august|september|october|november|december)[\s-]+"
    r"|\b(?:1[89]|20)\d\d\s*(?:-|–|to|and)\s*|(?<!\d)\d{1,2},\s*)$",
    re.IGNORECASE,
)
_ARTICLE = re.compile(r"\b(?:the|an?|this|that)\s+$", re.IGNORECASE)
_CLAUSE_GAP = re.compile(r"[^.;:()\d]{0,28}")
_PER_DOSE = re.compile(
    r"\s*(?:/\s*dose|(?:per|a|each|every)\s+(?:single\s+)?dose|at\s+(?:a|one|any one)\s+time|at\s+once|"
    r"(?:as|in)\s+(?:a|one)\s+single\s+dose)\b",
    re.IGNORECASE,
)
_DOSE_OF = re.compile(r"\b(?:single|one|each|every)\s+doses?\s+(?:of|is|are)\s+$", re.IGNORECASE)
_ALL_AT_ONCE = re.compile(r"[^.;]{0,40}\b(?:once|single|one dose)\b", re.IGNORECASE)


@lru_cache(maxsize=8_192)
def read_labelled_times(text: str) -> tuple[Quantity, ...]:
    """Returns the times that `text` numbers rather than measures: "day 28", "week 12"."""
    return tuple(_labelled_times(text))


@lru_cache(maxsize=8_192)
def read_quantities(text: str) -> tuple[Quantity, ...]:
    """Returns the quantities of `text` in order of place.

    Calendar years, citations, confidence intervals, p-values, numbers that name something (type 2, day 5) and numbers that may be two
    (2 500 mg) are left out.
    """
    masked = _MASK.sub(
        lambda found: "¤" * len(found[0]), text
    )  # no white space, which would join what it parts
    numerals = read_numerals(masked)
    found: list[Quantity] = []
    taken = bytearray(len(text))  # 1 where a reader before has read a quantity, or where a number may be two
    for numeral in numerals:
        if numeral.doubtful:
            taken[numeral.start : numeral.end] = b"\1" * (numeral.end - numeral.start)
    for reader in (
        _parts_of_units(masked),
        _frequencies(masked),
        _shares(masked, numerals),
        _one_units(masked),
        _measures(masked, numerals),
    ):
        fresh = [quantity for quantity in reader if not any(taken[quantity.start : quantity.end])]
        for quantity in fresh:
            taken[quantity.start : quantity.end] = b"\1" * (quantity.end - quantity.start)
        found += fresh
    return tuple(_with_times(sorted(found, key=lambda quantity: quantity.start), masked))


def _frequencies(text: str) -> Iterator[Quantity]:
    for frequency in read_frequencies(text):
        yield _bounded(
            Quantity(frequency.low, frequency.high, "frequency", frequency.start, frequency.end), text
        )


def _shares(text: str, numerals: Sequence[Numeral]) -> Iterator[Quantity]:
    for share in read_shares(text, numerals):
        if _IN_A_YEAR.search(text, share.start, share.end):
            continue
        dimension = "multiple" if _OF_ANOTHER.match(text, share.end) else "fraction"
        yield _bounded(_of_share(share, dimension, text), text)
    for share in read_multiples(text):
        yield _bounded(_of_share(share, "multiple", text), text)


def _of_share(share: Share, dimension: str, text: str) -> Quantity:
    role = _role(text, share.start, share.end, dimension)
    return Quantity(
        share.low,
        share.high,
        dimension,
        share.start,
        share.end,
        step=share.step,
        rough=share.rough,
        role=role,
    )


_HALF_OF_UNIT = re.compile(
    r"\b(?P<part>half|quarter of|three[- ]quarters of|third of)\s+an?\s+(?=[a-z])", re.IGNORECASE
)
_PARTS_OF_UNIT = {"h": 0.5, "q": 0.25, "t": 1 / 3}


def _parts_of_units(text: str) -> Iterator[Quantity]:
    """Yields "half a litre", "a quarter of a milligram"."""
    for found in _HALF_OF_UNIT.finditer(text):
        unit = unit_at(text, found.end())
        if unit and unit.dimension not in ("time", "fraction", "cells", "copies"):
            part = (
                0.75
                if found["part"].lower().startswith("three")
                else _PARTS_OF_UNIT[found["part"][0].lower()]
            )
            yield _bounded(
                Quantity(part * unit.factor, part * unit.factor, unit.dimension, found.start(), unit.end),
                text,
            )


def _labelled_times(text: str) -> Iterator[Quantity]:
    """Yields "day 150" and "week 12" as times from the start: "by day 28" is within four weeks."""
    for found in _TIME_LABEL.finditer(text):
        factor, dimension = unit_of(found["unit"])
        value = float(found["number"]) * factor
        yield Quantity(value, value, dimension, found.start(), found.end(), bound="", role="label")


def _one_units(text: str) -> Iterator[Quantity]:
    """Yields "half an hour", "in a week", "a day and a half": a time without a number."""
    for found in _ONE_UNIT.finditer(text):
        factor, dimension = unit_of(found["unit"])
        part = next((value for word, value in _HALVES.items() if word in (found["half"] or "").lower()), 1.0)
        value = factor * (part + (0.5 if found["more"] else 0.0))
        yield _bounded(
            Quantity(value, value, dimension, found.start("span"), found.end("span"), rough=True), text
        )


def _measures(text: str, numerals: Sequence[Numeral]) -> Iterator[Quantity]:
    index = 0
    while index < len(numerals):
        used, quantities = _measure_at(text, numerals, index)
        yield from quantities
        index += used


def _measure_at(text: str, numerals: Sequence[Numeral], index: int) -> tuple[int, list[Quantity]]:
    """Returns how many numerals the measure at `index` uses up, and its quantities (two for a pair such as 130/80)."""
    first = numerals[index]
    ahead, after = before(text, first.start), text[first.end : first.end + 2]
    own = unit_at(text, first.end)
    if (not own and _LABEL_BEFORE.search(ahead)) or (after in ("s", "s ") and not _AGE_BEFORE.search(ahead)):
        return 1, []
    second = numerals[index + 1] if index + 1 < len(numerals) else None
    if second and text[first.end : second.start].strip() == "/":
        unit = unit_at(text, second.end)
        return 2, _pair(text, first, second, unit) if unit else []
    if second and _joined(text, own.end if own else first.end, first, second):
        unit = unit_at(text, second.end)
        if not (own or unit or _counts(text, first)):
            return 2, []
        measure = _measure(text, first, second, own or unit, unit or own)
        if not (own and unit and own.dimension != unit.dimension) and measure.low < measure.high:
            return 2, [measure]
    if not own and not _AGE_BEFORE.search(ahead):
        own = _listed_unit(text, numerals, index)
    return 1, [_measure(text, first, first, own, own)] if own or _counts(text, first) else []


def _listed_unit(text: str, numerals: Sequence[Numeral], index: int) -> Unit | None:
    """Returns the unit that a bare number of a list takes from the last ("12.5, 25 and 50 mg"), or from the one it is set against.

    "322 minutes with melatonin and 303 with placebo" is the second case; the unit then ends where the number ends.
    """
    end = numerals[index].end
    for one, other in pairwise(numerals[index : index + _LONGEST_LIST]):
        if not _LISTED.fullmatch(text, one.end, other.start):
            break
        if unit := unit_at(text, other.end):
            return replace(unit, end=end)
    if _heads(text, end) or not _SET_AGAINST.search(before(text, numerals[index].start)):
        return None
    for earlier in reversed(numerals[max(0, index - 3) : index]):
        if re.search(r"[.;]\s", text[earlier.end : numerals[index].start]):
            return None
        if unit := unit_at(text, earlier.end):
            return replace(unit, end=end)
        if _heads(text, earlier.end):
            return None  # "for three years to avert one case, versus 14": people, not years
    return None


def _counts(text: str, numeral: Numeral) -> bool:
    """Returns whether a number without a unit counts things: calendar years and "one" as a pronoun do not."""
    year = (
        numeral.step == 0.5
        and 1800 <= numeral.value <= 2100
        and text[numeral.start : numeral.end].isdecimal()
    )
    if year and not counts_things(text, numeral.start, numeral.end):
        return False
    return text[numeral.start : numeral.end].lower() not in ("one", "a million", "zero")


def counts_things(text: str, start: int, end: int) -> bool:
    """Returns whether a number that may be a year counts what follows: "2000 deaths", "2000 adult patients", not "in 2000 deaths fell"."""
    first, second = (*_noun_phrase(text, end), "", "")[:2]
    ahead = before(text, start)
    if _ON_A_DATE.search(ahead):
        return False
    return _is_counted(first) or (
        _is_counted(second) and word_key(first) not in _DATED and not _ARTICLE.search(ahead)
    )


def _is_counted(word: str) -> bool:
    return _counted_as(word) in _COUNTED and (
        word.endswith("s") or word in ("people", "children", "men", "women")
    )


def _joined(text: str, end: int, first: Numeral, second: Numeral) -> bool:
    """Returns whether two numbers may be the ends of a range: "5-10", "5 to 10", "5 or 6", "between 5 and 10"."""
    found = _RANGE.fullmatch(text, end, second.start)
    if not found:
        return False
    return found["joint"].lower() != "and" or _BETWEEN.search(before(text, first.start)) is not None


def _pair(text: str, first: Numeral, second: Numeral, unit: Unit) -> list[Quantity]:
    return [
        _bounded(
            Quantity(
                number.value * unit.factor,
                number.value * unit.factor,
                unit.dimension,
                first.start,
                unit.end,
                step=number.step * unit.factor,
                role=role,
            ),
            text,
        )
        for number, role in ((first, "first"), (second, "second"))
    ]


def _measure(
    text: str, first: Numeral, second: Numeral, first_unit: Unit | None, unit: Unit | None
) -> Quantity:
    """Returns the quantity from `first` to `second` (the same numeral where no range is stated)."""
    if unit and first_unit:
        dimension = "temperature" if unit.dimension == "fahrenheit" else unit.dimension
        end = unit.end
        role = _role(text, first.start, end, dimension)
        low, high = _in_base(first.value, first_unit, role), _in_base(second.value, unit, role)
        if dimension == "time" and (old := _OLD.match(text, end)):
            return _bounded(
                Quantity(
                    low, high, dimension, first.start, old.end(), step=second.step * unit.factor, role="age"
                ),
                text,
            )
        return _bounded(
            Quantity(low, high, dimension, first.start, end, step=second.step * unit.factor, role=role), text
        )
    if _AGE_BEFORE.search(before(text, first.start)) or _AGE_AFTER.match(text, second.end):
        return _bounded(
            Quantity(
                first.value * _YEAR,
                second.value * _YEAR,
                "time",
                first.start,
                second.end,
                step=second.step * _YEAR,
                role="age",
            ),
            text,
        )
    heads = _heads(text, second.end)
    dimension = "count" if heads else "plain"
    return _bounded(
        Quantity(
            first.value, second.value, dimension, first.start, second.end, step=second.step, heads=heads
        ),
        text,
    )


def _in_base(value: float, unit: Unit, role: str) -> float:
    if unit.dimension == "fahrenheit":
        return (value if role == "change" else value - 32) / 1.8
    return value * unit.factor


def _role(text: str, start: int, end: int, dimension: str) -> str:
    if dimension == "time" and _AGE_BEFORE.search(before(text, start)):
        return "age"
    ahead = before(text, start)
    changed = _CHANGE_AFTER.match(text, end) or _CHANGE_BEFORE.search(ahead)
    if dimension in ("fraction", "points", "multiple") and changed:
        return "change"
    return "change" if dimension == "temperature" and (changed or _SHIFT_BEFORE.search(ahead)) else ""


def _heads(text: str, end: int) -> frozenset[str]:
    """Returns the keys of the words of `_noun_phrase`."""
    return frozenset(map(_counted_as, _noun_phrase(text, end)))


def _noun_phrase(text: str, end: int) -> list[str]:
    """Returns the up to four words after a bare number, in lower case, up to the first that ends its noun phrase."""
    found = _HEAD.match(text, end)
    return list(takewhile(lambda word: word not in _HEAD_STOPS, found[1].lower().split() if found else []))


def _counted_as(word: str) -> str:
    return "person" if word_key(word) in _PEOPLE else word_key(word)


def _bounded(quantity: Quantity, text: str) -> Quantity:
    """Returns `quantity` with the bound and the roughness that the words around it state."""
    is_time = quantity.dimension == "time"
    return replace(
        quantity,
        bound=bound_of(text, quantity.start, quantity.end, is_time=is_time),
        rough=quantity.rough or is_rough(text, quantity.start, quantity.end),
        loose=loose_word(text, quantity.start, quantity.end) if is_time and quantity.role != "age" else "",
        course=quantity.low < quantity.high and is_course(text, quantity.start),
        denied=is_denied_bound(text, quantity.start),
    )


def _with_times(quantities: Sequence[Quantity], text: str) -> Iterator[Quantity]:
    """Yields `quantities`, amounts with the frequency that follows them; frequencies that were taken up stay."""
    for index, quantity in enumerate(quantities):
        following = quantities[index + 1] if index + 1 < len(quantities) else None
        if (
            quantity.dimension in ("frequency", "fraction", "multiple", "temperature", "pressure")
            or quantity.role == "age"
        ):
            yield quantity
            continue
        spread = frequency_after_amount(text, quantity.end)
        measured = replace(quantity, per=_per(quantity, text, spread))
        if spread:
            yield _given(measured, text, spread)
        elif (
            following
            and following.dimension == "frequency"
            and _CLAUSE_GAP.fullmatch(text, quantity.end, following.start)
        ):
            yield _given(measured, text, following)
        else:
            yield measured


def _per(quantity: Quantity, text: str, spread: Frequency | None) -> str:
    """Returns what the text counts the amount for, "dose" or "day"; empty where it does not say, or where the two are one."""
    single = _PER_DOSE.match(text, quantity.end) or _DOSE_OF.search(before(text, quantity.start))
    if quantity.dimension == "time":
        return ""  # "30 minutes at a time" may well be those of "30 minutes a day"
    if spread is None:
        return "dose" if single else ""
    return "day" if spread.low == 1 and not single and not _ALL_AT_ONCE.match(text, spread.end) else ""


def _given(quantity: Quantity, text: str, frequency: Frequency | Quantity) -> Quantity:
    """Returns an amount with how often it is given, and the bound that may follow: "2.5 mg a day or more"."""
    bound = bound_after(text, frequency.end) or quantity.bound
    return replace(quantity, times=(frequency.low, frequency.high), bound=bound)
