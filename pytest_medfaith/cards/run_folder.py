"""A run on disk: written whole, and read back into the slice reports it was written from."""

from __future__ import annotations

import json
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_medfaith.cards.csv_claims import claims_csv
from pytest_medfaith.cards.json_card import FORMAT_VERSION, dumps, json_card, run_key
from pytest_medfaith.cards.markdown import markdown_card
from pytest_medfaith.corpus.jsonl import read_rows, write_records, write_text
from pytest_medfaith.errors import DataError, MissingExtra
from pytest_medfaith.records import Entailments, GateResult, Hit, MetricValue, PairScore, Report, Response, SliceReport, Verdict

RunKey = tuple[str, str, str, int]
CaseKey = tuple[RunKey, str]
SIGNATURE = "signature.json"
REPORT = "report.json"


def check_writable(folder: Path) -> None:
    """Makes `folder` and writes a file there and removes it, so that a run learns before its first case that it cannot.

    Raises:
        DataError: the folder cannot be made or written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".medfaith-", suffix=".part"):
            pass
    except OSError as error:
        raise DataError(
            f"the report folder {folder} cannot be written ({error.strerror or error}); expected a folder, or a path where one can be made. "
            "Give another one with --medfaith-report DIR"
        ) from error


def write_run(folder: Path, slice_reports: Sequence[SliceReport], *, signature: Mapping[str, Any]) -> None:
    """Writes a run: snippets, responses, claims and pairs as JSON Lines, report.json, claims.csv, card.md, card.html, signature.json.

    Each file is written whole or not at all, and signature.json last: a folder without it holds no finished run. card.html is
    written where the extra `report` is installed.

    Args:
        folder: made where it is not there; files of an earlier run in it are replaced.
        slice_reports: no two of one slice, retriever, checker and k.
        signature: what made the run (models, thresholds, hashes, versions, seed), as plain values.

    Raises:
        DataError: two slice reports of one kind, two reports of one case, a value that JSON cannot hold, a folder that cannot be written.
    """
    check_writable(folder)
    _check_distinct(slice_reports)
    signed = dumps({"format_version": FORMAT_VERSION, "signature": dict(signature)}, "the signature")
    report = json_card(slice_reports)
    (folder / SIGNATURE).unlink(missing_ok=True)
    write_text(folder / REPORT, report)
    for name, rows in (("snippets", _snippets), ("responses", _responses), ("claims", _claims), ("pairs", _pairs)):
        _write_rows(folder / f"{name}.jsonl", slice_reports, rows)
    write_text(folder / "claims.csv", claims_csv(slice_reports))
    write_text(folder / "card.md", markdown_card(slice_reports))
    _write_html(folder / "card.html", slice_reports, signature)
    write_text(folder / SIGNATURE, signed)


def _check_distinct(slice_reports: Sequence[SliceReport]) -> None:
    for key, times in Counter(map(run_key, slice_reports)).items():
        if times > 1:
            raise DataError(f"{times} slice reports are of slice {key[0]!r}, retriever {key[1]!r}, checker {key[2]!r}, k={key[3]}; keep one test for each")
    for report in slice_reports:
        for case_id, times in Counter(one.case.id for one in report.reports).items():
            if times > 1:
                raise DataError(f"slice {report.slice!r} holds {times} reports of case {case_id!r}; keep one a case")


def _write_rows(path: Path, slice_reports: Sequence[SliceReport], rows: Callable[[Report], Iterable[dict[str, Any]]]) -> None:
    ordered = sorted(slice_reports, key=run_key)
    keyed = ({**_run_row(report), "case_id": one.case.id, **row} for report in ordered for one in report.reports for row in rows(one))
    try:
        write_records(path, keyed)
    except (TypeError, ValueError) as error:
        raise DataError(f"{path} cannot be written as JSON ({error}); keep finite numbers, texts, lists and objects in records") from error


def _run_row(report: SliceReport) -> dict[str, Any]:
    return {"slice": report.slice, "retriever": report.retriever, "checker": report.checker, "k": report.k}


def _snippets(report: Report) -> Iterator[dict[str, Any]]:
    yield {"question": report.case.question, "hits": [hit.to_dict() for hit in report.hits]}


def _responses(report: Report) -> Iterator[dict[str, Any]]:
    yield {"response": report.response.to_dict()}


def _claims(report: Report) -> Iterator[dict[str, Any]]:
    for of, verdicts in (("answer", report.verdicts), ("gold", report.gold_verdicts)):
        for verdict in verdicts:
            yield {"of": of, "verdict": verdict.to_dict()}


def _pairs(report: Report) -> Iterator[dict[str, Any]]:
    for pair in report.pairs:
        yield pair.to_dict()
