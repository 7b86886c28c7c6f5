"""Statistics of labelled pairs for the bootstrap: one function gives a value and its interval.

A statistic takes counts (b, n), how often each of b resamples holds each of n pairs, and returns (b,) values,
NaN where a resample leaves nothing to measure. The functions here make statistics from arrays that
`calibration` has checked.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from pytest_medfaith.metrics.bootstrap import Floats, ratio

Indices = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Statistic = Callable[[Floats], Floats]


def point(statistic: Statistic, rows: int) -> float | None:
    """Returns the value of `statistic` over `rows` pairs, each counted once; None where it has none."""
    value = float(statistic(np.ones((1, rows)))[0]) if rows else math.nan
    return None if math.isnan(value) else value


def mean(values: Floats) -> Statistic:
    """Makes the mean of `values` (n,)."""
    return lambda counts: ratio(counts @ values, counts.sum(axis=1))


def accuracy(labels: Indices, predicted: Indices) -> Statistic:
    """Makes the share of pairs with the right class."""
    return mean((labels == predicted).astype(np.float64))


def brier(labels: Indices, probs: Floats) -> Statistic:
    """Makes the mean over pairs of the sum over classes of (p - outcome)^2."""
    outcomes = np.eye(probs.shape[1])[labels]
    return mean(((probs - outcomes) ** 2).sum(axis=1))


def _confusions(labels: Indices, predicted: Indices, counts: Floats) -> Floats:
    """Returns confusion matrices (b, classes, classes), rows true, over the classes that occur."""
    names, places = np.unique(np.concatenate([labels, predicted]), return_inverse=True)
    cells = places[: len(labels)] * len(names) + places[len(labels) :]
    one_hot = np.eye(len(names) ** 2)[cells]
    confusions: Floats = (counts @ one_hot).reshape(len(counts), len(names), len(names))
    return confusions


def f1_macro(labels: Indices, predicted: Indices) -> Statistic:
    """Makes the mean of F1 over the classes that occur in the resample."""

    def statistic(counts: Floats) -> Floats:
        confusions = _confusions(labels, predicted, counts)
        occurring = confusions.sum(axis=1) + confusions.sum(axis=2)
        f1 = ratio(2 * np.diagonal(confusions, axis1=1, axis2=2), occurring)
        return ratio(np.nansum(f1, axis=1), (occurring > 0).sum(axis=1))

    return statistic


def mcc(labels: Indices, predicted: Indices) -> Statistic:
    """Makes Matthews' correlation (Gorodkin 2004), 0 where labels or predictions hold a single class."""

    def statistic(counts: Floats) -> Floats:
        confusions = _confusions(labels, predicted, counts)
        true, chosen = confusions.sum(axis=2), confusions.sum(axis=1)
        rows, right = true.sum(axis=1), np.trace(confusions, axis1=1, axis2=2)
        covariance = right * rows - (true * chosen).sum(axis=1)
        spread = np.sqrt((rows**2 - (chosen**2).sum(axis=1)) * (rows**2 - (true**2).sum(axis=1)))
        return np.nan_to_num(ratio(covariance, spread))

    return statistic


def roc_auc(positive: Flags, scores: Floats) -> Statistic:
    """Makes the chance that a positive scores higher than a negative, ties count half.

    One sort serves all resamples; running sums then go over the runs of equal scores.
    """
    order = np.argsort(scores, kind="stable")
    ties = np.flatnonzero(
        np.diff(scores[order], prepend=-np.inf) > 0
    )  # where each run of equal scores starts
    hits = positive[order].astype(np.float64)

    def statistic(counts: Floats) -> Floats:
        drawn = counts[:, order]
        positives = np.add.reduceat(drawn * hits, ties, axis=1)
        negatives = np.add.reduceat(drawn * (1 - hits), ties, axis=1)
        below = np.cumsum(negatives, axis=1) - negatives
        won = (positives * (below + negatives / 2)).sum(axis=1)
        return ratio(won, positives.sum(axis=1) * negatives.sum(axis=1))

    return statistic


def ece(correct: Flags, confidence: Floats, *, bins: int, equal_mass: bool) -> Statistic:
    """Makes the expected calibration error over the bins of the full sample."""
    in_bin = np.eye(bins)[bin_of(confidence, bin_edges(confidence, bins, equal_mass=equal_mass))]
    gaps = in_bin * (correct - confidence)[:, None]
    return lambda counts: ratio(np.abs(counts @ gaps).sum(axis=1), counts.sum(axis=1))


def bin_edges(confidence: Floats, bins: int, *, equal_mass: bool) -> Floats:
    """Returns the edges of the bins, (bins + 1,), ascending."""
    if bins < 1:
        raise ValueError(f"bins is {bins}, expected 1 or more; give for example bins=15")
    shares = np.linspace(0.0, 1.0, bins + 1)
    edges: Floats = np.quantile(confidence, shares) if equal_mass and confidence.size else shares
    return edges


def bin_of(confidence: Floats, edges: Floats) -> Indices:
    """Returns the index of each row's bin, (n,), from 0.

    Args:
        confidence: probabilities, (n,).
        edges: of the bins, (bins + 1,), ascending, as `bin_edges` returns them. Bin i is
            (edges[i], edges[i + 1]]; the first bin also holds what is at or below its lower edge.
    """
    return np.searchsorted(edges[1:-1], confidence, side="left")
