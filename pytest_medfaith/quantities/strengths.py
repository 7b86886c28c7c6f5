"""Strengths of solutions: "80 mg in 2 mL", "40 mg per mL" and "a 4% solution" are one amount in a volume."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

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
# A percentage is a strength where it stands at a solution, or at a volume: grams in 100 mL.
_DISSOLVED = re.compile(
    r"[\w\s-]{0,24}\b(?:solution|liquid|emulsion|drops|lotion|syrup|injection|infusion|suspension|heavy|"
    r"elixir|mouthwash)\b",
    re.IGNORECASE,
)
_VOLUME_NEAR = re.compile(r"\b\d[\d.,]*\s?m[lL]\b")
_NEAR = 48  # characters
_GRAMS_A_LITRE = 1_000.0  # for a share of 1: "100%" would be 100 g in 100 mL


@lru_cache(maxsize=8_192)
def read_strengths(text: str) -> tuple[Quantity, ...]:
    """Returns the amounts in a volume that `text` states, per litre, each with the span of all the words that say it."""
    return tuple(_strengths(text))


def read_made_strengths(text: str) -> tuple[Quantity, ...]:
    """Returns the strengths that no unit says ("mg/mL"), but two quantities or a percentage do."""
    written = {
        (quantity.start, quantity.end)
        for quantity in read_quantities(text)
        if quantity.dimension != "fraction"
    }
    return tuple(
        strength for strength in read_strengths(text) if (strength.start, strength.end) not in written
    )


def _strengths(text: str) -> Iterator[Quantity]:
    known = read_quantities(text)
    for index, quantity in enumerate(known):
        if (
            quantity.dimension == "fraction"
            and "%" in text[quantity.start : quantity.end]
            and not quantity.role
        ):
            yield from _of_share(quantity, text)
        solute, _, below = quantity.dimension.partition("/")
        if solute not in _SOLUTES or quantity.low <= 0:
            continue
        if below == "volume":
            yield Quantity(quantity.low, quantity.high, quantity.dimension, quantity.start, quantity.end)
        if below:
            continue
        following = next((other for other in known[index + 1 :] if other.dimension != "frequency"), None)
        if (
            following
            and following.dimension == "volume"
            and following.low > 0
            and _JOINT.fullmatch(text, quantity.end, following.start)
        ):
            yield _made(quantity, following.high, following.end)
        elif one := _ONE_VOLUME.match(text, quantity.end):
            yield _made(quantity, unit_of(one["unit"])[0], one.end())


def _made(amount: Quantity, volume: float, end: int) -> Quantity:
    return Quantity(
        amount.low / volume, amount.high / volume, f"{amount.dimension}/volume", amount.start, end
    )


def _of_share(share: Quantity, text: str) -> Iterator[Quantity]:
    around = text[max(0, share.start - _NEAR) : share.end + _NEAR]
    if share.low > 0 and (_DISSOLVED.match(text, share.end) or _VOLUME_NEAR.search(around)):
        yield Quantity(
            share.low * _GRAMS_A_LITRE, share.high * _GRAMS_A_LITRE, "mass/volume", share.start, share.end
        )


def equal_strengths(one: Quantity, other: Quantity) -> bool:
    """Returns whether two strengths are the same, to a hundredth."""
    return one.dimension == other.dimension and all(
        abs(mine - theirs) <= 0.01 * abs(theirs)
        for mine, theirs in ((one.low, other.low), (one.high, other.high))
    )


def in_equal_strength(quantity: Quantity, claim: str, evidence: str) -> bool:
    """Returns whether `quantity` is part of a strength of `claim` that `evidence` states too, maybe for another volume."""
    own = [
        strength
        for strength in read_made_strengths(claim)
        if strength.start <= quantity.start and quantity.end <= strength.end
    ]
    return any(equal_strengths(mine, theirs) for mine in own for theirs in read_strengths(evidence))
