"""Metrics of how far further answers to the same question agree; for responses that hold `samples`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from pytest_medfaith.metrics.base import Fraction, Metric, share

if TYPE_CHECKING:
    from pytest_medfaith.records import Report

SELFCHECK = "Manakul, Liusie & Gales 2023, SelfCheckGPT, arXiv:2303.08896"


def _agreement(report: Report) -> Fraction | None:
    return (report.consistency["agreement"], 1.0) if report.consistency else None


def _counted(label: str) -> Callable[[Report], Fraction | None]:
    def per_case(report: Report) -> Fraction | None:
        counts = report.consistency.get(label, {})
        return share(sum(counts.values()), len(counts) * report.consistency.get("samples", 0))

    return per_case


METRICS = (
    Metric(
        name="self_consistency",
        family="consistency",
        direction="higher",
        definition="(claim, further answer) pairs in which the answer says the claim / pairs; only where the "
        "system was asked several times",
        source=SELFCHECK,
        per_case=_counted("supported"),
        part="count",
    ),
    Metric(
        name="self_contradiction",
        family="consistency",
        direction="lower",
        definition="(claim, further answer) pairs in which the answer says otherwise / pairs",
        source=SELFCHECK,
        per_case=_counted("refuted"),
        part="count",
    ),
    Metric(
        name="self_agreement",
        family="consistency",
        direction="higher",
        definition="mean similarity of all pairs of answers to a question under the sentence encoder, "
        "sentence by sentence",
        source=SELFCHECK,
        per_case=_agreement,
        range=(-1.0, 1.0),
    ),
)
