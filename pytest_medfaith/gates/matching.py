"""Finds the entry of a baseline that a slice may be compared with: same slice, set-up and cases."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_medfaith.errors import MissingBaseline, first_names
from pytest_medfaith.gates.entry import UPDATE, SliceBaseline, require_metrics, slice_signature
from pytest_medfaith.records import SliceRun

if TYPE_CHECKING:
    from pytest_medfaith.gates.baseline import Baseline

# The key of a signature that names the kind of processor. It decides last digits, and so a verdict that lies
# at its threshold. Runs on two kinds are compared, and a note says so.
PROCESSOR = "processor"


def slice_baseline(
    baseline: Baseline, run: SliceRun, *, signature: Mapping[str, Any], case_ids: Collection[str]
) -> SliceBaseline:
    """Returns the entry of `baseline` that a slice may be compared with.

    Args:
        baseline: as read.
        run: of the slice report, or before the run as configured.
        signature: of this run, whole.
        case_ids: every case that this run measures or should have measured.

    Raises:
        MissingBaseline: it has no such entry, another signature made the entry, or the cases are not the
            same.
    """
    entry = next((entry for entry in baseline.slices if entry.run == run), None)
    if entry is None:
        known = "; ".join(str(entry.run) for entry in baseline.slices) or "nothing"
        raise MissingBaseline(
            f"{baseline.path} has no entry for {run}; it holds {known}. Add one with pytest {UPDATE}"
        )
    _check_signature(baseline.path, entry, slice_signature(run, signature))
    _check_cases(baseline.path, entry, case_ids)
    return entry


def check_before_run(
    baseline: Baseline,
    run: SliceRun,
    *,
    signature: Mapping[str, Any],
    case_ids: Collection[str],
    metrics: Collection[str] = (),
) -> None:
    """Raises before a slice runs where it could not be compared with the baseline.

    A test may still judge by another checker than the configured one. So an entry under any checker will do,
    and only an entry of the configured checker must have its weights and thresholds.

    Args:
        baseline: as read.
        run: of the slice, as configured.
        signature: of the configured set-up.
        case_ids: every case that will run.
        metrics: names of those that gates compare.

    Raises:
        MissingBaseline: as `slice_baseline`, if no such entry fits and holds all of `metrics`.
    """
    entries = [entry for entry in baseline.slices if entry.run.equals_but_for_checker(run)]
    if not entries:
        slice_baseline(baseline, run, signature=signature, case_ids=case_ids)
    problems = []
    for entry in entries:
        now, known = slice_signature(run, signature), dict(entry.signature)
        if entry.checker != run.checker:
            now.pop("checkers", None)
            known.pop("checkers", None)
        try:
            _check_signature(baseline.path, entry.with_(signature=known), now)
            _check_cases(baseline.path, entry, case_ids)
            require_metrics(entry, metrics)
        except MissingBaseline as error:
            problems.append(error)
        else:
            return
    if problems:
        raise problems[0]


def signature_changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """Returns a line for each difference of two signatures: "checkers.default.entail was 0.5, is 0.6"."""
    old, new = _leaves(before), _leaves(after)
    return [
        f"{name} was {old.get(name, 'absent')}, is {new.get(name, 'absent')}"
        for name in sorted(old.keys() | new.keys())
        if old.get(name) != new.get(name)
    ]


def other_processor(entry: SliceBaseline, signature: Mapping[str, Any]) -> str:
    """Returns a note where another kind of processor measured `entry`, else an empty text.

    Args:
        entry: of the baseline.
        signature: of this run.
    """
    before, now = entry.signature.get(PROCESSOR), signature.get(PROCESSOR)
    if before is None or before == now:
        return ""
    return (
        f"slice {entry.slice!r}: its baseline was measured on a processor with {before}, this run on one "
        f"with {now}. Models round differently there, so a claim at its threshold may have another verdict "
        f"though nothing changed. To be sure, measure the baseline on this kind of processor with pytest "
        f"{UPDATE}"
    )


def _check_signature(path: Path, entry: SliceBaseline, now: Mapping[str, Any]) -> None:
    changed = signature_changes(*({**each, PROCESSOR: None} for each in (entry.signature, now)))
    if changed:
        raise MissingBaseline(
            f"{path}: another set-up measured slice {entry.slice!r}, so its numbers do not compare: "
            f"{'; '.join(changed)}. Go back to that set-up, or measure the slice anew with pytest {UPDATE}"
        )


def _leaves(value: Any, name: str = "") -> dict[str, str]:
    """Returns {dotted name: value as JSON} of nested objects; an empty object has no leaf."""
    if not isinstance(value, Mapping):
        return {name: json.dumps(value, sort_keys=True)}
    return {
        leaf: text
        for key, item in value.items()
        for leaf, text in _leaves(item, f"{name}.{key}" if name else str(key)).items()
    }


def _check_cases(path: Path, entry: SliceBaseline, case_ids: Collection[str]) -> None:
    not_run = sorted(entry.cases.keys() - set(case_ids))
    unknown = sorted(set(case_ids) - entry.cases.keys())
    if not_run:
        raise MissingBaseline(
            f"{path}: {len(not_run)} of {len(entry.cases)} cases of slice {entry.slice!r} are not in this "
            f"run: {first_names(not_run)}; gates compare the same cases. Run all of them (without -k, --lf "
            "or --medfaith-limit), or where the slice has changed, write its baseline anew with pytest "
            f"{UPDATE}"
        )
    if unknown:
        raise MissingBaseline(
            f"{path}: {len(unknown)} cases of slice {entry.slice!r} are not in its baseline: "
            f"{first_names(unknown)}; gates compare the same cases. Measure them with pytest {UPDATE}"
        )
