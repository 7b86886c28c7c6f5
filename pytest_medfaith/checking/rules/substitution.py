"""Another drug, disease, gene, organism, body site or route in the place of the one in the evidence."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pytest_medfaith.checking.rules.frames import Frame, frames
from pytest_medfaith.entities.linker import Mention, link
from pytest_medfaith.records import Finding

Linker = Callable[[str], Sequence[Mention]]

KINDS = frozenset(
    {"drug", "disease", "gene", "organism", "site", "route"}
)  # population.py compares populations
# Fitted on the development part of the written pairs (bench/rules.py).
LEAST_COVERED = 0.3  # of the claim's content words apart from the entity
LEAST_ALIKE = 0.4  # of all words of the claim, small words too
ALIKE = 0.85  # from here on an entity clashes even if the evidence names it elsewhere

# A sentence with such a word is true of one entity only, so a claim with another entity contradicts it.
# Without such a word the claim is merely not in the evidence.
_EXCLUSIVE = frozenset(
    """first first-line first-choice only main preferred most best usual usually always chief primary sole
    standard lowest highest leading""".split()
)


def substitution(claim: str, evidence: str, *, linker: Linker = link) -> list[Finding]:
    """Returns at most one finding: the sentence has another name in the place of the claim's name.

    "Aspirin lowers the fever" against "Ibuprofen lowers the fever" is a substitution. There is none if the
    evidence names the claim's drug elsewhere, or its class or member ("biguanides" for "metformin"), unless
    the claim copies the sentence apart from the name. The effect is "weaken"; it is "refute" where a word
    such as "first-line" leaves room for a single drug.

    Args:
        claim: the text of the claim.
        evidence: the sentences that speak of it.
        linker: finds the names; the shipped table's linker, or scispaCy's.
    """
    stated = [mention for mention in linker(claim) if mention.kind in KINDS]
    known = [mention for mention in linker(evidence) if mention.kind in KINDS] if stated else []
    for frame in frames(claim, evidence) if known else ():
        for mention in stated:
            other = _in_place_of(mention, stated, known, frame)
            if other:
                mine, theirs = (mention.start, mention.end), (other.start, other.end)
                words = {token.lower for token in frame.sentence.tokens}
                words &= {token.lower for token in frame.claim}
                return [
                    Finding(
                        rule="substitution",
                        message=f"claim says {claim[slice(*mine)]}, evidence says {evidence[slice(*theirs)]}",
                        claim_span=mine,
                        evidence_span=theirs,
                        effect="refute" if words & _EXCLUSIVE else "weaken",
                    )
                ]
        if frame.copies():
            return []
    return []


def _in_place_of(
    mention: Mention, stated: Sequence[Mention], known: Sequence[Mention], frame: Frame
) -> Mention | None:
    """Returns the mention in the sentence that has the place of `mention` of the claim, or None.

    Args:
        mention: a mention of the claim.
        stated: all mentions of the claim.
        known: the mentions of the evidence.
        frame: claim and sentence, aligned.
    """
    indices = frame.indices(mention.start, mention.end)
    if not indices or frame.coverage_without(indices) < LEAST_COVERED or frame.likeness < LEAST_ALIKE:
        return None
    first, last = frame.place(indices[0], indices[-1] + 1)
    inside = [other for other in known if first <= other.start and other.end <= last]
    if any(mention.is_related(other) for other in inside):
        return None
    named_elsewhere = any(mention.is_related(other) for other in known)
    for other in inside:
        if other.kind != mention.kind:
            continue
        if frame.copies(indices) and frame.likeness >= ALIKE and _is_only_difference(other, indices, frame):
            return other
        if not named_elsewhere and not any(other.is_related(each) for each in stated):
            return other
    return None


def _is_only_difference(other: Mention, indices: Sequence[int], frame: Frame) -> bool:
    """Returns whether at most one word on each side differs beside the two mentions.

    `indices` are the claim's tokens of its mention.
    """
    first, last = frame.place(indices[0], indices[-1] + 1)
    theirs = [
        token
        for token in frame.sentence.tokens
        if first <= token.start < last and not other.start <= token.start < other.end
    ]
    before = max((index for index in frame.pairs if index < indices[0]), default=-1)
    after = min((index for index in frame.pairs if index > indices[-1]), default=len(frame.claim))
    return len(theirs) <= 1 and after - before - 1 - len(indices) <= 1
