"""Whether evidence states an amount of a claim in another form.

Such forms are another unit, a total a day, a decimal for a percentage, an amount for each kilogram.
"""

from __future__ import annotations

import re
from dataclasses import replace

from pytest_medfaith.english.words import content_keys
from pytest_medfaith.quantities.fractions import read_multiples, read_shares
from pytest_medfaith.quantities.numerals import read_numerals
from pytest_medfaith.quantities.quantity import ROUGHNESS, Quantity, allowed_error

ROUGH_NUMBER = 0.1  # of the value of "about 3.5"
_SAME_DECIMAL = 0.0005
_ROUNDED = 0.02  # of a rate that was computed from another
_MANY_CHARGES = re.compile(
    r"\b(?:calcium|magnesium|phosphate|sul[fp]h?ate|iron|zinc|barium)\b", re.IGNORECASE
)
_EACH_KILOGRAM = re.compile(
    r"\b(?:every|each|per|for a)\s+(?:extra\s+|lost\s+)?(?:kg|kilo\w*)\b", re.IGNORECASE
)


def states(other: Quantity, quantity: Quantity, claim: str, text: str) -> bool:
    """Returns whether `other` of `text` states the value of `quantity` of `claim`, in whatever form.

    "30 %" states "0.3", for example.
    """
    return (
        states_ends(other, quantity)
        or _states_for_each(other, quantity, claim, text)
        or _is_decimal(quantity, other)
        or _is_monovalent(quantity, other, claim)
    )


def states_ends(other: Quantity, quantity: Quantity) -> bool:
    """Returns whether `other` states the ends of `quantity`: as an amount, as a total a day, or as a rate.

    "10 mg a day" states "5 mg twice a day", and "every 8 hours" states "three times a day".
    """
    if other.dimension == quantity.dimension:
        return any(ends_met(mine, theirs) for mine in quantity.readings for theirs in other.readings)
    if quantity.dimension == "frequency" and other.times:
        rates = other.times
    elif {quantity.dimension, other.dimension} == {"frequency", "time"} and other.low > 0:
        rates = (1 / other.high, 1 / other.low)
    else:
        return False
    allowed = _slack(quantity)
    return all(
        min(abs(end - rate) for rate in rates) <= max(allowed, _ROUNDED * abs(end))
        for end in (quantity.low, quantity.high)
    )


def ends_met(quantity: Quantity, other: Quantity) -> bool:
    """Returns whether each end of `quantity` is the lower or the upper end of `other`, within their error.

    "5 mg" meets "5 to 10 mg", since both of its ends are 5; "5 to 8 mg" does not. The error is that of
    rounding, and more for "about 5". Dimensions are not compared.
    """
    mine, theirs = max(_slack(quantity), 1e-9 * abs(quantity.high)), _slack(other)
    return all(
        min(abs(end - other.low), abs(end - other.high)) <= max(mine, min(theirs, ROUGHNESS * abs(end)))
        for end in (quantity.low, quantity.high)
    )


def _slack(quantity: Quantity) -> float:
    """Returns how far off a value may be, in its base unit: a tenth of it for "about 3.5".

    It is more for "half" and "a week", and the rounding for an exact number.
    """
    if quantity.rough and quantity.step:
        return max(ROUGH_NUMBER * abs(quantity.high), allowed_error(replace(quantity, rough=False)))
    return allowed_error(quantity)


def _states_for_each(other: Quantity, quantity: Quantity, claim: str, text: str) -> bool:
    """Returns whether both are amounts for each kilogram: "/kg" in `text`, in words in the claim.

    "Every kilogram lost takes 1 mm Hg off" is "1 mm Hg/kg".
    """
    if other.dimension != f"{quantity.dimension}/mass" or not _EACH_KILOGRAM.search(claim):
        return False
    mine, theirs = (
        {numeral.value for numeral in read_numerals(words)}
        for words in (claim[quantity.start : quantity.end], text[other.start : other.end])
    )
    return mine == theirs


def _is_decimal(quantity: Quantity, other: Quantity) -> bool:
    """Returns whether one of the two is a decimal for the percentage of the other: "0.88" for "88%"."""
    plain, share = (quantity, other) if quantity.dimension == "plain" else (other, quantity)
    if (plain.dimension, share.dimension) != ("plain", "fraction") or not 0 < plain.low <= plain.high < 1:
        return False
    return abs(plain.low - share.low) < _SAME_DECIMAL and abs(plain.high - share.high) < _SAME_DECIMAL


def _is_monovalent(quantity: Quantity, other: Quantity, claim: str) -> bool:
    """Returns whether one is in millimoles, the other in milliequivalents, and the numbers are the same.

    That is right for ions with a single charge. False for claims on calcium, magnesium and the like.
    """
    numerators = {each.dimension.split("/")[0] for each in (quantity, other)}
    below = {each.dimension.partition("/")[2] for each in (quantity, other)}
    if numerators != {"amount", "equivalent"} or len(below) != 1 or _MANY_CHARGES.search(claim):
        return False
    return ends_met(quantity, other)


def is_inverse(quantity: Quantity, claim: str, text: str) -> bool:
    """Returns whether `text` says the multiple of the claim from the other side.

    "B is half as often" says what "A is twice as often" says.
    """
    in_percent = "%" in claim[quantity.start : quantity.end]
    if quantity.dimension not in ("multiple", "fraction") or quantity.high <= 0 or in_percent:
        return False
    known = (*read_multiples(text), *read_shares(text, read_numerals(text)))
    return any(
        abs(quantity.high * other.high - 1) <= ROUGHNESS and sides_swapped(quantity, claim, other, text)
        for other in known
    )


def sides_swapped(quantity: Quantity, claim: str, other: Quantity, text: str) -> bool:
    """Returns whether words before one quantity are behind the other, and words behind it before the other.

    Args:
        quantity: a quantity of `claim`.
        claim: the text of the claim.
        other: a quantity of `text`.
        text: a text of the evidence.
    """
    before, after = content_keys(claim[: quantity.start]), content_keys(claim[quantity.end :])
    their_before, their_after = content_keys(text[: other.start]), content_keys(text[other.end :])
    back = (after - before) & (their_before - their_after)
    forth = (before - after) & (their_after - their_before)
    stay = ((after - before) & (their_after - their_before)) and (
        (before - after) & (their_before - their_after)
    )
    return bool(back and forth) and not stay
