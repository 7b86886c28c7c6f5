"""Fits a temperature, and the thresholds from which a chunk decides, to labelled pairs."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pytest_medfaith.checking.policy import (
    Thresholds,
    decide_all,
    decided_labels,
    strongest_refutation,
    strongest_support,
)
from pytest_medfaith.records import LABELS
from pytest_medfaith.scoring.pairs import softmax_rows

# Wide enough for any model that learned something, fine enough that ECE changes by less than 0.001 between
# neighbours.
TEMPERATURES = [0.25 * 1.05**step for step in range(75)]
THRESHOLDS = [round(0.20 + 0.01 * step, 2) for step in range(80)]
ODDS = [1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.75, 2.0]
RESAMPLES = 100  # their best thresholds are averaged
LEAST_DECIDED = 10  # pairs that a threshold must decide for its precision to say anything


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """What was fitted to labelled pairs, to turn a model's logits into verdicts.

    Attributes:
        temperature: the logits are divided by it.
        entail_threshold: least probability of entail for a claim to be supported, 0 to 1.
        contradict_threshold: least probability of contradict for a claim to be refuted, 0 to 1.
        contradict_odds: contradict must be more than so many times as probable as entail.
        n: how many pairs, or whole claims, fitted the thresholds.
    """

    temperature: float
    entail_threshold: float
    contradict_threshold: float
    contradict_odds: float
    n: int


def calibrate(
    logits: Sequence[Sequence[float]],
    labels: Sequence[str],
    *,
    precision: float | None = None,
    claims: tuple[Any, Sequence[str]] | None = None,
) -> Calibration:
    """Returns the temperature of least log loss, and thresholds of best macro-F1 or of at least `precision`.

    Args:
        logits: (n, 3), order entail, neutral, contradict; at least one pair of each label. Rows that are not
            finite are left out.
        labels: n of entail, neutral, contradict.
        precision: wanted share of right decisions among the decisions for entail, and among those for
            contradict. The lowest thresholds that reach it are taken, which keeps the most decisions.
        claims: logits (m, chunks, 3) and m labels of whole claims. The thresholds are then fitted on their
            verdicts in place of the pairs.

    Raises:
        ValueError: no rows, a label that has no row, or a precision that no threshold reaches.
    """
    import numpy as np

    missing = [label for label in LABELS if label not in labels]
    if missing or len(labels) != len(logits):
        raise ValueError(
            f"{len(logits)} pairs with labels {sorted(set(labels))}; expected as many labels as pairs, and "
            f"pairs of each of {', '.join(LABELS)}"
        )
    rows = np.asarray(logits, dtype=np.float64)
    scored = np.isfinite(rows).all(axis=1)
    rows, truth = rows[scored], np.array([LABELS.index(label) for label in labels])[scored]
    temperature = fit_temperature(rows, truth)
    if claims:
        rows, truth = np.asarray(claims[0]), np.array([LABELS.index(label) for label in claims[1]])
    fitted = fit_thresholds(softmax_rows(rows / temperature), truth, precision=precision)
    return Calibration(
        temperature=round(temperature, 4),
        entail_threshold=fitted.entail,
        contradict_threshold=fitted.contradict,
        contradict_odds=fitted.odds,
        n=len(truth),
    )


def fit_temperature(logits: Any, truth: Any) -> float:
    """Returns the temperature of least log loss for `logits` (n, 3) and label indices `truth` (n,).

    Source: Guo et al. 2017, On calibration of modern neural networks, ICML.
    """
    return min(TEMPERATURES, key=lambda value: log_loss(logits / value, truth))


def fit_thresholds(probs: Any, truth: Any, *, precision: float | None = None) -> Thresholds:
    """Returns the thresholds of best macro-F1, or the lowest thresholds of at least `precision`.

    For macro-F1 they are the mean over resamples, and the odds of contradiction are the highest of `ODDS`
    that cost at most a standard error of it. For a precision the odds are 1, and a label that `probs` never
    decide, as contradict with a two-way model, keeps the threshold 0.5.

    Args:
        probs: (n, 3) of one chunk for each claim; for macro-F1 also (n, chunks, 3).
        truth: label indices, (n,).
        precision: as for `calibrate`.

    Raises:
        ValueError: a precision that no threshold reaches over at least 10 decisions.
    """
    if precision is None:
        return _best_f1(probs, truth)
    return Thresholds(
        entail=_precise(probs, truth, 0, precision), contradict=_precise(probs, truth, 2, precision)
    )


def log_loss(logits: Any, truth: Any) -> float:
    """Returns the mean negative log-likelihood of the label indices `truth` (n,) under `logits` (n, 3)."""
    import numpy as np

    return float(-np.log(softmax_rows(logits)[np.arange(len(truth)), truth] + 1e-12).mean())


def _best_f1(probs: Any, truth: Any) -> Thresholds:
    """Returns the thresholds of best macro-F1 under the highest odds within a standard error of it.

    The thresholds are the mean of those that are best on resamples of the claims (Breiman 1996). Where many
    hardly differ, the best of all is best by chance. The standard error (the rule of Breiman et al. 1984) is
    that of a share of as many claims. Higher odds refute fewer true claims, and labelled sets hold far more
    false claims than answers do.
    """
    import numpy as np

    drawn = np.random.default_rng(0).integers(len(truth), size=(RESAMPLES, len(truth)))
    counts = np.stack([np.bincount(row, minlength=len(truth)) for row in drawn]).astype(np.float32)
    steps = THRESHOLDS[::2]
    grid = np.array(list(itertools.product(steps, repeat=2)))
    best: list[tuple[float, Thresholds]] = []
    for odds in ODDS:
        each = [Thresholds(entail=step, contradict=step, odds=odds) for step in steps]
        refutations = np.stack([strongest_refutation(probs, thresholds) for thresholds in each])
        scores = [
            _macro_f1(
                decided_labels(strongest_support(probs, thresholds), refutations, thresholds), truth, counts
            )
            for thresholds in each
        ]
        mean = grid[np.concatenate(scores).argmax(axis=0)].mean(axis=0)
        chosen = Thresholds(entail=round(float(mean[0]), 2), contradict=round(float(mean[1]), 2), odds=odds)
        best.append(
            (_macro_f1(decide_all(probs, chosen)[None], truth, np.ones_like(counts[:1])).item(), chosen)
        )
    top = max(score for score, _ in best)
    standard_error = math.sqrt(top * (1 - top) / len(truth))
    return [thresholds for score, thresholds in best if score >= top - standard_error][-1]


def _macro_f1(guesses: Any, truth: Any, counts: Any) -> Any:
    """Returns macro-F1 (k, b) of k guesses on b resamples.

    Args:
        guesses: label indices (k, n).
        truth: label indices (n,).
        counts: how often each resample holds each claim, (b, n).
    """
    import numpy as np

    said = [(guesses == label).astype(np.float32) for label in range(len(LABELS))]
    times = [guessed @ counts.T for guessed in said[1:]]
    times = [counts.sum(axis=1) - sum(times), *times]
    scores = np.zeros((len(guesses), len(counts)))
    for label in range(len(LABELS)):
        true = truth == label
        right = said[label][:, true] @ counts[:, true].T
        scores += 2 * right / np.maximum(1, times[label] + counts[:, true].sum(axis=1))
    return scores / len(LABELS)


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
        f"no threshold reaches a precision of {precision} for {LABELS[column]} over {LEAST_DECIDED} or more "
        f"decisions on these pairs; the best is {best:.3f}. Ask for less, bring more pairs, or take a better "
        "checker"
    )
