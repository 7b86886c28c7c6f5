"""What earlier runs in a folder measured (history.jsonl, the oldest first), for the trends on the page."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_medfaith.cards.json_card import metric_rows, read_metrics
from pytest_medfaith.cards.summary import card_columns
from pytest_medfaith.errors import DataError
from pytest_medfaith.jsonl import read_rows, write_records
from pytest_medfaith.records import SliceReport

History = Sequence[tuple[str, Sequence[SliceReport]]]
HISTORY = "history.jsonl"
KEPT = 50  # runs: on a plot as wide as the page, more points would merge


def read_history(folder: Path) -> list[tuple[str, list[SliceReport]]]:
    """Returns (label, slice reports) of the earlier runs in `folder`, without cases; [] for no history.

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
    """Writes the last 50 runs of `history` to `folder`; slices that were cut short are left out."""
    rows = []
    for label, reports in history[-KEPT:]:
        for report in reports:
            shown = {
                name: report.metrics[name]
                for name in card_columns([report]).values()
                if name in report.metrics
            }
            if not report.partial:
                rows.append({"run": label, **report.run.to_dict(), "metrics": metric_rows(shown)})
    if rows:
        write_records(folder / HISTORY, rows)


def _slice_report(row: Mapping[str, Any], place: str) -> SliceReport:
    try:
        return SliceReport(
            slice=row["slice"],
            retriever=row["retriever"],
            checker=row["checker"],
            k=row["k"],
            contexts_mode=row.get("contexts_mode", "recorded"),
            metrics=read_metrics(row["metrics"]),
        )
    except (DataError, KeyError, TypeError, AttributeError) as error:
        raise DataError(
            f"{place}: no line of a history ({error!r}); mend the line, "
            "or remove the file to begin the trend anew"
        ) from None
