"""Compares two runs, slice by slice, over the cases that both measured."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_medfaith import defaults
from pytest_medfaith.cards.summary import card_columns
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

_BAD = ("refuted", "unsupported", "uncertain", "unscored")  # worst first


@dataclass(frozen=True, kw_only=True)
class MetricChange:
    """A metric in two runs.

    Attributes:
        name: of the metric.
        before: its value in the earlier run, with a 95 % interval.
        after: its value in the later run.
        comparison: paired by case; None where either run has no value.
        p: of the two-sided permutation test, Holm-corrected for the metrics of the slice; None where no case
            differs.
    """

    name: str
    before: MetricValue
    after: MetricValue
    comparison: Comparison | None = None
    p: float | None = None


@dataclass(frozen=True, kw_only=True)
class CaseChange:
    """A case that two runs measured: its report before and after."""

    before: Report
    after: Report

    @property
    def worse_by(self) -> tuple[int, ...]:
        """How many more claims are (refuted, unsupported, uncertain, unscored) after; negative for fewer."""
        old, new = (
            Counter[str](verdict.label for verdict in report.verdicts) for report in (self.before, self.after)
        )
        return tuple(new[label] - old[label] for label in _BAD)

    @property
    def is_changed(self) -> bool:
        """Whether counts of verdicts, or being a refusal, differ; without answers, whether hits differ."""
        if not self.after.has_answer:
            return _hit_ids(self.before) != _hit_ids(self.after)
        return any(self.worse_by) or self.before.abstained != self.after.abstained


def _hit_ids(report: Report) -> list[str]:
    return [hit.chunk.id for hit in report.hits]


@dataclass(frozen=True, kw_only=True)
class SliceChange:
    """A slice in two runs, both cut down to the cases that both measured.

    Attributes:
        before: the earlier run.
        after: the later run.
        metrics: of the card, of the project, and those that gates ask for.
        cases: those that changed, worst first.
        reworded: how many cases have another answer with the same counts of verdicts.
        worse: claims of the later run that turned for the worse, or are new and bad, worst first.
        better: claims of the earlier run that were bad and are better now; `before` is what they became. A
            claim in other words is better only where it is supported.
        gone: claims that were bad and that no claim of the later run resembles.
        only_before: ids of cases that only the earlier run measured.
        only_after: likewise.
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
    """Two runs and what differs between them.

    Attributes:
        names: of the runs, as the user calls them.
        signature: a line for each difference of their set-ups.
        slices: the slices that both runs measured.
        only_before: slices of the earlier run alone.
        only_after: slices of the later run alone.
    """

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

    Slice reports are matched by slice, retriever, checker and k. Where a slice is left once in each run, the
    two are matched too, and their labels say what differs.

    Args:
        before: slice reports and signature, as `cards.run_reading.read_run` returns them.
        after: likewise.
        names: what to call the runs.
        declared: the metrics by name; a metric that a run holds and that is not among them is shown without a
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
        if old.slice == new.slice and _alone(old, left) and _alone(new, right) and _alike(old, new)
    ]


def _alike(old: SliceReport, new: SliceReport) -> bool:
    """Returns whether both rows judge answers, or both hits alone; otherwise they share no measure."""
    return (old.contexts_mode == "none") == (new.contexts_mode == "none")


def _alone(report: SliceReport, among: Sequence[SliceReport]) -> bool:
    return [one.slice for one in among].count(report.slice) == 1


def compare_slices(
    before: SliceReport,
    after: SliceReport,
    *,
    declared: Mapping[str, Metric] = METRICS,
    seed: int = defaults.SEED,
) -> SliceChange:
    """Returns how `after` differs from `before` over the cases of both; arguments as in `compare_runs`."""
    declared = {**_stand_ins(before, after), **declared}
    old_ids, new_ids = ({one.case.id for one in report.reports} for report in (before, after))
    old, new = (_cut(report, old_ids & new_ids, declared=declared, seed=seed) for report in (before, after))
    both = [CaseChange(before=a, after=b) for a, b in zip(old.reports, new.reports, strict=True)]
    changed = [case for case in both if case.is_changed]
    changed.sort(key=lambda case: ([-step for step in case.worse_by], case.after.case.id))
    other_answers = [case for case in both if case.before.response.answer != case.after.response.answer]
    old_entry, new_entry = (_entry(report, (), declared) for report in (old, new))
    # Read backwards, a claim that became better is a regression, and a claim that is gone is new.
    backwards = find_regressions(old, new_entry)
    known = [claim for claim in backwards if claim.before is not None]
    return SliceChange(
        before=old,
        after=new,
        metrics=_metric_changes(old, new, declared=declared, seed=seed),
        cases=tuple(changed),
        reworded=sum(not case.is_changed for case in other_answers),
        worse=tuple(find_regressions(new, old_entry)),
        better=tuple(claim for claim in known if claim.text_before is None or claim.before == "supported"),
        gone=tuple(claim for claim in backwards if claim.before is None),
        only_before=tuple(sorted(old_ids - new_ids)),
        only_after=tuple(sorted(new_ids - old_ids)),
    )


def _stand_ins(*reports: SliceReport) -> dict[str, Metric]:
    """Returns an empty metric for each metric of a project, so that gates on it parse without its code."""
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
    """Returns what a baseline would keep of `report`, with the metrics `names` only."""
    held = {name: report.metrics[name] for name in names if name in report.metrics}
    return baseline_entry(
        report.with_(metrics=held), signature={}, metrics=names, declared=declared, seed=seed
    )


def _metric_changes(
    before: SliceReport, after: SliceReport, *, declared: Mapping[str, Metric], seed: int
) -> tuple[MetricChange, ...]:
    """Returns the changes of the metrics of the card, those of the project, and those that gates ask for."""
    gated = [
        parse_gate(gate.expression, declared).metric for report in (before, after) for gate in report.gates
    ]
    columns = card_columns([before, after])
    names = list(dict.fromkeys([*columns.values(), *before.definitions, *after.definitions, *gated]))
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
