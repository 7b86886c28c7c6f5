"""How much worse than the baseline this run is, each case compared with itself.

Two answers come from the paired cases.

* Was there a change for the worse? A permutation test: where nothing changed, "before" and "after" of a case
  could as well be swapped, so p is the share of such swaps that come out at least as bad. All claims of a
  case are swapped together, which keeps the test exact however much they depend on each other (Good 2005,
  Permutation, Parametric and Bootstrap Tests of Hypotheses, 3.2).
* How bad may it be? The one-sided 95 % upper bound of the worsening: Student's t on the linearised difference
  of the two ratios over cases (Cochran 1977, Sampling Techniques, 6.4), or for a quantile the percentile
  bootstrap over cases.

`judging.judge_comparison` makes the outcome of a gate of them.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pytest_medfaith import defaults
from pytest_medfaith.errors import first_names
from pytest_medfaith.gates.entry import CaseBaseline, SliceBaseline, case_baseline, require_metrics
from pytest_medfaith.gates.paired import (
    RESAMPLES,
    Pairs,
    quantile_p_value,
    quantile_worsening,
    swap_p_values,
    worsenings,
)
from pytest_medfaith.gates.regressions import McNemar, bad_labels, mcnemar, same_claims
from pytest_medfaith.metrics.base import Metric
from pytest_medfaith.metrics.bootstrap import Floats
from pytest_medfaith.metrics.registry import METRICS, parse_metric
from pytest_medfaith.records import SliceReport

_DECIMALS = 10  # as the metrics round
_SMALLEST_SHOWN = 0.001


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """A metric of a slice beside its baseline, in the unit of the metric.

    Attributes:
        metric: what is compared.
        before: its value in the baseline.
        after: its value now.
        worse_by: the worsening, positive for worse.
        low: the lower one-sided 95 % bound of the worsening.
        high: the upper one-sided 95 % bound of the worsening.
        spread: the standard deviation of what a case adds to the worsening.
        p: of the permutation test.
        cases: how many cases were compared.
        differ: how many of them do not measure the same.
        left_out: cases with a value in only one of the runs, where the metric needs both.
        worse_in: cases that both runs measure and that are worse, the largest change first.
        better_in: likewise those that are better.
        claims: the McNemar test on the verdicts, None for a metric that is no share of verdicts.
        unchanged: whether no claim, verdict or number of any case differs.
    """

    metric: Metric
    before: float
    after: float
    worse_by: float
    low: float
    high: float
    spread: float
    p: float
    cases: int
    differ: int
    left_out: int = 0
    worse_in: tuple[str, ...] = ()
    better_in: tuple[str, ...] = ()
    claims: McNemar | None = None
    unchanged: bool = False


def compare_metrics(
    names: Collection[str],
    report: SliceReport,
    baseline: SliceBaseline,
    *,
    declared: Mapping[str, Metric] = METRICS,
    seed: int = defaults.SEED,
    resamples: int = RESAMPLES,
) -> dict[str, Comparison]:
    """Returns {metric: comparison with the baseline} over the cases of both runs.

    A metric that this run could not measure is left out.

    Args:
        names: of the metrics.
        report: of this run.
        baseline: the entry of the slice, see `matching.slice_baseline`.
        declared: the metrics by name, see `parse_metric`.
        seed: of resamples.
        resamples: how many random swaps, where there are too many to try all.

    Raises:
        MissingBaseline: the baseline does not hold one of the metrics.
        ValueError: no metric has one of the names.
    """
    metrics = [parse_metric(name, declared) for name in sorted(names)]
    require_metrics(baseline, [metric.name for metric in metrics])
    now = {one.case.id: case_baseline(one, metrics) for one in report.reports}
    same = same_claims(report, baseline)
    compared = {}
    for metric in metrics:
        found = _compare(metric, baseline.cases, now, seed=seed, resamples=resamples)
        if found is not None:
            bad = bad_labels(metric.name)
            claims = mcnemar(report, baseline, bad=bad) if bad else None
            unchanged = same and not found.differ
            compared[metric.name] = dataclasses.replace(found, claims=claims, unchanged=unchanged)
    return compared


def _compare(
    metric: Metric,
    before: Mapping[str, CaseBaseline],
    after: Mapping[str, CaseBaseline],
    *,
    seed: int,
    resamples: int,
) -> Comparison | None:
    """Returns the comparison of a metric over the cases of both runs; None where a run has no value."""
    case_ids = sorted(before.keys() & after.keys())
    old, new = (_fractions(metric, [cases[name] for name in case_ids]) for cases in (before, after))
    # a quantile has no parts to sum: it needs each case in both runs
    counted = (old[1] > 0) & (new[1] > 0) if metric.quantile is not None else (old[1] > 0) | (new[1] > 0)
    sign = 1.0 if metric.direction == "lower" else -1.0
    pairs = Pairs(before=old[:, counted[:, 0]], after=new[:, counted[:, 0]], sign=sign)
    if not ((pairs.before[1] > 0).any() and (pairs.after[1] > 0).any()):
        return None
    if metric.quantile is None:
        p, worsening = swap_p_values(pairs, seed=seed, resamples=resamples), worsenings(pairs)
    else:
        p = quantile_p_value(pairs, metric.quantile, seed=seed, resamples=resamples)
        worsening = quantile_worsening(pairs, metric.quantile, seed=seed, resamples=resamples)
    moved = _changes(pairs, [name for name, counts in zip(case_ids, counted[:, 0], strict=True) if counts])
    return Comparison(
        metric=metric,
        worse_in=tuple(name for name, change in moved if change > 0),
        better_in=tuple(name for name, change in reversed(moved) if change < 0),
        before=_value(pairs.before, metric.quantile),
        after=_value(pairs.after, metric.quantile),
        worse_by=round(float(worsening.estimate[0]), _DECIMALS),
        low=float(worsening.low[0]),
        high=float(worsening.high[0]),
        spread=float(worsening.spread[0]),
        p=float(p[0]),
        cases=int(counted.sum()),
        differ=int((pairs.before != pairs.after).any(axis=0).sum()),
        left_out=int(((old[1] > 0) ^ (new[1] > 0)).sum()) if metric.quantile is not None else 0,
    )


def _fractions(metric: Metric, cases: Sequence[CaseBaseline]) -> Floats:
    """Returns float64 (2, cases, 1): numerators, then denominators; 0 / 0 for a case without a value."""
    rows = [case.fractions.get(metric.name, (0.0, 0.0)) for case in cases]
    return np.array(rows, dtype=np.float64).reshape(len(rows), 2).T[:, :, None]


def _changes(pairs: Pairs, case_ids: Sequence[str]) -> list[tuple[str, float]]:
    """Returns (case id, how much worse its value is), worst first; 0 for a case in one run only."""
    old, new = pairs.before[..., 0], pairs.after[..., 0]
    both = (old[1] > 0) & (new[1] > 0)
    values = [one[0] / np.where(both, one[1], 1) for one in (old, new)]
    change = np.where(both, pairs.sign * (values[1] - values[0]), 0.0)
    return sorted(zip(case_ids, map(float, change), strict=True), key=lambda row: -row[1])


def _value(fractions: Floats, quantile: float | None) -> float:
    top, base = fractions
    return float(top.sum() / base.sum() if quantile is None else np.quantile(top / base, quantile))


def shown_value(comparison: Comparison, value: float) -> str:
    """Returns `value` in the unit of the metric, such as `0.071` or `212.4 ms`."""
    return f"{value:.1f} ms" if comparison.metric.family == "latency" else f"{value:.3f}"


def shown_cases(number: int) -> str:
    """Returns `1 case`, `2 cases`, `0 cases`."""
    return "1 case" if number == 1 else f"{number} cases"


def describe_comparison(comparison: Comparison, *, p: float, tests: int = 1) -> str:
    """Returns a comparison in words: the change, its bounds, the tests, and the claims or cases behind it.

    Args:
        comparison: of a metric.
        p: of the comparison, Holm-corrected where `tests` is above 1.
        tests: how many metrics of the slice are compared.
    """
    change = "better" if comparison.worse_by < 0 else "worse"
    change += f" by {shown_value(comparison, abs(comparison.worse_by))}"
    if math.isfinite(comparison.high):
        low, high = (shown_value(comparison, end) for end in (comparison.low, comparison.high))
        change += f" (worsening within [{low}, {high}], 90 % interval)"
    left_out = ""
    if comparison.left_out:
        left_out = f"{shown_cases(comparison.left_out)} with a value in one of the runs only left out; "
    corrected = f", Holm-corrected for {tests} metrics compared on this slice" if tests > 1 else ""
    parts = [
        f"{change} over {shown_cases(comparison.cases)}, of which {comparison.differ} differ",
        f"{left_out}paired permutation test {_p_text(p)}{corrected}",
    ]
    claims = comparison.claims
    if claims is not None and claims.matched:
        reworded = f" ({claims.reworded} of them reworded)" if claims.reworded else ""
        turned = f"{claims.worse} turned for the worse and {claims.better} for the better"
        parts.append(
            f"of {claims.matched} claims in both runs{reworded} {turned}, exact McNemar {_p_text(claims.p)}"
        )
    if comparison.worse_by > 0 and not (claims and claims.worse):
        parts += _worse_cases(comparison)
    return "; ".join(parts)


def _worse_cases(comparison: Comparison) -> list[str]:
    """Returns the cases in which a metric is worse, for a worsening that no claim of both runs explains."""
    new = comparison.claims.new_bad if comparison.claims else 0
    worse, better = comparison.worse_in, comparison.better_in
    names = first_names(worse)
    where = (
        f"it is worse in {shown_cases(len(worse))}{f': {names}' if names else ''}, better in {len(better)}"
    )
    return [*[f"{new} claims that worsen it are new"] * bool(new), where]


def _p_text(p: float) -> str:
    return f"p = {p:.3f}" if p >= _SMALLEST_SHOWN else f"p < {_SMALLEST_SHOWN}"
