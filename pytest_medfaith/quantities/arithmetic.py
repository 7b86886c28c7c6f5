"""Amounts that a claim may have computed from those of its evidence: totals, differences, a dose by weight, tablets times their strength."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations

from pytest_medfaith.english.stems import word_key
from pytest_medfaith.quantities.quantity import ROUGHNESS, Quantity, allowed_error

_BEYOND = 0.5  # of a bound: how far past it a value may lie of which the bound is said
_ROUNDED = 0.02  # of a computed value: people round what they compute
_COMPARES = re.compile(
    r"\b(?:more|less|fewer|lower|higher|longer|shorter|sooner|earlier|later|faster|slower|older|younger|"
    r"rarer|likelier|difference|gap) (?:than|at|by|with)\b|\bin (?:all|total)\b",
    re.IGNORECASE,
)
_IN_ALL = re.compile(r"\b(?:total(?:l?ing|l?ed)?|altogether|in all|add(?:s|ing|ed)? up)\b", re.IGNORECASE)
_DAILY = re.compile(
    r"\b(?:day|daily|24|night|week|weekly|month|total|course|altogether|in all|supply)\b", re.IGNORECASE
)
_MOST_THINGS = 30
_MOST_DOSES = 12  # that a claim may have added up: "6 mg in all" of 2 mg at three times
_MOST_PARTS = 6  # of a whole that a sentence counts up: "50 patients, 30 and 20"
_MOST = 60  # quantities of the evidence that are computed with, the nearest first: pairs of more are many, and chance hits among them too
_BOUNDED = frozenset({"fraction", "multiple", "points", "count"})
_DOSES = frozenset({"mass", "volume", "unit", "amount", "equivalent"})
_FAMILIES = (("count", "plain"), ("fraction", "points"))  # of kinds that are added up alike
# What an amount may be the strength of.
_THINGS = frozenset(
    map(
        word_key,
        """tablet pill capsule dose puff drop sachet vial ampoule spoon teaspoon injection suppository patch
        spray inhalation""".split(),
    )
)
_SUM = re.compile(
    r"\b(?:total|totals|total(?:l?ing|l?ed)|add(?:s|ing|ed)? up|altogether|in all|overall|whole|entire|"
    r"combined|together|sum|plus|tablets?|pills?|capsules?|supply|packs?)\b",
    re.IGNORECASE,
)
# What speaks of the rest of a whole: "40% did not respond" of "60% responded".
_COMPLEMENT = re.compile(
    r"\b(?:no|not|never|none|n['’]t|without|rest|remain\w*|left|leav\w*|kept|keeps?|retain\w*|others?|"
    r"fail\w*|free|miss\w*|surviv\w*|alive|di(?:e|ed|es)|deaths?|mortality|lost|avoid\w*|escap\w*|spar\w*|"
    r"negative|positive|false|un\w+|in(?:effective|complete|active)\w*|non\w*|"
    r"reduc\w*|lower\w*|cut\w*|fall|fell|drop\w*|decreas\w*|effective\w*|efficacy|protect\w*|prevent\w*|"
    r"stopp\w*|dropp\w*|discontinu\w*|withdr\w*|relaps\w*|recur\w*|instead|rather|other|against|except|but|"
    r"only|less|fewer)\b|n['’]t\b",
    re.IGNORECASE,
)
_DIFFERENCE = re.compile(
    r"\b(?:differ\w*|gap|reduc\w+|increas\w+|decreas\w+|rise|rose|fall|fell|drop\w*|gain\w*|loss|lost|"
    r"remain\w*|rest|left|sooner|earlier|later|faster|slower|longer|shorter|older|younger|rarer|span\w*|by"
    r"|(?<!no )(?:more|less|fewer|lower|higher) (?!than \d)\w+)\b",
    re.IGNORECASE,
)


def recomputed(quantity: Quantity, at_hand: Sequence[Quantity], claim: str) -> bool:
    """Returns whether `quantity` of the claim follows from the quantities `at_hand`, by one step that the claim's words allow.

    Args:
        quantity: of the claim.
        at_hand: of the evidence, the nearest first, and the claim's others.
        claim: whose words say what was computed: a total, a difference.
    """
    others = [other for other in at_hand if other != quantity][:_MOST]
    rough = (quantity.rough and not quantity.step) or (
        quantity.dimension in ("fraction", "multiple") and quantity.step == 0
    )
    allowed = max(
        allowed_error(replace(quantity, rough=rough)), (ROUGHNESS if rough else _ROUNDED) * abs(quantity.high)
    )
    # "more than halved" holds of a cut by 61 %
    beyond = rough or quantity.dimension in _BOUNDED
    below = _BEYOND * abs(quantity.low) if beyond and quantity.bound else allowed
    above = _BEYOND * abs(quantity.high) if beyond and quantity.bound else allowed
    low_met = high_met = False
    for value in _results(quantity, others, claim):
        low_met = low_met or quantity.low - below <= value <= quantity.low + above
        high_met = high_met or quantity.high - below <= value <= quantity.high + above
        if low_met and high_met:
            return True
    return False


def computes(claim: str) -> bool:
    """Returns whether the words of `claim` speak of a total or a difference."""
    return bool(_SUM.search(claim) or _COMPARES.search(claim))


def _results(quantity: Quantity, others: Sequence[Quantity], claim: str) -> Iterator[float]:
    kinds = next((family for family in _FAMILIES if quantity.dimension in family), (quantity.dimension,))
    same = [value for other in others if other.dimension in kinds for value in {other.low, other.high}]
    yield from same
    if quantity.dimension in ("fraction", "multiple", "points"):
        yield from _shares(quantity, others, same, claim)
    if _SUM.search(claim):
        yield from (one + two for one, two in combinations(same, 2))
    if _IN_ALL.search(claim):
        yield from (one * times for one in same for times in range(2, _MOST_DOSES + 1))
    if _DIFFERENCE.search(claim):
        yield from (abs(one - two) for one, two in combinations(same, 2))
    yield from _products(quantity, others, claim)


def _shares(
    quantity: Quantity, others: Sequence[Quantity], same: Sequence[float], claim: str
) -> Iterator[float]:
    """Yields complements, ratios of two like amounts and what a ratio such as 0.79 takes off."""
    if quantity.dimension != "multiple":
        if _COMPLEMENT.search(claim):
            yield from (1 - one for one in same)
        yield from (
            abs(1 - value)
            for other in others
            if other.dimension in ("plain", "count", "multiple")
            for value in (other.low, other.high)
        )
        yield from (
            value
            for other in others
            if other.dimension == "plain"
            for value in (other.low, other.high)
            if 0 < value < 1
        )
    else:
        yield from (
            value
            for other in others
            if other.dimension in ("plain", "fraction")
            for value in (other.low, other.high)
        )
    counted = [other.high for other in others if other.dimension in ("count", "plain")][:_MOST_PARTS]
    yield from (
        one / total
        for total in {sum(counted[:size]) for size in range(2, len(counted) + 1)}
        if total
        for one in counted
    )
    for one, two in combinations(others, 2):
        if one.dimension == two.dimension or {one.dimension, two.dimension} <= {"plain", "count"}:
            small, large = sorted((abs(one.high), abs(two.high)))
            if small:
                yield from (small / large, large / small, 1 - small / large, large / small - 1)


def _products(quantity: Quantity, others: Sequence[Quantity], claim: str) -> Iterator[float]:
    """Yields an amount by a weight or an area, tablets times their strength, and what doses make in a day or a course where the claim says so."""
    for one in others:
        numerator, _, below = one.dimension.partition("/")
        if numerator == quantity.dimension and below:
            yield from (
                one.high * value
                for other in others
                if other.dimension == below
                for value in (other.low, other.high)
            )
            yield from (
                one.low * value
                for other in others
                if other.dimension == below
                for value in (other.low, other.high)
            )
        if one.dimension != quantity.dimension or numerator not in _DOSES:
            continue
        yield from _of_things(one, others)
        if _DAILY.search(claim):
            yield from _over_days(one, others)


def _of_things(one: Quantity, others: Sequence[Quantity]) -> Iterator[float]:
    for other in others:
        if other.dimension == "count" and 0 < other.high <= _MOST_THINGS and other.heads & _THINGS:
            yield from (one.low * other.low, one.high * other.high, one.high / other.high)


def _over_days(one: Quantity, others: Sequence[Quantity]) -> Iterator[float]:
    rates = (
        [one.times]
        if one.times
        else [(other.low, other.high) for other in others if other.dimension == "frequency"]
    )
    days = [other.high for other in others if other.dimension == "time" and other.high >= 1]
    for low, high in rates:
        yield from (one.low * low, one.high * high, one.high / (high or 1.0))
        yield from (one.high * high * each for each in days)
