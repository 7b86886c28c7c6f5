"""Values of the wrong clause: "avoid it below 45" for "avoid it below 30, and halve the dose below 45"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from pytest_medfaith.checking.anchors.evidence import Evidence, Missing, is_odd
from pytest_medfaith.english.words import content_keys
from pytest_medfaith.quantities.quantity import Quantity, same_ends
from pytest_medfaith.quantities.reader import read_quantities

_JOINT = re.compile(r"[;,](?!\d)|\b(?:and|but|or|while|whereas)\b", re.IGNORECASE)
_SET_APART = re.compile(r"[;,]|but|while|whereas", re.IGNORECASE)
_UNREADABLE = re.compile(r"\b(?:respectively|former|latter|vice versa|both|either)\b", re.IGNORECASE)


def missing_clauses(claim: str, evidence: Evidence) -> Iterator[Missing]:
    """Yields the only value of `claim` where its sentence has value and words in different clauses.

    All words of the claim must be in the sentence, and both clauses must have a value of the same dimension.
    Words of the first clause may be meant in the second too ("avoid the drug below 30, and halve it below
    60"). So a claim with a value of the second clause is wrong only if it has no word that the second clause
    alone has. A claim with a value of the first clause is wrong only if it has all words that the second
    clause alone has, not all those of the first, and "but" or a mark sets the second clause apart.
    """
    sentence = evidence.nearest
    stated = read_quantities(claim)
    if len(stated) != 1 or _UNREADABLE.search(sentence) or is_odd(claim) != is_odd(sentence):
        return
    value = stated[0]
    names = content_keys(_without(claim, stated))
    if not names or not names <= content_keys(sentence):
        return
    known = [other for other in read_quantities(sentence) if other.dimension == value.dimension]
    bare = _without(sentence, known)
    for joint in _JOINT.finditer(sentence):
        ahead = [other for other in known if other.end <= joint.start()]
        behind = [other for other in known if other.start >= joint.end()]
        if not ahead or not behind or len(ahead) + len(behind) < len(known):
            continue
        in_first, in_second = (any(_is_same(value, other) for other in half) for half in (ahead, behind))
        first, second = content_keys(bare[: joint.start()]), content_keys(bare[joint.end() :])
        of_first, of_second = first - second, second - first
        if in_first == in_second or not of_second:
            continue
        if in_second:
            wrong = bool(names & of_first) and not names & of_second
        else:
            wrong = bool(_SET_APART.match(joint[0])) and of_second <= names and not of_first <= names
        if wrong:
            words = claim[value.start : value.end]
            note = f"the evidence says {words} of something else"
            yield Missing("clause", value.start, value.end, note=note)
        return


def _is_same(value: Quantity, other: Quantity) -> bool:
    return value.bound == other.bound and same_ends(value, other)


def _without(text: str, quantities: Sequence[Quantity]) -> str:
    """Returns `text` at the same length, with blanks for the words of `quantities`."""
    for each in quantities:
        text = text[: each.start] + " " * (each.end - each.start) + text[each.end :]
    return text
