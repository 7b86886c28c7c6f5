"""Latency: percentiles of the times of answers and of the steps of retrieval, in milliseconds."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from pytest_medfaith.metrics.base import Fraction, Metric

if TYPE_CHECKING:
    from pytest_medfaith.records import Report


def _latency_ms(report: Report) -> Fraction | None:
    latency = report.response.latency_ms
    return None if latency is None else (latency, 1.0)


def _percentile(
    name: str,
    percent: int,
    definition: str,
    per_case: Callable[[Report], Fraction | None],
    *,
    needs_answer: bool,
) -> Metric:
    """Returns the metric `name_p95` for 95 percent, a percentile of times in milliseconds."""
    return Metric(
        name=f"{name}_p{percent}",
        family="latency",
        direction="lower",
        definition=f"{percent}th percentile of {definition}",
        source="Hyndman & Fan 1996, Sample Quantiles in Statistical Packages (type 7)",
        per_case=per_case,
        range=(0.0, math.inf),
        quantile=percent / 100,
        needs_answer=needs_answer,
    )


def _latency_metric(percent: int) -> Metric:
    definition = "the responses' latency_ms over the cases that have one, linear between two cases; ms"
    return _percentile("latency", percent, definition, _latency_ms, needs_answer=True)


def _step_metric(step: str, name: str, percent: int) -> Metric:
    def per_case(report: Report) -> Fraction | None:
        took = report.retrieval.steps_ms.get(step)
        return None if took is None else (took, 1.0)

    definition = (
        f"{_STEPS[step]}, for the questions of a slice; ms; only where contexts are retrieved or no answer "
        "is judged"
    )
    return _percentile(name, percent, definition, per_case, needs_answer=False)


# Steps as `retrieval.cost` names them, and what they do.
_STEPS = {
    "total": "the time of a retrieval, all steps together",
    "encode": "the time in which the encoder reads the question",
    "search": "the time in which the indexes are searched",
    "fuse": "the time in which rankings are fused",
    "rerank": "the time in which hits are reranked",
}
METRICS = (
    _latency_metric(50),
    _latency_metric(95),
    *(
        _step_metric(step, "retrieval" if step == "total" else step, percent)
        for step in _STEPS
        for percent in (50, 95)
    ),
)
