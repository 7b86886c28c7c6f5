"""Another drug, disease, gene, organism, body site or route where the sentence has its own: the same frame, another entity of the same kind."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pytest_medfaith.checking.rules.frames import Frame, frames
from pytest_medfaith.entities.linker import Mention, link
from pytest_medfaith.records import Finding

Linker = Callable[[str], Sequence[Mention]]

KINDS = frozenset(
    {"drug", "disease", "gene", "organism", "site", "route"}
)  # populations have a rule of their own
# Fitted on the development part of the written pairs (bench/rules.py).
LEAST_COVERED = 0.3  # of the claim's other content words
LEAST_ALIKE = 0.4  # of all its words, small ones too
ALIKE = 0.85  # from here on an entity clashes even if the evidence names it elsewhere

# Only where the sentence leaves room for one does naming another contradict it; else the claim is merely not in the evidence.
_EXCLUSIVE = frozenset(
    """first first-line first-choice only main preferred most best usual usually always chief primary sole
    standard lowest highest leading""".split()
)


def substitution(claim: str, evidence: str, *, linker: Linker = link) -> list[Finding]:
    """Returns a finding where the claim names one entity and the sentence, in its place, another of the same kind.

    An entity that the evidence names, or whose class or member it names, is no substitute ("metformin": "biguanides").

    Args:
        claim: the claim.
        evidence: the sentences that speak of it.
        linker: finds the entities; the concept table's, or scispaCy's.
    """
    stated = [mention for mention in linker(claim) if mention.kind in KINDS]
    known = [mention for mention in linker(evidence) if mention.kind in KINDS] if stated else []
    for frame in frames(claim, evidence) if known else ():
        for mention in stated:
            other = _in_place_of(mention, stated, known, frame)
            if other:
                return [_finding(mention, other, frame, claim, evidence)]
        if frame.copies():
            return []
    return []


def _in_place_of(
    mention: Mention, stated: Sequence[Mention], known: Sequence[Mention], frame: Frame
) -> Mention | None:
    """Returns the entity of the sentence that stands where the claim has `mention`."""
    own = [index for index, token in enumerate(frame.claim) if mention.start <= token.start < mention.end]
    if not own or frame.coverage_without(own) < LEAST_COVERED or frame.likeness < LEAST_ALIKE:
        return None
    first, last = frame.place(own[0], own[-1] + 1)
    if any(mention.is_related(other) and first <= other.start and other.end <= last for other in known):
        return None
    for other in known:
        if (
            other.kind != mention.kind
            or not (first <= other.start and other.end <= last)
            or mention.is_related(other)
        ):
            continue
        if frame.copies(own) and frame.likeness >= ALIKE and _alone(other, own, frame):
            return other
        if not any(mention.is_related(each) for each in known) and not any(
            other.is_related(each) for each in stated
        ):
            return other
    return None


def _alone(other: Mention, own: Sequence[int], frame: Frame) -> bool:
    """Returns whether the two entities are all that differs in their place, one word aside."""
    first, last = frame.place(own[0], own[-1] + 1)
    theirs = [
        token
        for token in frame.sentence.tokens
        if first <= token.start < last and not other.start <= token.start < other.end
    ]
    before = max((index for index in frame.pairs if index < own[0]), default=-1)
    after = min((index for index in frame.pairs if index > own[-1]), default=len(frame.claim))
    return len(theirs) <= 1 and after - before - 1 - len(own) <= 1


def _finding(mention: Mention, other: Mention, frame: Frame, claim: str, evidence: str) -> Finding:
    words = {token.lower for token in frame.sentence.tokens} & {token.lower for token in frame.claim}
    return Finding(
        rule="substitution",
        message=f"claim says {claim[mention.start : mention.end]}, evidence says {evidence[other.start : other.end]}",
        claim_span=(mention.start, mention.end),
        evidence_span=(other.start, other.end),
        effect="refute" if words & _EXCLUSIVE else "weaken",
    )
