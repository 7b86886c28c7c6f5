"""The end of a run: slice reports, gates, baseline, the run folder, JUnit properties and the terminal card."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pytest_medfaith.cards.account import claim_account, worst_verdicts
from pytest_medfaith.cards.github import append_step_summary
from pytest_medfaith.cards.junit import slice_properties
from pytest_medfaith.cards.markdown import markdown_card
from pytest_medfaith.cards.run_folder import write_run
from pytest_medfaith.cards.terminal import result_card
from pytest_medfaith.errors import MedfaithError
from pytest_medfaith.gates.baseline import SliceBaseline, read_baseline, write_baseline
from pytest_medfaith.gates.expressions import compared_metrics, judge_gates, parse_gate, stops_run
from pytest_medfaith.gates.matching import slice_baseline
from pytest_medfaith.gates.turned import turned_claims
from pytest_medfaith.records import GateResult, SliceReport
from pytest_medfaith.session import MedfaithSession

SHOWN = 5  # claims told below a failed gate; all of them with --medfaith-verbose


@dataclass(frozen=True)
class Finish:
    """How a run ended: its judged reports, the baselines they were compared with, and what the exit status must say."""

    reports: tuple[SliceReport, ...]
    baselines: tuple[SliceBaseline | None, ...]
    status: Literal["passed", "failed", "unusable"]
    notes: tuple[str, ...] = ()


def finish_run(session: MedfaithSession, *, partial: bool, add_property: Callable[[str, object], None] | None) -> Finish:
    """Returns how the run ended; writes baseline, run folder, step summary and JUnit properties where asked for.

    A gate that cannot be compared (no baseline, another set-up, other cases) fails, and the run counts as wrongly used.
    """
    rows = session.slice_reports(partial=partial)
    if not rows:
        return Finish((), (), "passed")
    signature = session.signature([report for report, _ in rows])
    notes = [_update_baseline(session, rows, signature)] if session.options.update_baseline else []
    judged = [_judge(session, report, gates, signature) for report, gates in rows]
    reports = tuple(report for report, _, _ in judged)
    if session.options.report:
        write_run(session.options.report, reports, signature=signature)
        notes.append(f"run folder: {session.options.report}")
    append_step_summary(markdown_card(reports))
    if add_property:
        for name, value in itertools.chain.from_iterable(map(slice_properties, reports)):
            add_property(name, value)
    failed = any(stops_run(gate, inconclusive=session.settings.inconclusive) for report in reports for gate in report.gates)
    unusable = any(wrong for _, _, wrong in judged)
    status: Literal["passed", "failed", "unusable"] = "unusable" if unusable else "failed" if failed else "passed"
    return Finish(reports, tuple(baseline for _, baseline, _ in judged), status, tuple(notes))


def _update_baseline(session: MedfaithSession, rows: Sequence[tuple[SliceReport, tuple[str, ...]]], signature: dict[str, Any]) -> str:
    metrics = {parse_gate(expression).metric for _, gates in rows for expression in gates}
    try:
        write_baseline(session.baseline_path, [report for report, _ in rows], signature=signature, metrics=metrics, seed=session.seed)
    except MedfaithError as error:
        return f"the baseline was not written: {error}"
    return f"baseline written: {session.baseline_path}"


def _judge(
    session: MedfaithSession, report: SliceReport, gates: Sequence[str], signature: dict[str, Any]
) -> tuple[SliceReport, SliceBaseline | None, bool]:
    """Returns (judged report, the baseline it was compared with, whether the comparison could not be made)."""
    comparing = [expression for expression in gates if compared_metrics([parse_gate(expression)])]
    if not comparing:
        return judge_gates(gates, report, seed=session.seed), None, False
    case_ids = [*(one.case.id for one in report.reports), *report.missing]
    try:
        baseline = slice_baseline(read_baseline(session.baseline_path), report, signature=signature, case_ids=case_ids)
        return judge_gates(gates, report, baseline=baseline, seed=session.seed), baseline, False
    except MedfaithError as error:
        bounds = judge_gates([gate for gate in gates if gate not in comparing], report, seed=session.seed)
        unusable = [GateResult(expression=expression, outcome="fail", message=str(error)) for expression in comparing]
        return report.with_(gates=(*bounds.gates, *unusable)), None, True


def print_summary(finish: Finish, session: MedfaithSession, terminal: Any) -> None:
    """Prints the card of every slice, the claims behind its failed gates, and where files were written."""
    width = terminal.config.get_terminal_writer().fullwidth
    terminal.section("medfaith")
    terminal.write_line(result_card(finish.reports, verbose=session.options.verbose, width=width))
    for report, baseline in zip(finish.reports, finish.baselines, strict=True):
        if any(gate.outcome == "fail" for gate in report.gates):
            terminal.write_line(_claims_to_blame(report, baseline, most=None if session.options.verbose else SHOWN, width=min(width, 100)))
    for note in finish.notes:
        terminal.write_line(note)


def _claims_to_blame(report: SliceReport, baseline: SliceBaseline | None, *, most: int | None, width: int) -> str:
    """Returns the claims that turned since the baseline, or without one those that the evidence does not carry, worst first."""
    if baseline:
        title, blamed = "turned since the baseline", [(claim.report, claim.verdict) for claim in turned_claims(report, baseline)]
    else:
        title, blamed = "not carried by the evidence", worst_verdicts(report.reports)
    shown = blamed if most is None else blamed[:most]
    blocks = [f"{report.slice}: {len(blamed)} claims {title}, worst first"]
    blocks += [f"case {one.case.id}\n{claim_account(verdict, one, width=width)}" for one, verdict in shown]
    if len(shown) < len(blamed):
        blocks.append(f"... and {len(blamed) - len(shown)} more (--medfaith-verbose shows all)")
    return "\n" + "\n\n".join(blocks)
