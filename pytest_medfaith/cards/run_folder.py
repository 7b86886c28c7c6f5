"""Writes a run to disk: report, cards, rows of every case, and last its signature.

A folder without signature.json holds no finished run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timezone
from operator import attrgetter
from pathlib import Path
from typing import Any

from pytest_medfaith.cards.ablation_card import (
    ABLATION_FILES,
    ablations_csv,
    ablations_json,
    ablations_svg,
)
from pytest_medfaith.cards.audit_card import AUDIT_FILES
from pytest_medfaith.cards.formats import SHIPPED, FinishedRun, ReportFormat, find_format, installed_formats
from pytest_medfaith.cards.history import HISTORY, History, read_history, write_history
from pytest_medfaith.cards.json_card import FORMAT_VERSION, dumps
from pytest_medfaith.cards.run_reading import (
    OWN_FIELDS,
    REPORT,
    ROW_FILES,
    RUN_NAMES,
    SIGNATURE,
    is_file_name,
    read_extra_files,
    read_summaries,
)
from pytest_medfaith.errors import DataError, MissingExtra
from pytest_medfaith.jsonl import atomic_writer, check_folder, write_pieces, write_records, write_text
from pytest_medfaith.metrics.differences import Ablation
from pytest_medfaith.records import Report, SliceReport
from pytest_medfaith.records.stored import case_ids

PREVIOUS = "previous"  # the folder of the last finished run while another run is on
_CARDS = [shipped for shipped in SHIPPED.values() if shipped.in_every_run and shipped.file_name != REPORT]
# What each run replaces, its signature last. history.jsonl goes on from run to run.
PREVIOUS_FILES = (
    REPORT,
    *ROW_FILES,
    *(card.file_name for card in _CARDS),
    *AUDIT_FILES,
    *ABLATION_FILES,
    SIGNATURE,
)
RUN_FILES = (*PREVIOUS_FILES, HISTORY)
_TELLING = (SIGNATURE, REPORT, HISTORY)  # by one of these a folder of runs is known
_ABLATION = dict(zip(ABLATION_FILES, (ablations_csv, ablations_json, ablations_svg), strict=True))
_EXPLAINED = 5  # claims of a slice in card.md; report.json and claims.csv hold all


def check_writable(folder: Path, *, extra: Sequence[ReportFormat] = ()) -> None:
    """Raises where a run could not be written to `folder`; makes the folder.

    Args:
        folder: of the run.
        extra: formats that the run will write beside the shipped ones.

    Raises:
        DataError: the folder cannot be made or written, it holds files of something else, or the history in
            it cannot be read.
    """
    try:
        check_folder(folder)
    except OSError as error:
        raise DataError(
            f"the report folder {folder} cannot be written ({error.strerror or error}); expected a folder, "
            "or a path for a new one. Give another one with --medfaith-report DIR"
        ) from error
    read_history(folder)
    names = [*RUN_FILES, *(one.file_name for one in extra)]
    foreign = [name for name in names if (folder / name).exists()]
    if foreign and not any((folder / name).exists() for name in _TELLING) and not _is_begun(folder):
        raise DataError(
            f"the report folder {folder} holds {foreign[0]}, which no run wrote and this one would replace; "
            "give another folder with --medfaith-report DIR"
        )


def _is_begun(folder: Path) -> bool:
    """Returns whether a run began in `folder` and was not finished."""
    try:
        card = (folder / "card.md").read_bytes()
    except OSError:
        card = b""
    return card.startswith(b"### medfaith") or (folder / PREVIOUS / SIGNATURE).exists()


def extra_formats(names: Iterable[str]) -> list[ReportFormat]:
    """Returns the formats to write beside those of every run: of installed packages, and those in `names`.

    Each is there once, those of packages first. A name of a format of every run ("json") adds nothing.

    Raises:
        DataError: no format has one of the names, or its file would leave the folder or take the place of
            another file.
    """
    writers = {name.casefold(): "a run" for name in (*RUN_FILES, PREVIOUS)}
    formats = []
    for name in dict.fromkeys([*installed_formats(), *names]):
        found = find_format(name)
        if found.in_every_run:
            continue
        if not is_file_name(found.file_name):
            raise DataError(
                f"the format {name!r} names the file {found.file_name!r}; "
                'expected a name within the run folder, such as "counts.csv"'
            )
        writer = writers.setdefault(found.file_name.casefold(), f"the format {name!r}")
        if writer != f"the format {name!r}":
            raise DataError(
                f"the format {name!r} names the file {found.file_name!r}, which {writer} writes; "
                "expected another name"
            )
        formats.append(found)
    return formats


def run_files(folder: Path) -> list[str]:
    """Returns the names of the files that a run in `folder` writes, or has written there."""
    return [*RUN_FILES, *read_extra_files(folder)]


def write_run(
    folder: Path,
    slice_reports: Sequence[SliceReport],
    *,
    signature: Mapping[str, Any],
    facts: Mapping[str, str] | None = None,
    extra: Sequence[ReportFormat] = (),
    ablations: Sequence[Ablation] = (),
    shard: Mapping[str, Any] | None = None,
) -> list[str]:
    """Writes a run, and returns a message for each format of `extra` that could not be written.

    Each file is written whole or not at all, and signature.json last: a folder without it holds no finished
    run. card.html needs the extra `report`. What earlier runs measured goes on in history.jsonl.

    Args:
        folder: made where it is not there; files of an earlier run in it are replaced.
        slice_reports: no two of a slice, retriever, checker and k.
        signature: what made the run (models, thresholds, hashes, versions, seed), as plain values.
        facts: date, project and commit, for the head of card.html; no run is compared by them.
        extra: as `extra_formats` returns them.
        ablations: the rows that were asked for together; ablation.csv, .json and .svg hold them.
        shard: what `medfaith merge` must know of a run that is a shard.

    Raises:
        DataError: two slice reports of one kind, two reports of one case, no JSON, or no folder to write to.
    """
    check_writable(folder, extra=extra)
    _check_distinct(slice_reports)
    known = {name: dict(told) for name, told in (("facts", facts), ("shard", shard)) if told}
    signed = {"format_version": FORMAT_VERSION, "signature": dict(signature), **known}
    told: dict[str, Any] = {"history": told_history(folder), "most": _EXPLAINED, "ablations": ablations}
    run = FinishedRun(slice_reports, signature, facts or {}, **told)
    # What JSON cannot hold is found before anything is replaced.
    dumps(signed, "the signature")
    with atomic_writer(folder / REPORT) as out:
        out.writelines(SHIPPED["json"].pieces(run))
        write_history(folder, run.history)
        _remove_earlier(folder, extra)
    _write_rows(folder, slice_reports)
    _write_cards(folder, run)
    written, errors = _write_extra(folder, extra, run)
    write_text(folder / SIGNATURE, dumps(signed | ({"files": written} if written else {}), "the signature"))
    drop_run(folder / PREVIOUS)
    return errors


def _remove_earlier(folder: Path, extra: Sequence[ReportFormat]) -> None:
    """Removes audits, ablations and extra files of an earlier run, which would pass for those of this run."""
    extra_names = (*read_extra_files(folder), *(one.file_name for one in extra))
    for name in (SIGNATURE, *AUDIT_FILES, *ABLATION_FILES, *extra_names):
        (folder / name).unlink(missing_ok=True)


def _write_cards(folder: Path, run: FinishedRun) -> None:
    for name, make in _ABLATION.items() if run.ablations else ():
        write_text(folder / name, make(run.ablations))
    for card in _CARDS:
        try:
            write_pieces(folder / card.file_name, card.pieces(run))
        except MissingExtra:  # noqa: PERF203 - then there is no page, not even that of an earlier run
            (folder / card.file_name).unlink(missing_ok=True)


def _write_extra(
    folder: Path, extra: Sequence[ReportFormat], run: FinishedRun
) -> tuple[dict[str, str], list[str]]:
    """Returns {format: file} of the extra formats, which it writes, and a message for each that fails."""
    written, errors = {}, []
    for one in extra:
        try:
            write_pieces(folder / one.file_name, one.pieces(run))
        except (DataError, ValueError) as error:  # noqa: PERF203 - a format that fails does not stop the next
            errors.append(
                f"{one.file_name} is not in {folder}: {error}. All other files are there; then make it with: "
                f"medfaith report {folder} --format {one.name} --out {one.file_name}"
            )
        else:
            written[one.name] = one.file_name
    return written, errors


def drop_run(folder: Path) -> None:
    """Removes the files of a run from `folder`, except history.jsonl, and the folder if nothing is left.

    Files that a run does not write stay. A folder that does not exist is no error.
    """
    for name in (*read_extra_files(folder), *PREVIOUS_FILES):
        (folder / name).unlink(missing_ok=True)
    with suppress(OSError):
        folder.rmdir()


def told_history(folder: Path) -> History:
    """Returns the history of `folder`, with the finished run there as its last point.

    The label of that point is the time at which the run was finished.
    """
    history = read_history(folder)
    try:
        summaries = read_summaries(folder)
    except DataError:
        return history
    finished = datetime.fromtimestamp((folder / SIGNATURE).stat().st_mtime, tz=timezone.utc)
    return [*history, (finished.strftime("%Y-%m-%d %H:%M"), summaries)]


def _check_distinct(slice_reports: Sequence[SliceReport]) -> None:
    for run, times in Counter(report.run for report in slice_reports).items():
        if times > 1:
            raise DataError(f"{times} slice reports are of {run}; keep one test for each")
    for report in slice_reports:
        for case_id, times in Counter(case_ids(report.reports)).items():
            if times > 1:
                raise DataError(
                    f"slice {report.slice!r} holds {times} reports of case {case_id!r}; keep one a case"
                )


def _write_rows(folder: Path, slice_reports: Sequence[SliceReport]) -> None:
    """Writes the rows of every case, each with the key of its card row and its case id."""
    for name, rows in zip(ROW_FILES, (_snippets, _responses, _claims, _pairs), strict=True):
        keyed = (
            _keyed(row, {**report.run.to_dict(), "case_id": one.case.id})
            for report in sorted(slice_reports, key=attrgetter("run"))
            for one in report.reports
            for row in rows(one)
        )
        try:
            write_records(folder / name, keyed)
        except (TypeError, ValueError) as error:
            raise DataError(
                f"{folder / name} cannot be written as JSON ({error}); "
                "keep finite numbers, texts, lists and objects in records"
            ) from error


def _keyed(row: Mapping[str, Any], key: Mapping[str, Any]) -> dict[str, Any]:
    """Returns `row` with the fields of `key`; its own fields of the same names go under "own_fields"."""
    same_named = {name: value for name, value in row.items() if name in (OWN_FIELDS, *RUN_NAMES)}
    return {**row, **key, **({OWN_FIELDS: same_named} if same_named else {})}


def _snippets(report: Report) -> Iterator[Mapping[str, Any]]:
    yield {
        "question": report.case.question,
        "hits": [hit.to_dict() for hit in report.hits],
        "searched": report.searched,
        **({"retrieval": retrieval} if (retrieval := report.retrieval.to_dict()) else {}),
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
