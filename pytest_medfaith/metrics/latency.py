"""Latency of responses: percentiles over the cases whose response says how long it took."""

from __future__ import annotations

import math

from pytest_medfaith.metrics.base import Fraction, Metric
from pytest_medfaith.records import Report


def _latency_ms(report: Report) -> Fraction | None:
    latency = report.response.latency_ms
    return None if latency is None else (latency, 1.0)


def _latency_metric(percent: int) -> Metric:
    return Metric(
        name=f"latency_p{percent}",
        family="latency",
        direction="lower",
        definition=f"{percent}th percentile of the responses' latency_ms over the cases that have one, "
        "linear between two cases; ms",
        source="Hyndman & Fan 1996, Sample Quantiles in Statistical Packages (type 7)",
        per_case=_latency_ms,
        range=(0.0, math.inf),
        quantile=percent / 100,
    )


METRICS = (_latency_metric(50), _latency_metric(95))
