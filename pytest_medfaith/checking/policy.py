"""From pair scores to one verdict per claim."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from pytest_medfaith.records import Claim, PairScore, Verdict


@dataclass(frozen=True, kw_only=True)
class Thresholds:
    """When a chunk counts as entailing or contradicting; fitted on held-out data, kept in the model card.

    `entail` and `contradict` are the least probabilities; a contradiction has to be more than `odds` times as probable as entailment too.
    Most sentences of an answer hold, so a small model's doubt between the two is better read as support: docs/training.md tells what that brings.
    """

    entail: float = 0.5
    contradict: float = 0.5
    odds: float = 1.0

    def __post_init__(self) -> None:
        """Refuses thresholds that would let everything or nothing pass."""
        if not (0 < self.entail < 1 and 0 < self.contradict < 1):
            raise ValueError(
                f"thresholds are {self.entail} and {self.contradict}; expected numbers between 0 and 1"
            )
        if not 0 < self.odds < math.inf:
            raise ValueError(f"the odds of contradiction are {self.odds}; expected a number above 0")


def entails(score: PairScore, thresholds: Thresholds) -> bool:
    """Returns whether the chunk of `score` entails its claim."""
    return score.probs[0] >= thresholds.entail and thresholds.odds * score.probs[0] > score.probs[2]


def contradicts(score: PairScore, thresholds: Thresholds) -> bool:
    """Returns whether the chunk of `score` contradicts its claim."""
    return score.probs[2] >= thresholds.contradict and score.probs[2] > thresholds.odds * score.probs[0]


def decide(claim: Claim, scores: Sequence[PairScore], thresholds: Thresholds) -> Verdict:
    """Returns the verdict on `claim` from the scores of all its chunks.

    The chunk with the strongest decision, for or against, gives the verdict; an opposite decision of another chunk sets
    `conflict`. Without any decision the claim is unsupported, and the chunk that came nearest to entailing it is named.
    Nothing passes by default: no chunks means unsupported.
    """
    supporting = [score for score in scores if entails(score, thresholds)]
    refuting = [score for score in scores if contradicts(score, thresholds)]
    best_for = max(supporting, key=lambda score: score.probs[0], default=None)
    best_against = max(refuting, key=lambda score: score.probs[2], default=None)
    ids = tuple(score.chunk_id for score in supporting)
    conflict = best_for is not None and best_against is not None
    if best_for and (best_against is None or thresholds.odds * best_for.probs[0] >= best_against.probs[2]):
        return _verdict(
            claim,
            "supported",
            best_for,
            best_for.probs[0],
            thresholds.entail,
            conflict=conflict,
            supporting=ids,
        )
    if best_against:
        return _verdict(
            claim,
            "refuted",
            best_against,
            best_against.probs[2],
            thresholds.contradict,
            conflict=conflict,
            supporting=ids,
        )
    if not scores:
        return Verdict(
            claim=claim,
            label="unsupported",
            threshold=thresholds.entail,
            reason="the answer came with no evidence",
        )
    nearest = max(scores, key=lambda score: score.probs[0])
    return _verdict(
        claim,
        "unsupported",
        nearest,
        nearest.probs[0],
        thresholds.entail,
        reason="no chunk entails or contradicts it",
    )


def _verdict(
    claim: Claim,
    label: str,
    score: PairScore,
    probability: float,
    threshold: float,
    *,
    conflict: bool = False,
    supporting: tuple[str, ...] = (),
    reason: str = "",
) -> Verdict:
    return Verdict(
        claim=claim,
        label=label,  # type: ignore[arg-type]
        score=probability,
        threshold=threshold,
        chunk_id=score.chunk_id,
        span=score.span,
        reason=reason,
        conflict=conflict,
        supporting=supporting,
    )
