"""Numbers with units, shares, times, frequencies and counts that no part of the evidence states, nor lets one compute."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from pytest_medfaith.checking.anchors.evidence import Evidence, Missing, is_odd, shared_with
from pytest_medfaith.checking.rules.signs import mirrored, way_of
from pytest_medfaith.quantities.arithmetic import computes, recomputed
from pytest_medfaith.quantities.calendar import is_between_dates
from pytest_medfaith.quantities.numerals import read_numerals
from pytest_medfaith.quantities.quantity import ROUGHNESS, Quantity, allowed_error, opposed_bounds
from pytest_medfaith.quantities.reader import read_quantities
from pytest_medfaith.quantities.roman import read_roman
from pytest_medfaith.quantities.strengths import in_equal_strength, read_derived_strengths
from pytest_medfaith.quantities.times import read_labelled_times

SAME_STATEMENT = 0.6  # of the claim's other words that a sentence holds whose value of the same kind takes the place of the claim's
SMALL = 12  # a count of up to so many things may be the reader's own: "three drugs" of a list of three
# One patient's value against a rule's threshold ("a man of 41", "20 mg for four months is reason for ...", "at 3,200 m") is no part of the evidence.
_CASE_BEFORE = re.compile(
    r"(?:\b(?:weighing|measuring|weighs|measures)\s+(?:about\s+|only\s+|just\s+)?|^at\s+|[;.]\s+at\s+|"
    r"\baged\s+"
    r"|\b(?:someone|somebody|whose|person|man|woman|patient|child|girl|boy|baby|newborn|infant|"
    r"smoker)\s+(?:\w+\s+){0,3}(?:of|at|with|weighing)\s+|\bfrom\s+(?:[\d.,]+\s+to\s+)?|\ban?\s+)$",
    re.IGNORECASE,
)
_CASE_AFTER = re.compile(
    r"[\s-]*(?:ago\b|old\b|earlier\b|too (?:soon|late|early)|is (?:too|still|not yet|reason|enough|"
    r"premature|above|below|outside|within))",
    re.IGNORECASE,
)
_SURFACE_BEFORE = re.compile(r"\bsurface(?: area)?(?: of| is| was)?\s+(?:about\s+)?$", re.IGNORECASE)
_JUDGED = re.compile(
    r"\b(?:too (?:soon|late|early|fast|slow|much|little|high|low|long|short|old|young)|still|not yet|"
    r"already|enough|premature\w*|qualif\w+|eligible|counts? as|meets?|untried|"
    r"(?:earlier|later|sooner|more|less|longer|shorter) than (?:is |was )?(?:intended|advised|recommended|"
    r"allowed|needed|usual))\b",
    re.IGNORECASE,
)
_DOSES = frozenset({"mass", "volume", "unit", "amount", "equivalent"})
_EXCEPTING = re.compile(r"\b(?:except|unless|apart from|other than|excluding)\b", re.IGNORECASE)
_MOST = re.compile(r"\b(?:most|(?:a|the) majority)\b", re.IGNORECASE)
_HALF = 0.5
_SAME_DECIMAL = 0.0005
_MANY_CHARGES = re.compile(
    r"\b(?:calcium|magnesium|phosphate|sul[fp]h?ate|iron|zinc|barium)\b", re.IGNORECASE
)
_BODY = 1_000.0  # grams: more is no dose, but a weight
_ROUGH_KINDS = frozenset({"fraction", "multiple", "points", "count", "plain"})
ROUGH_NUMBER = 0.1  # of the value of "about 3.5"
MOST_TIMES = 4  # a case lies no farther than this from the bound that it is held against
_EACH_KILOGRAM = re.compile(
    r"\b(?:every|each|per|for a)\s+(?:extra\s+|lost\s+)?(?:kg|kilo\w*)\b", re.IGNORECASE
)
_AMOUNT_NEAR = re.compile(r"\d")
_ONCE_A_DAY = re.compile(
    r"\b(?:a|per|each|every|one) (?:day|night|morning|evening)\b|\b(?:daily|nightly|bedtime|/day|/d|"
    r"24 hours)\b|\bat night\b|\bin the (?:morning|evening)\b",
    re.IGNORECASE,
)


def missing_amounts(claim: str, evidence: Evidence) -> Iterator[Missing]:
    """Yields the quantities of `claim` that the evidence neither states, in whatever unit, nor gives by one step of arithmetic."""
    stated = read_quantities(claim)
    for quantity in stated:
        if _asks_for_none(quantity, claim) or _is_grounded(quantity, stated, claim, evidence):
            continue
        other = _in_its_place(quantity, stated, claim, evidence)
        yield Missing("amount", quantity.start, quantity.end, instead=other)


def _asks_for_none(quantity: Quantity, claim: str) -> bool:
    """Returns whether a reader may say the quantity without a source: a small or spelled count, "a day", "half"."""
    words = claim[quantity.start : quantity.end]
    digits = any(character.isdigit() for character in words)
    if quantity.dimension in ("count", "plain", "copies", "cells") and not digits:
        return True
    if words.lower() == "one" or (
        quantity.dimension == "time" and not digits and (quantity.rough or words.lower().startswith("one"))
    ):
        return True  # "a week", "half an hour", "one day"
    if quantity.dimension == "frequency" and words.lower() in (
        "daily",
        "every day",
        "each day",
        "weekly",
        "hourly",
        "monthly",
    ):
        return not _AMOUNT_NEAR.search(claim[max(0, quantity.start - 40) : quantity.end + 24])
    return (
        quantity.dimension == "count"
        and quantity.high <= SMALL
        and not quantity.bound
        and quantity.high == int(quantity.high)
    )


def _is_grounded(quantity: Quantity, stated: Sequence[Quantity], claim: str, evidence: Evidence) -> bool:
    against = False
    for text in (evidence.nearest, *evidence.texts):
        if in_equal_strength(quantity, claim, text):
            return True
        known = tuple(mirrored(other, quantity, claim=claim, text=text) for other in read_quantities(text))
        known += read_labelled_times(text) if quantity.dimension == "time" else read_derived_strengths(text)
        same = [
            other
            for other in known
            if _states(other, quantity) or _states_for_each(other, quantity, claim, text)
        ]
        same += [
            other
            for other in known
            if _is_decimal_of(quantity, other) or _is_monovalent(quantity, other, claim)
        ]
        if any(not _turned(quantity, other, claim, text) for other in same) or _names_number(
            quantity, claim, text, known
        ):
            return True
        against = against or bool(same)
    if against:  # its value stands there, bounded from the other side
        return False
    if quantity.dimension == "frequency" and _spreads_a_total(quantity, stated, evidence):
        return True
    if quantity.dimension == "time" and is_between_dates(quantity, evidence.whole):
        return True
    return _may_be_a_case(quantity, claim, evidence) or _follows(quantity, stated, claim, evidence)


def _is_decimal_of(quantity: Quantity, other: Quantity) -> bool:
    """Returns whether one writes the share as a decimal, the other as a percentage: "0.88 to 0.92" of "88% to 92%"."""
    plain, share = (quantity, other) if quantity.dimension == "plain" else (other, quantity)
    if (plain.dimension, share.dimension) != ("plain", "fraction") or not 0 < plain.low <= plain.high < 1:
        return False
    return abs(plain.low - share.low) < _SAME_DECIMAL and abs(plain.high - share.high) < _SAME_DECIMAL


def _is_monovalent(quantity: Quantity, other: Quantity, claim: str) -> bool:
    """Returns whether one counts millimoles, the other milliequivalents, of an ion with one charge: the numbers are the same."""
    numerators = {each.dimension.split("/")[0] for each in (quantity, other)}
    below = {each.dimension.partition("/")[2] for each in (quantity, other)}
    if numerators != {"amount", "equivalent"} or len(below) != 1 or _MANY_CHARGES.search(claim):
        return False
    return _ends_met(quantity, other)


def _spreads_a_total(quantity: Quantity, stated: Sequence[Quantity], evidence: Evidence) -> bool:
    """Returns whether the frequency only spreads an amount that is the total of the evidence's: "30 mg a day" of "10 mg every eight hours"."""
    totals = [
        each
        for each in stated
        if each.times and each.end <= quantity.start and each.times == (quantity.low, quantity.high)
    ]
    known = [other.daily for other in read_quantities(evidence.nearest) if other.times]
    return any(
        _ends_met(each.daily, other)
        for each in totals[-1:]
        for other in known
        if each.daily and other and each.dimension == other.dimension
    )


def _may_be_a_case(quantity: Quantity, claim: str, evidence: Evidence) -> bool:
    """Returns whether the quantity may be one that the claim brings itself, to hold it against a value of the evidence."""
    weighs = quantity.dimension == "mass" and quantity.low >= _BODY
    if quantity.dimension == "area" and _SURFACE_BEFORE.search(claim[: quantity.start]):
        return True
    if (weighs or quantity.role == "age") and _CASE_BEFORE.search(
        claim[max(0, quantity.start - 48) : quantity.start]
    ):
        return True
    known = [
        _as_written(each, text) if quantity.dimension == "plain" else each
        for text in (evidence.nearest, *evidence.texts)
        for each in read_quantities(text)
    ]
    return any(_is_case(quantity, other, claim) for other in known)


def _follows(quantity: Quantity, stated: Sequence[Quantity], claim: str, evidence: Evidence) -> bool:
    """Returns whether the quantity follows from the sentence that decided or, where the claim says that it computes, from all evidence."""
    near = (*read_quantities(evidence.nearest), *read_derived_strengths(evidence.nearest))
    if any(_bounds_hold(quantity, other) for other in near):
        return True
    if (
        quantity.dimension == "fraction"
        and quantity.bound == "min"
        and quantity.low == _HALF
        and _MOST.search(evidence.nearest)
    ):
        return True
    spelled = not any(map(str.isdigit, claim[quantity.start : quantity.end]))
    freely = computes(claim) or (quantity.dimension in ("fraction", "multiple") and spelled)
    return recomputed(quantity, (*near, *stated), claim) or (
        freely and recomputed(quantity, (*near, *stated, *evidence.quantities), claim)
    )


def _as_written(other: Quantity, text: str) -> Quantity:
    """Returns `other` in its own unit, without it: what a bare number of a claim is compared with."""
    values = [numeral.value for numeral in read_numerals(text[other.start : other.end])]
    return replace(other, low=min(values), high=max(values), dimension="plain") if values else other


def _is_case(quantity: Quantity, other: Quantity, claim: str) -> bool:
    """Returns whether `quantity` may be the value of one case that the claim holds against a value of the evidence."""
    if quantity.dimension != other.dimension and not {quantity.dimension, other.dimension} <= {
        "count",
        "plain",
    }:
        return False
    if _applied(quantity, other):
        return True
    if quantity.dimension in _DOSES:
        return False
    ahead = claim[max(0, quantity.start - 48) : quantity.start]
    return bool(_JUDGED.search(claim) or _CASE_BEFORE.search(ahead) or _CASE_AFTER.match(claim, quantity.end))


def _applied(quantity: Quantity, other: Quantity) -> bool:
    """Returns whether the one value `quantity` lies in the range, or on the right side of the bound, that `other` states."""
    if (
        quantity.bound
        or quantity.low < quantity.high
        or quantity.dimension == "frequency"
        or not (other.bound or other.low < other.high)
    ):
        return False
    near = abs(other.high) <= MOST_TIMES * abs(quantity.high) and abs(quantity.low) <= MOST_TIMES * abs(
        other.low
    )
    return near and _satisfies(quantity, other)


def _satisfies(quantity: Quantity, other: Quantity) -> bool:
    low, high = other.interval
    return low <= quantity.low and quantity.high <= high


def _bounds_hold(quantity: Quantity, other: Quantity) -> bool:
    """Returns whether a bounded or rough share or number of the claim holds of a value of the evidence: "fewer than half" of 42 %."""
    if (
        quantity.dimension != other.dimension
        or quantity.dimension not in _ROUGH_KINDS
        or not quantity.bound
        or other.bound
    ):
        return False
    near = 0.5 * abs(quantity.high) <= abs(other.high) <= 2 * abs(quantity.high)
    return near and _satisfies(other, quantity)


def _states(other: Quantity, quantity: Quantity) -> bool:
    """Returns whether `other` states the ends of `quantity`, as an amount at a time or a day, or as a rate for a gap."""
    if other.dimension == quantity.dimension:
        return any(
            _ends_met(mine, theirs)
            for mine in (quantity, quantity.daily)
            if mine
            for theirs in (other, other.daily)
            if theirs
        )
    if quantity.dimension == "frequency" and other.times:
        return _within(quantity.low, other.times, quantity) and _within(quantity.high, other.times, quantity)
    if {quantity.dimension, other.dimension} == {"frequency", "time"} and other.low > 0:
        return _within(quantity.low, (1 / other.high, 1 / other.low), quantity) and _within(
            quantity.high, (1 / other.high, 1 / other.low), quantity
        )
    return False


def _states_for_each(other: Quantity, quantity: Quantity, claim: str, text: str) -> bool:
    """Returns whether both are the same for each kilogram, one within its unit, one in words before: "every kilogram takes 1 mm Hg off"."""
    if other.dimension != f"{quantity.dimension}/mass" or not _EACH_KILOGRAM.search(claim):
        return False
    return _numbers(text[other.start : other.end]) == _numbers(claim[quantity.start : quantity.end])


def _numbers(words: str) -> set[float]:
    return {numeral.value for numeral in read_numerals(words)}


def _ends_met(quantity: Quantity, other: Quantity) -> bool:
    mine, theirs = max(_slack(quantity), 1e-9 * abs(quantity.high)), _slack(other)
    return all(
        min(abs(end - other.low), abs(end - other.high)) <= max(mine, min(theirs, ROUGHNESS * abs(end)))
        for end in (quantity.low, quantity.high)
    )


def _slack(quantity: Quantity) -> float:
    """Returns how far off a value may be: a tenth of a number that the text calls rough, more of "half" and "a week"."""
    if quantity.rough and quantity.step:
        return max(ROUGH_NUMBER * abs(quantity.high), allowed_error(replace(quantity, rough=False)))
    return allowed_error(quantity)


def _within(value: float, ends: tuple[float, float], quantity: Quantity) -> bool:
    allowed = max(_slack(quantity), 0.02 * abs(value))
    return min(abs(value - end) for end in ends) <= allowed


def _turned(quantity: Quantity, other: Quantity, claim: str, text: str) -> bool:
    """Returns whether the two are one value bounded from opposite sides, with as many denials on either side."""
    if not opposed_bounds(quantity, other):
        return False
    sentence = _sentence_at(text, other.start)
    excepted = len(_EXCEPTING.findall(sentence)) - len(_EXCEPTING.findall(claim))
    return (is_odd(claim) == is_odd(sentence)) == (excepted % 2 == 0)


def _sentence_at(text: str, place: int) -> str:
    from pytest_medfaith.english.sentences import sentence_spans

    return next((text[start:end] for start, end in sentence_spans(text) if start <= place < end), text)


def _names_number(quantity: Quantity, claim: str, text: str, known: Sequence[Quantity]) -> bool:
    """Returns whether the evidence writes the claim's number without a unit, or the claim writes one of its numbers so."""
    words = claim[quantity.start : quantity.end]
    if not any(map(str.isdigit, words)) and re.search(
        rf"(?<![\w.,]){re.escape(words)}(?![\w])", text, re.IGNORECASE
    ):
        return not any(_turned(quantity, other, claim, text) for other in known if _states(other, quantity))
    mine = {numeral.value for numeral in read_numerals(words)}
    if not mine:
        return (
            quantity.dimension == "frequency"
            and quantity.low == quantity.high == 1
            and _says_once_a_day(text, known)
        )
    all_numbers = {numeral.value for numeral in read_numerals(text)} | read_roman(text)
    if quantity.dimension in ("plain", "count"):
        if way_of(quantity, claim) < 0:  # "down 2.3" of "-2.3"
            all_numbers |= {abs(number) for number in all_numbers}
        return mine <= all_numbers and not any(
            opposed_bounds(quantity, other) and _ends_met(quantity, other) for other in known
        )
    bare = {other.low for other in known if other.dimension == "plain" and text[other.start].isdigit()}
    return quantity.dimension not in _DOSES and mine <= bare


def _says_once_a_day(text: str, known: Sequence[Quantity]) -> bool:
    """Returns whether `text` speaks of a day or a night outside any frequency of another rate: "twice a day" says no "once a day"."""
    others = [each for each in known if each.dimension == "frequency" and each.high != 1]
    return any(
        not any(each.start <= found.start() < each.end for each in others)
        for found in _ONCE_A_DAY.finditer(text)
    )


def _in_its_place(quantity: Quantity, stated: Sequence[Quantity], claim: str, evidence: Evidence) -> str:
    """Returns the words of the one value of the same kind in a sentence that says the rest of the claim; empty where there is none, or two."""
    text = evidence.nearest
    if shared_with(claim, quantity.start, quantity.end, text) < SAME_STATEMENT or is_odd(claim) != is_odd(
        text
    ):
        return ""
    rivals = {
        text[other.start : other.end]: other
        for other in (mirrored(each, quantity, claim=claim, text=text) for each in read_quantities(text))
        if other.dimension == quantity.dimension
        and not any(_ends_met(other, mine) for mine in stated if mine.dimension == other.dimension)
    }
    return next(iter(rivals)) if len(rivals) == 1 else ""
