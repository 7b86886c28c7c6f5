"""The same statement turned round: increases against decreases, first-line against last resort, before against after, A over B against B over A."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_medfaith.checking.rules.frames import Frame, frames
from pytest_medfaith.checking.rules.negation import negations
from pytest_medfaith.checking.rules.opposites import directions, opposed
from pytest_medfaith.checking.rules.text import Token, weight
from pytest_medfaith.records import Finding

# Fitted on the development part of the written pairs (bench/rules.py).
LEAST_COVERED = 0.5  # of the claim's other content words, in order, for two opposed words in one place
LEAST_SHARED = 0.5  # of the claim's content words anywhere, for opposed words with the same object
LARGEST_GAP = 5  # words that differ in one place
OBJECT = 3  # content words after a verb that name what it acts on


def direction(claim: str, evidence: str) -> list[Finding]:
    """Returns a finding where claim and sentence say opposite things of the same subject and object; nothing where either negates."""
    for frame in frames(claim, evidence):
        clash = _in_one_place(frame)
        if clash:
            mine, theirs = clash
            return [
                Finding(
                    rule="direction",
                    message=f"claim says {mine.text!r}, evidence says {theirs.text!r}",
                    claim_span=(mine.start, mine.end),
                    evidence_span=(theirs.start, theirs.end),
                    effect="refute",
                )
            ]
    return []


def _in_one_place(frame: Frame) -> tuple[Token, Token] | None:
    mine, theirs = frame.claim, frame.sentence.tokens
    for here, there in frame.gaps():
        for index in here:
            for other in there:
                if opposed(mine[index].lower, theirs[other].lower):
                    return mine[index], theirs[other]
    return None
