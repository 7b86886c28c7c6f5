"""The card for the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pytest_medfaith.cards.summary import (
    card_header,
    card_rows,
    count_lines,
    gate_text,
    many_checkers,
    measured_over,
    run_label,
)
from pytest_medfaith.cards.wording import counted
from pytest_medfaith.plain import one_line, plain_lines
from pytest_medfaith.records import SliceReport

_MARKS = {"pass": "PASS", "fail": "FAIL", "inconclusive": "INCONCLUSIVE"}


def result_card(
    slice_reports: Sequence[SliceReport],
    *,
    verbose: bool = False,
    width: int | None = None,
    only_failures: bool = False,
) -> str:
    """Returns the card as text: a table with a row for each slice report, then counts and gates of each.

    Without slice reports it is "no slice was evaluated".

    Args:
        slice_reports: the rows; an ablation gives several of one slice.
        verbose: whether to show 95 % intervals, the columns that count only some cases, and what passing
            gates measured.
        width: columns of the terminal; None leaves the table as wide as it is. A table that is too wide loses
            the spaces around its bars; with intervals, rows become columns.
        only_failures: whether to count the gates that passed instead of showing each.
    """
    if not slice_reports:
        return "no slice was evaluated"
    checkers = many_checkers(slice_reports)
    table = _table(slice_reports, verbose=verbose, width=width)
    blocks = [table if checkers else f"{table}\n\nchecker: {one_line(slice_reports[0].checker)}"]
    for report in slice_reports:
        title = [f"{one_line(run_label(report, checker=checkers))}:"] * (len(slice_reports) > 1)
        counts = [*count_lines(report), *(measured_over(report) if verbose else [])]
        gates = _gate_lines(report, verbose=verbose, only_failures=only_failures)
        blocks.append("\n".join([*title, *map(one_line, counts), *gates]))
    return plain_lines("\n\n".join(blocks))


def _table(slice_reports: Sequence[SliceReport], *, verbose: bool, width: int | None) -> str:
    header = card_header(slice_reports, verbose=verbose)
    rows = [
        [one_line(cell) for cell in row]
        for row in card_rows(slice_reports, intervals=verbose, verbose=verbose)
    ]
    table = set_table(header, rows)
    if width is None or max(map(len, table.splitlines())) <= width:
        return table
    if verbose:
        columns = [list(column) for column in zip(header, *rows, strict=True)]
        return set_table(columns[0], columns[1:])
    return set_table(header, rows, space="")


def set_table(header: Sequence[str], rows: Sequence[Sequence[str]], *, space: str = " ") -> str:
    """Returns a table in plain text, with `space` on both sides of each bar."""
    from tabulate import SEPARATING_LINE, DataRow, Line, TableFormat, tabulate

    row = DataRow("", f"{space}|{space}", "")
    rule = Line("", "-", f"{'-' * len(space)}+{'-' * len(space)}", "")
    style = TableFormat(None, rule, None, None, row, row, 0, None)
    # The header goes in as a row, because tabulate pads headers by two columns each.
    table: list[Any] = [list(header), SEPARATING_LINE, *map(list, rows)]
    text = tabulate(table, tablefmt=style, disable_numparse=True)
    return "\n".join(line.rstrip() for line in text.splitlines())


def _gate_lines(slice_report: SliceReport, *, verbose: bool, only_failures: bool) -> list[str]:
    """Returns a line for each gate, its outcome first; further lines of its message are indented below."""
    passed = sum(gate.outcome == "pass" for gate in slice_report.gates)
    lines = [f"PASS  {counted(passed, 'gate')}; -v shows them"] if only_failures and passed else []
    for gate in slice_report.gates:
        if only_failures and gate.outcome == "pass":
            continue
        first, *rest = map(one_line, gate_text(gate, verbose=verbose).splitlines())
        lines += [f"{_MARKS[gate.outcome]}  {first}", *(f"      {line}" for line in rest)]
    return lines
