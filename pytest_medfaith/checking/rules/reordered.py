"""Clauses in another order: "B for 1 year, A for 2 years" says what "A for 2 years, B for 1 year" says."""

from __future__ import annotations

import re

from pytest_medfaith.english.words import content_keys
from pytest_medfaith.quantities.numerals import read_numerals
from pytest_medfaith.quantities.quantity import Quantity
from pytest_medfaith.quantities.reader import read_quantities

_AFTER = re.compile(r"\b(?:after|preceded by)\b(?! (?:their|the|his|her|its) )", re.IGNORECASE)
_JOINT = re.compile(r"[;,](?!\d)|\b(?:and|but|while|whereas|followed by|then|after|before)\b", re.IGNORECASE)


def in_other_order(mine: Quantity, claim: str, theirs: Quantity, sentence: str) -> bool:
    """Returns whether the claim has the sentence's clauses in another order, each with its value.

    Example: claim "others for 1 year, women under 50 for 2 years", sentence "women under 50 for 2 years,
    others for 1 year". The place of "1 year" in the claim is that of "2 years" in the sentence, but the words
    beside the values have moved with them. Where only the values have moved, the answer is False.

    Args:
        mine: a quantity of `claim`.
        claim: the claim.
        theirs: the quantity with another value at the same place of `sentence`.
        sentence: the sentence of the evidence; the places of `theirs` are counted in it.
    """
    back, forth = _elsewhere(theirs, sentence, mine, claim), _elsewhere(mine, claim, theirs, sentence)
    if back is None or forth is None:
        return False
    halves = _halves(claim, *sorted((mine.start, back)))
    their_halves = _halves(sentence, *sorted((theirs.start, forth)))
    if (mine.start < back) != (theirs.start < forth) or not halves or not their_halves:
        return False
    (first, second), (their_first, their_second) = halves, their_halves
    if _turns(claim, *sorted((mine.start, back))) != _turns(sentence, *sorted((theirs.start, forth))):
        return True
    # The first clause may hold words that are said of both, so words of both first clauses tell nothing.
    crossed = len(first & their_second) + len(second & their_first)
    return crossed > len(second & their_second)


def _elsewhere(value: Quantity, text: str, other: Quantity, other_text: str) -> int | None:
    """Returns where `other_text` has the number of `value` outside `other`; None where it has not."""
    number = next((numeral.value for numeral in read_numerals(text[value.start : value.end])), None)
    for numeral in read_numerals(other_text):
        if numeral.value == number and not other.start <= numeral.start < other.end:
            return numeral.start
    return None


def _halves(text: str, first: int, second: int) -> tuple[frozenset[str], frozenset[str]] | None:
    """Returns the words that only the clause of the first value, and only that of the second, has.

    None where no word or mark between the values parts them into two clauses.
    """
    joint = _JOINT.search(text, first, second)
    if not joint:
        return None
    ahead, behind = (_words(part) for part in (text[: joint.start()], text[joint.start() :]))
    return ahead - behind, behind - ahead


def _words(text: str) -> frozenset[str]:
    """Returns the keys of the content words of `text`, and its bounds: "max18262" for "under 50 years"."""
    bounds = {f"{each.bound}{each.high:g}" for each in read_quantities(text) if each.bound}
    return frozenset(key for key in content_keys(text) if not key[0].isdigit()) | bounds


def _turns(text: str, first: int, second: int) -> bool:
    """Returns whether "after" between two values puts the second of them first."""
    return bool(_AFTER.search(text, first, second))
