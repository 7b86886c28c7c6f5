"""The baseline file: what every slice measured when it was last declared good; later runs compare with it.

medfaith-baseline.json is made for review: sorted, a fact on each line, no timestamps. The entry of a slice
holds its metrics with intervals, the numerator and denominator of every metric in every case, every claim
with its verdict, the signature of what made them, and a checksum of it all: what was edited by hand is not
what was measured.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from pytest_medfaith import defaults
from pytest_medfaith.errors import DataError, MissingBaseline
from pytest_medfaith.gates.entry import UPDATE, CaseBaseline, SliceBaseline, baseline_entry
from pytest_medfaith.gates.kept import keep_baseline
from pytest_medfaith.gates.plausible import CHECKSUM, check_checksum, check_entry, checksum, no_doubled_keys
from pytest_medfaith.jsonl import check_folder, refuse_constant, write_text
from pytest_medfaith.lock import locked
from pytest_medfaith.metrics.base import Metric
from pytest_medfaith.metrics.registry import METRICS
from pytest_medfaith.records import SliceReport

FORMAT_VERSION = 1
_ANEW = f"write it anew with pytest {UPDATE}"
_RESTORE = f"restore it from version control, or {_ANEW}"
_WIDTH = 110
_NAMES_SHOWN = 5


@dataclass(frozen=True, kw_only=True)
class Baseline:
    """A baseline file as read: its path, and an entry for each slice run in it."""

    path: Path
    slices: tuple[SliceBaseline, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Written:
    """What `write_baseline` wrote beside the baseline file.

    Attributes:
        aside: where an unreadable old file was moved; None where there was none.
        kept: the numbered copy; None where none was asked for.
    """

    aside: Path | None = None
    kept: Path | None = None


def write_baseline(
    path: Path,
    slice_reports: Sequence[SliceReport],
    *,
    signature: Mapping[str, Any],
    metrics: Collection[str] = (),
    declared: Mapping[str, Metric] = METRICS,
    seed: int = defaults.SEED,
    now: datetime | None = None,
    commit: str = "",
) -> Written:
    """Writes slices to the baseline file `path`, whole or not at all, and keeps a numbered copy.

    Entries of slices that did not run stay. A file that cannot be read is moved aside. Only one process
    writes at a time.

    Args:
        path: the file; made where it is missing.
        slice_reports: complete, no two of a slice, retriever, checker and k.
        signature: all that decided the numbers, as plain values; each slice keeps its part.
        metrics: names to store beside those of the reports, see `baseline_entry`.
        declared: the metrics by name.
        seed: of the intervals.
        now: the date in the name of the copy (`gates.kept`); None keeps no copy.
        commit: for the name of the copy.

    Raises:
        DataError: no report, an incomplete or doubled one, a value that is not finite, an unwritable file.
        ValueError: no metric has one of the names.
    """
    _check_complete(slice_reports)
    new = [
        baseline_entry(report, signature=signature, metrics=metrics, declared=declared, seed=seed)
        for report in slice_reports
    ]
    with _writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with locked(path):
            aside = _merge(path, new)
            return Written(aside=aside, kept=keep_baseline(path, now=now, commit=commit) if now else None)


def _merge(path: Path, new: Sequence[SliceBaseline]) -> Path | None:
    """Writes the file with the entries `new` among those it has; returns where an unreadable file went."""
    aside = None
    try:
        kept = read_baseline(path).slices
    except MissingBaseline:
        kept = ()
    except DataError:
        kept, aside = (), path.with_name(path.name + ".unreadable")
    entries = {entry.run: entry for entry in (*kept, *new)}
    rows = [_row(entries[run]) for run in sorted(entries)]
    layout = _layout({"format_version": FORMAT_VERSION, "slices": rows}) + "\n"
    if aside:
        os.replace(path, aside)
    write_text(path, layout)
    return aside


def check_baseline_writable(path: Path) -> None:
    """Raises where the baseline could not be written after the run; called before it.

    Raises:
        DataError: it could not.
    """
    with _writing(path):
        check_folder(path.parent)
        if path.is_dir():
            raise IsADirectoryError("it is a folder")


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    """Turns errors of the disk or of JSON in the block into a DataError about the baseline."""
    try:
        yield
    except ValueError as error:
        raise DataError(
            f"{path} cannot be written as JSON ({error}); "
            "keep finite numbers and texts in records and signature"
        ) from error
    except OSError as error:
        raise DataError(
            f"the baseline {path} cannot be written ({error.strerror or error}); "
            "expected a file in a folder that can be. Give another one with --medfaith-baseline FILE"
        ) from error


def _check_complete(slice_reports: Sequence[SliceReport]) -> None:
    """Raises DataError for no report, two reports of one row, or a slice that lacks cases."""
    if not slice_reports:
        raise DataError(
            "no slice was measured, so there is no baseline to write; "
            f"run {UPDATE} with tests that use medfaith_report"
        )
    for run, times in Counter(report.run for report in slice_reports).items():
        if times > 1:
            raise DataError(
                f"{times} slice reports are of {run}; "
                "keep one test for each, a baseline holds one entry for each"
            )
    for report in slice_reports:
        if report.partial or report.missing:
            names = f": {', '.join(report.missing[:_NAMES_SHOWN])}" if report.missing else ""
            raise DataError(
                f"slice {report.slice!r} was cut short, {len(report.missing)} case(s) did not finish{names}; "
                f"a baseline needs every case. Mend what stopped them and run with {UPDATE} again"
            )


def _row(entry: SliceBaseline) -> dict[str, Any]:
    row = {
        **entry.run.to_dict(),
        "signature": entry.signature,
        "metrics": {
            name: {"value": metric.value, "low": metric.low, "high": metric.high, "n": metric.n}
            for name, metric in entry.metrics.items()
        },
        "cases": {name: _case_row(case) for name, case in entry.cases.items()},
    }
    return {**row, CHECKSUM: checksum(json.loads(json.dumps(row, allow_nan=False)))}


def _case_row(case: CaseBaseline) -> dict[str, Any]:
    fractions = {
        name: [int(value) if value.is_integer() else value for value in fraction]
        for name, fraction in case.fractions.items()
    }
    return {
        "claims": [list(claim) for claim in case.claims],
        "fractions": fractions,
        "verdicts": _counts(case),
    }


def _counts(case: CaseBaseline) -> dict[str, int]:
    return dict(Counter(label for label, _ in case.claims))


def _layout(value: Any, *, depth: int = 0) -> str:
    """Returns JSON with sorted keys, a fact on each line, so that a reviewer can read its diffs.

    Raises:
        ValueError: a number is NaN or infinite.
    """
    line = json.dumps(value, ensure_ascii=False, allow_nan=False, sort_keys=True)
    items = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    flat = not any(isinstance(item, (Mapping, list)) for item in items)
    if not items or (flat and (isinstance(value, list) or len(line) + depth <= _WIDTH)):
        return line
    inner, outer = "\n" + " " * (depth + 1), "\n" + " " * depth
    if isinstance(value, Mapping):
        rows = [
            f"{json.dumps(key, ensure_ascii=False)}: {_layout(value[key], depth=depth + 1)}"
            for key in sorted(value)
        ]
        return "{" + inner + f",{inner}".join(rows) + outer + "}"
    return "[" + inner + f",{inner}".join(_layout(item, depth=depth + 1) for item in value) + outer + "]"


def read_baseline(path: Path, declared: Mapping[str, Metric] = METRICS) -> Baseline:
    """Returns the baseline file `path`.

    Args:
        path: of the file.
        declared: the metrics by name, see `parse_metric`; their values must lie in their ranges.

    Raises:
        MissingBaseline: no such file.
        DataError: it is no JSON, another version of the format wrote it, or it holds NaN or something else
            that this version does not write.
    """
    rows = _read_rows(path)
    try:
        slices = tuple(_slice(row, declared) for row in rows)
        for row, entry in zip(rows, slices, strict=True):
            check_checksum(row, f"slice {entry.slice!r}")
    except (DataError, RecursionError) as error:
        raise DataError(f"{path}: {error}; {_RESTORE}") from None
    for run, times in Counter(entry.run for entry in slices).items():
        if times > 1:
            raise DataError(f"{path} holds {times} entries for {run}, expected 1; {_ANEW}")
    return Baseline(path=path, slices=slices)


def _read_rows(path: Path) -> list[Any]:
    """Returns the entries of a baseline file as JSON gives them; another format version is a DataError."""
    if not path.is_file():
        raise MissingBaseline(
            f"{path}: no baseline is there yet; write one with pytest {UPDATE}, "
            "and commit it once you are content with it"
        )
    try:
        document = json.loads(
            path.read_text(encoding="utf-8"),
            parse_constant=refuse_constant,
            object_pairs_hook=no_doubled_keys,
        )
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"{path} cannot be read as JSON ({error}); {_RESTORE}") from error
    if not isinstance(document, dict):
        document = {}
    version = document.get("format_version")
    if isinstance(version, bool) or not isinstance(version, int) or version < FORMAT_VERSION:
        raise DataError(f"{path}: format_version is {version!r}, expected {FORMAT_VERSION}; {_ANEW}")
    if version > FORMAT_VERSION:
        raise DataError(
            f"{path}: a newer version wrote this baseline (format {version}), this one reads format "
            f"{FORMAT_VERSION}. Run pip install --upgrade pytest-medfaith, or {_ANEW}"
        )
    rows = document.get("slices")
    if not isinstance(rows, list):
        kind = type(rows).__name__
        raise DataError(f"{path}: field 'slices' is {kind}, expected a list; {_RESTORE}")
    return rows


def _slice(row: Any, declared: Mapping[str, Metric]) -> SliceBaseline:
    metrics = row.get("metrics") if isinstance(row, Mapping) else None
    if isinstance(metrics, Mapping):
        named = {
            name: {**value, "name": name} if isinstance(value, Mapping) else value
            for name, value in metrics.items()
        }
        row = {**row, "metrics": named}
    entry = SliceBaseline.from_dict(row)
    for name, case in entry.cases.items():
        written = case.extra.get("verdicts")
        if written != _counts(case):
            place = f"slice {entry.slice!r}, case {name!r}"
            raise DataError(
                f"{place}: field 'verdicts' is {written!r}, but its claims count {_counts(case)!r}"
            )
    check_entry(entry, declared)
    return entry
