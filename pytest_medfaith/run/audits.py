"""Audits the checker of a run on the corpora of its slices, once for each, in the process that sums up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from pytest_medfaith.audit.results import Audit
from pytest_medfaith.errors import DataError, MedfaithError
from pytest_medfaith.gates.expressions import asks_for_audit
from pytest_medfaith.records import MetricValue, SliceReport
from pytest_medfaith.run.resources import MedfaithSession

Row = tuple[SliceReport, tuple[str, ...]]


@dataclass
class SliceAudits:
    """What the audits of a run found: `rows` with the audit metrics, the audits by title, and why a slice has none."""

    rows: list[Row] = field(default_factory=list)
    audits: dict[str, Audit] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def audit_rows(session: MedfaithSession, rows: Sequence[Row]) -> SliceAudits:
    """Returns `rows` with what an audit measured where the command line or a gate of theirs asks for one.

    Slices of one corpus and checker share an audit. A row that cannot be audited keeps its metrics, so that a gate on an audit fails.
    """
    found = SliceAudits()
    known: dict[object, tuple[str, Audit]] = {}
    for report, gates in rows:
        measured: dict[str, MetricValue] = {}
        if report.reports and (session.options.audit or asks_for_audit(gates, session.metrics)):
            try:
                title, audit = _audit(session, report, known)
            except MedfaithError as error:
                found.notes.append(f"no audit of slice {report.slice!r}: {error}")
            else:
                found.audits[title] = audit
                measured = audit.metrics
        found.rows.append((report.with_(metrics={**report.metrics, **measured}), gates))
    return found


def _audit(
    session: MedfaithSession, report: SliceReport, known: dict[object, tuple[str, Audit]]
) -> tuple[str, Audit]:
    """Returns the title and the audit of a row.

    Raises:
        DataError: the slice has no corpus, a test put another checker in the configured one's place, or the corpus gives no claim.
    """
    settings = session.settings.slice(report.slice)
    if not settings.corpus:
        raise DataError(f"it has no corpus; set corpus = [...] in [tool.medfaith.slices.{report.slice}]")
    if report.checker not in session.configured_checkers():
        raise DataError(
            f"a test put the checker {report.checker!r} in the configured one's place, and an audit knows configured ones only; name one "
            "with --medfaith-checker, or call pytest_medfaith.audit.run.audit_checker in the test"
        )
    key = settings.corpus, report.checker
    if key not in known:
        from pytest_medfaith.audit.run import (
            audit_checker,
        )  # its word lists cost a run without an audit nothing

        audit = audit_checker(session.checker(report.checker), session.chunks(settings), seed=session.seed)
        known[key] = f"{report.slice} / {report.checker}", audit
    return known[key]
