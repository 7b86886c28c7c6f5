"""Quantities that the evidence neither states nor gives by arithmetic: doses, shares, times, counts.

Example: "25 mg" where the evidence says "2.5 mg". "30 mg a day" follows from "10 mg three times a day".
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from pytest_medfaith.checking.anchors.evidence import Evidence, Missing, is_odd, only_of, shared_with
from pytest_medfaith.checking.anchors.same_amount import ends_met, is_inverse, states, states_ends
from pytest_medfaith.checking.rules.signs import sign_of, signed_like
from pytest_medfaith.english.sentences import sentence_at
from pytest_medfaith.quantities.ages import IN_DECADES
from pytest_medfaith.quantities.arithmetic import computes, recomputed
from pytest_medfaith.quantities.calendar import YEAR_DAYS, is_between_dates
from pytest_medfaith.quantities.numerals import read_numerals
from pytest_medfaith.quantities.quantity import DOSES, Quantity, allowed_error, opposed_bounds, same_dimension
from pytest_medfaith.quantities.reader import read_quantities
from pytest_medfaith.quantities.roman import read_roman
from pytest_medfaith.quantities.strengths import in_equal_strength, read_derived_strengths
from pytest_medfaith.quantities.times import read_labelled_times

# Share of the claim's words, apart from the amount, that a sentence must hold. Then both are on the same
# matter, and the value of the sentence is compared with that of the claim.
SAME_STATEMENT = 0.6
SMALL = 12  # a count of up to so many things may be the writer's: "three drugs" for a list of three
MOST_TIMES = 4  # a patient's value is at most so many times as large or small as the bound beside it
_CASE_LOOK_BACK = 48  # characters
# The evidence need not state a patient's value that the claim compares with a threshold: "a man of 41",
# "20 mg for four months is reason for ...", "at 3,200 m".
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
_EXCEPTING = re.compile(r"\b(?:except|unless|apart from|other than|excluding)\b", re.IGNORECASE)
_MOST = re.compile(r"\b(?:most|(?:a|the) majority)\b", re.IGNORECASE)
_HALF = 0.5
_PRODUCT = re.compile(r"(?P<times>\d{1,2})\s?[×xX*]\s?\d")
_UP_TO_AMOUNT = re.compile(r"\s*(?:[^\W\d]+\s+){0,3}")
_OUTSIDE = re.compile(
    r"\b(?:high|low|raised|elevated|abnormal\w*|too|outside|excess\w*|hyper\w+|hypo\w+|deficien\w+|rare\w*|"
    r"unusual\w*|exceptional\w*|some|may|can|could|risk\w*|toxic\w*|danger\w*)\b",
    re.IGNORECASE,
)
_PATIENT = re.compile(r"[\w.]+[\s-](?:year|month|week|day)s?[\s-]old\s+\w", re.IGNORECASE)
_BODY = 1_000.0  # grams: more is no dose, but a weight
_ROUGH_KINDS = frozenset({"fraction", "multiple", "points", "count", "plain"})
# By themselves these frequencies need no source, but beside an amount they do.
_USUAL = frozenset({"daily", "every day", "each day", "weekly", "hourly", "monthly"})
_AMOUNT_NEAR = re.compile(r"\d")
_ONCE_A_DAY = re.compile(
    r"\b(?:a|per|each|every|one) (?:day|night|morning|evening)\b|\b(?:daily|nightly|bedtime|/day|/d|"
    r"24 hours)\b|\bat night\b|\bin the (?:morning|evening)\b",
    re.IGNORECASE,
)


def missing_amounts(claim: str, evidence: Evidence) -> Iterator[Missing]:
    """Yields a `Missing` of the kind "amount" for each quantity of `claim` that the evidence does not give.

    The evidence gives a quantity by stating it, in whatever unit, or by a step of arithmetic. If a sentence
    says the rest of the claim with a single other value, `instead` holds that value: "2.5 mg" for "25 mg".
    Small counts ("three drugs") need no evidence, but must not be bounded from the other side.
    """
    stated = read_quantities(claim)
    for quantity in stated:
        if _needs_no_source(quantity, claim):
            if other := _bounded_otherwise(quantity, claim, evidence.nearest):
                yield Missing("amount", quantity.start, quantity.end, instead=other)
        elif not _is_grounded(quantity, stated, claim, evidence):
            instead = _in_its_place(quantity, stated, claim, evidence)
            yield Missing("amount", quantity.start, quantity.end, instead=instead)


def _needs_no_source(quantity: Quantity, claim: str) -> bool:
    """Returns whether the claim may say the quantity although no evidence states it.

    True for "one", whole counts in words or up to 12, "a week", and "daily" without an amount beside it.
    False for "three and a half", which was measured.
    """
    words = claim[quantity.start : quantity.end].lower()
    in_digits = any(map(str.isdigit, words))
    is_counted = not in_digits and quantity.low % 1 == quantity.high % 1 == 0
    if words == "one" or (is_counted and quantity.dimension in ("count", "plain", "copies", "cells")):
        return True
    if quantity.dimension == "time" and not in_digits and (quantity.rough or words.startswith("one")):
        return True  # "a week", "half an hour", "one day"
    if quantity.dimension == "frequency" and words in _USUAL:
        return not _AMOUNT_NEAR.search(claim[max(0, quantity.start - 40) : quantity.end + 24])
    is_whole = quantity.high == int(quantity.high)
    return quantity.dimension == "count" and quantity.high <= SMALL and not quantity.bound and is_whole


def _is_grounded(quantity: Quantity, stated: Sequence[Quantity], claim: str, evidence: Evidence) -> bool:
    """Returns whether the evidence states the quantity of the claim, or the quantity follows from it.

    Where the evidence has the value only with the opposite bound ("at least 5" for "up to 5"), arithmetic
    does not help either. `stated` are all quantities of the claim.
    """
    opposed = False
    for text in evidence.in_order:
        if in_equal_strength(quantity, claim, text) or is_inverse(quantity, claim, text):
            return True
        if _is_counted_out(quantity, claim, text):
            return True
        known = [signed_like(other, quantity, claim=claim, text=text) for other in read_quantities(text)]
        known += read_labelled_times(text) if quantity.dimension == "time" else read_derived_strengths(text)
        same = [other for other in known if states(other, quantity, claim, text)]
        if any(not _is_opposed(quantity, other, claim, text) for other in same):
            return True
        if _names_number(quantity, claim, text, known):
            return True
        opposed = opposed or bool(same)
    if opposed:  # the evidence states the value, but bounds it from the other side
        return False
    return (
        (quantity.dimension == "frequency" and _spreads_total(quantity, stated, evidence))
        or (quantity.dimension == "time" and is_between_dates(quantity, evidence.whole))
        or _may_be_case(quantity, claim, evidence)
        or _follows(quantity, stated, claim, evidence)
    )


def _is_counted_out(quantity: Quantity, claim: str, text: str) -> bool:
    """Returns whether `text` has both factors of a product: "2 x 5 mg" follows from "two tablets of 5 mg"."""
    found = _PRODUCT.match(claim[quantity.start : quantity.end])
    if not found or quantity.dimension not in DOSES:
        return False
    times = float(found["times"])
    ends = [numeral.end for numeral in read_numerals(text) if numeral.value == times]
    return any(
        _UP_TO_AMOUNT.fullmatch(text, end, other.start)
        for other in read_quantities(text)
        if other.dimension == quantity.dimension
        and abs(other.low * times - quantity.low) <= allowed_error(other)
        for end in ends
        if end <= other.start
    )


def _is_opposed(quantity: Quantity, other: Quantity, claim: str, text: str) -> bool:
    """Returns whether both bound a value from opposite sides, as "at least 5" and "at most 5" do.

    A negation or exception in one of the texts evens that out: "not below 5".
    """
    sentence = sentence_at(text, other.start)
    if not opposed_bounds(quantity, other) and not _is_past_range(quantity, other, claim, sentence):
        return False
    excepted = len(_EXCEPTING.findall(sentence)) - len(_EXCEPTING.findall(claim))
    return (is_odd(claim) == is_odd(sentence)) == (excepted % 2 == 0)


def _is_past_range(quantity: Quantity, other: Quantity, claim: str, sentence: str) -> bool:
    """Returns whether the claim starts where a range of the sentence ends: "over 14" for "7 to 14".

    "Above 5.0 is high" is not such a claim for "normal is 3.5 to 5.0".
    """
    if other.bound or other.course or not other.low < other.high or _OUTSIDE.search(claim):
        return False
    past = (quantity.bound == "min" and quantity.low >= other.high - allowed_error(other)) or (
        quantity.bound == "max" and quantity.high <= other.low + allowed_error(other)
    )
    return past and shared_with(claim, quantity.start, quantity.end, sentence) >= SAME_STATEMENT


def _bounded_otherwise(quantity: Quantity, claim: str, sentence: str) -> str:
    """Returns the words of `sentence` that bound the claim's count from the other side, or ""."""
    if not quantity.bound or shared_with(claim, quantity.start, quantity.end, sentence) < SAME_STATEMENT:
        return ""
    known = [each for each in read_quantities(sentence) if same_dimension(each, quantity)]
    same = [other for other in known if ends_met(quantity, other)]
    opposed = [other for other in same if _is_opposed(quantity, other, claim, sentence)]
    return sentence[slice(opposed[0].start, opposed[0].end)] if opposed and len(opposed) == len(same) else ""


def _names_number(quantity: Quantity, claim: str, text: str, known: Sequence[Quantity]) -> bool:
    """Returns whether the text has the number of the quantity in words, or one of the two has no unit.

    "5" of the claim is in "5 mg" and "II"; "5 points" is in a bare "5". A dose needs its unit.

    Args:
        quantity: a quantity of the claim.
        claim: the text of the claim.
        text: a text of the evidence.
        known: the quantities of `text`.
    """
    words = claim[quantity.start : quantity.end]
    is_spelled = not any(map(str.isdigit, words))
    if is_spelled and re.search(rf"(?<![\w.,]){re.escape(words)}(?!\w)", text, re.IGNORECASE):
        same = (other for other in known if states_ends(other, quantity))
        return not any(_is_opposed(quantity, other, claim, text) for other in same)
    mine = {numeral.value for numeral in read_numerals(words)}
    if not mine:
        once = quantity.dimension == "frequency" and quantity.low == quantity.high == 1
        return once and _says_once_a_day(text, known)
    if quantity.dimension in ("plain", "count"):
        theirs = {numeral.value for numeral in read_numerals(text)} | read_roman(text)
        theirs |= {
            end / YEAR_DAYS for other in known if other.role == "age" for end in (other.low, other.high)
        }
        if sign_of(quantity, claim) < 0:  # "down 2.3" for "-2.3"
            theirs |= {abs(number) for number in theirs}
        opposed = (other for other in known if opposed_bounds(quantity, other))
        return mine <= theirs and not any(ends_met(quantity, other) for other in opposed)
    plain = (other for other in known if other.dimension == "plain" and text[other.start].isdigit())
    bare = {end for other in plain for end in (other.low, other.high)}
    return quantity.dimension not in DOSES and mine <= bare


def _says_once_a_day(text: str, known: Sequence[Quantity]) -> bool:
    """Returns whether `text` speaks of a day or night, as "at bedtime" does, other than in "twice a day"."""
    others = [each for each in known if each.dimension == "frequency" and each.high != 1]
    return any(
        not any(each.start <= found.start() < each.end for each in others)
        for found in _ONCE_A_DAY.finditer(text)
    )


def _spreads_total(quantity: Quantity, stated: Sequence[Quantity], evidence: Evidence) -> bool:
    """Returns whether the frequency divides an amount whose total a day the evidence states.

    "10 mg every eight hours" divides "30 mg a day".
    """
    rate = (quantity.low, quantity.high)
    spread = [each for each in stated if each.times == rate]
    mine = spread[-1].daily if spread else None
    totals = (other.daily for other in read_quantities(evidence.nearest))
    return mine is not None and any(
        ends_met(mine, total) for total in totals if total and total.dimension == mine.dimension
    )


def _may_be_case(quantity: Quantity, claim: str, evidence: Evidence) -> bool:
    """Returns whether the quantity may be a patient's value that the claim compares with the evidence.

    "A man of 41" need not be in evidence on "adults over 40".
    """
    ahead = claim[max(0, quantity.start - _CASE_LOOK_BACK) : quantity.start]
    is_weight = quantity.dimension == "mass" and quantity.low >= _BODY
    if quantity.dimension == "area" and _SURFACE_BEFORE.search(claim[: quantity.start]):
        return True
    if quantity.role == "age" and (said := _is_age_of_evidence(quantity, claim, evidence)) is not None:
        return said
    is_case = bool(_CASE_BEFORE.search(ahead))
    if is_case and (is_weight or quantity.role == "age"):
        return True
    is_case = is_case or bool(_JUDGED.search(claim) or _CASE_AFTER.match(claim, quantity.end))
    near = evidence.nearest
    for text in evidence.in_order:
        for other in read_quantities(text):
            has_unit = other.dimension not in ("plain", "count")
            if quantity.dimension == "plain" and has_unit and sentence_at(text, other.start) not in near:
                continue  # an INR of 9 is no case of "at most every 12 weeks" in another sentence
            value = _without_unit(other, text) if quantity.dimension == "plain" else other
            if not same_dimension(quantity, value):
                continue
            if _satisfies(quantity, value) or (is_case and quantity.dimension not in DOSES):
                return True
            if _fills(quantity, value):
                return True
    return False


def _is_age_of_evidence(quantity: Quantity, claim: str, evidence: Evidence) -> bool | None:
    """Returns whether an age of the claim may be that of the sentence that decided; None in doubt.

    True for "a woman in her sixties" and 64 years. False for "from 16 years" and "aged 6 and over", and for
    78 years where the sentence is on "a girl of seven" or on "those aged 50 to 74".
    """
    ages = [other for other in read_quantities(evidence.nearest) if other.role == "age"]
    if IN_DECADES.search(claim[quantity.start : quantity.end]):
        return any(other.low <= quantity.high and quantity.low <= other.high for other in ages) or None
    if not ages or _JUDGED.search(claim):
        return None
    if quantity.bound or quantity.low < quantity.high:
        return False if all(other.bound or other.low < other.high for other in ages) else None
    if len(ages) > 1 or is_odd(claim) != is_odd(evidence.nearest):
        return None
    same = shared_with(claim, quantity.start, quantity.end, evidence.nearest) >= SAME_STATEMENT
    return False if same and _is_of_another_age(quantity, ages[0], evidence.nearest) else None


def _is_of_another_age(quantity: Quantity, age: Quantity, sentence: str) -> bool:
    """Returns whether a single age of the claim is outside the range `age`, or `age` is that of a patient."""
    if age.bound or age.low < age.high:
        return not _is_within(quantity, age)
    return bool(_PATIENT.match(sentence, age.start))


def _fills(quantity: Quantity, other: Quantity) -> bool:
    """Returns whether a range of frequencies ends at the bound of `other`.

    "Once or twice a day" is "up to twice a day". Other quantities never fill a bound: "88 to 92 %" is not
    "below 92 %".
    """
    is_range = quantity.low < quantity.high and not quantity.bound
    end = quantity.high if other.bound == "max" else quantity.low
    alike = quantity.dimension == other.dimension == "frequency"
    return is_range and alike and bool(other.bound) and math.isclose(end, other.high)


def _without_unit(other: Quantity, text: str) -> Quantity:
    """Returns `other` as written and without its unit, for a bare number of a claim: 2 for "2 weeks"."""
    values = [numeral.value for numeral in read_numerals(text[other.start : other.end])]
    return replace(other, low=min(values), high=max(values), dimension="plain") if values else other


def _satisfies(quantity: Quantity, other: Quantity) -> bool:
    """Returns whether a single value is inside the range or bound of `other`: 41 years for "over 40".

    It must not be far from it, and must not be a frequency.
    """
    if quantity.bound or quantity.low < quantity.high or quantity.dimension == "frequency":
        return False
    if not other.bound and other.low == other.high:
        return False
    near = abs(other.high) <= MOST_TIMES * abs(quantity.high)
    near = near and abs(quantity.low) <= MOST_TIMES * abs(other.low)
    return near and _is_within(quantity, other)


def _is_within(quantity: Quantity, other: Quantity) -> bool:
    """Returns whether both ends of `quantity` are among the values that `other` allows."""
    low, high = other.interval
    return low <= quantity.low and quantity.high <= high


def _follows(quantity: Quantity, stated: Sequence[Quantity], claim: str, evidence: Evidence) -> bool:
    """Returns whether the quantity follows from the deciding sentence: by a bound, by "most", by arithmetic.

    Arithmetic reads all evidence where the claim says that it computes, and for "a third" and the like.
    """
    near = (*read_quantities(evidence.nearest), *read_derived_strengths(evidence.nearest))
    if any(_bounds(quantity, other) for other in near):
        return True
    at_least_half = (quantity.dimension, quantity.bound, quantity.low) == ("fraction", "min", _HALF)
    if at_least_half and _MOST.search(evidence.nearest):
        return True
    if recomputed(quantity, (*near, *stated), claim):
        return True
    is_spelled = not any(map(str.isdigit, claim[quantity.start : quantity.end]))
    freely = computes(claim) or (quantity.dimension in ("fraction", "multiple") and is_spelled)
    return freely and recomputed(quantity, (*near, *stated, *evidence.quantities), claim)


def _bounds(quantity: Quantity, other: Quantity) -> bool:
    """Returns whether a bound of the claim holds of a value near it: "fewer than half" of 42 %.

    Near is from half to twice the bound. Only shares, multiples, points and counts follow in this way.
    """
    if quantity.dimension != other.dimension or quantity.dimension not in _ROUGH_KINDS:
        return False
    if not quantity.bound or other.bound:
        return False
    near = 0.5 * abs(quantity.high) <= abs(other.high) <= 2 * abs(quantity.high)
    return near and _is_within(other, quantity)


def _in_its_place(quantity: Quantity, stated: Sequence[Quantity], claim: str, evidence: Evidence) -> str:
    """Returns the only other value in a sentence that says the rest of the claim, or "".

    Example: "2.5 mg" for the "25 mg" of "Take 25 mg once a day".
    """
    text = evidence.nearest
    if shared_with(claim, quantity.start, quantity.end, text) < SAME_STATEMENT:
        return ""
    if is_odd(claim) != is_odd(text):
        return ""
    signed = (signed_like(other, quantity, claim=claim, text=text) for other in read_quantities(text))
    rivals = {
        text[other.start : other.end]
        for other in signed
        if other.dimension == quantity.dimension
        and not any(ends_met(other, mine) for mine in stated if mine.dimension == other.dimension)
    }
    return only_of(rivals)
