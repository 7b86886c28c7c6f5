"""What a gate's result comes to where cases are missing or failed, claims could not be scored, or hardly a case was answered."""

from __future__ import annotations

from pytest_medfaith.metrics.base import Metric
from pytest_medfaith.metrics.failed import failed_cases, failures_told
from pytest_medfaith.records import GateResult, SliceReport

# A slice of refusals says nothing of the answers. A slice whose questions have no answer bounds abstention itself.
MOST_ABSTAINED = 0.5
IMPLIED = f"abstention <= {MOST_ABSTAINED}"
_OF_CLAIMS = ("claims", "citations", "ragchecker", "safety")  # families that leave unscored claims out
_COUNTED_ANYWAY = ("unscored", "abstention")
_NAMES_SHOWN = 5


def unless_incomplete(
    result: GateResult, metric: Metric, report: SliceReport, *, unscored_at_most: float
) -> GateResult:
    """Returns `result`, or the failure that it comes to.

    Args:
        result: what the numbers alone say.
        metric: the gate's.
        report: of the slice.
        unscored_at_most: the share of claims that may be unscored.
    """
    if metric.family != "audit":  # an audit measures claims that it makes itself
        result = _unless_failed(result, report)
        if metric.name not in _COUNTED_ANYWAY and _leaves_out_unscored(metric):
            result = _unless_unscored(result, report, unscored_at_most=unscored_at_most)
    return _unless_cut_short(result, report)


def _failed(result: GateResult, why: str) -> GateResult:
    return result.with_(outcome="fail", message=f"{why}; {result.message}")


def _unless_failed(result: GateResult, report: SliceReport) -> GateResult:
    failed = failed_cases(report.reports)
    if not failed or result.outcome == "fail":
        return result
    return _failed(result, failures_told(failed, of=len(report.reports)))


def _unless_cut_short(result: GateResult, report: SliceReport) -> GateResult:
    if result.outcome == "fail" or not report.missing:
        return result
    names = ", ".join(report.missing[:_NAMES_SHOWN])
    return _failed(
        result,
        f"{len(report.missing)} of {len(report.reports) + len(report.missing)} cases did not finish: {names}",
    )


def _leaves_out_unscored(metric: Metric) -> bool:
    return metric.family in _OF_CLAIMS or (metric.family == "project" and metric.whole == "claims")


def _unless_unscored(result: GateResult, report: SliceReport, *, unscored_at_most: float) -> GateResult:
    verdicts = [verdict for one in report.reports for verdict in one.verdicts]
    lost = sum(verdict.label == "unscored" for verdict in verdicts)
    if not lost or result.outcome == "fail":
        return result
    said = f"{lost} of {len(verdicts)} claims could not be scored"
    if lost <= unscored_at_most * len(verdicts):
        return result.with_(message=f"{said}; {result.message}")
    allowed = (
        f"at most {unscored_at_most:g} of them may"
        if unscored_at_most
        else "a gate such as unscored <= 0.02 would allow some"
    )
    return _failed(result, f"{said}, and nothing says that they are supported ({allowed})")


def implied_gate(report: SliceReport, *, has_gates: bool) -> GateResult | None:
    """Returns the failure of a slice that answers nothing, None where it answers enough.

    A slice without gates is judged by its tests, and a single refusal passes there.

    Args:
        report: of a slice that has no bound on abstention.
        has_gates: whether it has any gate.
    """
    failed = (
        {} if has_gates else failed_cases(report.reports)
    )  # where there are gates, each of them has failed for it already
    abstained = sum(one.abstained for one in report.reports)
    total = len(report.reports)
    if failed:
        why = failures_told(failed, of=total)
    elif abstained > MOST_ABSTAINED * total and (has_gates or total > 1):
        why = f"{abstained} of {total} answers are refusals, and what holds for the others says nothing of the slice"
    else:
        return None
    allow = f"{why}. This gate holds in every slice; one whose questions have no answer sets another, such as abstention >= 0.9"
    return GateResult(expression=IMPLIED, outcome="fail", value=abstained / total, message=allow)
