"""The end of a run: slice reports, gates, baseline, the run folder, the step summary and JUnit properties."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any, Literal

from pytest_medfaith.audit.results import Audit
from pytest_medfaith.cards.audit_card import audit_markdown, write_audits
from pytest_medfaith.cards.facts import run_facts
from pytest_medfaith.cards.github import append_step_summary
from pytest_medfaith.cards.junit import slice_properties
from pytest_medfaith.cards.markdown import markdown_card
from pytest_medfaith.cards.run_folder import extra_formats, write_run
from pytest_medfaith.errors import MedfaithError
from pytest_medfaith.gates.baseline import read_baseline, write_baseline
from pytest_medfaith.gates.entry import SliceBaseline
from pytest_medfaith.gates.expressions import compared_metrics, parse_gate
from pytest_medfaith.gates.judging import judge_gates, stops_run
from pytest_medfaith.gates.matching import slice_baseline
from pytest_medfaith.records import GateResult, SliceReport
from pytest_medfaith.run.audits import audit_rows
from pytest_medfaith.run.remarks import remarks
from pytest_medfaith.run.resources import MedfaithSession


@dataclass(frozen=True)
class Finish:
    """How a run ended: judged reports, the baselines they were compared with, audits by title, and what the exit status must say."""

    reports: tuple[SliceReport, ...]
    baselines: tuple[SliceBaseline | None, ...]
    status: Literal["passed", "failed", "unusable"]
    notes: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    audits: Mapping[str, Audit] = field(default_factory=dict)


def finish_run(
    session: MedfaithSession, *, partial: bool, add_property: Callable[[str, object], None] | None
) -> Finish:
    """Returns how the run ended; writes baseline, run folder, step summary and JUnit properties where asked for.

    A gate that cannot be compared (no baseline, another set-up, other cases) fails, and the run counts as wrongly used. So it does where
    tests of one slice disagree, and where something that was asked for cannot be written.
    """
    rows = session.ledger.slice_reports(partial=partial, seed=session.seed)
    if not rows:
        return Finish((), (), "passed")
    signature = session.signature([report.run for report, _ in rows if report.reports])
    notes: list[str] = []
    errors = session.ledger.differing()
    if session.options.update_baseline and not errors:
        with _told(errors):
            notes.append(_update_baseline(session, rows, signature))
    audited = audit_rows(session, [] if partial else rows)
    notes += audited.notes
    judged = [_judge(session, report, gates, signature) for report, gates in audited.rows or rows]
    reports = tuple(report for report, _, _ in judged)
    with _told(errors):
        notes += remarks(session, reports)
    notes += _publish(session, reports, audited.audits, signature, errors)
    if add_property:
        for name, value in itertools.chain.from_iterable(map(slice_properties, reports)):
            add_property(name, value)
    failed = any(
        stops_run(gate, inconclusive=session.settings.inconclusive)
        for report in reports
        for gate in report.gates
    )
    unusable = bool(errors) or any(wrong for _, _, wrong in judged)
    status: Literal["passed", "failed", "unusable"] = (
        "unusable" if unusable else "failed" if failed else "passed"
    )
    return Finish(
        reports,
        tuple(baseline for _, baseline, _ in judged),
        status,
        tuple(notes),
        tuple(errors),
        audited.audits,
    )


def _publish(
    session: MedfaithSession,
    reports: Sequence[SliceReport],
    audits: Mapping[str, Audit],
    signature: dict[str, Any],
    errors: list[str],
) -> list[str]:
    """Writes the run folder and the step summary, and returns what to say of it."""
    notes = []
    if session.options.report:
        with _told(errors):
            errors += write_run(
                session.options.report,
                reports,
                signature=signature,
                facts=run_facts(session.root, now=datetime.now(tz=timezone.utc)),
                extra=extra_formats(session.settings.formats),
            )
            if audits:
                write_audits(session.options.report, audits)
            notes.append(f"run folder: {session.options.report}")
    with _told(errors):
        append_step_summary(
            markdown_card(reports) + ("\n" + audit_markdown(audits, most=5) if audits else "")
        )
    return notes


@contextmanager
def _told(errors: list[str]) -> Iterator[None]:
    """Notes an error of data or of the file system, so that the rest of the run's end still happens."""
    try:
        yield
    except (MedfaithError, OSError, ValueError) as error:
        errors.append(str(error))


def _update_baseline(
    session: MedfaithSession, rows: Sequence[tuple[SliceReport, tuple[str, ...]]], signature: dict[str, Any]
) -> str:
    metrics = {parse_gate(expression).metric for _, gates in rows for expression in gates}
    now = datetime.now(tz=timezone.utc)
    written = write_baseline(
        session.baseline_path,
        [report for report, _ in rows],
        signature=signature,
        metrics=metrics,
        seed=session.seed,
        now=now,
        commit=run_facts(session.root, now=now).get("commit", ""),
    )
    kept = f", kept as {written.kept.name.partition('_')[0]}" if written.kept else ""
    lost = "; the file that was there could not be read, with what it held of other slices, and is now"
    return f"baseline written: {session.baseline_path}{kept}{f'{lost} {written.aside.name}' if written.aside else ''}"


def _judge(
    session: MedfaithSession, report: SliceReport, gates: Sequence[str], signature: dict[str, Any]
) -> tuple[SliceReport, SliceBaseline | None, bool]:
    """Returns (judged report, the baseline it was compared with, whether the comparison could not be made)."""
    if not report.reports:
        nothing = f"none of the {len(report.missing)} cases finished, so nothing says that it passes"
        return (
            report.with_(
                gates=tuple(GateResult(expression=gate, outcome="fail", message=nothing) for gate in gates)
            ),
            None,
            False,
        )
    comparing = [expression for expression in gates if compared_metrics([parse_gate(expression)])]
    if not comparing:
        return judge_gates(gates, report, seed=session.seed), None, False
    case_ids = [*(one.case.id for one in report.reports), *report.missing]
    try:
        baseline = slice_baseline(
            read_baseline(session.baseline_path), report.run, signature=signature, case_ids=case_ids
        )
        return judge_gates(gates, report, baseline=baseline, seed=session.seed), baseline, False
    except MedfaithError as error:
        bounds = judge_gates([gate for gate in gates if gate not in comparing], report, seed=session.seed)
        unusable = [
            GateResult(expression=expression, outcome="fail", message=str(error)) for expression in comparing
        ]
        return report.with_(gates=(*bounds.gates, *unusable)), None, True
