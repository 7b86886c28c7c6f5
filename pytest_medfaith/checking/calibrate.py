"""Fits what turns logits into verdicts: a temperature, and the thresholds from which a pair counts as decided."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pytest_medfaith.records import LABELS

# Wide enough for any model that learned something, fine enough that ECE changes by less than 0.001 between neighbours.
TEMPERATURES = [0.25 * 1.05**step for step in range(75)]
THRESHOLDS = [round(0.30 + 0.01 * step, 2) for step in range(66)]


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
        logits: (n, 3), order entail, neutral, contradict; at least one pair of each label.
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
    truth = np.array([LABELS.index(label) for label in labels])
    temperature = min(TEMPERATURES, key=lambda value: _log_loss(rows / value, truth))
    probs = _softmax(rows / temperature)
    entail, contradict = _best_f1(probs, truth) if precision is None else (_precise(probs, truth, column, precision) for column in (0, 2))
    return Calibration(temperature=round(temperature, 4), entail_threshold=entail, contradict_threshold=contradict, n=len(labels))


def _softmax(logits: Any) -> Any:
    import numpy as np

    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def _log_loss(logits: Any, truth: Any) -> float:
    import numpy as np

    return float(-np.log(_softmax(logits)[np.arange(len(truth)), truth] + 1e-12).mean())


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
    for threshold in THRESHOLDS:
        chosen = (probs[:, column] >= threshold) & (probs[:, column] > probs[:, 2 - column])
        if chosen.any() and (truth[chosen] == column).mean() >= precision:
            return threshold
    raise ValueError(
        f"no threshold reaches a precision of {precision} for {LABELS[column]} on these pairs; ask for less, or train a better checker"
    )
