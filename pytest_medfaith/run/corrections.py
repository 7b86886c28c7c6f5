"""The rates of a run's rows, corrected by the labels that the settings name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from pytest_medfaith.run.collected import Row
    from pytest_medfaith.run.resources import Resources


class CorrectedRows(NamedTuple):
    """Rows with corrected rates, and lines for the card on the labels behind them."""

    rows: Sequence[Row]
    notes: Sequence[str] = ()


def correct_rows(resources: Resources, rows: Sequence[Row], signature: Mapping[str, Any]) -> CorrectedRows:
    """Returns `rows` with the corrected rates of those that have claims, where the settings name `labels`.

    Args:
        resources: of the run.
        rows: what the run measured.
        signature: of the run; labels that were drawn under another checker than a row's are left out.

    Raises:
        DataError: the labels file cannot be read.
    """
    path = resources.settings.labels
    if path is None:
        return CorrectedRows(rows)
    from pytest_medfaith.labels.rates import corrected_slice
    from pytest_medfaith.labels.rows import checker_fingerprint, read_labels

    labels = read_labels(path)
    corrected: list[Row] = []
    notes: list[str] = []
    for row in rows:
        report = row.report
        if any(one.has_answer and one.verdicts for one in report.reports):
            checker = checker_fingerprint(report.checker, signature)
            found = corrected_slice(report, labels, checker=checker, seed=resources.seed)
            notes += [f"slice {report.slice!r}: {line}" for line in found.lines]
            report = report.with_(metrics={**report.metrics, **found.metrics})
        corrected.append(row._replace(report=report))
    return CorrectedRows(corrected, notes)
