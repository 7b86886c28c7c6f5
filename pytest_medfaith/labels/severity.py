"""Puts severities of errors that people gave in place of those that rules gave."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pytest_medfaith import defaults
from pytest_medfaith.labels.rows import ERRORS, SEVERITIES, LabelRow, label_key
from pytest_medfaith.metrics.aggregate import case_metrics, slice_metrics
from pytest_medfaith.metrics.severity import METRICS
from pytest_medfaith.records import Report, Severity, SliceReport, Verdict
from pytest_medfaith.records.grades import REVIEWERS, Risk

_NAMES = tuple(metric.name for metric in METRICS)


def risks_of(labels: Sequence[LabelRow]) -> dict[str, Risk]:
    """Returns {key of a claim: the risk that people gave its error}, such as "high".

    A label counts for a claim and its evidence, whichever checker judged it. Of several risks the highest
    counts.
    """
    risks: dict[str, Risk] = {}
    for row in labels:
        if row.severity is not None:
            risks[row.key] = max(row.severity, risks.get(row.key, "none"), key=SEVERITIES.index)
    return risks


def with_reviewed_severity(
    report: SliceReport, risks: Mapping[str, Risk], *, seed: int = defaults.SEED
) -> tuple[SliceReport, int]:
    """Returns (the slice report with people's risks for its errors, how many errors got another risk).

    Args:
        report: with the severities that rules gave.
        risks: from `risks_of`.
        seed: of the intervals of the metrics, which are computed anew.
    """
    changed, reports = 0, []
    for one in report.reports:
        verdicts = [_graded(report.slice, one, verdict, risks) for verdict in one.verdicts]
        differ = sum(new != old for new, old in zip(verdicts, one.verdicts, strict=True))
        changed += differ
        regraded = one.with_(verdicts=tuple(verdicts))
        metrics = {**one.metrics, **case_metrics(regraded, names=_NAMES)}
        reports.append(regraded.with_(metrics=metrics) if differ else one)
    if not changed:
        return report, 0
    micro, macro = slice_metrics(reports, names=_NAMES, seed=seed)
    return report.with_(
        reports=tuple(reports), metrics={**report.metrics, **micro}, macro={**report.macro, **macro}
    ), changed


def _graded(slice_name: str, report: Report, verdict: Verdict, risks: Mapping[str, Risk]) -> Verdict:
    """Returns a verdict with the risk that people gave its error; unchanged where they gave none."""
    old = verdict.severity
    if verdict.label not in ERRORS or old is None:
        return verdict
    risk = risks.get(label_key(slice_name, report, verdict.claim))
    if risk is None or risk == old.risk:
        return verdict
    return verdict.with_(
        severity=Severity(category=old.category, risk=risk, rule=REVIEWERS, by_rules=old.risk)
    )
