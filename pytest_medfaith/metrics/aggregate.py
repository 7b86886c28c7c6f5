"""Slice values: metrics over cases, micro and macro, with percentile bootstrap intervals over cases.

Micro is the sum of the parts over the sum of the wholes, macro the mean of the per-case ratios. A case to
which a metric does not apply is left out of that metric, and `n` says how many counted. All metrics read one
set of resamples of the whole slice; a resample without any case of a metric is left out of that metric's
interval.

Reports are sorted by case id, and values are rounded to 10 decimals. So the same reports give the same
numbers, whatever the order and the number of threads that made them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from pytest_medfaith.metrics.base import Metric
from pytest_medfaith.metrics.bootstrap import (
    Floats,
    metric_value,
    percentile_interval,
    ratio,
    resampled_counts,
)
from pytest_medfaith.metrics.registry import METRICS, parse_metric
from pytest_medfaith.records import MetricValue, Report


def case_metrics(
    report: Report, *, names: Iterable[str] | None = None, declared: Mapping[str, Metric] = METRICS
) -> dict[str, float]:
    """Returns the values of one report by name; a metric that does not apply is absent.

    Args:
        report: of the case.
        names: what to measure; everything in `declared` where None.
        declared: the metrics by name, see `parse_metric`.

    Raises:
        ValueError: no metric has one of `names`.
    """
    metrics = _named(names, declared)
    values = {name: metric.value(report) for name, metric in metrics.items()}
    return {name: value for name, value in values.items() if value is not None}


def _named(names: Iterable[str] | None, declared: Mapping[str, Metric]) -> Mapping[str, Metric]:
    return declared if names is None else {name: parse_metric(name, declared) for name in names}


def aggregate(
    metric: Metric, reports: Sequence[Report], *, seed: int = 0, resamples: int = 2000, level: float = 0.95
) -> tuple[MetricValue, MetricValue]:
    """Returns (micro, macro) of `metric` over `reports`, each with its interval.

    The value is None where no case counts. The interval is None where fewer than two do: one case says
    nothing about the spread between cases.
    """
    return _aggregate([metric], reports, seed=seed, resamples=resamples, level=level)[0]


def slice_metrics(
    reports: Sequence[Report],
    *,
    names: Iterable[str] | None = None,
    declared: Mapping[str, Metric] = METRICS,
    seed: int = 0,
    resamples: int = 2000,
    level: float = 0.95,
) -> tuple[dict[str, MetricValue], dict[str, MetricValue]]:
    """Returns ({name: micro}, {name: macro}), the values that `aggregate` gives with the same seed.

    Args:
        reports: of the slice's cases, in any order.
        names: what to measure; everything in `declared` where None.
        declared: the metrics by name, see `parse_metric`.
        seed: of the resamples.
        resamples: how many.
        level: of the intervals.

    Raises:
        ValueError: no metric has one of `names`.
    """
    metrics = list(_named(names, declared).values())
    pairs = _aggregate(metrics, reports, seed=seed, resamples=resamples, level=level)
    return {micro.name: micro for micro, _ in pairs}, {macro.name: macro for _, macro in pairs}


def _aggregate(
    metrics: Sequence[Metric], reports: Sequence[Report], *, seed: int, resamples: int, level: float
) -> list[tuple[MetricValue, MetricValue]]:
    if not reports:
        return [(metric_value(metric.name, None, None, n=0),) * 2 for metric in metrics]
    in_order = sorted(reports, key=lambda report: report.case.id)
    rows = [[metric.measure(report) or (0.0, 0.0) for metric in metrics] for report in in_order]
    table = np.array(rows, dtype=np.float64).reshape(len(rows), len(metrics), 2)
    parts, wholes = table[..., 0], table[..., 1]
    blocks = resampled_counts(len(rows), resamples=resamples, seed=seed)
    draws = np.concatenate([_draw(metrics, parts, wholes, counts) for counts in blocks], axis=1)
    pairs = []
    for i, metric in enumerate(metrics):
        counted = wholes[:, i] > 0
        n = int(counted.sum())
        micro, macro = _points(metric, parts[counted, i], wholes[counted, i])
        spreads = [percentile_interval(draws[j, :, i], level=level) if n > 1 else None for j in (0, 1)]
        pairs.append(
            (
                metric_value(metric.name, micro, spreads[0], n=n),
                metric_value(metric.name, macro, spreads[1], n=n),
            )
        )
    return pairs


def _points(metric: Metric, parts: Floats, wholes: Floats) -> tuple[float | None, float | None]:
    """Returns micro and macro over the cases that count."""
    if not parts.size:
        return None, None
    ratios = parts / wholes
    if metric.quantile is not None:
        value = float(np.quantile(ratios, metric.quantile))
        return value, value
    return math.fsum(parts) / math.fsum(wholes), math.fsum(ratios) / len(ratios)


def _draw(metrics: Sequence[Metric], parts: Floats, wholes: Floats, counts: Floats) -> Floats:
    """Returns micro and macro of every metric in every resample, (2, b, m); NaN where it has no case there.

    Args:
        metrics: m of them.
        parts: (cases, m), 0 where the metric does not apply.
        wholes: (cases, m), likewise.
        counts: (b, cases), how often each resample holds each case.
    """
    counted = wholes > 0
    ratios = np.divide(parts, wholes, out=np.zeros_like(parts), where=counted)
    draws = np.stack(
        [ratio(counts @ parts, counts @ wholes), ratio(counts @ ratios, counts @ counted.astype(np.float64))]
    )
    for i, metric in enumerate(metrics):
        here = counted[:, i]
        if metric.quantile is not None and here.any():
            draws[:, :, i] = _quantiles(ratios[here, i], counts[:, here], metric.quantile)
    return draws


def _quantiles(values: Floats, counts: Floats, quantile: float) -> Floats:
    """Returns the quantile of `values` (n,) repeated by `counts` (b, n): (b,), NaN where all counts are 0.

    It is linear between two values, as `numpy.quantile`.
    """
    order = np.argsort(values, kind="stable")
    reach = np.cumsum(counts[:, order], axis=1)  # how many drawn values are at most each value
    place = np.maximum(reach[:, -1] - 1, 0) * quantile
    floor = np.floor(place)
    below, above = (values[order][(reach > rank[:, None]).argmax(axis=1)] for rank in (floor, np.ceil(place)))
    return np.where(reach[:, -1] > 0, below + (place - floor) * (above - below), np.nan)
