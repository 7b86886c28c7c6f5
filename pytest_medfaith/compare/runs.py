"""Two runs, slice by slice, over the cases that both measured."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_medfaith import defaults
from pytest_medfaith.cards.summary import COLUMNS
from pytest_medfaith.evaluation import slice_report
from pytest_medfaith.gates.comparison import Comparison, compare_metrics
from pytest_medfaith.gates.entry import SliceBaseline, baseline_entry
from pytest_medfaith.gates.expressions import parse_gate
from pytest_medfaith.gates.matching import signature_changes
from pytest_medfaith.gates.paired import holm
from pytest_medfaith.gates.regressions import Regression, find_regressions
from pytest_medfaith.metrics.base import Metric
from pytest_medfaith.metrics.registry import METRICS
from pytest_medfaith.records import MetricValue, Report, SliceReport

_BAD = ("refuted", "unsupported", "unscored")  # worst first


@dataclass(frozen=True, kw_only=True)
class MetricChange:
    """One metric before and after, each with its 95 % interval; `comparison` is paired by case, None where either has no value.

    `p` is of the two-sided permutation test, Holm-corrected for the metrics of the slice; None where no case
    differs.
    """

    name: str
    before: MetricValue
    after: MetricValue
    comparison: Comparison | None = None
    p: float | None = None


@dataclass(frozen=True, kw_only=True)
class CaseChange:
    """A case whose verdict counts, or whether it abstained, differ."""

    before: Report
    after: Report

    @property
    def worse_by(self) -> tuple[int, ...]:
        """How many claims more are refuted, unsupported, unscored; negative for fewer."""
        old, new = (
            Counter[str](verdict.label for verdict in report.verdicts) for report in (self.before, self.after)
        )
        return tuple(new[label] - old[label] for label in _BAD)


@dataclass(frozen=True, kw_only=True)
class SliceChange:
    """One slice in two runs, both cut down to the cases that both measured.

    `worse` are claims of the later run that turned for the worse or are new and bad. `better` are claims of
    the earlier run that were bad and are better now; their `before` is what they became, and a claim in other
    words is better only where it is supported. `gone` are claims that were bad and that no claim of the later
    run is like. All stand worst first. `reworded` counts the cases whose answer differs and whose verdict
    counts do not.
    """

    before: SliceReport
    after: SliceReport
    metrics: tuple[MetricChange, ...]
    cases: tuple[CaseChange, ...]
    reworded: int
    worse: tuple[Regression, ...]
    better: tuple[Regression, ...]
    gone: tuple[Regression, ...] = ()
    only_before: tuple[str, ...] = ()
    only_after: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class RunChange:
    """Two runs: what differs in their set-ups, the slices of both, and the slices of one alone."""

    names: tuple[str, str]
    signature: tuple[str, ...]
    slices: tuple[SliceChange, ...]
    only_before: tuple[SliceReport, ...] = ()
    only_after: tuple[SliceReport, ...] = ()


def compare_runs(
    before: tuple[Sequence[SliceReport], Mapping[str, Any]],
    after: tuple[Sequence[SliceReport], Mapping[str, Any]],
    *,
    names: tuple[str, str] = ("before", "after"),
    declared: Mapping[str, Metric] = METRICS,
    seed: int = defaults.SEED,
) -> RunChange:
    """Returns how the run `after` differs from the run `before`.

    Slice reports are matched by slice, retriever, checker and k; where a slice stands once in what is left of
    each run, they are matched too, and what differs is said by their labels.

    Args:
        before: slice reports and signature, as `cards.run_reading.read_run` returns them.
        after: likewise.
        names: what to call the runs.
        declared: the metrics by name; one that a run holds and that is not among them is shown without a
            test.
        seed: of resamples.
    """
    pairs = _pairs(before[0], after[0])
    matched = [{id(pair[side]) for pair in pairs} for side in (0, 1)]
    return RunChange(
        names=names,
        signature=tuple(signature_changes(before[1], after[1])),
        slices=tuple(compare_slices(old, new, declared=declared, seed=seed) for old, new in pairs),
        only_before=tuple(report for report in before[0] if id(report) not in matched[0]),
        only_after=tuple(report for report in after[0] if id(report) not in matched[1]),
    )


def _pairs(
    before: Sequence[SliceReport], after: Sequence[SliceReport]
) -> list[tuple[SliceReport, SliceReport]]:
    by_run = {report.run: report for report in after}
    exact = [(report, by_run[report.run]) for report in before if report.run in by_run]
    paired = {old.run for old, _ in exact}
    left, right = ([report for report in side if report.run not in paired] for side in (before, after))
    return exact + [
        (old, new)
        for old in left
        for new in right
        if old.slice == new.slice and _alone(old, left) and _alone(new, right)
    ]


def _alone(report: SliceReport, among: Sequence[SliceReport]) -> bool:
    return [one.slice for one in among].count(report.slice) == 1


def compare_slices(
    before: SliceReport,
    after: SliceReport,
    *,
    declared: Mapping[str, Metric] = METRICS,
    seed: int = defaults.SEED,
) -> SliceChange:
    """Returns how `after` differs from `before`, over the cases of both."""
    declared = {**_stand_ins(before, after), **declared}
    old_ids, new_ids = ({one.case.id for one in report.reports} for report in (before, after))
    common = old_ids & new_ids
    old, new = (_cut(report, common, declared=declared, seed=seed) for report in (before, after))
    both = [CaseChange(before=a, after=b) for a, b in zip(old.reports, new.reports, strict=True)]
    changed = [case for case in both if any(case.worse_by) or case.before.abstained != case.after.abstained]
    reworded = sum(
        case.before.response.answer != case.after.response.answer for case in both if case not in changed
    )
    entries = [_entry(report, (), declared) for report in (old, new)]
    back = find_regressions(old, entries[1])
    return SliceChange(
        before=old,
        after=new,
        metrics=_metric_changes(old, new, declared=declared, seed=seed),
        cases=tuple(
            sorted(changed, key=lambda case: ([-step for step in case.worse_by], case.after.case.id))
        ),
        reworded=reworded,
        worse=tuple(find_regressions(new, entries[0])),
        better=tuple(
            one
            for one in back
            if one.before is not None and (one.text_before is None or one.before == "supported")
        ),
        gone=tuple(one for one in back if one.before is None),
        only_before=tuple(sorted(old_ids - new_ids)),
        only_after=tuple(sorted(new_ids - old_ids)),
    )


def _stand_ins(*reports: SliceReport) -> dict[str, Metric]:
    """Returns a metric that measures nothing for each that a project declared, so that its gates can be read elsewhere."""
    return {
        name: Metric(
            name=name,
            direction="lower",
            definition=definition,
            per_case=lambda _: None,
            range=(-math.inf, math.inf),
            either_way=True,
        )
        for report in reports
        for name, definition in report.definitions.items()
    }


def _cut(
    report: SliceReport, case_ids: Collection[str], *, declared: Mapping[str, Metric], seed: int
) -> SliceReport:
    """Returns `report` over `case_ids` alone, in the order of the ids."""
    kept = sorted((one for one in report.reports if one.case.id in case_ids), key=lambda one: one.case.id)
    if len(kept) == len(report.reports):
        return report.with_(reports=tuple(kept))
    return slice_report(report.run, kept, declared=declared, seed=seed).with_(gates=report.gates)


def _entry(
    report: SliceReport, names: Collection[str], declared: Mapping[str, Metric], *, seed: int = defaults.SEED
) -> SliceBaseline:
    """Returns what a baseline would keep of `report`, with the metrics `names` alone: a run may hold some that this version lacks."""
    held = {name: report.metrics[name] for name in names if name in report.metrics}
    return baseline_entry(
        report.with_(metrics=held), signature={}, metrics=names, declared=declared, seed=seed
    )


def _metric_changes(
    before: SliceReport, after: SliceReport, *, declared: Mapping[str, Metric], seed: int
) -> tuple[MetricChange, ...]:
    """Returns the metrics of the card, those of the project, and those that gates of either run ask for."""
    gated = [
        parse_gate(gate.expression, declared).metric for report in (before, after) for gate in report.gates
    ]
    names = list(dict.fromkeys([*COLUMNS.values(), *before.definitions, *after.definitions, *gated]))
    old, new = (_entry(report, names, declared, seed=seed) for report in (before, after))
    both = [name for name in names if name in old.metrics and name in new.metrics]
    worse = compare_metrics(both, after, old, declared=declared, seed=seed)
    better = compare_metrics(both, before, new, declared=declared, seed=seed)
    p_values = holm(
        {name: min(1.0, 2 * min(one.p, better[name].p)) for name, one in worse.items() if one.differ}
    )
    nothing = {name: MetricValue(name=name, value=None) for name in names}
    return tuple(
        MetricChange(
            name=name,
            before=old.metrics.get(name, nothing[name]),
            after=new.metrics.get(name, nothing[name]),
            comparison=worse.get(name),
            p=p_values.get(name),
        )
        for name in names
        if name in old.metrics or name in new.metrics
    )
