"""Audits the checkers of a run: are errors caught that are planted in sentences of the slices' corpora?

Each checker is audited once on each corpus, in the process that sums up.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pytest_medfaith.audit.results import Audit
from pytest_medfaith.errors import DataError, MedfaithError
from pytest_medfaith.gates.expressions import asks_for_audit
from pytest_medfaith.records import SliceRun

if TYPE_CHECKING:
    from pytest_medfaith.run.collected import Collected, Row
    from pytest_medfaith.run.resources import Resources


@dataclass
class AuditedRows:
    """Rows of the card after the audits.

    Attributes:
        rows: the same rows, with the metrics of the audits.
        audits: {title: audit}; a title names slice and checker.
        notes: lines on why a slice has no audit.
    """

    rows: list[Row] = field(default_factory=list)
    audits: dict[str, Audit] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def audit_rows(resources: Resources, collected: Collected, rows: Sequence[Row]) -> AuditedRows:
    """Returns `rows` with the metrics of an audit, where the command line or a gate asks for one.

    Slices of the same corpus and checker share an audit. A row that cannot be audited keeps its metrics
    without those of an audit, so that a gate on an audit fails.

    Args:
        resources: of the run.
        collected: knows which checkers can be loaded by name; a test may have brought another.
        rows: what the run measured.
    """
    found, configured = AuditedRows(), collected.configured_checkers()
    known: dict[object, tuple[str, Audit]] = {}
    for row in rows:
        report, metrics = row.report, dict(row.report.metrics)
        if report.reports and (resources.options.audit or asks_for_audit(row.gates, resources.metrics)):
            try:
                title, audit = _audit(resources, report.run, configured, known)
            except MedfaithError as error:
                found.notes.append(f"no audit of slice {report.slice!r}: {error}")
            else:
                found.audits[title] = audit
                metrics |= audit.metrics
        found.rows.append(row._replace(report=report.with_(metrics=metrics)))
    return found


def _audit(
    resources: Resources, run: SliceRun, configured: Collection[str], known: dict[object, tuple[str, Audit]]
) -> tuple[str, Audit]:
    """Returns the title and the audit of a row.

    `known` holds the audits so far by (corpus, checker); a new audit is added to it.

    Raises:
        DataError: the slice has no corpus, a test brought its checker along, or the corpus gives no claim.
    """
    settings = resources.settings.slice(run.slice)
    if not settings.corpus:
        table = resources.settings.table(f"slices.{run.slice}")
        raise DataError(f"it has no corpus; set corpus = [...] in {table}")
    if run.checker not in configured:
        raise DataError(
            f"a test put the checker {run.checker!r} in the configured one's place, and an audit knows "
            "configured ones only; name one with --medfaith-checker, or call "
            "pytest_medfaith.audit.run.audit_checker in the test"
        )
    key = settings.corpus, run.checker
    if key not in known:
        from pytest_medfaith.audit.run import (
            audit_checker,  # a run without an audit need not read its word lists
        )

        audit = audit_checker(resources.checker(run.checker), resources.chunks(settings), seed=resources.seed)
        known[key] = f"{run.slice} / {run.checker}", audit
    return known[key]
