"""The baseline file: what every slice measured when it was last declared good, case by case, so that later runs compare with it.

medfaith-baseline.json is made for review: sorted, one fact a line, no timestamps. A slice's entry holds its metrics with intervals,
the numerator and denominator of every metric in every case, every claim with its verdict, the signature of what made them, and a
checksum of it all: what was edited by hand is not what was measured.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from pytest_medfaith.errors import DataError, MissingBaseline
from pytest_medfaith.gates.kept import keep_baseline
from pytest_medfaith.gates.lock import locked
from pytest_medfaith.gates.plausible import CHECKSUM, check_checksum, check_entry, checksum, no_doubled_keys
from pytest_medfaith.jsonl import check_folder, refuse_constant, write_text
from pytest_medfaith.metrics.aggregate import aggregate
from pytest_medfaith.metrics.base import Fraction, Metric
from pytest_medfaith.metrics.registry import METRICS, parse_metric
from pytest_medfaith.records import (
    MetricValue,
    Record,
    Report,
    SliceRecord,
    SliceReport,
    SliceRun,
    VerdictLabel,
)

FORMAT_VERSION = 1
UPDATE = "--medfaith-update-baseline"
# Parts of a signature that hold one value per name, and which name of a slice run says which of them made it.
_NAMED_PARTS = {"checkers": "checker", "corpora": "slice", "encoders": "retriever"}
_DECIMALS = 10  # as the metrics round: the last bits differ between machines
_WIDTH = 110
_NAMES_SHOWN = 5


@dataclass(frozen=True, kw_only=True)
class CaseBaseline(Record):
    """One case: its claims as (verdict, text) in the order of the answer, and {metric: (numerator, denominator)}."""

    claims: tuple[tuple[VerdictLabel, str], ...]
    fractions: Mapping[str, tuple[float, float]]


@dataclass(frozen=True, kw_only=True)
class SliceBaseline(SliceRecord):
    """One slice under one retriever, checker and k: what it measured, {case id: case}, and the signature of what made it."""

    signature: Mapping[str, Any]
    metrics: Mapping[str, MetricValue]
    cases: Mapping[str, CaseBaseline]


@dataclass(frozen=True, kw_only=True)
class Baseline:
    """A baseline file as read."""

    path: Path
    slices: tuple[SliceBaseline, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Written:
    """What was written beside the baseline file: where one that could not be read went, and the numbered copy."""

    aside: Path | None = None
    kept: Path | None = None


def write_baseline(
    path: Path,
    slice_reports: Sequence[SliceReport],
    *,
    signature: Mapping[str, Any],
    metrics: Collection[str] = (),
    declared: Mapping[str, Metric] = METRICS,
    seed: int = 0,
    now: datetime | None = None,
    commit: str = "",
) -> Written:
    """Writes `slice_reports` to the baseline file `path`, whole or not at all, one process at a time, and keeps a numbered copy.

    Entries of slices that did not run are kept as they are. A file that cannot be read, or that a newer version wrote, is put aside
    under another name.

    Args:
        path: the file, made where it is not there.
        slice_reports: complete, no two of one slice, retriever, checker and k.
        signature: what made the run, as plain values; of `checkers`, `corpora` and `encoders` each slice keeps its own.
        metrics: names to store beside those of the reports, such as the `recall@20` of a gate.
        declared: the metrics by name, see `parse_metric`.
        seed: of the intervals of `metrics`.
        now: stands in the name of the copy (`gates.kept`); None keeps none.
        commit: stands there, too.

    Raises:
        DataError: no report, a report with missing cases, two of one kind, a value that is not finite, a file that cannot be written.
        ValueError: no metric has one of the names.
    """
    _check_complete(slice_reports)
    new = [
        baseline_entry(report, signature=signature, metrics=metrics, declared=declared, seed=seed)
        for report in slice_reports
    ]
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with locked(path):
            aside = _merge(path, new)
            return Written(aside=aside, kept=keep_baseline(path, now=now, commit=commit) if now else None)
    except ValueError as error:
        raise DataError(
            f"{path} cannot be written as JSON ({error}); keep finite numbers and texts in records and signature"
        ) from error
    except OSError as error:
        raise _unwritable(path, error) from error


def _merge(path: Path, new: Sequence[SliceBaseline]) -> Path | None:
    """Reads the file, puts `new` entries in the place of those of the same slices, and writes it; returns where an unreadable one went."""
    aside = None
    try:
        kept = read_baseline(path).slices
    except MissingBaseline:
        kept = ()
    except DataError:
        kept, aside = (), path.with_name(path.name + ".unreadable")
    entries = {entry.run: entry for entry in (*kept, *new)}
    layout = (
        _layout({"format_version": FORMAT_VERSION, "slices": [_row(entries[run]) for run in sorted(entries)]})
        + "\n"
    )
    if aside:
        os.replace(path, aside)
    write_text(path, layout)
    return aside


def check_baseline_writable(path: Path) -> None:
    """Finds out before a run whether its baseline can be written afterwards.

    Raises:
        DataError: it cannot.
    """
    try:
        check_folder(path.parent)
    except OSError as error:
        raise _unwritable(path, error) from error
    if path.is_dir():
        raise _unwritable(path, IsADirectoryError("it is a folder"))


def _unwritable(path: Path, error: OSError) -> DataError:
    return DataError(
        f"the baseline {path} cannot be written ({error.strerror or error}); expected a file in a folder that can be. "
        "Give another one with --medfaith-baseline FILE"
    )


def _check_complete(slice_reports: Sequence[SliceReport]) -> None:
    if not slice_reports:
        raise DataError(
            f"no slice was measured, so there is no baseline to write; run {UPDATE} with tests that use medfaith_report"
        )
    for run, times in Counter(report.run for report in slice_reports).items():
        if times > 1:
            raise DataError(
                f"{times} slice reports are of {run}; keep one test for each, a baseline holds one entry for each"
            )
    for report in slice_reports:
        if report.partial or report.missing:
            names = f": {', '.join(report.missing[:_NAMES_SHOWN])}" if report.missing else ""
            raise DataError(
                f"slice {report.slice!r} was cut short, {len(report.missing)} case(s) did not finish{names}; a baseline needs every "
                f"case. Mend what stopped them and run with {UPDATE} again"
            )


def require_metrics(entry: SliceBaseline, names: Collection[str]) -> None:
    """Refuses an entry that lacks one of the metrics `names` (MissingBaseline)."""
    lacking = sorted(set(names) - entry.metrics.keys())
    if lacking:
        raise MissingBaseline(
            f"the baseline of slice {entry.slice!r} holds no value of {lacking[0]}; store one with pytest {UPDATE}, "
            "or remove the gate where the slice cannot be measured by it"
        )


def baseline_entry(
    report: SliceReport,
    *,
    signature: Mapping[str, Any],
    metrics: Collection[str] = (),
    declared: Mapping[str, Metric] = METRICS,
    seed: int = 0,
) -> SliceBaseline:
    """Returns what a baseline keeps of `report`; arguments as of `write_baseline`."""
    values = {
        name: report.metrics.get(name)
        or aggregate(parse_metric(name, declared), report.reports, seed=seed)[0]
        for name in metrics
    }
    values = {name: value for name, value in {**report.metrics, **values}.items() if value.value is not None}
    measured = [parse_metric(name, declared) for name in sorted(values)]
    return SliceBaseline(
        **report.run.to_dict(),
        signature=own_signature(report.run, signature),
        metrics=values,
        cases={one.case.id: case_baseline(one, measured) for one in report.reports},
    )


def case_baseline(report: Report, metrics: Iterable[Metric]) -> CaseBaseline:
    """Returns what the baseline keeps of one case; a metric that does not apply to it is absent."""
    fractions = {metric.name: metric.measure(report) for metric in metrics}
    return CaseBaseline(
        claims=tuple((verdict.label, verdict.claim.text) for verdict in report.verdicts),
        fractions={name: _rounded(fraction) for name, fraction in fractions.items() if fraction is not None},
    )


def _rounded(fraction: Fraction) -> Fraction:
    return round(fraction[0], _DECIMALS), round(fraction[1], _DECIMALS)


def own_signature(run: SliceRun, signature: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the part of a run's `signature` that decides the numbers of one slice: its own checker, corpus and encoders, and all the rest."""
    own = dict(signature)
    for part, name in _NAMED_PARTS.items():
        if part in own:
            own[part] = {key: value for key, value in own[part].items() if key == getattr(run, name)}
    # through JSON, so that it compares equal with what is read back
    return json.loads(json.dumps(own, default=str))  # type: ignore[no-any-return]


def _row(entry: SliceBaseline) -> dict[str, Any]:
    row = {
        **entry.run.to_dict(),
        "signature": entry.signature,
        "metrics": {
            name: {"value": one.value, "low": one.low, "high": one.high, "n": one.n}
            for name, one in entry.metrics.items()
        },
        "cases": {name: _case_row(case) for name, case in entry.cases.items()},
    }
    return {**row, CHECKSUM: checksum(json.loads(json.dumps(row, allow_nan=False)))}


def _case_row(case: CaseBaseline) -> dict[str, Any]:
    return {
        "claims": [list(claim) for claim in case.claims],
        "fractions": {
            name: [_number(value) for value in fraction] for name, fraction in case.fractions.items()
        },
        "verdicts": _counts(case),
    }


def _counts(case: CaseBaseline) -> dict[str, int]:
    return dict(Counter(label for label, _ in case.claims))


def _number(value: float) -> float | int:
    return int(value) if value.is_integer() else value


def _layout(value: Any, *, depth: int = 0) -> str:
    """Returns JSON with sorted keys in which a list or object of plain values stands on one line, so that a diff shows one fact a line.

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
        DataError: it is no JSON, holds NaN or something else that this version does not write, or another format's version wrote it.
    """
    if not path.is_file():
        raise MissingBaseline(
            f"{path}: no baseline is there yet; write one with pytest {UPDATE}, and commit it once you are content with it"
        )
    try:
        document = json.loads(
            path.read_text(encoding="utf-8"),
            parse_constant=refuse_constant,
            object_pairs_hook=no_doubled_keys,
        )
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(
            f"{path} cannot be read as JSON ({error}); restore it from version control, or {_anew()}"
        ) from error
    version = document.get("format_version") if isinstance(document, dict) else None
    if isinstance(version, bool) or not isinstance(version, int) or version < FORMAT_VERSION:
        raise DataError(f"{path}: format_version is {version!r}, expected {FORMAT_VERSION}; {_anew()}")
    if version > FORMAT_VERSION:
        raise DataError(
            f"{path}: a newer version wrote this baseline (format {version}), this one reads format {FORMAT_VERSION}. "
            f"Run pip install --upgrade pytest-medfaith, or {_anew()}"
        )
    try:
        rows = _listed(document.get("slices"))
        slices = tuple(_slice(row, declared) for row in rows)
        for row, entry in zip(rows, slices, strict=True):
            check_checksum(row, f"slice {entry.slice!r}")
    except (DataError, RecursionError) as error:
        raise DataError(f"{path}: {error}; restore it from version control, or {_anew()}") from None
    for run, times in Counter(entry.run for entry in slices).items():
        if times > 1:
            raise DataError(f"{path} holds {times} entries for {run}, expected 1; {_anew()}")
    return Baseline(path=path, slices=slices)


def _anew() -> str:
    return f"write it anew with pytest {UPDATE}"


def _listed(rows: object) -> list[Any]:
    if not isinstance(rows, list):
        raise DataError(f"field 'slices' is {type(rows).__name__}, expected a list")
    return rows


def _slice(row: Any, declared: Mapping[str, Metric]) -> SliceBaseline:
    metrics = row.get("metrics") if isinstance(row, Mapping) else None
    if isinstance(metrics, Mapping):
        row = {
            **row,
            "metrics": {
                name: {**value, "name": name} if isinstance(value, Mapping) else value
                for name, value in metrics.items()
            },
        }
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
