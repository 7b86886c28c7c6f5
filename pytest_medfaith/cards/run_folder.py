"""A run on disk: written whole, and read back into the slice reports it was written from."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timezone
from operator import attrgetter
from pathlib import Path
from typing import Any

from pytest_medfaith.cards.audit_card import AUDIT_FILES
from pytest_medfaith.cards.csv_claims import claims_csv
from pytest_medfaith.cards.history import HISTORY, History, read_history, write_history
from pytest_medfaith.cards.html import html_report
from pytest_medfaith.cards.json_card import FORMAT_VERSION, dumps, json_card, read_metrics
from pytest_medfaith.cards.markdown import markdown_card
from pytest_medfaith.errors import DataError, MissingExtra
from pytest_medfaith.jsonl import check_folder, read_rows, refuse_constant, write_records, write_text
from pytest_medfaith.records import (
    Case,
    Dropped,
    Entailments,
    GateResult,
    Hit,
    PairScore,
    Report,
    Response,
    SliceReport,
    SliceRun,
    Verdict,
    finite,
)

CaseKey = tuple[SliceRun, str]
SIGNATURE = "signature.json"
REPORT = "report.json"
PREVIOUS = "previous"  # the folder of the last finished run while another one runs
# What a run writes, its signature last; each run replaces them all, and history.jsonl goes on.
PREVIOUS_FILES = (
    REPORT, "snippets.jsonl", "responses.jsonl", "claims.jsonl", "pairs.jsonl", "claims.csv", "card.md", "card.html", *AUDIT_FILES, SIGNATURE,
)  # fmt: skip
RUN_FILES = (*PREVIOUS_FILES, HISTORY)
_OURS = (SIGNATURE, REPORT, HISTORY)  # names that tell a folder of runs
_RUN_NAMES = tuple(field.name for field in dataclasses.fields(SliceRun))
_OWN = "own_fields"  # of a row, under names that its key takes


def check_writable(folder: Path) -> None:
    """Makes `folder` and writes a file there and removes it, so that a run learns before its first case that it cannot.

    Raises:
        DataError: the folder cannot be made or written, or the history in it cannot be read.
    """
    try:
        check_folder(folder)
    except OSError as error:
        raise DataError(
            f"the report folder {folder} cannot be written ({error.strerror or error}); expected a folder, or a path for a new one. "
            "Give another one with --medfaith-report DIR"
        ) from error
    read_history(folder)
    foreign = [name for name in RUN_FILES if (folder / name).exists()]
    if foreign and not any((folder / name).exists() for name in _OURS) and not _is_begun(folder):
        raise DataError(
            f"the report folder {folder} holds {foreign[0]}, which no run wrote and this one would write over; "
            "give a folder of its own with --medfaith-report DIR"
        )


def _is_begun(folder: Path) -> bool:
    """Returns whether a run began here and was not finished: its card says so."""
    try:
        return (folder / PREVIOUS / SIGNATURE).exists() or (folder / "card.md").read_bytes().startswith(
            b"### medfaith"
        )
    except OSError:
        return False


def write_run(
    folder: Path,
    slice_reports: Sequence[SliceReport],
    *,
    signature: Mapping[str, Any],
    facts: Mapping[str, str] | None = None,
) -> None:
    """Writes a run: snippets, responses, claims and pairs as JSON Lines, report.json, claims.csv, card.md, card.html, signature.json.

    Each file is written whole or not at all, and signature.json last: a folder without it holds no finished
    run. card.html is written where the extra `report` is installed. What an earlier run in the folder
    measured goes on in history.jsonl, and from there into the trend of card.html.

    Args:
        folder: made where it is not there; files of an earlier run in it are replaced.
        slice_reports: no two of one slice, retriever, checker and k.
        signature: what made the run (models, thresholds, hashes, versions, seed), as plain values.
        facts: date, project and commit, for the head of card.html; no run is compared by them.

    Raises:
        DataError: two slice reports of one kind, two reports of one case, a value that JSON cannot hold, a
            folder that cannot be written.
    """
    check_writable(folder)
    _check_distinct(slice_reports)
    row = {"format_version": FORMAT_VERSION, "signature": dict(signature)}
    signed = dumps(row | ({"facts": dict(facts)} if facts else {}), "the signature")
    report = json_card(slice_reports)
    history = told_history(folder)
    write_history(folder, history)
    for name in (SIGNATURE, *AUDIT_FILES):  # an audit of an earlier run is not this one's
        (folder / name).unlink(missing_ok=True)
    write_text(folder / REPORT, report)
    for name, rows in (
        ("snippets", _snippets),
        ("responses", _responses),
        ("claims", _claims),
        ("pairs", _pairs),
    ):
        _write_rows(folder / f"{name}.jsonl", slice_reports, rows)
    write_text(folder / "claims.csv", claims_csv(slice_reports))
    write_text(folder / "card.md", markdown_card(slice_reports))
    _write_html(folder / "card.html", slice_reports, signature=signature, history=history, facts=facts or {})
    write_text(folder / SIGNATURE, signed)
    _drop_previous(folder / PREVIOUS)


def _drop_previous(folder: Path) -> None:
    """Removes what the start of this run had put aside; a file of somebody else's stays, and the folder with it."""
    for name in PREVIOUS_FILES:
        (folder / name).unlink(missing_ok=True)
    with suppress(OSError):
        folder.rmdir()


def told_history(folder: Path) -> History:
    """Returns the history of `folder` with the run that stands there finished as its last point."""
    return [*read_history(folder), *_finished_run(folder)]


def _finished_run(folder: Path) -> History:
    """Returns the run that stands in `folder` as a point of the trend, under the time it was finished; none where none can be read."""
    try:
        summaries = read_summaries(folder)
    except DataError:
        return []
    finished = datetime.fromtimestamp((folder / SIGNATURE).stat().st_mtime, tz=timezone.utc)
    return [(finished.strftime("%Y-%m-%d %H:%M"), summaries)]


def _check_distinct(slice_reports: Sequence[SliceReport]) -> None:
    for run, times in Counter(report.run for report in slice_reports).items():
        if times > 1:
            raise DataError(f"{times} slice reports are of {run}; keep one test for each")
    for report in slice_reports:
        for case_id, times in Counter(one.case.id for one in report.reports).items():
            if times > 1:
                raise DataError(
                    f"slice {report.slice!r} holds {times} reports of case {case_id!r}; keep one a case"
                )


def _write_rows(
    path: Path, slice_reports: Sequence[SliceReport], rows: Callable[[Report], Iterable[Mapping[str, Any]]]
) -> None:
    """Writes the rows of every report, each with the slice report and case it belongs to, which its reader puts together again."""
    ordered = sorted(slice_reports, key=attrgetter("run"))
    keyed = (
        _keyed(row, {**report.run.to_dict(), "case_id": one.case.id})
        for report in ordered
        for one in report.reports
        for row in rows(one)
    )
    try:
        write_records(path, keyed)
    except (TypeError, ValueError) as error:
        raise DataError(
            f"{path} cannot be written as JSON ({error}); keep finite numbers, texts, lists and objects in records"
        ) from error


def _keyed(row: Mapping[str, Any], key: Mapping[str, Any]) -> dict[str, Any]:
    """Returns `row` with its key; fields of its own that go by the names of the key, such as a response's `k`, stand apart."""
    own = {name: value for name, value in row.items() if (name in key and name != "case_id") or name == _OWN}
    return {**row, **key, **({_OWN: own} if own else {})}


def _write_html(path: Path, slice_reports: Sequence[SliceReport], **facts: Any) -> None:
    """Writes the page; without the extra `report` there is none, not even that of an earlier run."""
    try:
        page = html_report(slice_reports, **facts)
    except MissingExtra:
        path.unlink(missing_ok=True)
        return
    write_text(path, page)


def _snippets(report: Report) -> Iterator[Mapping[str, Any]]:
    yield {
        "question": report.case.question,
        "hits": [hit.to_dict() for hit in report.hits],
        "searched": report.searched,
    }


def _responses(report: Report) -> Iterator[Mapping[str, Any]]:
    yield report.response.to_dict()


def _claims(report: Report) -> Iterator[Mapping[str, Any]]:
    for of, verdicts in (("answer", report.verdicts), ("gold", report.gold_verdicts)):
        for verdict in verdicts:
            yield {**verdict.to_dict(), "of": of}


def _pairs(report: Report) -> Iterator[Mapping[str, Any]]:
    for pair in report.pairs:
        yield pair.to_dict()


def read_run(folder: Path) -> tuple[list[SliceReport], dict[str, Any]]:
    """Returns the slice reports and the signature of a run that `write_run` wrote; the slices in the order of their keys.

    Raises:
        DataError: no finished run is there, a newer version wrote it, or its files do not fit together.
    """
    signature = dict(_read_signature(folder).get("signature", {}))
    files = {
        name: _read_rows(folder / f"{name}.jsonl") for name in ("snippets", "responses", "claims", "pairs")
    }

    def cases(row: Mapping[str, Any]) -> tuple[Report, ...]:
        return tuple(_report(case, (_run(row), case["case"]["id"]), files) for case in row["cases"])

    return _read_slices(folder, cases), signature


def read_summaries(folder: Path) -> list[SliceReport]:
    """Returns the slice reports of a run without their cases, which is quick; errors as in `read_run`."""
    _read_signature(folder)
    return _read_slices(folder, lambda _: ())


def read_facts(folder: Path) -> dict[str, str]:
    """Returns date, project and commit of a run, as far as it knows them; errors as in `read_run`."""
    facts = _read_signature(folder).get("facts", {})
    return {str(name): str(value) for name, value in facts.items()} if isinstance(facts, dict) else {}


def _read_slices(folder: Path, cases: Callable[[Mapping[str, Any]], tuple[Report, ...]]) -> list[SliceReport]:
    path = folder / REPORT
    document = _read_object(path)
    try:
        return [_slice_report(row, cases(row)) for row in document["slices"]]
    except DataError as error:
        raise DataError(f"{folder}: {error}") from None
    except (KeyError, TypeError, AttributeError) as error:
        raise DataError(
            f"{path} does not hold what this version writes ({error!r}); run the suite again with --medfaith-report {folder}"
        ) from error


def _read_signature(folder: Path) -> dict[str, Any]:
    path = folder / SIGNATURE
    if not path.is_file():
        raise DataError(
            f"{folder} holds no finished run ({SIGNATURE} is not there); write one with pytest --medfaith-report {folder}"
        )
    row = _read_object(path)
    version = row.get("format_version")
    if not isinstance(version, int) or version < 1:
        raise DataError(
            f"{path}: format_version is {version!r}, expected {FORMAT_VERSION}; run the suite again with --medfaith-report {folder}"
        )
    if version > FORMAT_VERSION:
        raise DataError(
            f"{path}: a newer version wrote this run (format {version}), this one reads up to format {FORMAT_VERSION}. "
            "Run: pip install --upgrade pytest-medfaith"
        )
    return row


def _read_object(path: Path) -> dict[str, Any]:
    try:
        row = json.loads(path.read_text(encoding="utf-8"), parse_constant=refuse_constant)
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(
            f"{path} cannot be read as JSON ({error}); run the suite again with --medfaith-report {path.parent}"
        ) from error
    if not isinstance(row, dict):
        raise DataError(
            f"{path} holds {type(row).__name__}, expected an object; run the suite again with --medfaith-report {path.parent}"
        )
    return row


def _read_rows(path: Path) -> dict[CaseKey, list[dict[str, Any]]]:
    """Returns the rows of each case, in file order, without the keys that `_write_rows` added but the case id."""
    rows: dict[CaseKey, list[dict[str, Any]]] = defaultdict(list)
    for number, row in read_rows(path):
        absent = [name for name in (*_RUN_NAMES, "case_id") if name not in row]
        if absent:
            raise DataError(
                f"{path}:{number}: field {absent[0]!r} is missing; run the suite again with --medfaith-report {path.parent}"
            )
        run = SliceRun(**{name: row.pop(name) for name in _RUN_NAMES})
        rows[run, row["case_id"]].append(row | row.pop(_OWN, {}))
    return rows


def _run(row: Mapping[str, Any]) -> SliceRun:
    return SliceRun(**{name: row[name] for name in _RUN_NAMES})


def _slice_report(row: Mapping[str, Any], reports: tuple[Report, ...]) -> SliceReport:
    return SliceReport(
        **_run(row).to_dict(),
        reports=reports,
        metrics=read_metrics(row["metrics"]),
        macro=read_metrics(row["macro"]),
        definitions=row.get("definitions", {}),
        gates=tuple(GateResult.from_dict(gate) for gate in row["gates"]),
        missing=tuple(row["missing"]),
        skipped=row["counts"]["skipped"],
        partial=row["partial"],
    )


def _report(
    row: Mapping[str, Any], key: CaseKey, files: Mapping[str, Mapping[CaseKey, list[dict[str, Any]]]]
) -> Report:
    """Returns the report of one case, put together from report.json and the rows of the other files."""
    responses = files["responses"].get(key, [])
    if len(responses) != 1:
        raise DataError(
            f"responses.jsonl holds {len(responses)} responses to case {key[1]!r} of slice {key[0].slice!r}, expected 1; run the suite again"
        )
    claims = files["claims"].get(key, [])
    run = key[0]
    return Report(
        case=Case.from_dict(row["case"]),
        response=Response.from_dict(responses[0]),
        verdicts=tuple(Verdict.from_dict(_without(claim)) for claim in claims if claim["of"] == "answer"),
        gold_verdicts=tuple(Verdict.from_dict(_without(claim)) for claim in claims if claim["of"] == "gold"),
        entailments=Entailments.from_dict(row["entailments"]),
        pairs=tuple(PairScore.from_dict(pair) for pair in files["pairs"].get(key, [])),
        hits=tuple(Hit.from_dict(hit) for rows in files["snippets"].get(key, []) for hit in rows["hits"]),
        searched=any(rows.get("searched", bool(rows["hits"])) for rows in files["snippets"].get(key, [])),
        metrics={name: finite(value, f"metrics.{name}") for name, value in row["metrics"].items()},
        abstained=row["abstained"],
        contexts_optional=row.get("contexts_optional", False),
        dropped=tuple(Dropped.from_dict(piece) for piece in row.get("dropped", [])),
        retriever=run.retriever,
        checker=run.checker,
        k=run.k,
    )


def _without(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in ("of", "case_id")}
