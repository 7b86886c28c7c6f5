"""Weighs the chunks of one claim against each other: one that shares fewer of its words than another speaks of it less likely."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_medfaith.checking.windows import shared_words
from pytest_medfaith.records import LABELS, Chunk, Claim, PairScore

LEAST_SHARE = 0.05  # what a chunk without any of the claim's words counts as sharing: it may say the same in others


def weighed(claim: Claim, scores: Sequence[PairScore], chunks: Sequence[Chunk], *, power: float) -> list[PairScore]:
    """Returns `scores` with the probability of a decision, for or against, times (share / largest share) ** `power`; the rest is neutral.

    The share is that of the claim's content words which a chunk holds, so a chunk alone, and of several the one nearest to the claim, keeps
    its score. What it brings and costs: docs/training.md.

    Args:
        claim: the claim of all `scores`.
        scores: one a chunk.
        chunks: those that `scores` name.
        power: 0 changes nothing.
    """
    if not power or len(scores) < 2:
        return list(scores)
    shares = {chunk.id: max(LEAST_SHARE, shared_words(claim.text, chunk.text)) for chunk in chunks}
    largest = max(shares[score.chunk_id] for score in scores)
    return [_lowered(score, (shares[score.chunk_id] / largest) ** power) for score in scores]


def _lowered(score: PairScore, weight: float) -> PairScore:
    entail, contradict = (round(weight * score.probs[i], 6) for i in (0, 2))
    probs = (entail, round(1 - entail - contradict, 6), contradict)
    return score.with_(probs=probs, label=LABELS[probs.index(max(probs))]) if weight < 1 else score
