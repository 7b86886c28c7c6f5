"""Every claim of a run as CSV, one row each, for a spreadsheet."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from operator import attrgetter

from pytest_medfaith.cards.account import evidence_chunk, spanned
from pytest_medfaith.plain import sheet_cell
from pytest_medfaith.records import Dropped, Report, SliceReport, Verdict

COLUMNS = (
    "slice", "retriever", "checker", "k", "case", "claim_id", "verdict", "score", "threshold", "conflict",
    "claim", "evidence", "chunk", "title", "url", "rules", "reason",
)  # fmt: skip


def claims_csv(slice_reports: Sequence[SliceReport]) -> str:
    """Returns one row a claim of the answers, in the order of slices and cases; lines end as RFC 4180 says.

    After a case's claims come the words that no claim was made of, as "unchecked", each with its reason.

    Each cell is one line without control characters. What a spreadsheet would run as a formula gets a quote before it.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    for report in sorted(slice_reports, key=attrgetter("run")):
        names = [str(name) for name in report.run.to_dict().values()]
        for one in sorted(report.reports, key=lambda one: one.case.id):
            writer.writerows([*map(sheet_cell, (*names, *_cells(verdict, one)))] for verdict in one.verdicts)
            writer.writerows([*map(sheet_cell, (*names, *_unchecked(piece, one)))] for piece in one.dropped)
    return out.getvalue()


def _cells(verdict: Verdict, report: Report) -> list[str]:
    chunk = evidence_chunk(verdict, report)
    return [
        report.case.id,
        verdict.claim.id,
        verdict.label,
        "" if verdict.label == "unscored" else f"{verdict.score:.4f}",
        f"{verdict.threshold:.4f}",
        "yes" if verdict.conflict else "no",
        verdict.claim.text,
        spanned(chunk.text, verdict.span) if chunk else "",
        verdict.chunk_id,
        chunk.title if chunk else "",
        chunk.url if chunk else "",
        "; ".join(finding.rule for finding in verdict.findings),
        verdict.reason,
    ]


def _unchecked(piece: Dropped, report: Report) -> list[str]:
    return [report.case.id, "", "unchecked", "", "", "no", piece.text, "", "", "", "", "", piece.reason]
