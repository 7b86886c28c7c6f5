"""Completes the claims that a model finds, so that nothing that the rules find is lost.

A claim that nobody checks would pass. So what a model leaves out, or words so that a number or a "not" is
gone, becomes a claim by the rules of `claims.split`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from pytest_medfaith.english.words import content_keys, read_tokens, share
from pytest_medfaith.records import Claim

_COVERED = 0.8  # of the words of a claim by the rules that the model's claims must hold
_NEGATION = re.compile(r"\b(?:not|no|never|none|without|cannot|nor|neither)\b|n['\u2019]t\b", re.IGNORECASE)


def completed(found: Sequence[Claim], ruled: Sequence[Claim], *, alone: bool = False) -> list[Claim]:
    """Returns a model's claims and those claims by rules that they do not cover, in the order of their spans.

    The ids are c1, c2, ...

    Args:
        found: the model's claims.
        ruled: the claims by the rules.
        alone: True if a single claim must cover a claim by the rules. The halves of "Iron treats anaemia"
            have all its words, but neither half says what it says.
    """
    kept = [*found, *(claim for claim in ruled if not covers(found, claim, alone=alone))]
    ordered = sorted(kept, key=lambda claim: (claim.start, claim.end, claim.text))
    return [claim.with_(id=f"c{number}") for number, claim in enumerate(ordered, start=1)]


def covers(found: Sequence[Claim], ruled: Claim, *, alone: bool = False) -> bool:
    """Returns whether a model's claims near a claim by the rules say the same, with its numbers and "not".

    They do so together; with `alone` a single claim must do so.
    """
    near = [claim for claim in found if claim.start < ruled.end and ruled.start < claim.end]
    return any(
        _cover(group, ruled) for group in ([[claim] for claim in near] if alone else [near] if near else [])
    )


def _cover(near: Sequence[Claim], ruled: Claim) -> bool:
    """Returns whether the claims `near` have the words, the numbers and the negation of `ruled`."""
    keys = {key for claim in near for key in content_keys(claim.text)}
    numbers = {number for claim in near for number in numbers_of(claim.text)}
    negated = [bool(_NEGATION.search(claim.text)) for claim in near]
    same = any(negated) if _NEGATION.search(ruled.text) else not all(negated)
    wanted = content_keys(ruled.text)
    return same and numbers_of(ruled.text) <= numbers and share(wanted, keys) >= _COVERED


def numbers_of(text: str) -> frozenset[str]:
    """Returns the numbers of `text` as they are written: {"2.5"} for "2.5 mg"."""
    return frozenset(token.lower for token in read_tokens(text) if token.lower[0].isdigit())
