"""Metrics of major errors: those that could change what is done for a patient."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from pytest_medfaith.metrics.base import Fraction, Metric, scored_verdicts, share

if TYPE_CHECKING:
    from pytest_medfaith.records import Report, Verdict, VerdictLabel

ERRORS: tuple[VerdictLabel, ...] = ("refuted", "unsupported")
_SOURCE = (
    "risks of Aali et al. 2025, MedVAL, arXiv:2507.03152; major and minor as in Asgari et al. 2025, CREOLA, "
    "npj Digit Med 8:274"
)


def is_major(verdict: Verdict) -> bool:
    """Returns whether the claim is a major error; an error that nobody graded counts as major."""
    return verdict.label in ERRORS and (verdict.severity is None or verdict.severity.is_major)


def _major(*labels: VerdictLabel) -> Callable[[Report], Fraction | None]:
    def per_case(report: Report) -> Fraction | None:
        scored = scored_verdicts(report)
        return share(sum(is_major(one) for one in scored if one.label in labels), len(scored))

    return per_case


def as_rules_grade(report: Report) -> Report:
    """Returns `report` with the risks that rules gave, in place of those that people's labels gave.

    Runs are compared so, because labels added between them would look like a change of the answers.
    """
    graded = [
        one.with_(severity=one.severity.with_(risk=one.severity.by_rules, by_rules=None))
        if one.severity and one.severity.by_rules
        else one
        for one in report.verdicts
    ]
    return report.with_(verdicts=tuple(graded))


METRICS = (
    Metric(
        name="major_hallucination",
        family="severity",
        direction="lower",
        definition="scored claims that the contexts refute, and whose error is of moderate or high risk / N",
        source=_SOURCE,
        per_case=_major("refuted"),
        part="count",
        whole="claims",
    ),
    Metric(
        name="major_error_rate",
        family="severity",
        direction="lower",
        definition="scored claims that the contexts refute or do not support, and whose error is of moderate "
        "or high risk / N",
        source=_SOURCE,
        per_case=_major(*ERRORS),
        part="count",
        whole="claims",
    ),
)
