"""Metrics of the risks of answers; measured where the settings have a table `risk`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_medfaith.metrics.base import Fraction, Metric

if TYPE_CHECKING:
    from pytest_medfaith.records import Report


def _score(report: Report) -> Fraction | None:
    return (float(report.risk["score"]), 1.0) if report.risk else None


def _high(report: Report) -> Fraction | None:
    return (float(report.risk["flag"] == "HIGH"), 1.0) if report.risk else None


METRICS = (
    Metric(
        name="answer_risk",
        family="risk",
        direction="lower",
        definition="mean over answers of the risk of their riskiest claim: weighted consistency, retrieval "
        "and critic; only where [tool.medfaith.risk] is set",
        source="this project",
        per_case=_score,
    ),
    Metric(
        name="high_risk",
        family="risk",
        direction="lower",
        definition="answers with the flag HIGH / answers with claims",
        source="this project",
        per_case=_high,
        part="count",
    ),
)
