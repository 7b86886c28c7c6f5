"""The conversations of a run as CSV: a row for each, over all of its turns."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Sequence
from operator import attrgetter

from pytest_medfaith.plain import sheet_cell
from pytest_medfaith.records import VERDICTS, Report, SliceReport

COLUMNS = (
    *("slice", "retriever", "checker", "k", "contexts_mode", "conversation", "turns", "claims"),
    *(*VERDICTS, "faithfulness", "first_error"),
)


def conversations_csv(slice_reports: Sequence[SliceReport]) -> str:
    """Returns CSV (RFC 4180) with a row for each conversation; only the heading where there is none.

    Rows are sorted by run and name. Cases that belong to no conversation are left out.

    `first_error` is the id of the earliest turn with a refuted or unsupported claim, "" for none.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    for report in sorted(slice_reports, key=attrgetter("run")):
        by_name: dict[str, list[Report]] = {}
        for one in report.reports:
            by_name.setdefault(one.case.conversation, []).append(one)
        run = [report.slice, report.retriever, report.checker, str(report.k), report.contexts_mode]
        for name in sorted(by_name.keys() - {""}):
            writer.writerow(map(sheet_cell, [*run, name, *_cells(by_name[name])]))
    return out.getvalue()


def _cells(reports: Sequence[Report]) -> list[str]:
    turns = sorted(reports, key=lambda one: (len(one.case.history), one.case.id))
    labels: Counter[str] = Counter(verdict.label for one in turns for verdict in one.verdicts)
    scored = sum(labels.values()) - labels["unscored"] - labels["uncertain"]
    wrong = [one for one in turns if any(v.label in ("refuted", "unsupported") for v in one.verdicts)]
    return [
        str(len(turns)),
        str(sum(labels.values())),
        *(str(labels[label]) for label in VERDICTS),
        f"{labels['supported'] / scored:.4f}" if scored else "",
        wrong[0].case.id if wrong else "",
    ]
