"""Strengths of solutions: "80 mg in 2 mL", "40 mg per mL" and "a 4% solution" are the same."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from pytest_medfaith import defaults
from pytest_medfaith.quantities.quantity import Quantity
from pytest_medfaith.quantities.reader import read_quantities
from pytest_medfaith.quantities.units import unit_of

_SOLUTES = frozenset({"mass", "unit", "amount", "equivalent"})
_JOINT = re.compile(
    r"\s*\(?\s*(?:(?:daily|a day|per day)\s+)?(?:in(?:\s+(?:each|every))?|per|for (?:each|every)|as|"
    r"to (?:each|every)|/)\s+",
    re.IGNORECASE,
)
_ONE_VOLUME = re.compile(
    rf"{_JOINT.pattern}(?:an?\s+|one\s+)?(?P<unit>m[lL]|millilit(?:re|er)|lit(?:re|er)|[lL]|"
    rf"teaspoon(?:ful)?|tablespoon(?:ful)?)\b(?!\s+of\b)",
    re.IGNORECASE,
)
# A percentage means grams in 100 mL if it is that of a solution, or near a volume.
_DISSOLVED = re.compile(
    r"[\w\s-]{0,24}\b(?:solution|liquid|emulsion|drops|lotion|syrup|injection|infusion|suspension|heavy|"
    r"elixir|mouthwash)\b",
    re.IGNORECASE,
)
_VOLUME_NEAR = re.compile(r"\b\d[\d.,]*\s?m[lL]\b")
_NEAR = 48  # characters
_GRAMS_A_LITRE = 1_000.0  # of a share of 1: "100%" would be 100 g in 100 mL


@lru_cache(maxsize=defaults.TEXTS_KEPT)
def read_strengths(text: str) -> tuple[Quantity, ...]:
    """Returns the amounts per volume in `text`, per litre, each with the span of all its words.

    "80 mg in 2 mL" is 40 grams per litre.
    """
    return tuple(_strengths(text))


def read_derived_strengths(text: str) -> tuple[Quantity, ...]:
    """Returns the strengths that two quantities or a percentage state, not a unit such as "mg/mL"."""
    written = {
        (quantity.start, quantity.end)
        for quantity in read_quantities(text)
        if quantity.dimension != "fraction"
    }
    return tuple(
        strength for strength in read_strengths(text) if (strength.start, strength.end) not in written
    )


def in_equal_strength(quantity: Quantity, claim: str, evidence: str) -> bool:
    """Returns whether `quantity` is part of a strength of `claim` that `evidence` states too.

    The evidence may state it for another volume: "40 mg per mL" is "80 mg in 2 mL".
    """
    strengths = [
        strength
        for strength in read_derived_strengths(claim)
        if strength.start <= quantity.start and quantity.end <= strength.end
    ]
    return any(_equal(mine, theirs) for mine in strengths for theirs in read_strengths(evidence))


def _strengths(text: str) -> Iterator[Quantity]:
    """Yields the strengths of `text`, see `read_strengths`."""
    known = read_quantities(text)
    for index, quantity in enumerate(known):
        start, end = quantity.start, quantity.end
        if _is_concentration(quantity, text):
            low, high = quantity.low * _GRAMS_A_LITRE, quantity.high * _GRAMS_A_LITRE
            yield Quantity(low, high, "mass/volume", start, end)
        solute, _, below = quantity.dimension.partition("/")
        if solute not in _SOLUTES or quantity.low <= 0:
            continue
        if below == "volume":
            yield Quantity(quantity.low, quantity.high, quantity.dimension, start, end)
        if below:
            continue
        following = next((other for other in known[index + 1 :] if other.dimension != "frequency"), None)
        if (
            following
            and following.dimension == "volume"
            and following.low > 0
            and _JOINT.fullmatch(text, end, following.start)
        ):
            volume, end = following.high, following.end
        elif unit := _ONE_VOLUME.match(text, end):
            volume, end = unit_of(unit["unit"])[0], unit.end()
        else:
            continue
        yield Quantity(quantity.low / volume, quantity.high / volume, f"{solute}/volume", start, end)


def _is_concentration(quantity: Quantity, text: str) -> bool:
    """Returns whether a percentage tells how much of a solution is dissolved: "a 4% solution"."""
    start, end = quantity.start, quantity.end
    if quantity.dimension != "fraction" or quantity.role or quantity.low <= 0 or "%" not in text[start:end]:
        return False
    around = text[max(0, start - _NEAR) : end + _NEAR]
    return bool(_DISSOLVED.match(text, end) or _VOLUME_NEAR.search(around))


def _equal(strength: Quantity, other: Quantity) -> bool:
    """Returns whether two strengths are the same, to a hundredth."""
    return (
        strength.dimension == other.dimension
        and abs(strength.low - other.low) <= 0.01 * abs(other.low)
        and abs(strength.high - other.high) <= 0.01 * abs(other.high)
    )
