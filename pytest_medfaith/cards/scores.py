"""The scores of a run by trace, the record of a request: as CSV, and as attributes for its spans."""

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
    """Returns CSV with a row for each response, by slice and case.

    `status` is "checked", "abstained", or "failed" with a reason: no answer, no contexts, or claims that
    nobody could score. A failed response has no rates, because a hallucination of 0 would read as a good
    answer. A rate that does not apply is an empty cell.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    for row in _rows(slice_reports):
        cells = (row.get(name, "") for name in COLUMNS)
        writer.writerow(sheet_cell(f"{cell:.4f}" if isinstance(cell, float) else str(cell)) for cell in cells)
    return out.getvalue()


def score_attributes(slice_reports: Sequence[SliceReport]) -> str:
    """Returns JSON Lines with the scores of each response, to be put on the spans of its trace.

    Each is {"trace_id": ..., "span_id": ..., "attributes": {"medfaith.faithfulness": 0.6, ...}}. A rate that
    does not apply has no attribute, since spans know no null. `span_id` is that of the span that answered; it
    is missing where the export named none.
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
    """Returns {"status": ...} of a response: "checked", "abstained", or "failed" with a "reason"."""
    if failed := next(iter(failed_cases([report]).values()), ""):
        return {"status": "failed", "reason": failed}
    if report.abstained:
        return {"status": "abstained"}
    if lost := [verdict for verdict in report.verdicts if verdict.label in OPEN]:
        count = f"{len(lost)} of {len(report.verdicts)} claims could not be scored"
        return {"status": "failed", "reason": f"{count}: {lost[0].reason}"}
    return {"status": "checked"}
