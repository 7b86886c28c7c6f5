"""Amounts that a claim may have computed from its evidence: totals, differences, a dose by weight.

Example: "30 mg a day" follows from "10 mg three times a day".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations

from pytest_medfaith.english.stems import word_key
from pytest_medfaith.quantities.quantity import (
    DOSES,
    MOST_DOSES,
    ROUGHNESS,
    Quantity,
    allowed_error,
    same_dimension,
)

_BEYOND = 0.5  # share of a bound by which a value may exceed it: a cut by 61 % is "more than halved"
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
_MOST_PARTS = 6  # of a whole that a sentence counts: "50 patients, 30 and 20"
# Quantities to compute with, the nearest first. With more, too many pairs would match by chance.
_MOST_OTHERS = 60
_BOUNDED = frozenset({"fraction", "multiple", "points", "count"})
_FAMILIES = (("count", "plain"), ("fraction", "points"))  # dimensions whose values are added up together
# An amount may be the strength of these things: "two tablets of 5 mg".
_THINGS = frozenset(
    map(
        word_key,
        """tablet pill capsule dose puff drop sachet vial ampoule spoon teaspoon injection suppository patch
        spray inhalation portion serving slice""".split(),
    )
)
_SUM = re.compile(
    r"\b(?:total|totals|total(?:l?ing|l?ed)|add(?:s|ing|ed)? up|altogether|in all|overall|whole|entire|"
    r"combined|together|sum|plus|tablets?|pills?|capsules?|supply|packs?)\b",
    re.IGNORECASE,
)
# These words speak of the rest of a whole: "40% did not respond" follows from "60% responded".
_COMPLEMENT = re.compile(
    r"\b(?:no|not|never|none|n['’]t|without|rest|remain\w*|left|leav\w*|kept|keeps?|retain\w*|others?|"
    r"fail\w*|free|miss\w*|surviv\w*|alive|di(?:e|ed|es)|deaths?|mortality|lost|avoid\w*|escap\w*|spar\w*|"
    r"negative|positive|false|un\w+|in(?:effective|complete|active)\w*|non\w*|"
    r"reduc\w*|lower\w*|cut\w*|fall|fell|drop\w*|"
    r"(?:come|came|go|went|gone|brought) down|decreas\w*|effective\w*|efficacy|protect\w*|prevent\w*|"
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
    """Returns whether `quantity` follows from those in `at_hand` by a step that the claim's words allow.

    Example: 10 mg follows from "two tablets of 5 mg". A sum needs a word such as "total" in the claim.

    Args:
        quantity: a quantity of the claim.
        at_hand: the quantities of the evidence, the nearest first, and the others of the claim.
        claim: the text of the claim.
    """
    others = [other for other in at_hand if other != quantity][:_MOST_OTHERS]
    rough = not quantity.step and (quantity.rough or quantity.dimension in ("fraction", "multiple"))
    allowed = max(
        allowed_error(replace(quantity, rough=rough)), (ROUGHNESS if rough else _ROUNDED) * abs(quantity.high)
    )
    below = above = allowed
    if quantity.bound and (rough or quantity.dimension in _BOUNDED):
        below, above = _BEYOND * abs(quantity.low), _BEYOND * abs(quantity.high)
    low_met = high_met = False
    for value in _results(quantity, others, claim):
        low_met = low_met or quantity.low - below <= value <= quantity.low + above
        high_met = high_met or quantity.high - below <= value <= quantity.high + above
        if low_met and high_met:
            return True
    return False


def computes(claim: str) -> bool:
    """Returns whether the words of `claim` speak of a total or a difference: "in all", "more than"."""
    return bool(_SUM.search(claim) or _COMPARES.search(claim))


def _results(quantity: Quantity, others: Sequence[Quantity], claim: str) -> Iterator[float]:
    """Yields the values of the dimension of `quantity` that a step from `others` gives."""
    family = next((family for family in _FAMILIES if quantity.dimension in family), (quantity.dimension,))
    same = _values(others, *family)
    yield from same
    if quantity.dimension in ("fraction", "multiple", "points"):
        yield from _shares(quantity, others, claim)
    if _SUM.search(claim):
        yield from (value + other for value, other in combinations(same, 2))
    if _IN_ALL.search(claim):
        yield from (value * times for value in same for times in range(2, MOST_DOSES + 1))
    if _DIFFERENCE.search(claim):
        yield from (abs(value - other) for value, other in combinations(same, 2))
    yield from _products(quantity, others, claim)


def _values(quantities: Sequence[Quantity], *dimensions: str) -> list[float]:
    """Returns the values of the quantities with these dimensions; a range has two, its ends."""
    return [value for each in quantities if each.dimension in dimensions for value in {each.low, each.high}]


def _shares(quantity: Quantity, others: Sequence[Quantity], claim: str) -> Iterator[float]:
    """Yields complements, ratios of two like amounts, and the reduction that a ratio means: 0.21 for 0.79."""
    if quantity.dimension == "multiple":
        yield from _values(others, "plain", "fraction")
        if _COMPLEMENT.search(claim):
            yield from (1 - share for share in _values(others, "fraction", "points") if share < 1)
    else:
        if _COMPLEMENT.search(claim):
            yield from (1 - share for share in _values(others, "fraction", "points"))
        yield from (abs(1 - ratio) for ratio in _values(others, "plain", "count", "multiple"))
        yield from (share for share in _values(others, "plain") if 0 < share < 1)
    counts = [other.high for other in others if other.dimension in ("count", "plain")][:_MOST_PARTS]
    for total in {sum(counts[:size]) for size in range(2, len(counts) + 1)} - {0.0}:
        yield from (count / total for count in counts)
    for one, two in combinations(others, 2):
        if same_dimension(one, two):
            small, large = sorted((abs(one.high), abs(two.high)))
            if small:
                yield from (small / large, large / small, 1 - small / large, large / small - 1)


def _products(quantity: Quantity, others: Sequence[Quantity], claim: str) -> Iterator[float]:
    """Yields a dose by weight or area, tablets times their strength, and doses added up over days."""
    for amount in others:
        numerator, _, below = amount.dimension.partition("/")
        if numerator == quantity.dimension and below:
            for value in _values(others, below):
                yield from (amount.high * value, amount.low * value)
        if amount.dimension != quantity.dimension or numerator not in DOSES:
            continue
        for count in others:
            if count.dimension == "count" and 0 < count.high <= _MOST_THINGS and count.heads & _THINGS:
                yield from (amount.low * count.low, amount.high * count.high, amount.high / count.high)
        if _DAILY.search(claim):
            yield from _over_days(amount, others)


def _over_days(dose: Quantity, others: Sequence[Quantity]) -> Iterator[float]:
    """Yields what a dose makes in a day and in a course, and the single dose if `dose` is a day's dose."""
    frequencies = [(other.low, other.high) for other in others if other.dimension == "frequency"]
    days = [other.high for other in others if other.dimension == "time" and other.high >= 1]
    for low, high in [dose.times] if dose.times else frequencies:
        yield from (dose.low * low, dose.high * high, dose.high / (high or 1.0))
        yield from (dose.high * high * each for each in days)
