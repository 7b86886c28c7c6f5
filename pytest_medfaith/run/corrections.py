"""Corrects the rates and severities of a run by labels that people gave, where the settings name any."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pytest_medfaith.metrics.corrected import CORRECTED_METRICS

if TYPE_CHECKING:
    from pytest_medfaith.run.collected import Row
    from pytest_medfaith.run.resources import Resources


def correct_rows(
    resources: Resources, rows: Sequence[Row], signature: Mapping[str, Any]
) -> tuple[list[Row], list[str]]:
    """Returns `rows` with rates and severities by people's labels, and lines for the card about them.

    Without the setting `labels` the rows come back as they are.

    Args:
        resources: of the run.
        rows: what the run measured.
        signature: of the run; labels on the verdicts of another checker than a row's are left out.

    Raises:
        DataError: the labels file cannot be read, or holds several labels of a claim.
    """
    path = resources.settings.labels
    if path is None:
        return list(rows), []
    from pytest_medfaith.labels.rates import corrected_slice, one_label_a_claim
    from pytest_medfaith.labels.rows import checker_fingerprint, read_labels
    from pytest_medfaith.labels.severity import risks_of, with_reviewed_severity

    labels = one_label_a_claim(read_labels(path), path)
    strata, risks = _strata(rows), risks_of(labels)
    corrected: list[Row] = []
    notes: list[str] = []
    for row in rows:
        report, regraded = with_reviewed_severity(row.report, risks, seed=resources.seed)
        if regraded:
            notes.append(f"slice {report.slice!r}: severity of {regraded} errors as reviewers gave it")
        if any(one.has_answer and one.verdicts for one in report.reports):
            found = corrected_slice(
                report,
                labels,
                checker=checker_fingerprint(report.checker, signature),
                strata=strata[report.checker],
                seed=resources.seed,
            )
            notes += [f"slice {report.slice!r}: {line}" for line in found.lines]
            report = report.with_(metrics={**report.metrics, **found.metrics})
        corrected.append(row._replace(report=report))
    return corrected, notes


def with_corrected_rates(rows: Sequence[Row], corrected: Sequence[Row]) -> list[Row]:
    """Returns `rows` with the corrected rates of `corrected` and nothing else of it.

    A baseline keeps such rows: it needs the severities as the rules gave them.
    """
    return [
        row._replace(
            report=row.report.with_(
                metrics={
                    **row.report.metrics,
                    **{
                        name: value
                        for name, value in other.report.metrics.items()
                        if name in CORRECTED_METRICS
                    },
                }
            )
        )
        for row, other in zip(rows, corrected, strict=True)
    ]


def _strata(rows: Sequence[Row]) -> dict[str, Mapping[str, str]]:
    """Returns {checker: {key of a claim: its stratum}}, by which labelled claims are weighted."""
    from pytest_medfaith.labels.sampling import strata_of

    return {
        checker: strata_of(row.report for row in rows if row.report.checker == checker)
        for checker in {row.report.checker for row in rows}
    }
