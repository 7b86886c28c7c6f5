"""Shows an ablation, rows of one slice that differ in a setting: as text, Markdown, CSV, JSON and plot."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator, Sequence
from typing import Any

from pytest_medfaith.cards.json_card import FORMAT_VERSION, dumps
from pytest_medfaith.cards.markdown import escaped, markdown_table
from pytest_medfaith.cards.plots import draw_dot, draw_line, draw_svg, draw_text
from pytest_medfaith.cards.summary import (
    COLUMNS,
    RARE_COLUMNS,
    RETRIEVAL_COLUMNS,
)
from pytest_medfaith.cards.terminal import set_table
from pytest_medfaith.cards.wording import NOTHING, clip, counted, decimals
from pytest_medfaith.metrics.differences import Ablation, ComparedRow, Difference
from pytest_medfaith.plain import one_line, plain_lines, sheet_cell

ABLATION_FILES = ("ablation.csv", "ablation.json", "ablation.svg")
_HEADER = ("row", "metric", "cases", "first", "here", "difference", "p")
_FIELDS = ("slice", "retriever", "checker", "k", "contexts_mode")
_TITLES = {name: column for column, name in {**COLUMNS, **RETRIEVAL_COLUMNS, **RARE_COLUMNS}.items()}


def ablation_text(ablation: Ablation) -> str:
    """Returns the ablation for the terminal: each row beside the first, by metrics that differ."""
    blocks = [f"{_title(ablation)}:", *([] if ablation.problem else [set_table(_HEADER, _rows(ablation))])]
    return plain_lines("\n".join([blocks[0], *blocks[1:], *map(one_line, _lines(ablation))]))


def ablation_markdown(ablation: Ablation) -> str:
    """Returns the ablation as Markdown."""
    table = [] if ablation.problem else [markdown_table(_HEADER, _rows(ablation))]
    lines = "  \n".join(map(escaped, _lines(ablation)))
    return plain_lines("\n\n".join([f"**{escaped(_title(ablation))}**", *table, lines]))


def ablation_rows(ablation: Ablation) -> dict[str, Any]:
    """Returns what a page shows of the ablation: title, header, rows and lines."""
    rows = [] if ablation.problem else _rows(ablation)
    return {"title": _title(ablation), "header": _HEADER, "rows": rows, "lines": _lines(ablation)}


def ablations_csv(ablations: Sequence[Ablation]) -> str:
    """Returns CSV with a line for each row and metric; a row without differences has a line, too.

    The first line names the columns: slice, retriever, checker, k, contexts_mode, metric, n, differ, first,
    value, low, high, p, failure. What is not known is an empty cell.
    """
    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\n")
    names = ("metric", "n", "differ", "first", "value", "low", "high", "p")
    rows.writerow([*_FIELDS, *names, "failure"])
    for ablation in ablations:
        for row in ablation.rows:
            run = [sheet_cell(str(getattr(row.report, name))) for name in _FIELDS]
            for one in row.differences or (None,):
                told = ["" if one is None else _empty(getattr(one, name)) for name in names]
                rows.writerow([*run, *told, sheet_cell(row.report.failure)])
    return out.getvalue()


def _empty(value: object) -> object:
    return "" if value is None else value


def ablations_json(ablations: Sequence[Ablation]) -> str:
    """Returns the ablations as JSON: for each its rows in order, with metrics and differences."""
    told = [
        {
            "slice": ablation.rows[0].report.slice,
            "tests": ablation.tests,
            "problem": ablation.problem,
            "rows": [_json_row(row) for row in ablation.rows],
        }
        for ablation in ablations
    ]
    return dumps({"format_version": FORMAT_VERSION, "ablations": told}, "the ablation")


def _json_row(row: ComparedRow) -> dict[str, Any]:
    report = row.report
    values = {name: metric.value for name, metric in report.metrics.items() if metric.value is not None}
    differences = [vars(one) for one in row.differences]
    return {
        **report.run.to_dict(),
        "cases": len(report.reports),
        "failure": report.failure,
        "metrics": values,
        "differences": differences,
    }


def ablations_svg(ablations: Sequence[Ablation]) -> str:
    """Returns a plot: below each row its differences from the first row, a line for each metric."""
    rows = [(ablation, row) for ablation in ablations for row in ablation.rows[1:]]
    every = [one for _, row in rows for one in row.differences]
    reach = _reach(every)
    labels = [clip(one_line(_label(ablation, row)), 72) for ablation, row in rows]
    left, half, step = 110.0, 170.0, 20.0
    middle, y = left + half, 34.0
    body = [
        draw_text(left, 13, f"{-reach:+.2f}", "soft", anchor="middle"),
        draw_text(middle, 13, "as the first row", "soft", anchor="middle"),
        draw_text(middle + half, 13, f"{reach:+.2f}", "soft", anchor="middle"),
    ]
    for (_, row), label in zip(rows, labels, strict=True):
        body.append(draw_text(0, y + 4, label, "strong"))
        y += step
        if not row.differences:
            why = f"failed: {row.report.failure}" if row.report.failure else "nothing to compare"
            body.append(draw_text(14, y + 4, clip(why, 80), "soft"))
            y += step
        for one in row.differences:
            body += [draw_text(14, y + 4, _column(one)), *_mark(one, middle, y, half, reach)]
            body.append(draw_text(middle + half + 12, y + 4, _change(one), "strong" if _is_sure(one) else ""))
            y += step
    body.insert(3, draw_line(middle, 20, middle, y - 10, "rule"))
    width = max(middle + half + 170, 7.5 * max(map(len, labels), default=0))
    return draw_svg(body, width, y, f"differences of {counted(len(rows), 'row')} from the first row")


def _reach(differences: Sequence[Difference]) -> float:
    """Returns how far the axis of the plot goes to both sides of 0, in the unit of the metrics.

    It holds the widest interval. Where all differences are of shares, it ends at 1.
    """
    changes = [abs(one.value - one.first) for one in differences]
    ends = [abs(end) for one in differences for end in (one.low, one.high) if end is not None]
    most = max(1.0, *changes) if changes else 1.0
    return min(most, max(0.05, math.ceil(20 * max([*changes, *ends], default=0.0)) / 20))


def _mark(one: Difference, middle: float, y: float, half: float, reach: float) -> Iterator[str]:
    """Yields the dot of a difference and the bar of its interval, at height `y`."""

    def x(change: float) -> float:
        return middle + half * max(-1.0, min(1.0, change / reach))

    if one.low is not None and one.high is not None:
        yield draw_line(x(one.low), y, x(one.high), y, "band")
    yield draw_dot(x(one.value - one.first), y, "4", f"{_column(one)}: {_change(one)}")


def _title(ablation: Ablation) -> str:
    first = ablation.rows[0]
    return (
        f"{first.report.slice}: the first row is {_label(ablation, first)}, and the others are compared with "
        f"it"
    )


def _label(ablation: Ablation, row: ComparedRow) -> str:
    """Returns what tells a row apart, as in "rrf / k=5": what is the same in all rows is left out."""
    runs = [one.report.run.to_dict() for one in ablation.rows]
    run = row.report.run.to_dict()
    shown = {"retriever": "", "k": "k=", "checker": "", "contexts_mode": ""}
    parts = [
        f"{sign}{run.get(name, 'recorded')}"
        for name, sign in shown.items()
        if len({one.get(name) for one in runs}) > 1
    ]
    return " / ".join(parts) or run["retriever"]


def _rows(ablation: Ablation) -> list[list[str]]:
    return [
        [
            one_line(_label(ablation, row)) if number == 0 else "",
            _column(one),
            str(one.n),
            decimals(one.first),
            decimals(one.value),
            _change(one),
            NOTHING if one.p is None else "<0.001" if one.p < 0.001 else f"{one.p:.3f}",
        ]
        for row in ablation.rows[1:]
        for number, one in enumerate(one for one in row.differences if one.differ)
    ]


def _lines(ablation: Ablation) -> list[str]:
    """Returns what the table does not say: failed rows, metrics without a difference, how p is corrected."""
    lines = [f"ERROR: {ablation.problem}"] if ablation.problem else []
    for row in ablation.rows:
        label = _label(ablation, row)
        if row.report.failure:
            lines.append(f"FAILED: {label}: {row.report.failure}")
        same = [_column(one) for one in row.differences if not one.differ]
        lines += [f"{label}: the same in every case: {', '.join(same)}"] * bool(same)
    if ablation.tests:
        lines.append(
            "in brackets the 95 % interval of the difference over cases; p: paired permutation test, "
            f"two-sided, Holm-corrected over {counted(ablation.tests, 'comparison')}"
        )
    return lines


def _column(one: Difference) -> str:
    return _TITLES.get(one.metric, one.metric)


def _change(one: Difference) -> str:
    """Returns `+0.05 [+0.02, +0.08]`."""
    bounds = "" if one.low is None or one.high is None else f" [{one.low:+.2f}, {one.high:+.2f}]"
    return f"{one.value - one.first:+.2f}{bounds}"


def _is_sure(one: Difference) -> bool:
    return one.p is not None and one.p <= 0.05
