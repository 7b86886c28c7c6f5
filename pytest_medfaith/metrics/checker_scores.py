"""Scores of a checker against labels, such as accuracy and ECE, each with its bootstrap interval."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from pytest_medfaith import defaults
from pytest_medfaith.metrics import label_statistics
from pytest_medfaith.metrics.bootstrap import Floats, metric_value, percentile_interval, resampled_counts
from pytest_medfaith.metrics.calibration import ECE_BINS, check_classes, check_labelled, risk_scores
from pytest_medfaith.metrics.label_statistics import Indices, Statistic
from pytest_medfaith.records import LABELS, MetricValue


@dataclass(frozen=True, kw_only=True)
class Labelled:
    """Labelled pairs: `labels` and `predicted` are class indices (n,), `probs` float64 (n, 3)."""

    labels: Indices
    predicted: Indices
    probs: Floats


@dataclass(frozen=True, kw_only=True)
class LabelMetric:
    """A metric of a checker against labels; `statistic` makes from labelled pairs what the bootstrap asks."""

    name: str
    direction: Literal["higher", "lower"]
    range: tuple[float, float]
    definition: str
    source: str
    statistic: Callable[[Labelled], Statistic]


LABEL_METRICS: Mapping[str, LabelMetric] = {
    metric.name: metric
    for metric in (
        LabelMetric(
            name="risk",
            direction="lower",
            range=(0.0, 1.0),
            definition="mean over pairs of 1 - P(entail): the share of pairs that the checker expects not "
            "to be entailed",
            source="this project",
            statistic=lambda data: label_statistics.mean(risk_scores(data.probs)),
        ),
        LabelMetric(
            name="ece",
            direction="lower",
            range=(0.0, 1.0),
            definition=f"expected calibration error of the most probable class, {ECE_BINS} bins of equal "
            "width",
            source="Guo et al. 2017, On Calibration of Modern Neural Networks, arXiv:1706.04599",
            statistic=lambda data: label_statistics.ece(
                data.probs.argmax(axis=1) == data.labels,
                data.probs.max(axis=1),
                bins=ECE_BINS,
                equal_mass=False,
            ),
        ),
        LabelMetric(
            name="brier",
            direction="lower",
            range=(0.0, 2.0),
            definition="mean over pairs of the sum over the three labels of (p - outcome)^2",
            source="Brier 1950, Monthly Weather Review 78(1)",
            statistic=lambda data: label_statistics.brier(data.labels, data.probs),
        ),
        LabelMetric(
            name="roc_auc",
            direction="higher",
            range=(0.0, 1.0),
            definition="chance that a pair that is not entailed has a higher risk than one that is, ties "
            "count half",
            source="Hanley & McNeil 1982, Radiology 143(1)",
            statistic=lambda data: label_statistics.roc_auc(
                data.labels != LABELS.index("entail"), risk_scores(data.probs)
            ),
        ),
        LabelMetric(
            name="f1",
            direction="higher",
            range=(0.0, 1.0),
            definition="mean of the labels' F1, over the labels that occur or are predicted",
            source="van Rijsbergen 1979, Information Retrieval, 7",
            statistic=lambda data: label_statistics.f1_macro(data.labels, data.predicted),
        ),
        LabelMetric(
            name="accuracy",
            direction="higher",
            range=(0.0, 1.0),
            definition="pairs with the right label / pairs",
            source="Metz 1978, Seminars in Nuclear Medicine 8(4)",
            statistic=lambda data: label_statistics.accuracy(data.labels, data.predicted),
        ),
        LabelMetric(
            name="mcc",
            direction="higher",
            range=(-1.0, 1.0),
            definition="Matthews' correlation of labels and predictions over three classes, 0 where either "
            "has a single class",
            source="Gorodkin 2004, Computational Biology and Chemistry 28(5-6)",
            statistic=lambda data: label_statistics.mcc(data.labels, data.predicted),
        ),
    )
}


def score_checker(
    labels: Sequence[str],
    probs: npt.ArrayLike,
    *,
    predicted: Sequence[str] | None = None,
    groups: Sequence[Hashable] | None = None,
    seed: int = defaults.SEED,
    resamples: int = defaults.RESAMPLES,
    level: float = defaults.LEVEL,
) -> dict[str, MetricValue]:
    """Returns every metric of `LABEL_METRICS` by name, each with its percentile bootstrap interval.

    Args:
        labels: the true label of each pair, words of `LABELS`, (n,).
        probs: (n, 3), rows sum to 1, order entail, neutral, contradict.
        predicted: the checker's label of each pair where thresholds or rules chose it; the most probable
            class where None.
        groups: an id per pair, for example its case: pairs of a group are drawn together. Where None each
            pair is drawn by itself.
        seed: of the resamples.
        resamples: how many.
        level: of the interval.

    Returns:
        Values whose `n` counts pairs. The value is None where it cannot be measured, the interval is None
            with fewer
        than two groups.

    Raises:
        ValueError: an unknown label, lists of different lengths, or rows of `probs` that are no
            probabilities.
    """
    data = _labelled(labels, probs, predicted)
    pairs = len(data.labels)
    group_of = _group_indices(groups, pairs)
    if not pairs:
        return {name: metric_value(name, None, None, n=0) for name in LABEL_METRICS}
    statistics = {name: metric.statistic(data) for name, metric in LABEL_METRICS.items()}
    draws = _draws(list(statistics.values()), group_of, seed=seed, resamples=resamples)
    scores = {}
    for (name, statistic), draw in zip(statistics.items(), draws, strict=True):
        interval = percentile_interval(draw, level=level) if group_of.max() > 0 else None
        scores[name] = metric_value(name, label_statistics.point(statistic, pairs), interval, n=pairs)
    return scores


def _draws(statistics: Sequence[Statistic], group_of: Indices, *, seed: int, resamples: int) -> Floats:
    """Returns (statistics, resamples); every statistic reads the same resampled groups."""
    blocks = resampled_counts(int(group_of.max()) + 1, resamples=resamples, seed=seed, width=len(group_of))
    expanded = (counts[:, group_of] for counts in blocks)
    return np.concatenate(
        [np.stack([statistic(counts) for statistic in statistics]) for counts in expanded], axis=1
    )


def _labelled(labels: Sequence[str], probs: npt.ArrayLike, predicted: Sequence[str] | None) -> Labelled:
    truth, rows = check_labelled(_indices(labels, "labels"), probs)
    if rows.shape[1] != len(LABELS):
        raise ValueError(
            f"probs has {rows.shape[1]} columns, expected {len(LABELS)}; order them {', '.join(LABELS)}"
        )
    chosen = rows.argmax(axis=1) if predicted is None else _indices(predicted, "predicted")
    truth, chosen = check_classes(truth, chosen)
    return Labelled(labels=truth, predicted=chosen, probs=rows)


def _indices(labels: Sequence[str], name: str) -> Indices:
    unknown = next((label for label in labels if label not in LABELS), None)
    if unknown is not None:
        raise ValueError(
            f"{name} hold {unknown!r}, expected {', '.join(LABELS)}; map the data set's own words to these "
            "first"
        )
    return np.array([LABELS.index(label) for label in labels], dtype=np.int64)


def _group_indices(groups: Sequence[Hashable] | None, rows: int) -> Indices:
    """Returns the group of each row as an index from 0, in order of appearance."""
    if groups is None:
        return np.arange(rows)
    if len(groups) != rows:
        raise ValueError(
            f"{len(groups)} groups stand against {rows} labels; give one group per pair, or none"
        )
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(group, len(numbers)) for group in groups], dtype=np.int64)
