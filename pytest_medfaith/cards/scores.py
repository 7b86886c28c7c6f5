"""The scores of a run by trace: a table for a spreadsheet, and attributes that go back onto the spans."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any

from pytest_medfaith.metrics.failed import failed_cases
from pytest_medfaith.metrics.safety import breaks_safety_rule
from pytest_medfaith.plain import plain_json, sheet_cell
from pytest_medfaith.records import VERDICTS, Report, SliceReport
from pytest_medfaith.records.labels import OPEN

RATES = ("faithfulness", "hallucination", "safety_error_rate", "unchecked_share")
COUNTS = ("claims", *VERDICTS, "unsafe", "conflicts")
COLUMNS = ("trace_id", "span_id", "case_id", "slice", "status", "reason", *RATES, *COUNTS, "checker")
PREFIX = "medfaith."  # of the attributes


def scores_csv(slice_reports: Sequence[SliceReport]) -> str:
    """Returns a row for each response, in the order of slices and cases, as CSV.

    `status` is "checked", "abstained", or "failed" with the reason: no answer, no contexts, or claims that
    nobody could score. A failed response has no rates: a hallucination of 0 would read as a good answer.
    The cell of a rate that does not apply is empty.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    for row in _rows(slice_reports):
        cells = (row.get(name, "") for name in COLUMNS)
        writer.writerow(sheet_cell(f"{cell:.4f}" if isinstance(cell, float) else str(cell)) for cell in cells)
    return out.getvalue()


def score_attributes(slice_reports: Sequence[SliceReport]) -> str:
    """Returns a JSON object for each response, as JSON Lines.

    Each is {"trace_id": ..., "span_id": ..., "attributes": {"medfaith.faithfulness": 0.6, ...}}.

    A rate that does not apply has no attribute, since spans know no null. `span_id` is that of the span that
    answered, absent where the export named none.
    """
    lines = []
    for row in _rows(slice_reports):
        ids = {name: row.pop(name) for name in ("trace_id", "span_id") if row.get(name)}
        attributes = {f"{PREFIX}{name}": value for name, value in row.items() if value != ""}
        line = json.dumps({**ids, "attributes": attributes}, ensure_ascii=False, allow_nan=False)
        lines.append(plain_json(line) + "\n")
    return "".join(lines)


def _rows(slice_reports: Sequence[SliceReport]) -> Iterator[dict[str, Any]]:
    for slice_report in sorted(slice_reports, key=attrgetter("run")):
        answered = (one for one in slice_report.reports if one.has_answer)
        for report in sorted(answered, key=lambda one: one.case.id):
            yield {**_row(report), "slice": slice_report.slice, "checker": slice_report.checker}


def _row(report: Report) -> dict[str, Any]:
    labels: Counter[str] = Counter(verdict.label for verdict in report.verdicts)
    beside: Mapping[str, Any] = report.response.extra
    status = status_of(report)
    rates = () if status["status"] == "failed" else RATES
    return {
        "trace_id": str(beside.get("trace_id", "")),
        "span_id": str(beside.get("span_id", "")),
        "case_id": report.case.id,
        **status,
        **{name: float(report.metrics[name]) for name in rates if name in report.metrics},
        "claims": len(report.verdicts),
        **{label: labels[label] for label in VERDICTS},
        "unsafe": sum(map(breaks_safety_rule, report.verdicts)),
        "conflicts": sum(verdict.conflict for verdict in report.verdicts),
    }


def status_of(report: Report) -> dict[str, str]:
    """Returns {"status": ...} of a response, with "reason" where it failed."""
    if failed := next(iter(failed_cases([report]).values()), ""):
        return {"status": "failed", "reason": failed}
    if report.abstained:
        return {"status": "abstained"}
    if lost := [verdict for verdict in report.verdicts if verdict.label in OPEN]:
        count = f"{len(lost)} of {len(report.verdicts)} claims could not be scored"
        return {"status": "failed", "reason": f"{count}: {lost[0].reason}"}
    return {"status": "checked"}
