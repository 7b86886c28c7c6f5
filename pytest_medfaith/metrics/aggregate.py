"""The value of a metric over a slice: micro and macro, each with a percentile bootstrap interval over cases.

Each case has a part and a whole, such as 3 of 4 claims. Micro is the sum of the parts over the sum of the
wholes, macro the mean of the cases' ratios. A case to which a metric does not apply is left out, and `n`
counts the rest. All metrics read one set of resamples.

Reports are sorted by case id and values rounded to 10 decimals, so that the same reports give the same
numbers.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from pytest_medfaith import defaults
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
from pytest_medfaith.records.stored import in_case_order

Interval = tuple[float, float]
_NOT_MEASURED: tuple[Sequence[float | None], Sequence[Interval | None], int] = ((None, None), (None, None), 0)


def case_metrics(
    report: Report, *, names: Iterable[str] | None = None, declared: Mapping[str, Metric] = METRICS
) -> dict[str, float]:
    """Returns {name: value} of one report; a metric that does not apply is missing.

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
    metric: Metric,
    reports: Sequence[Report],
    *,
    seed: int = defaults.SEED,
    resamples: int = defaults.RESAMPLES,
    level: float = defaults.LEVEL,
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
    seed: int = defaults.SEED,
    resamples: int = defaults.RESAMPLES,
    level: float = defaults.LEVEL,
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
    places, parts, wholes = _fractions(metrics, reports)
    found = dict.fromkeys(range(len(metrics)), _NOT_MEASURED)
    if places:
        measured = [metrics[place] for place in places]
        blocks = resampled_counts(len(reports), resamples=resamples, seed=seed)
        draws = np.concatenate([_draw(measured, parts, wholes, counts) for counts in blocks], axis=1)
        for i, place in enumerate(places):
            counted = wholes[:, i] > 0
            n = int(counted.sum())
            points = _points(metrics[place], parts[counted, i], wholes[counted, i])
            spreads = [percentile_interval(draws[j, :, i], level=level) if n > 1 else None for j in (0, 1)]
            found[place] = (points, spreads, n)
    return [_values(metric.name, *found[place]) for place, metric in enumerate(metrics)]


def _values(
    name: str, points: Sequence[float | None], spreads: Sequence[Interval | None], n: int
) -> tuple[MetricValue, MetricValue]:
    micro, macro = (metric_value(name, *one, n=n) for one in zip(points, spreads, strict=True))
    return micro, macro


def _fractions(metrics: Sequence[Metric], reports: Sequence[Report]) -> tuple[list[int], Floats, Floats]:
    """Returns the places of metrics that apply to any case; their parts; their wholes: (cases, metrics).

    Both are 0 where a metric does not apply to a case. Each report is read once.
    """
    found: dict[int, Floats] = {}
    for row, report in enumerate(in_case_order(reports)):
        for place, metric in enumerate(metrics):
            fraction = metric.measure(report)
            if fraction:
                if place not in found:
                    found[place] = np.zeros((2, len(reports)))
                found[place][:, row] = fraction
    places = sorted(found)
    if not places:
        return [], np.zeros((0, 0)), np.zeros((0, 0))
    parts, wholes = (np.stack([found[place][one] for place in places], axis=1) for one in (0, 1))
    return places, parts, wholes


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
