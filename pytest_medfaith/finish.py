"""The end of a run: slice reports, gates, the run folder, JUnit properties and the terminal card."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

from pytest_medfaith.cards.github import append_step_summary
from pytest_medfaith.cards.junit import slice_properties
from pytest_medfaith.cards.markdown import markdown_card
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
    if reports:
        append_step_summary(markdown_card(reports))
    if add_property:
        for name, value in itertools.chain.from_iterable(map(slice_properties, reports)):
            add_property(name, value)
    return reports, any(gate.outcome != "pass" for report in reports for gate in report.gates)


def print_summary(reports: Sequence[SliceReport], session: MedfaithSession, terminal: Any) -> None:
    """Prints the card of every slice and where the run folder is."""
    terminal.section("medfaith")
    terminal.write_line(result_card(reports, verbose=session.options.verbose, width=terminal.config.get_terminal_writer().fullwidth))
    if session.options.report:
        terminal.write_line(f"run folder: {session.options.report}")
