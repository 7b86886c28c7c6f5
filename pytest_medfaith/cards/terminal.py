"""The card as the terminal shows it."""

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
    """Returns the card: a table with one row a slice report, then counts and gates of each.

    Args:
        slice_reports: one a row; an ablation gives several of one slice.
        verbose: writes 95 % intervals into the cells, says which columns not all cases count in, and what passing gates measured.
        width: columns of the terminal. A table that is wider is set without spaces around its bars, and one with intervals is turned
            on its side; None leaves it as wide as it is.
        only_failures: counts the gates that passed instead of showing each.
    """
    if not slice_reports:
        return "no slice was evaluated"
    checkers = many_checkers(slice_reports)
    table = _table(slice_reports, verbose=verbose, width=width)
    blocks = [table if checkers else f"{table}\n\nchecker: {one_line(slice_reports[0].checker)}"]
    for report in slice_reports:
        title = [f"{one_line(run_label(report, checker=checkers))}:"] if len(slice_reports) > 1 else []
        counts = [*count_lines(report), *(measured_over(report) if verbose else [])]
        blocks.append(
            "\n".join(
                [
                    *title,
                    *map(one_line, counts),
                    *_gate_lines(report, verbose=verbose, only_failures=only_failures),
                ]
            )
        )
    return plain_lines("\n\n".join(blocks))


def _table(reports: Sequence[SliceReport], *, verbose: bool, width: int | None) -> str:
    header = card_header(reports)
    rows = [[one_line(cell) for cell in row] for row in card_rows(reports, intervals=verbose)]
    table = set_table(header, rows)
    if width is None or _width(table) <= width:
        return table
    if verbose:
        sideways = [list(column) for column in zip(header, *rows, strict=True)]
        return set_table(sideways[0], sideways[1:])
    return set_table(header, rows, space="")


def set_table(header: Sequence[str], rows: Sequence[Sequence[str]], *, space: str = " ") -> str:
    """Returns the table through tabulate; the header goes in as a row, because tabulate pads headers by two columns each."""
    from tabulate import SEPARATING_LINE, DataRow, Line, TableFormat, tabulate

    row = DataRow("", f"{space}|{space}", "")
    style = TableFormat(
        None, Line("", "-", f"{'-' * len(space)}+{'-' * len(space)}", ""), None, None, row, row, 0, None
    )
    table: list[Any] = [list(header), SEPARATING_LINE, *map(list, rows)]
    text = tabulate(table, tablefmt=style, disable_numparse=True)
    return "\n".join(line.rstrip() for line in text.splitlines())


def _width(table: str) -> int:
    return max(map(len, table.splitlines()))


def _gate_lines(report: SliceReport, *, verbose: bool, only_failures: bool) -> list[str]:
    """Returns each gate with its outcome before it; the further lines of a gate's message are indented below."""
    passed = sum(gate.outcome == "pass" for gate in report.gates)
    lines = [f"PASS  {counted(passed, 'gate')}; -v shows them"] if only_failures and passed else []
    for gate in report.gates:
        if only_failures and gate.outcome == "pass":
            continue
        first, *rest = map(one_line, gate_text(gate, verbose=verbose).splitlines())
        lines += [f"{_MARKS[gate.outcome]}  {first}", *(f"      {line}" for line in rest)]
    return lines
