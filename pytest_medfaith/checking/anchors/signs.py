"""Changes that point the other way: "rose by 9 points" of "fell by 9 points", "plus 4" of "minus 4"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pytest_medfaith.checking.anchors.evidence import Evidence, Missing, is_odd, shared_with
from pytest_medfaith.checking.rules.signs import way_of
from pytest_medfaith.quantities.quantity import Quantity, allowed_error
from pytest_medfaith.quantities.reader import read_quantities

SAME_STATEMENT = 0.5  # of the claim's other words that the sentence holds
# "Lower by 5 with A than with B" and "higher by 5 with B than with A" are one.
_COMPARED = re.compile(r"\b(?:than|compared|versus|vs|relative to|rather)\b", re.IGNORECASE)
_LIVING, _DYING = (
    re.compile(r"\bsurviv\w+", re.IGNORECASE),
    re.compile(r"\b(?:mortality|deaths?|died?)\b", re.IGNORECASE),
)


def missing_signs(claim: str, evidence: Evidence) -> Iterator[Missing]:
    """Yields each change whose size the sentence that decided states too, and which points the other way there."""
    sentence = evidence.nearest
    if (
        _COMPARED.search(claim)
        or _COMPARED.search(sentence)
        or _mirror_words(claim, sentence)
        or is_odd(claim) != is_odd(sentence)
    ):
        return
    known = read_quantities(sentence)
    for quantity in read_quantities(claim):
        way = way_of(quantity, claim)
        same = [other for other in known if way and _same_size(quantity, other)]
        ways = {way_of(other, sentence) for other in same}
        if ways == {-way} and shared_with(claim, quantity.start, quantity.end, sentence) >= SAME_STATEMENT:
            note = f"claim says {claim[quantity.start : quantity.end]} {_WORDS[way]}, evidence says {_WORDS[-way]}"
            yield Missing("sign", quantity.start, quantity.end, note=note, refutes=True)


_WORDS = {1: "upwards", -1: "downwards"}
_BARE = frozenset({"plain", "count"})


def _same_size(quantity: Quantity, other: Quantity) -> bool:
    if quantity.dimension != other.dimension and not {quantity.dimension, other.dimension} <= _BARE:
        return False
    allowed = max(allowed_error(quantity), allowed_error(other), 1e-9 * abs(quantity.high))
    return (
        abs(abs(quantity.low) - abs(other.low)) <= allowed
        or abs(abs(quantity.low) - abs(other.high)) <= allowed
    )


def _mirror_words(claim: str, sentence: str) -> bool:
    return any(
        one.search(claim) and two.search(sentence) for one, two in ((_LIVING, _DYING), (_DYING, _LIVING))
    )
