"""Gates on a slice with uncertain claims: judged without them, and with the labels that they lean to.

Example: 19 claims are supported, and a claim that is refuted at 0.6 is uncertain. Without it hallucination is
0, and `hallucination <= 0.04` would pass. As it leans, hallucination is 0.05, and the gate fails.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pytest_medfaith.checking.selective import as_leaning
from pytest_medfaith.metrics.base import Metric
from pytest_medfaith.metrics.registry import parse_metric
from pytest_medfaith.records import GateResult, Report, SliceReport

# Families of metrics that are measured from other things than the verdicts of the reports.
_ELSEWHERE = ("audit", "corrected", "retrieval", "latency")
_FROM_WORST = ("fail", "inconclusive", "pass")


def has_uncertain(report: SliceReport) -> bool:
    """Returns whether a claim of the slice is uncertain."""
    return any(verdict.label == "uncertain" for one in report.reports for verdict in one.verdicts)


def leaning_reports(reports: Iterable[Report]) -> tuple[Report, ...]:
    """Returns `reports` with each uncertain claim given the label that it leans to."""
    return tuple(one.with_(verdicts=tuple(map(as_leaning, one.verdicts)), selective=False) for one in reports)


def leaning_report(report: SliceReport, declared: Mapping[str, Metric]) -> SliceReport:
    """Returns `report` with each uncertain claim given the label it leans to, without metrics of verdicts.

    Metrics of audits, corrected rates, retrieval and latency stay: they do not depend on these labels.
    """
    kept = {
        name: value
        for name, value in report.metrics.items()
        if parse_metric(name, declared).family in _ELSEWHERE
    }
    return report.with_(reports=leaning_reports(report.reports), metrics=kept)


def as_strict(result: GateResult, leaning: GateResult) -> GateResult:
    """Returns `result`, or `leaning` (the gate with uncertain claims as they lean) where that is worse."""
    metric_of_open = result.expression.split()[0] == "uncertain"  # as they lean there is none
    if metric_of_open or _FROM_WORST.index(leaning.outcome) >= _FROM_WORST.index(result.outcome):
        return result
    why = f"with uncertain claims as they lean: {leaning.message}"
    return result.with_(outcome=leaning.outcome, message=f"{why}; without them: {result.message}")
