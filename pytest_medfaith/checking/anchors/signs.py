"""Changes in opposite directions: "rose by 9 points" for "fell by 9 points", "plus 4" for "minus 4"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pytest_medfaith.checking.anchors.evidence import Evidence, Missing, is_odd, shared_with
from pytest_medfaith.checking.rules.signs import sign_of
from pytest_medfaith.quantities.quantity import Quantity, allowed_difference, same_dimension
from pytest_medfaith.quantities.reader import read_quantities

SAME_STATEMENT = 0.5  # of the claim's words apart from the change that the sentence holds
# "Lower by 5 with A than with B" and "higher by 5 with B than with A" say the same.
_COMPARED = re.compile(r"\b(?:than|compared|versus|vs|relative to|rather)\b", re.IGNORECASE)
_LIVING, _DYING = (
    re.compile(r"\bsurviv\w+", re.IGNORECASE),
    re.compile(r"\b(?:mortality|deaths?|died?)\b", re.IGNORECASE),
)
_WORDS = {1: "upwards", -1: "downwards"}


def missing_signs(claim: str, evidence: Evidence) -> Iterator[Missing]:
    """Yields a `Missing` of the kind "sign" for each change that the deciding sentence has the other way.

    Example: "rose by 9 points" where `evidence.nearest` says "fell by 9 points". The size must be the same.
    Comparisons ("than") are not read.
    """
    sentence = evidence.nearest
    if _COMPARED.search(claim) or _COMPARED.search(sentence) or is_odd(claim) != is_odd(sentence):
        return
    if any(one.search(claim) and two.search(sentence) for one, two in ((_LIVING, _DYING), (_DYING, _LIVING))):
        return  # higher survival is lower mortality
    known = read_quantities(sentence)
    for quantity in read_quantities(claim):
        sign = sign_of(quantity, claim)
        signs = {sign_of(other, sentence) for other in known if sign and _same_size(quantity, other)}
        words = claim[quantity.start : quantity.end]
        if signs == {-sign} and shared_with(claim, quantity.start, quantity.end, sentence) >= SAME_STATEMENT:
            note = f"claim says {words} {_WORDS[sign]}, evidence says {_WORDS[-sign]}"
            yield Missing("sign", quantity.start, quantity.end, note=note, refutes=True)


def _same_size(quantity: Quantity, other: Quantity) -> bool:
    """Returns whether both are of a dimension, and an end of one is as large as an end of the other.

    The sign does not count.
    """
    if not same_dimension(quantity, other):
        return False
    apart = min(abs(abs(quantity.low) - abs(end)) for end in (other.low, other.high))
    return apart <= allowed_difference(quantity, other)
