"""From the scores of (claim, chunk) pairs to a verdict on each claim.

`decide` is for a single claim. `decide_all` is for thousands at once, while thresholds are fitted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pytest_medfaith.records import LABELS, Claim, PairScore, Verdict


@dataclass(frozen=True, kw_only=True)
class Thresholds:
    """When a chunk counts as entailing or contradicting a claim; fitted on held-out data.

    Most sentences of an answer are true. So a model's doubt between support and contradiction is better read
    as support: docs/training.md tells how much that brings. The model card holds the numbers.

    Attributes:
        entail: the least probability of entailment, above 0 and below 1.
        contradict: the least probability of contradiction, above 0 and below 1.
        odds: a contradiction must be more than this many times as probable as entailment.
    """

    entail: float = 0.5
    contradict: float = 0.5
    odds: float = 1.0

    def __post_init__(self) -> None:
        """Raises ValueError for numbers out of range, which would let everything or nothing pass."""
        if not (0 < self.entail < 1 and 0 < self.contradict < 1):
            raise ValueError(
                f"thresholds are {self.entail} and {self.contradict}; expected numbers between 0 and 1"
            )
        if not 0 < self.odds < math.inf:
            raise ValueError(f"the odds of contradiction are {self.odds}; expected a number above 0")


def entails(probs: Any, thresholds: Thresholds) -> Any:
    """Returns whether a chunk entails its claim: a boolean, or a boolean array for arrays.

    It does if entail reaches `thresholds.entail`, and `thresholds.odds` times entail is above contradict.

    Args:
        probs: the probabilities of entail, neutral and contradict: three numbers, or three arrays of the same
            shape.
        thresholds: the checker's thresholds.
    """
    entail, _, contradict = probs
    return (entail >= thresholds.entail) & (thresholds.odds * entail > contradict)


def contradicts(probs: Any, thresholds: Thresholds) -> Any:
    """Returns whether a chunk contradicts its claim; arguments and shape as in `entails`."""
    entail, _, contradict = probs
    return (contradict >= thresholds.contradict) & (contradict > thresholds.odds * entail)


def outweighs(support: Any, refutation: Any, thresholds: Thresholds) -> Any:
    """Returns whether the best support of a claim decides against its best refutation.

    Args:
        support: the highest probability of entailment among chunks that entail the claim; a number or array.
        refutation: the highest probability of contradiction among chunks that contradict it.
        thresholds: the checker's thresholds.
    """
    return thresholds.odds * support >= refutation


def decide(claim: Claim, scores: Sequence[PairScore], thresholds: Thresholds) -> Verdict:
    """Returns the verdict on `claim` from the scores of all its chunks.

    The chunk with the strongest decision, for or against, gives the verdict. A chunk that decides the
    opposite sets `conflict`. If no chunk decides, the claim is unsupported, and the verdict names the chunk
    with the highest probability of entailment. A claim without chunks is unsupported.
    """
    supporting = [score for score in scores if entails(score.probs, thresholds)]
    refuting = [score for score in scores if contradicts(score.probs, thresholds)]
    if not scores:
        reason = "the answer came with no evidence"
        return Verdict(claim=claim, label="unsupported", threshold=thresholds.entail, reason=reason)
    best_for = max(supporting or scores, key=lambda score: score.probs[0])
    best_against = max(refuting or scores, key=lambda score: score.probs[2])
    outweighed = outweighs(best_for.probs[0], best_against.probs[2], thresholds)
    refuted = bool(refuting) and not (supporting and outweighed)
    best = best_against if refuted else best_for
    return Verdict(
        claim=claim,
        label="refuted" if refuted else "supported" if supporting else "unsupported",
        score=best.probs[2] if refuted else best.probs[0],
        threshold=thresholds.contradict if refuted else thresholds.entail,
        chunk_id=best.chunk_id,
        span=best.span,
        reason="" if refuted or supporting else "no chunk entails or contradicts it",
        conflict=bool(supporting and refuting),
        supporting=tuple(score.chunk_id for score in supporting),
    )


def unscored(claim: Claim, thresholds: Thresholds, why: str) -> Verdict:
    """Returns the verdict "unscored" on a claim that could not be judged, with the reason `why`.

    The threshold in it is `thresholds.entail`. It has no scores, evidence or findings.
    """
    return Verdict(claim=claim, label="unscored", threshold=thresholds.entail, reason=why)


def strongest_support(probs: Any, thresholds: Thresholds) -> Any:
    """Returns the highest probability of entailment (n,) among the chunks that entail each claim; 0 for none.

    Args:
        probs: (n, 3) for one chunk for each of n claims, or (n, chunks, 3).
        thresholds: from which probability on a chunk decides.
    """
    import numpy as np

    by_label = _by_label(probs)
    return np.where(entails(by_label, thresholds), by_label[0], 0).max(axis=1)


def strongest_refutation(probs: Any, thresholds: Thresholds) -> Any:
    """Returns the highest probability of contradiction (n,) among the chunks that contradict each claim.

    It is 0 where none does. Arguments as in `strongest_support`.
    """
    import numpy as np

    by_label = _by_label(probs)
    return np.where(contradicts(by_label, thresholds), by_label[2], 0).max(axis=1)


def decided_labels(support: Any, refutation: Any, thresholds: Thresholds) -> Any:
    """Returns label indices (n,): 0 supported, 1 undecided, 2 refuted, as `decide` decides.

    Args:
        support: (n,), see `strongest_support`.
        refutation: (n,), see `strongest_refutation`.
        thresholds: the checker's thresholds.
    """
    import numpy as np

    supported = (support > 0) & outweighs(support, refutation, thresholds)
    return np.where(supported, 0, np.where(refutation > 0, 2, 1))


def decide_all(probs: Any, thresholds: Thresholds) -> Any:
    """Returns label indices (n,): 0 for a supported claim, 1 for an undecided, 2 for a refuted one.

    Args:
        probs: (n, 3) for one chunk for each of n claims, or (n, chunks, 3).
        thresholds: from which probability on a chunk decides.
    """
    support, refutation = strongest_support(probs, thresholds), strongest_refutation(probs, thresholds)
    return decided_labels(support, refutation, thresholds)


def _by_label(probs: Any) -> Any:
    """Returns `probs`, (n, 3) or (n, chunks, 3), as (3, n, chunks)."""
    import numpy as np

    return np.moveaxis(probs.reshape(len(probs), -1, len(LABELS)), -1, 0)
