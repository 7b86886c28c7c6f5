"""Scores of a checker against labels: agreement, ranking and calibration, as pure functions.

Probabilities are ordered entail, neutral, contradict, and class indices follow that order. The functions take
any number of classes. They return None where there is nothing to measure, never NaN. `checker_scores` gives
the same values with their intervals.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pytest_medfaith.metrics import label_statistics
from pytest_medfaith.metrics.bootstrap import Floats
from pytest_medfaith.metrics.label_statistics import Flags, Indices
from pytest_medfaith.records import LABELS

ECE_BINS = 15  # as Guo et al. 2017
_SUM_TOLERANCE = 0.01  # probabilities read from a file may have been rounded to three decimals


def risk_scores(probs: npt.ArrayLike) -> Floats:
    """Returns 1 - P(entail) of each pair, float64 (n,) in [0, 1]: the risk that its claim is not supported.

    Args:
        probs: (n, 3), rows sum to 1.

    Raises:
        ValueError: the rows of `probs` are no probabilities.
    """
    risks: Floats = 1.0 - _probabilities(probs)[:, LABELS.index("entail")]
    return risks


def accuracy(labels: npt.ArrayLike, predicted: npt.ArrayLike) -> float | None:
    """Returns the share of rows whose predicted class is the label, 0 to 1; None without rows.

    Args:
        labels: a class index for each row, (n,).
        predicted: the same of a model.

    Raises:
        ValueError: see `check_classes`.
    """
    return label_statistics.point(
        label_statistics.accuracy(*check_classes(labels, predicted)), np.size(labels)
    )


def f1_macro(labels: npt.ArrayLike, predicted: npt.ArrayLike) -> float | None:
    """Returns the mean F1 over the classes that occur in `labels` or `predicted`; None without rows."""
    return label_statistics.point(
        label_statistics.f1_macro(*check_classes(labels, predicted)), np.size(labels)
    )


def mcc(labels: npt.ArrayLike, predicted: npt.ArrayLike) -> float | None:
    """Returns Matthews' correlation in [-1, 1] for any number of classes; None without rows.

    It is 0 where labels or predictions hold a single class. Source: Gorodkin 2004.
    """
    return label_statistics.point(label_statistics.mcc(*check_classes(labels, predicted)), np.size(labels))


def brier(labels: npt.ArrayLike, probs: npt.ArrayLike) -> float | None:
    """Returns the mean over rows of the sum over classes of (p - outcome)^2, in [0, 2]; None without rows.

    Source: Brier 1950.

    Args:
        labels: class indices (n,).
        probs: (n, classes), rows sum to 1.

    Raises:
        ValueError: see `check_labelled`.
    """
    return label_statistics.point(label_statistics.brier(*check_labelled(labels, probs)), np.size(labels))


def roc_auc(positive: npt.ArrayLike, scores: npt.ArrayLike) -> float | None:
    """Returns the chance that a positive scores higher than a negative; None without both kinds.

    Ties count half.

    Source: Hanley & McNeil 1982.

    Args:
        positive: booleans (n,).
        scores: finite numbers (n,), higher for positives.
    """
    return label_statistics.point(
        label_statistics.roc_auc(*_flagged(positive, scores, "scores")), np.size(positive)
    )


def ece(
    confidence: npt.ArrayLike, correct: npt.ArrayLike, *, bins: int = ECE_BINS, equal_mass: bool = False
) -> float | None:
    """Returns the expected calibration error: the mean over rows of |accuracy - confidence| in the row's bin.

    None without rows. Bins have equal width and are (low, high], the first [0, high] (Guo et al. 2017). With
    `equal_mass` they hold equal numbers of rows, so that the error does not depend on a few crowded bins
    (Nixon et al. 2019).

    Args:
        confidence: probability of the predicted class, (n,) in [0, 1].
        correct: booleans (n,).
        bins: how many.
        equal_mass: edges at quantiles of `confidence`.
    """
    flags, sure = _confident(confidence, correct)
    return label_statistics.point(
        label_statistics.ece(flags, sure, bins=bins, equal_mass=equal_mass), len(sure)
    )


@dataclass(frozen=True, kw_only=True)
class ReliabilityBin:
    """A bin of a reliability diagram: its n rows have a confidence in (low, high].

    `confidence` and `accuracy` are the means of these rows, 0 to 1.
    """

    low: float
    high: float
    n: int
    confidence: float
    accuracy: float


def reliability(
    confidence: npt.ArrayLike, correct: npt.ArrayLike, *, bins: int = ECE_BINS, equal_mass: bool = False
) -> tuple[ReliabilityBin, ...]:
    """Returns the bins that hold at least one row, from low to high; () without rows.

    Arguments as for `ece`.
    """
    flags, sure = _confident(confidence, correct)
    if not len(sure):
        return ()
    edges = label_statistics.bin_edges(sure, bins, equal_mass=equal_mass)
    place = label_statistics.bin_of(sure, edges)
    return tuple(
        ReliabilityBin(
            low=float(edges[i]),
            high=float(edges[i + 1]),
            n=int((place == i).sum()),
            confidence=float(sure[place == i].mean()),
            accuracy=float(flags[place == i].mean()),
        )
        for i in np.unique(place)
    )


def _probabilities(probs: npt.ArrayLike) -> Floats:
    rows = np.asarray(probs, dtype=np.float64)
    if rows.shape == (0,):
        rows = rows.reshape(0, len(LABELS))
    if rows.ndim != 2:
        raise ValueError(f"probs has shape {rows.shape}, expected (n, classes); give one row per pair")
    wrong = ~((rows >= 0).all(axis=1) & (np.abs(rows.sum(axis=1) - 1) <= _SUM_TOLERANCE))
    if wrong.any():
        i = int(wrong.argmax())
        raise ValueError(
            f"probs row {i} is {rows[i].tolist()}, expected shares of 0 or more that sum to 1; apply a "
            "softmax to logits"
        )
    return rows


def check_labelled(labels: npt.ArrayLike, probs: npt.ArrayLike) -> tuple[Indices, Floats]:
    """Returns class indices (n,) and float64 probabilities (n, classes).

    Raises:
        ValueError: the message says what is wrong with them.
    """
    rows = _probabilities(probs)
    truth, _ = check_classes(labels, np.zeros(len(rows), dtype=np.int64))
    if truth.size and not 0 <= truth.min() <= truth.max() < rows.shape[1]:
        raise ValueError(
            f"labels run from {truth.min()} to {truth.max()}, expected class indices from 0 to "
            f"{rows.shape[1] - 1}"
        )
    return truth, rows


def check_classes(labels: npt.ArrayLike, predicted: npt.ArrayLike) -> tuple[Indices, Indices]:
    """Returns two arrays of class indices, int64 (n,), both empty for empty input.

    Raises:
        ValueError: different lengths, more than one dimension, or classes that are no whole numbers.
    """
    pair = [
        np.asarray(values) if np.size(values) else np.zeros(0, dtype=np.int64)
        for values in (labels, predicted)
    ]
    if pair[0].ndim != 1 or pair[0].shape != pair[1].shape:
        raise ValueError(
            f"{pair[0].shape} labels stand against {pair[1].shape} predictions, expected (n,) of both; give "
            "one per pair"
        )
    for values in pair:
        if not np.issubdtype(values.dtype, np.integer):
            raise ValueError(
                f"classes are {values[:3].tolist()}, expected whole numbers; give indices into "
                f"{', '.join(LABELS)}"
            )
    return pair[0].astype(np.int64), pair[1].astype(np.int64)


def _flagged(flags: npt.ArrayLike, numbers: npt.ArrayLike, name: str) -> tuple[Flags, Floats]:
    marks, values = np.asarray(flags), np.asarray(numbers, dtype=np.float64)
    if values.ndim != 1 or marks.shape != values.shape:
        raise ValueError(
            f"{marks.shape} flags stand against {values.shape} {name}, expected (n,) of both; give one per "
            "pair"
        )
    if not np.isfinite(values).all():
        raise ValueError(
            f"{name} hold {values[~np.isfinite(values)][0]}, expected finite numbers; leave unscored pairs "
            "out"
        )
    if not np.isin(marks, (0, 1)).all():
        raise ValueError(
            f"flags hold {marks[~np.isin(marks, (0, 1))][0]!r}, expected booleans; compare labels with "
            "predictions first"
        )
    return marks.astype(np.bool_), values


def _confident(confidence: npt.ArrayLike, correct: npt.ArrayLike) -> tuple[Flags, Floats]:
    flags, sure = _flagged(correct, confidence, "confidence")
    if sure.size and not 0 <= sure.min() <= sure.max() <= 1:
        raise ValueError(
            f"confidence runs from {sure.min()} to {sure.max()}, expected 0 to 1; give the probability of "
            "the predicted class"
        )
    return flags, sure
