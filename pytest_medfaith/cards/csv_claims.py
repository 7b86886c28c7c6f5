"""Every claim of a run as CSV, for a spreadsheet."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from operator import attrgetter

from pytest_medfaith.cards.citations import citation_text
from pytest_medfaith.cards.explanation import evidence_chunk, text_at
from pytest_medfaith.plain import sheet_cell
from pytest_medfaith.records import Report, SliceReport, Verdict
from pytest_medfaith.records.stored import in_case_order

COLUMNS = (
    "slice", "retriever", "checker", "k", "case", "claim_id", "verdict", "score", "threshold", "conflict",
    "claim", "evidence", "chunk", "title", "url", "rules", "reason", "category", "risk", "major",
    "citation", "citation_told", "outcome",
)  # fmt: skip
_OF_THE_RUN = 4


def claims_csv(slice_reports: Sequence[SliceReport]) -> str:
    """Returns CSV (RFC 4180) with a row for each claim of the answers, by slice and case.

    Words of which no claim was made follow as rows with the verdict "unchecked" and the reason. A column for
    the contexts mode is there only where a report was not judged by recorded contexts. Each cell is on one
    line, with a quote before what a spreadsheet would run as a formula.
    """
    return "".join(csv_pieces(slice_reports))


def csv_pieces(slice_reports: Sequence[SliceReport]) -> Iterator[str]:
    """Yields the text of `claims_csv` in pieces: the row of headings, then the rows of a case each.

    Cases come in the order of their slices and ids. A case has a row for each claim, then a row "unchecked"
    for each piece of its answer that was dropped. The column contexts_mode is there only if a slice uses
    other contexts than the recorded ones.
    """
    modes = any(report.contexts_mode != "recorded" for report in slice_reports)
    yield _lines([[*COLUMNS[:_OF_THE_RUN], *["contexts_mode"] * modes, *COLUMNS[_OF_THE_RUN:]]])
    for report in sorted(slice_reports, key=attrgetter("run")):
        run = [report.slice, report.retriever, report.checker, str(report.k)]
        run += [report.contexts_mode] * modes
        for one in in_case_order(report.reports):
            claims = [_claim_cells(verdict, one) for verdict in one.verdicts]
            unchecked = [
                [
                    "",
                    "unchecked",
                    "",
                    "",
                    "no",
                    piece.text,
                    "",
                    "",
                    "",
                    "",
                    "",
                    piece.reason,
                    *[""] * 5,
                    one.outcome or "",
                ]
                for piece in one.dropped
            ]
            yield _lines(
                [list(map(sheet_cell, [*run, one.case.id, *cells])) for cells in (*claims, *unchecked)]
            )


def _lines(rows: Sequence[Sequence[str]]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\r\n").writerows(rows)
    return out.getvalue()


def _claim_cells(verdict: Verdict, report: Report) -> list[str]:
    """Returns the cells of a claim, from the column `claim_id` on."""
    chunk = evidence_chunk(verdict, report)
    return [
        verdict.claim.id,
        verdict.label,
        "" if verdict.label == "unscored" else f"{verdict.score:.4f}",
        f"{verdict.threshold:.4f}",
        "yes" if verdict.conflict else "no",
        verdict.claim.text,
        text_at(chunk.text, verdict.span) if chunk else "",
        verdict.chunk_id,
        chunk.title if chunk else "",
        chunk.url if chunk else "",
        "; ".join(finding.rule for finding in verdict.findings),
        verdict.reason,
        *_severity_cells(verdict),
        verdict.attribution.status if verdict.attribution else "",
        citation_text(verdict, report),
        report.outcome or "",
    ]


def _severity_cells(verdict: Verdict) -> list[str]:
    severity = verdict.severity
    return [severity.category, severity.risk, "yes" if severity.is_major else "no"] if severity else [""] * 3
