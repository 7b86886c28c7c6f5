"""Compares each row of an ablation with the first: paired differences, intervals, Holm's correction."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from pytest_medfaith import defaults
from pytest_medfaith.cards.summary import card_columns, many_checkers, run_label
from pytest_medfaith.gates.entry import CaseBaseline, case_baseline
from pytest_medfaith.gates.paired import ALPHA, Pairs, holm, swap_p_values, worsenings
from pytest_medfaith.metrics.base import Metric
from pytest_medfaith.metrics.bootstrap import Floats
from pytest_medfaith.metrics.differences import Ablation, ComparedRow, Difference
from pytest_medfaith.metrics.registry import METRICS, parse_metric
from pytest_medfaith.records import SliceReport

Cases = Mapping[str, CaseBaseline]
_DECIMALS = 10  # as the metrics round


def ablations(
    slice_reports: Sequence[SliceReport],
    *,
    declared: Mapping[str, Metric] = METRICS,
    seed: int = defaults.SEED,
) -> list[Ablation]:
    """Returns an `Ablation` for each slice with several rows that were asked for together.

    Args:
        slice_reports: the rows of a run, in any order; `place` says in which order they were asked for.
        declared: the metrics by name.
        seed: of the permutation tests.
    """
    found = []
    for name in dict.fromkeys(report.slice for report in slice_reports):
        rows = sorted(
            (report for report in slice_reports if report.slice == name),
            key=lambda report: (report.place, report.run),
        )
        if rows[-1].place:
            found.append(_ablation(rows, declared=declared, seed=seed))
    return found


def _ablation(rows: Sequence[SliceReport], *, declared: Mapping[str, Metric], seed: int) -> Ablation:
    """Returns the rows of a slice compared with the first; where that has no case, only the problem."""
    first, *others = rows
    if not first.reports:
        label = run_label(first, checker=many_checkers(rows))
        problem = f"the first row, {label}, has no case that finished, so no row is compared with it"
        return Ablation(rows=tuple(ComparedRow(report=row) for row in rows), problem=problem)
    names = [*card_columns(rows).values(), *first.definitions]
    metrics = [
        metric
        for name in names
        if name in declared and (metric := parse_metric(name, declared)).quantile is None
    ]
    known = _cases(first, metrics)
    compared = [_differences(known, _cases(row, metrics), metrics, seed=seed) for row in others]
    p_values = {
        f"{number}\n{one.metric}": one.p
        for number, differences in enumerate(compared)
        for one in differences
        if one.p is not None
    }
    corrected = holm(p_values)
    shown = [
        tuple(_with_p(one, corrected.get(f"{number}\n{one.metric}")) for one in differences)
        for number, differences in enumerate(compared)
    ]
    rest = (ComparedRow(report=row, differences=found) for row, found in zip(others, shown, strict=True))
    return Ablation(rows=(ComparedRow(report=first), *rest), tests=len(p_values))


def _with_p(one: Difference, p: float | None) -> Difference:
    return Difference(**{**vars(one), "p": p})


def _cases(report: SliceReport, metrics: Sequence[Metric]) -> Cases:
    return {one.case.id: case_baseline(one, metrics) for one in report.reports}


def _differences(first: Cases, row: Cases, metrics: Sequence[Metric], *, seed: int) -> list[Difference]:
    """Returns the differences of the metrics that both rows measure, their p values not corrected."""
    ids = sorted(first.keys() & row.keys())
    before, after = _fractions(first, ids, metrics), _fractions(row, ids, metrics)
    both = (before[1] > 0) & (after[1] > 0)
    before, after = (np.where(both, fractions, 0.0) for fractions in (before, after))
    measured = np.flatnonzero(both.any(axis=0))
    if not measured.size:
        return []
    before, after = before[..., measured], after[..., measured]
    up, down = (Pairs(before=before, after=after, sign=sign) for sign in (1.0, -1.0))
    p_values = np.minimum(1.0, 2 * np.minimum(swap_p_values(up, seed=seed), swap_p_values(down, seed=seed)))
    change = worsenings(up, alpha=ALPHA / 2)
    differ = (before != after).any(axis=0).sum(axis=0)
    values = [fractions[0].sum(axis=0) / fractions[1].sum(axis=0) for fractions in (before, after)]
    return [
        Difference(
            metric=metrics[place].name,
            n=int(both[:, place].sum()),
            differ=int(differ[column]),
            first=round(float(values[0][column]), _DECIMALS),
            value=round(float(values[1][column]), _DECIMALS),
            low=_finite(change.low[column]),
            high=_finite(change.high[column]),
            p=float(p_values[column]) if differ[column] else None,
        )
        for column, place in enumerate(map(int, measured))
    ]


def _fractions(cases: Cases, ids: Sequence[str], metrics: Sequence[Metric]) -> Floats:
    """Returns float64 (2, cases, metrics): numerators, then denominators; 0 / 0 where a case has no value."""
    rows = [[cases[name].fractions.get(metric.name, (0.0, 0.0)) for metric in metrics] for name in ids]
    return np.array(rows, dtype=np.float64).reshape(len(ids), len(metrics), 2).transpose(2, 0, 1)


def _finite(value: float) -> float | None:
    return round(float(value), _DECIMALS) if math.isfinite(value) else None
