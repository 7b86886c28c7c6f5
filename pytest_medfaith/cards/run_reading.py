"""Reads a run folder back into slice reports."""

from __future__ import annotations

import dataclasses
import json
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_medfaith.cards.json_card import FORMAT_VERSION, read_metrics
from pytest_medfaith.conversion import finite
from pytest_medfaith.errors import DataError
from pytest_medfaith.jsonl import read_rows, refuse_constant
from pytest_medfaith.records import (
    Case,
    Dropped,
    Entailments,
    GateResult,
    Hit,
    PairScore,
    Report,
    Response,
    Retrieval,
    SliceReport,
    SliceRun,
    Verdict,
)

CaseKey = tuple[SliceRun, str]
Rows = Mapping[CaseKey, list[dict[str, Any]]]
SIGNATURE = "signature.json"
REPORT = "report.json"
ROW_FILES = ("snippets.jsonl", "responses.jsonl", "claims.jsonl", "pairs.jsonl")
# A key of rows. It holds those fields of a record that have the name of a field of the run, such as a
# response's `k`.
OWN_FIELDS = "own_fields"
RUN_NAMES = tuple(field.name for field in dataclasses.fields(SliceRun))
_REQUIRED = tuple(
    field.name for field in dataclasses.fields(SliceRun) if field.default is dataclasses.MISSING
)


def read_run(folder: Path) -> tuple[list[SliceReport], dict[str, Any]]:
    """Returns (slice reports, signature) of a finished run, as they were written.

    Raises:
        DataError: no finished run is there, a newer version wrote it, or its files do not fit together.
    """
    signature = dict(_read_signature(folder).get("signature", {}))
    files = {name: _read_rows(folder / name) for name in ROW_FILES}

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


def read_shard(folder: Path) -> Mapping[str, Any] | None:
    """Returns what a run folder says of the shard that it holds; None for a whole run."""
    shard = _read_signature(folder).get("shard")
    return shard if isinstance(shard, dict) else None


def read_extra_files(folder: Path) -> list[str]:
    """Returns the names of the files that extra formats wrote into a run folder; [] without a finished run.

    A name that leads out of the folder, which no run writes, is left out.
    """
    try:
        written = _read_signature(folder).get("files")
    except DataError:
        return []
    names = written.values() if isinstance(written, dict) else ()
    return [name for name in names if isinstance(name, str) and is_file_name(name)]


def is_file_name(name: str) -> bool:
    """Returns whether `name` is printable, without slash, backslash, colon, outer blanks or leading dot.

    "" is no name. What only Windows refuses ("CON", "a?.csv") passes.
    """
    return (
        name.isprintable()
        and not name.startswith(".")
        and not set(name) & set("/\\:")
        and name.strip() == name != ""
    )


def _read_slices(folder: Path, cases: Callable[[Mapping[str, Any]], tuple[Report, ...]]) -> list[SliceReport]:
    path = folder / REPORT
    document = _read_object(path)
    try:
        return [_slice_report(row, cases(row)) for row in document["slices"]]
    except DataError as error:
        raise DataError(f"{folder}: {error}") from None
    except (KeyError, TypeError, AttributeError) as error:
        raise DataError(
            f"{path} does not hold what this version writes ({error!r}); {_run_again(folder)}"
        ) from error


def _run_again(folder: Path) -> str:
    return f"run the suite again with --medfaith-report {folder}"


def _read_signature(folder: Path) -> dict[str, Any]:
    """Returns signature.json of a finished run, of this or an older version of the format."""
    path = folder / SIGNATURE
    if not path.is_file():
        raise DataError(
            f"{folder} holds no finished run ({SIGNATURE} is not there); "
            f"write one with pytest --medfaith-report {folder}"
        )
    row = _read_object(path)
    version = row.get("format_version")
    if not isinstance(version, int) or version < 1:
        raise DataError(
            f"{path}: format_version is {version!r}, expected {FORMAT_VERSION}; {_run_again(folder)}"
        )
    if version > FORMAT_VERSION:
        raise DataError(
            f"{path}: a newer version wrote this run (format {version}), this one reads up to format "
            f"{FORMAT_VERSION}. Run: pip install --upgrade pytest-medfaith"
        )
    return row


def _read_object(path: Path) -> dict[str, Any]:
    try:
        row = json.loads(path.read_text(encoding="utf-8"), parse_constant=refuse_constant)
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"{path} cannot be read as JSON ({error}); {_run_again(path.parent)}") from error
    if not isinstance(row, dict):
        raise DataError(f"{path} holds {type(row).__name__}, expected an object; {_run_again(path.parent)}")
    return row


def _read_rows(path: Path) -> Rows:
    """Returns the rows of each case, in file order, without the fields of the run."""
    rows: dict[CaseKey, list[dict[str, Any]]] = defaultdict(list)
    for number, row in read_rows(path):
        absent = [name for name in (*_REQUIRED, "case_id") if name not in row]
        if absent:
            raise DataError(f"{path}:{number}: field {absent[0]!r} is missing; {_run_again(path.parent)}")
        run = SliceRun(**{name: row.pop(name) for name in RUN_NAMES if name in row})
        rows[run, row["case_id"]].append(row | row.pop(OWN_FIELDS, {}))
    return rows


def _run(row: Mapping[str, Any]) -> SliceRun:
    return SliceRun(**{name: row[name] for name in RUN_NAMES if name in row or name in _REQUIRED})


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
        place=row.get("place", 0),
        failure=row.get("failure", ""),
    )


def _report(row: Mapping[str, Any], key: CaseKey, files: Mapping[str, Rows]) -> Report:
    """Returns the report of a case, put together from report.json and the rows of the files beside it."""
    snippets, responses, claims, pairs = (files[name].get(key, []) for name in ROW_FILES)
    run, case_id = key
    if len(responses) != 1:
        raise DataError(
            f"responses.jsonl holds {len(responses)} responses to case {case_id!r} of slice {run.slice!r}, "
            "expected 1; run the suite again"
        )
    return Report(
        case=Case.from_dict(row["case"]),
        response=Response.from_dict(responses[0]),
        verdicts=_verdicts(claims, of="answer"),
        gold_verdicts=_verdicts(claims, of="gold"),
        entailments=Entailments.from_dict(row["entailments"]),
        pairs=tuple(PairScore.from_dict(pair) for pair in pairs),
        hits=tuple(Hit.from_dict(hit) for found in snippets for hit in found["hits"]),
        retrieval=Retrieval.from_dict(
            next((found["retrieval"] for found in snippets if "retrieval" in found), {})
        ),
        searched=any(found.get("searched", bool(found["hits"])) for found in snippets),
        metrics={name: finite(value, f"metrics.{name}") for name, value in row["metrics"].items()},
        abstained=row["abstained"],
        outcome=row.get("outcome"),
        answerable=row.get("answerable"),
        contexts_optional=row.get("contexts_optional", False),
        llm=row.get("llm", {}),
        risk=row.get("risk", {}),
        consistency=row.get("consistency", {}),
        relevancy=row.get("relevancy", {}),
        dropped=tuple(Dropped.from_dict(piece) for piece in row.get("dropped", [])),
        retriever=run.retriever,
        checker=run.checker,
        k=run.k,
        contexts_mode=run.contexts_mode,
    )


def _verdicts(claims: Sequence[Mapping[str, Any]], *, of: str) -> tuple[Verdict, ...]:
    rows = [claim for claim in claims if claim["of"] == of]
    return tuple(
        Verdict.from_dict({name: value for name, value in row.items() if name not in ("of", "case_id")})
        for row in rows
    )
