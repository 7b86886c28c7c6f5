"""Checks recorded responses, such as traces of a live system, and scores each trace."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_medfaith.answers.responses import read_responses
from pytest_medfaith.cards.scores import score_attributes, scores_csv, status_of
from pytest_medfaith.errors import DataError
from pytest_medfaith.evaluation import evaluate_case, slice_report
from pytest_medfaith.jsonl import write_text
from pytest_medfaith.records import Case, Chunk, Report, Response, SliceReport, SliceRun
from pytest_medfaith.safety.rulebook import Rulebook

if TYPE_CHECKING:
    from pytest_medfaith.checking.checker import Checker

_WRITERS = {".csv": scores_csv, ".jsonl": score_attributes}


def read_recorded(path: Path, chunks: Iterable[Chunk], *, out: Path) -> list[Response]:
    """Returns the responses in `path`; contexts that are only ids are looked up in `chunks`.

    Raises:
        DataError: no response, a malformed line, or an `out` that ends neither with .csv nor with .jsonl.
    """
    if out.suffix.lower() not in _WRITERS:
        raise DataError(
            f"--out is {out}; expected a name that ends with .csv (a table) or .jsonl (attributes for spans)"
        )
    recorded = list(read_responses(path, chunks).values())
    if not recorded:
        raise DataError(
            f"{path}: holds no response, so nothing would be checked; "
            "expected JSON Lines of case_id, answer and contexts"
        )
    return recorded


def score_responses(
    responses: Sequence[Response],
    checker: Checker,
    *,
    rulebook: Rulebook | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> SliceReport:
    """Returns the report on `responses`, each checked against its contexts.

    Args:
        responses: at most one for each case; the key `question` of a row is what was asked.
        checker: judges the claims.
        rulebook: the safety rules; the shipped rules where None.
        progress: told (responses checked, responses).
    """
    reports: list[Report] = []
    for number, response in enumerate(responses, start=1):
        asked = response.extra.get("question")
        case = Case(id=response.case_id, question=asked if isinstance(asked, str) else "")
        reports.append(evaluate_case(case, response, checker=checker, rulebook=rulebook))
        if progress:
            progress(number, len(responses))
    return slice_report(SliceRun(slice="", retriever="", checker=checker.name, k=0), reports)


def write_scores(out: Path, report: SliceReport) -> str:
    """Writes the scores of `report` to `out`, which ends in .csv or .jsonl; returns a summary in a line."""
    write_text(out, _WRITERS[out.suffix.lower()]([report]))
    counts = Counter(status_of(each)["status"] for each in report.reports)
    refuted = sum(verdict.label == "refuted" for each in report.reports for verdict in each.verdicts)
    claims = sum(len(each.verdicts) for each in report.reports)
    statuses = ", ".join(
        f"{counts[name]} {name}" for name in ("checked", "abstained", "failed") if counts[name]
    )
    return f"{len(report.reports)} responses: {statuses}; {refuted} of {claims} claims refuted"
