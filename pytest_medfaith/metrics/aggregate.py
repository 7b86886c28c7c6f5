"""Slice values: metrics over cases, micro and macro, with percentile bootstrap intervals over cases.

Micro is the sum of numerators over the sum of denominators, macro the mean of per-case ratios. Cases to which a metric does not apply
are left out of it, and `n` says how many counted. One set of resamples of the whole slice serves every metric; a resample that holds
no case of a metric is left out of that metric's interval.

Reports are taken in the order of their case ids, and values are rounded to 10 decimals: the same reports give the same numbers in
whatever order, and on however many threads, they were made.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

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


def case_metrics(report: Report, *, names: Iterable[str] = tuple(METRICS)) -> dict[str, float]:
    """Returns the values of one report by name; a metric that does not apply is absent.

    Raises:
        ValueError: no metric has one of `names`.
    """
    values = {name: parse_metric(name).value(report) for name in names}
    return {name: value for name, value in values.items() if value is not None}


def aggregate(
    metric: Metric, reports: Sequence[Report], *, seed: int = 0, resamples: int = 2000, level: float = 0.95
) -> tuple[MetricValue, MetricValue]:
    """Returns (micro, macro) of `metric` over `reports`, each with its interval.

    The value is None where no case counts. The interval is None where fewer than two do: one case says nothing of the spread
    between cases.
    """
    return _aggregate([metric], reports, seed=seed, resamples=resamples, level=level)[0]


def slice_metrics(
    reports: Sequence[Report],
    *,
    names: Iterable[str] = tuple(METRICS),
    seed: int = 0,
    resamples: int = 2000,
    level: float = 0.95,
) -> tuple[dict[str, MetricValue], dict[str, MetricValue]]:
    """Returns ({name: micro}, {name: macro}) over `reports` in one pass; the values are those of `aggregate` with the same seed.

    Raises:
        ValueError: no metric has one of `names`.
    """
    metrics = [parse_metric(name) for name in names]
    pairs = _aggregate(metrics, reports, seed=seed, resamples=resamples, level=level)
    return {micro.name: micro for micro, _ in pairs}, {macro.name: macro for _, macro in pairs}


def _aggregate(
    metrics: Sequence[Metric], reports: Sequence[Report], *, seed: int, resamples: int, level: float
) -> list[tuple[MetricValue, MetricValue]]:
    if not reports:
        return [(metric_value(metric.name, None, None, n=0),) * 2 for metric in metrics]
    numerators, denominators = _fractions(metrics, sorted(reports, key=lambda report: report.case.id))
    blocks = resampled_counts(len(reports), resamples=resamples, seed=seed)
    draws = np.concatenate([_draw(metrics, numerators, denominators, counts) for counts in blocks], axis=1)
    pairs = []
    for i, metric in enumerate(metrics):
        counted = denominators[:, i] > 0
        n = int(counted.sum())
        points = _points(metric, numerators[counted, i], denominators[counted, i])
        intervals = [percentile_interval(draws[j, :, i], level=level) if n > 1 else None for j in (0, 1)]
        pairs.append(
            (
                metric_value(metric.name, points[0], intervals[0], n=n),
                metric_value(metric.name, points[1], intervals[1], n=n),
            )
        )
    return pairs


def _fractions(metrics: Sequence[Metric], reports: Sequence[Report]) -> tuple[Floats, Floats]:
    """Returns numerators and denominators, each (cases, metrics), 0 and 0 where a metric does not apply."""
    rows = [[metric.measure(report) or (0.0, 0.0) for metric in metrics] for report in reports]
    table = np.array(rows, dtype=np.float64).reshape(len(reports), len(metrics), 2)
    return table[..., 0], table[..., 1]


def _points(metric: Metric, numerators: Floats, denominators: Floats) -> tuple[float | None, float | None]:
    """Returns micro and macro over the cases that count."""
    if not numerators.size:
        return None, None
    ratios = numerators / denominators
    if metric.quantile is not None:
        value = float(np.quantile(ratios, metric.quantile))
        return value, value
    return math.fsum(numerators) / math.fsum(denominators), math.fsum(ratios) / len(ratios)


def _draw(metrics: Sequence[Metric], numerators: Floats, denominators: Floats, counts: Floats) -> Floats:
    """Returns micro and macro of every metric in every resample: (2, b, metrics), NaN where no case of the metric was drawn."""
    counted = denominators > 0
    ratios = np.divide(numerators, denominators, out=np.zeros_like(numerators), where=counted)
    draws = np.stack(
        [
            ratio(counts @ numerators, counts @ denominators),
            ratio(counts @ ratios, counts @ counted.astype(np.float64)),
        ]
    )
    for i, metric in enumerate(metrics):
        here = counted[:, i]
        if metric.quantile is not None and here.any():
            draws[:, :, i] = _quantiles(ratios[here, i], counts[:, here], metric.quantile)
    return draws


def _quantiles(values: Floats, counts: Floats, quantile: float) -> Floats:
    """Returns the quantile of `values` (n,) repeated by `counts` (b, n), linear between two: (b,), NaN where all counts are 0."""
    order = np.argsort(values, kind="stable")
    reach = np.cumsum(counts[:, order], axis=1)  # how many drawn values stand at or before each
    place = np.maximum(reach[:, -1] - 1, 0) * quantile
    floor = np.floor(place)
    below, above = (values[order][(reach > rank[:, None]).argmax(axis=1)] for rank in (floor, np.ceil(place)))
    return np.where(reach[:, -1] > 0, below + (place - floor) * (above - below), np.nan)
