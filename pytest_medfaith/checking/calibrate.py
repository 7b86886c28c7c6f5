"""Fits what turns logits into verdicts: a temperature, and the thresholds from which a pair counts as decided."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pytest_medfaith.records import LABELS

# Wide enough for any model that learned something, fine enough that ECE changes by less than 0.001 between neighbours.
TEMPERATURES = [0.25 * 1.05**step for step in range(75)]
THRESHOLDS = [round(0.20 + 0.01 * step, 2) for step in range(80)]
LEAST_DECIDED = 10  # pairs that a threshold must decide for its precision to say anything


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """A fitted temperature and thresholds, with the number of pairs they were fitted on."""

    temperature: float
    entail_threshold: float
    contradict_threshold: float
    n: int


def calibrate(logits: Sequence[Sequence[float]], labels: Sequence[str], *, precision: float | None = None) -> Calibration:
    """Returns the temperature of least log loss, and thresholds of best macro-F1 (or of at least `precision`).

    Args:
        logits: (n, 3), order entail, neutral, contradict; at least one pair of each label. Rows that are not finite are left out.
        labels: n of entail, neutral, contradict.
        precision: wanted share of right decisions among those made, for each of entail and contradict; the lowest thresholds
            that reach it are taken, which keeps the most decisions.

    Raises:
        ValueError: no rows, a label that has no row, or a precision that no threshold reaches.
    """
    import numpy as np

    missing = [label for label in LABELS if label not in labels]
    if missing or len(labels) != len(logits):
        raise ValueError(
            f"{len(logits)} pairs with labels {sorted(set(labels))}; expected as many labels as pairs, and pairs of each of {', '.join(LABELS)}"
        )
    rows = np.asarray(logits, dtype=np.float64)
    scored = np.isfinite(rows).all(axis=1)
    rows, truth = rows[scored], np.array([LABELS.index(label) for label in labels])[scored]
    temperature = fit_temperature(rows, truth)
    entail, contradict = fit_thresholds(softmax_rows(rows / temperature), truth, precision=precision)
    return Calibration(temperature=round(temperature, 4), entail_threshold=entail, contradict_threshold=contradict, n=len(truth))


def fit_temperature(logits: Any, truth: Any) -> float:
    """Returns the temperature under which `logits` (n, 3) give the label indices `truth` (n,) the least log loss (Guo et al. 2017)."""
    return min(TEMPERATURES, key=lambda value: _log_loss(logits / value, truth))


def fit_thresholds(probs: Any, truth: Any, *, precision: float | None = None) -> tuple[float, float]:
    """Returns the entail and contradict thresholds of best macro-F1, or the lowest ones of at least `precision`.

    A label that `probs` (n, 3) never decide at any threshold, as contradict with a two-way model, keeps 0.5.

    Raises:
        ValueError: a precision that no threshold reaches over at least 10 decisions.
    """
    if precision is None:
        return _best_f1(probs, truth)
    return _precise(probs, truth, 0, precision), _precise(probs, truth, 2, precision)


def softmax_rows(logits: Any) -> Any:
    """Returns the probabilities of logits (n, 3), rows sum to 1."""
    import numpy as np

    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def _log_loss(logits: Any, truth: Any) -> float:
    import numpy as np

    return float(-np.log(softmax_rows(logits)[np.arange(len(truth)), truth] + 1e-12).mean())


def decided(probs: Any, *, entail: float, contradict: float) -> Any:
    """Returns label indices (n,) of probabilities (n, 3) under the thresholds, as the verdict policy decides a single chunk."""
    import numpy as np

    for_it = (probs[:, 0] >= entail) & (probs[:, 0] > probs[:, 2])
    against = (probs[:, 2] >= contradict) & (probs[:, 2] > probs[:, 0])
    return np.where(for_it, 0, np.where(against, 2, 1))


def _best_f1(probs: Any, truth: Any) -> tuple[float, float]:
    scores = {(e, c): _macro_f1(decided(probs, entail=e, contradict=c), truth) for e in THRESHOLDS[::2] for c in THRESHOLDS[::2]}
    return max(scores, key=lambda pair: scores[pair])


def _macro_f1(guess: Any, truth: Any) -> float:
    scores = []
    for label in range(len(LABELS)):
        right = ((guess == label) & (truth == label)).sum()
        scores.append(2 * right / max(1, (guess == label).sum() + (truth == label).sum()))
    return float(sum(scores) / len(LABELS))


def _precise(probs: Any, truth: Any, column: int, precision: float) -> float:
    ahead = probs[:, column] > probs[:, 2 - column]
    if not (ahead & (probs[:, column] >= THRESHOLDS[0])).any():
        return 0.5
    best = 0.0
    for threshold in THRESHOLDS:
        chosen = ahead & (probs[:, column] >= threshold)
        reached = (truth[chosen] == column).mean() if chosen.sum() >= LEAST_DECIDED else 0.0
        if reached >= precision:
            return threshold
        best = max(best, float(reached))
    raise ValueError(
        f"no threshold reaches a precision of {precision} for {LABELS[column]} over {LEAST_DECIDED} or more decisions on these pairs; the best "
        f"is {best:.3f}. Ask for less, bring more pairs, or take a better checker"
    )
