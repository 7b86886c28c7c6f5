"""Fails gates of a slice that was not measured whole: missing or failed cases, unscored claims, refusals."""

from __future__ import annotations

from collections import Counter

from pytest_medfaith.metrics.base import Metric
from pytest_medfaith.metrics.failed import failed_cases, failures_told
from pytest_medfaith.records import GateResult, SliceReport

# A slice of refusals says nothing of the answers. A slice whose questions have no answer bounds abstention by
# its gates.
MOST_ABSTAINED = 0.5
IMPLIED = f"abstention <= {MOST_ABSTAINED}"
_OF_CLAIMS = (
    "claims",
    "severity",
    "citations",
    "ragchecker",
    "safety",
    "corrected",
)  # families that leave unscored claims out
_COUNT_UNSCORED = ("unscored", "uncertain", "abstention")
_NAMES_SHOWN = 5


def unless_incomplete(
    result: GateResult,
    metric: Metric,
    report: SliceReport,
    *,
    unscored_at_most: float,
    uncertain_at_most: float = 0.0,
) -> GateResult:
    """Returns `result`, or a failure where cases or claims were left out of what it measured.

    It fails for a failed case, for a case that did not finish, and for more unscored or uncertain claims than
    allowed. A corrected rate counts uncertain claims, so they do not fail its gate.

    Args:
        result: what the numbers alone say.
        metric: of the gate.
        report: of the slice.
        unscored_at_most: the share of claims that may be unscored, 0 to 1.
        uncertain_at_most: the share of claims that may be uncertain, 0 to 1.
    """
    if result.outcome == "fail":
        return result
    if metric.family != "audit":  # an audit measures claims that it makes itself
        if failed := failed_cases(report.reports):
            return _failed(result, failures_told(failed, of=len(report.reports)))
        if _leaves_out_unscored(metric):
            result = _unless_unscored(result, report, unscored_at_most)
            if metric.family != "corrected":
                result = _unless_uncertain(result, report, uncertain_at_most)
    if result.outcome != "fail" and report.missing:
        cases = len(report.reports) + len(report.missing)
        names = ", ".join(report.missing[:_NAMES_SHOWN])
        return _failed(result, f"{len(report.missing)} of {cases} cases did not finish: {names}")
    return result


def _failed(result: GateResult, why: str) -> GateResult:
    return result.with_(outcome="fail", message=f"{why}; {result.message}")


def _leaves_out_unscored(metric: Metric) -> bool:
    of_claims = metric.family in _OF_CLAIMS or (metric.family == "project" and metric.whole == "claims")
    return of_claims and metric.name not in _COUNT_UNSCORED


def _unless_unscored(result: GateResult, report: SliceReport, at_most: float) -> GateResult:
    labels = Counter(verdict.label for one in report.reports for verdict in one.verdicts)
    lost, claims = labels["unscored"], sum(labels.values())
    if not lost:
        return result
    said = f"{lost} of {claims} claims could not be scored"
    if lost <= at_most * claims:
        return result.with_(message=f"{said}; {result.message}")
    allowed = (
        f"at most {at_most:g} of them may" if at_most else "a gate such as unscored <= 0.02 would allow some"
    )
    return _failed(result, f"{said}, and nothing says that they are supported ({allowed})")


def _unless_uncertain(result: GateResult, report: SliceReport, at_most: float) -> GateResult:
    labels = Counter(verdict.label for one in report.reports for verdict in one.verdicts)
    left, claims = labels["uncertain"], sum(labels.values())
    if not left or result.outcome == "fail":
        return result
    said = f"{left} of {claims} claims are uncertain"
    if left <= at_most * claims:
        return result.with_(message=f"{said}; {result.message}")
    allowed = (
        f"at most {at_most:g} of them may be"
        if at_most
        else "a gate such as uncertain <= 0.2 would allow some"
    )
    return _failed(result, f"{said}, and the rate leaves them out ({allowed})")


def implied_gate(report: SliceReport, *, has_gates: bool) -> GateResult | None:
    """Returns the failure of a slice in which more than half of the answers are refusals; else None.

    A slice without gates fails for a failed case, too, and a single refusal passes there.

    Args:
        report: of a slice without a bound on abstention.
        has_gates: whether it has any gate; then each of them has failed for a failed case already.
    """
    failed = {} if has_gates else failed_cases(report.reports)
    abstained = sum(one.abstained for one in report.reports)
    total = len(report.reports)
    if failed:
        why = failures_told(failed, of=total)
    elif abstained > MOST_ABSTAINED * total and (has_gates or total > 1):
        refused = f"{abstained} of {total} answers are refusals"
        why = f"{refused}, and what holds for the others says nothing of the slice"
    else:
        return None
    message = (
        f"{why}. This gate holds in every slice; "
        "one whose questions have no answer sets another, such as abstention >= 0.9"
    )
    return GateResult(expression=IMPLIED, outcome="fail", value=abstained / total, message=message)
