"""Joins the run folders of shards into the run that a single process would be, and judges its gates."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_medfaith.cards.run_begin import begin_run, check_report_folder
from pytest_medfaith.cards.run_reading import read_run, read_shard
from pytest_medfaith.errors import DataError, shown
from pytest_medfaith.records import SliceReport, SliceRun
from pytest_medfaith.run.collected import Collected
from pytest_medfaith.run.results import Result
from pytest_medfaith.run.shards import baseline_digest

if TYPE_CHECKING:
    from pytest_medfaith.run.finish import Finish
    from pytest_medfaith.run.resources import Resources

_NAMES_SHOWN = 3


@dataclass(frozen=True, kw_only=True)
class ShardRun:
    """A shard's part of a run, read from its folder.

    Attributes:
        folder: of the shard.
        index: its number, from 1, of `of`.
        expected: what all shards together expect (`Collected.sorted_values`).
        baseline: digest of the baseline file beside which it ran; "" where no gate compares.
        errors: why it is unusable.
        slice_reports: what it measured.
        signature: all that decides its numbers.
    """

    folder: Path
    index: int
    of: int
    expected: list[dict[str, Any]]
    baseline: str
    errors: tuple[str, ...]
    slice_reports: tuple[SliceReport, ...]
    signature: Mapping[str, Any]


def merge_runs(resources: Resources, folders: Sequence[Path]) -> Finish:
    """Returns how the whole run ended, of which `folders` hold the shards, and writes it as any run is.

    Args:
        resources: of the project; its options name the report folder and the baseline.
        folders: of the shards, in any order.

    Raises:
        DataError: a folder holds no finished shard, a shard is missing or given twice, or shards differ in
            cases, gates, settings, models, corpora or baseline.
    """
    from pytest_medfaith.run.finish import end_run

    shards = sorted(map(_read_shard, folders), key=lambda shard: shard.index)
    _check_complete(shards)
    _check_alike(shards, resources)
    signature: dict[str, Any] = {}
    for shard in shards:
        signature = _joined(signature, shard.signature, shard.folder, place="the signature")
    resources = _seeded(resources, signature)
    collected = Collected()
    collected.take_expected(shards[0].expected)
    runs = [SliceRun(**row["run"]) for row in shards[0].expected]
    _take_reports(collected, shards, runs)
    if not collected.configured_checkers():
        raise DataError(
            "no test of the shards measures a slice, so there is nothing to merge and no gate to judge"
        )
    if folder := resources.options.report:
        _refuse_shard_folder(folder, folders)
        check_report_folder(folder, resources.settings, baseline=resources.baseline_path)
        begin_run(folder)
    cut_short = any(report.partial and not report.missing for one in shards for report in one.slice_reports)
    return end_run(resources, collected, is_partial=cut_short, signature=signature)


def _seeded(resources: Resources, signature: Mapping[str, Any]) -> Resources:
    """Returns `resources` with the seed that the shards ran with."""
    seed = signature.get("seed", resources.seed)
    return dataclasses.replace(
        resources, options=dataclasses.replace(resources.options, seed=seed), _loaded={}
    )


def _read_shard(folder: Path) -> ShardRun:
    """Returns the shard in a run folder; a folder with a whole run, or none, is a DataError."""
    told = read_shard(folder)
    if told is None:
        raise DataError(
            f"{folder} holds a whole run and no shard; expected the run folders of pytest --medfaith-shard "
            "I/N --medfaith-report DIR"
        )
    slice_reports, signature = read_run(folder)
    try:
        return ShardRun(
            folder=folder,
            index=int(told["index"]),
            of=int(told["of"]),
            expected=list(told["expected"]),
            baseline=str(told["baseline"]),
            errors=tuple(told["errors"]),
            slice_reports=tuple(slice_reports),
            signature=signature,
        )
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(f"{folder}: its shard cannot be read ({error!r}); run the shard again") from error


def _check_complete(shards: Sequence[ShardRun]) -> None:
    """Raises DataError unless each shard of one run is there once, and each is usable."""
    if len({shard.of for shard in shards}) > 1:
        told = ", ".join(f"{shard.folder} is {shard.index}/{shard.of}" for shard in shards)
        raise DataError(f"the shards are of several runs: {told}; expected all shards of a single run")
    counts = Counter(shard.index for shard in shards)
    twice = [shard for shard in shards if counts[shard.index] > 1]
    if twice:
        told = " and ".join(str(shard.folder) for shard in twice if shard.index == twice[0].index)
        raise DataError(f"{told} are both shard {twice[0].index}/{twice[0].of}; expected each shard once")
    missing = sorted(set(range(1, shards[0].of + 1)) - counts.keys())
    if missing:
        told = ", ".join(f"{index}/{shards[0].of}" for index in missing)
        raise DataError(
            f"shard {told} is missing, and its cases with it; expected the run folder of each of the "
            f"{shards[0].of} shards"
        )
    for shard in shards:
        if shard.errors:
            raise DataError(f"{shard.folder}: shard {shard.index}/{shard.of} is unusable: {shard.errors[0]}")


def _check_alike(shards: Sequence[ShardRun], resources: Resources) -> None:
    """Raises DataError where shards expect different cases or gates, or ran beside different baselines."""
    first = shards[0]
    for shard in shards[1:]:
        if shard.expected != first.expected:
            raise DataError(
                f"{first.folder} and {shard.folder} are parts of different runs: "
                f"{_difference(first, shard)}; run all shards on the same commit, with the same options"
            )
        if shard.baseline != first.baseline:
            raise DataError(
                f"{first.folder} and {shard.folder} ran beside different baselines; run all shards on the "
                f"same commit"
            )
    if first.baseline and first.baseline != baseline_digest(resources):
        raise DataError(
            f"{resources.baseline_path} is not the baseline that the shards ran beside; merge on the commit "
            "of the shards, or give their baseline with --baseline FILE"
        )


def _difference(first: ShardRun, other: ShardRun) -> str:
    """Returns in words what two shards expect differently, as "the gates of ... differ"."""
    ours, theirs = ({str(SliceRun(**row["run"])): row for row in one.expected} for one in (first, other))
    alone = sorted(ours.keys() ^ theirs.keys())
    if alone:
        return f"only one of them measures {alone[0]}"
    for name, row in ours.items():
        for key, said in row.items():
            if said != theirs[name][key]:
                what = {"cases": "cases", "gates": "gates", "size": "cases"}.get(key, key)
                return f"the {what} of {name} differ"
    return "they measure rows in another order"


def _joined(known: Any, given: Any, folder: Path, *, place: str) -> Any:
    """Returns two signatures joined key by key; a shard without cases of a slice lacks keys.

    `place` is what messages call the value. Raises DataError where the two say different things.
    """
    if isinstance(known, Mapping) and isinstance(given, Mapping):
        both = {
            key: _joined(known[key], given[key], folder, place=f"{place}, {key}")
            for key in known.keys() & given.keys()
        }
        return {**known, **given, **both}
    if known != given:
        raise DataError(
            f"{folder} was run with other settings than the shards before it: {place} is {shown(given)}, and "
            f"was {shown(known)}; run all shards on the same commit, with the same options"
        )
    return known


def _take_reports(collected: Collected, shards: Sequence[ShardRun], runs: Sequence[SliceRun]) -> None:
    """Adds the reports of all shards to `collected`; a case in two shards is a DataError."""
    seen: dict[tuple[SliceRun, str], Path] = {}
    for shard in shards:
        for slice_report in shard.slice_reports:
            run = _configured(slice_report.run, runs, shard.folder)
            for report in slice_report.reports:
                before = seen.setdefault((run, report.case.id), shard.folder)
                if before != shard.folder:
                    raise DataError(
                        f"{before} and {shard.folder} both hold case {report.case.id!r} of {run}; expected "
                        "each case in one shard"
                    )
                collected.add(Result(run=run, report=report))


def _configured(shown_run: SliceRun, runs: Sequence[SliceRun], folder: Path) -> SliceRun:
    """Returns the one of `runs` that a shown row belongs to; a test may have replaced its checker."""
    alike = [run for run in runs if run.equals_but_for_checker(shown_run)]
    found = [run for run in alike if run == shown_run] or alike
    if len(found) != 1:
        raise DataError(f"{folder} holds {shown_run}, which no test of the run expects; run the shard again")
    return found[0]


def _refuse_shard_folder(folder: Path, folders: Sequence[Path]) -> None:
    if any(folder.resolve() == one.resolve() for one in folders):
        raise DataError(
            f"--out is {folder}, the folder of a shard, which it would replace; give another folder"
        )
