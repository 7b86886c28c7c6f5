"""Which entry of a baseline a slice may be compared with: its own, made by the same set-up from the same cases."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_medfaith.errors import MissingBaseline
from pytest_medfaith.gates.baseline import UPDATE, Baseline, SliceBaseline, SliceKey, key_text, own_signature, slice_key

_NAMES_SHOWN = 5


def slice_baseline(baseline: Baseline, of: SliceKey, *, signature: Mapping[str, Any], case_ids: Collection[str]) -> SliceBaseline:
    """Returns the entry of `baseline` that a slice may be compared with.

    Args:
        baseline: as read.
        of: the slice report, or before the run the slice's run.
        signature: of this run, whole.
        case_ids: every case that this run measures or should have measured.

    Raises:
        MissingBaseline: it has no such entry, another signature made the entry, or the cases are not the same.
    """
    key = slice_key(of)
    entry = next((entry for entry in baseline.slices if slice_key(entry) == key), None)
    if entry is None:
        known = "; ".join(key_text(slice_key(one)) for one in baseline.slices) or "nothing"
        raise MissingBaseline(f"{baseline.path} has no entry for {key_text(key)}; it holds {known}. Add one with pytest {UPDATE}")
    _check_signature(baseline.path, entry, own_signature(of, signature))
    _check_cases(baseline.path, entry, case_ids)
    return entry


def _check_signature(path: Path, entry: SliceBaseline, now: Mapping[str, Any]) -> None:
    before, after = _leaves(entry.signature), _leaves(now)
    changed = [
        f"{name} was {before.get(name, 'absent')}, is {after.get(name, 'absent')}"
        for name in sorted(before.keys() | after.keys())
        if before.get(name) != after.get(name)
    ]
    if changed:
        raise MissingBaseline(
            f"{path}: another set-up measured slice {entry.slice!r}, so its numbers do not compare: {'; '.join(changed)}. "
            f"Go back to that set-up, or measure the slice anew with pytest {UPDATE}"
        )


def _leaves(value: Any, name: str = "") -> dict[str, str]:
    """Returns {dotted name: value as JSON} of nested objects; an empty object has no leaf."""
    if not isinstance(value, Mapping):
        return {name: json.dumps(value, sort_keys=True)}
    return {leaf: text for key, item in value.items() for leaf, text in _leaves(item, f"{name}.{key}" if name else str(key)).items()}


def _check_cases(path: Path, entry: SliceBaseline, case_ids: Collection[str]) -> None:
    not_run = sorted(entry.cases.keys() - set(case_ids))
    unknown = sorted(set(case_ids) - entry.cases.keys())
    if not_run:
        raise MissingBaseline(
            f"{path}: {len(not_run)} of {len(entry.cases)} cases of slice {entry.slice!r} are not in this run: {_first(not_run)}; gates "
            "compare the same cases. Run all of them (without -k, --lf or --medfaith-limit), or where the slice has changed, write its "
            f"baseline anew with pytest {UPDATE}"
        )
    if unknown:
        raise MissingBaseline(
            f"{path}: {len(unknown)} cases of slice {entry.slice!r} are not in its baseline: {_first(unknown)}; gates compare the same "
            f"cases. Measure them with pytest {UPDATE}"
        )


def _first(names: Sequence[str]) -> str:
    return ", ".join([*names[:_NAMES_SHOWN], *["..."] * (len(names) > _NAMES_SHOWN)])
