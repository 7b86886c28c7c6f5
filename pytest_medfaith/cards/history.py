"""What earlier runs in a report folder measured: history.jsonl, the oldest first, for the trend of the page."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_medfaith.cards.summary import COLUMNS
from pytest_medfaith.errors import DataError
from pytest_medfaith.jsonl import read_rows, write_records
from pytest_medfaith.records import MetricValue, SliceReport

History = Sequence[tuple[str, Sequence[SliceReport]]]
HISTORY = "history.jsonl"
KEPT = 50  # runs: on a plot the width of a page more could not be told apart


def read_history(folder: Path) -> list[tuple[str, list[SliceReport]]]:
    """Returns (label, slice reports) of the earlier runs in `folder`, without their cases; none where there is no history.

    Raises:
        DataError: a line that this version did not write.
    """
    path = folder / HISTORY
    if not path.is_file():
        return []
    rows = [
        (str(row.get("run", "")), _slice_report(row, f"{path}:{number}")) for number, row in read_rows(path)
    ]
    return [
        (label, [report for _, report in run])
        for label, run in itertools.groupby(rows, key=lambda row: row[0])
    ]


def write_history(folder: Path, history: History) -> None:
    """Writes the last `KEPT` runs of `history`; a slice that was cut short is no point of a trend, and left out."""
    rows = [row for label, reports in history[-KEPT:] for row in _rows(label, reports)]
    if rows:
        write_records(folder / HISTORY, rows)


def _rows(label: str, reports: Sequence[SliceReport]) -> Iterator[dict[str, Any]]:
    for report in reports:
        metrics = {name: report.metrics[name] for name in COLUMNS.values() if name in report.metrics}
        if not report.partial:
            yield {
                "run": label,
                "slice": report.slice,
                "retriever": report.retriever,
                "checker": report.checker,
                "k": report.k,
                "metrics": {
                    name: {"value": one.value, "low": one.low, "high": one.high, "n": one.n}
                    for name, one in metrics.items()
                },
            }


def read_metrics(rows: Mapping[str, Mapping[str, Any]]) -> dict[str, MetricValue]:
    """Returns {name: value} of what a file holds of metrics.

    Raises:
        DataError: a number that is not finite.
    """
    return {name: MetricValue.from_dict({"value": None, **row, "name": name}) for name, row in rows.items()}


def _slice_report(row: Mapping[str, Any], place: str) -> SliceReport:
    try:
        metrics = read_metrics(row["metrics"])
        return SliceReport(
            slice=row["slice"],
            retriever=row["retriever"],
            checker=row["checker"],
            k=row["k"],
            metrics=metrics,
        )
    except (DataError, KeyError, TypeError, AttributeError) as error:
        raise DataError(
            f"{place}: no line of a history ({error!r}); mend the line, or remove the file to begin the trend anew"
        ) from None
