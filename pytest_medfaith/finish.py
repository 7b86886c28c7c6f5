"""The end of a run: slice reports, gates, the run folder, JUnit properties and the terminal card."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pytest_medfaith.cards.run_folder import write_run
from pytest_medfaith.cards.terminal import result_card
from pytest_medfaith.records import SliceReport
from pytest_medfaith.session import MedfaithSession


def finish_run(
    session: MedfaithSession, *, partial: bool, add_property: Callable[[str, object], None] | None
) -> tuple[list[SliceReport], bool]:
    """Returns (slice reports, whether a gate failed); writes the run folder and JUnit properties where asked for."""
    reports = session.slice_reports(partial=partial)
    if reports and session.options.report:
        write_run(session.options.report, reports, signature=session.signature(reports))
    if add_property:
        for name, value in _properties(reports):
            add_property(name, value)
    return reports, any(gate.outcome != "pass" for report in reports for gate in report.gates)


def _properties(reports: Sequence[SliceReport]) -> list[tuple[str, object]]:
    rows: list[tuple[str, object]] = []
    for report in reports:
        place = f"medfaith.{report.slice}.{report.retriever}.{report.checker}"
        rows += [(f"{place}.{name}", value.value) for name, value in report.metrics.items() if value.value is not None]
        rows += [(f"{place}.gate: {gate.expression}", gate.outcome) for gate in report.gates]
    return rows


def print_summary(reports: Sequence[SliceReport], session: MedfaithSession, terminal: Any) -> None:
    """Prints the card of every slice and where the run folder is."""
    terminal.section("medfaith")
    terminal.write_line(result_card(reports, verbose=session.options.verbose))
    if session.options.report:
        terminal.write_line(f"run folder: {session.options.report}")
