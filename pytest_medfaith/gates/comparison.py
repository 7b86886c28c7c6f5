"""Is this run worse than the baseline? The same cases measured twice, so each case is compared with itself.

A gate `METRIC no worse than baseline by M` reads two answers from the paired cases.

* Was there a change for the worse? A permutation test: where nothing changed, "before" and "after" of a case could as well be
  swapped, so p is the share of such swaps that come out at least as bad. All claims of a case are swapped together, which keeps
  the test exact however closely they hang together (Good 2005, Permutation, Parametric and Bootstrap Tests of Hypotheses, 3.2).
* How bad may it be? The one-sided 95 % upper bound of the worsening, Student's t on the linearised difference of the two ratios over
  cases (Cochran 1977, Sampling Techniques, 6.4), or the percentile bootstrap over cases for a quantile.

The gate fails where a worsening is shown (p <= 0.05, Holm-corrected) and the best estimate of it is above M. It passes where a worsening
above M is ruled out, as a non-inferiority trial does (Piaggio et al. 2012, JAMA 308(24)). Everything else is inconclusive. So the gate
that stops a run on failures alone stops at most one unchanged run in 20, and the gate that stops it on inconclusive answers too lets
about one in 20 through that is worse by M. Without M nothing can be ruled out for certain, and `UNSTATED_MARGIN` stands in for it.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pytest_medfaith import defaults
from pytest_medfaith.gates.entry import CaseBaseline, SliceBaseline, case_baseline, require_metrics
from pytest_medfaith.gates.paired import (
    ALPHA,
    RESAMPLES,
    Outcome,
    Pairs,
    cases_to_settle,
    decide,
    quantile_p_value,
    quantile_worsening,
    swap_p_values,
    worsenings,
)
from pytest_medfaith.gates.regressions import McNemar, bad_labels, mcnemar, same_claims
from pytest_medfaith.metrics.base import Metric
from pytest_medfaith.metrics.bootstrap import Floats
from pytest_medfaith.metrics.registry import METRICS, parse_metric
from pytest_medfaith.records import GateResult, SliceReport

# A gate without "by M" passes where a worsening by this share of the metric's range (of the value before, where the range has no end)
# is ruled out: hallucination from 4 % to 9 % is the change that this project's gates must not miss.
UNSTATED_MARGIN = 0.05
_DECIMALS = 10  # as the metrics round
_CASES_NAMED = 5
_SMALLEST_SHOWN = 0.001


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """One metric of a slice beside its baseline, in the metric's unit.

    `worse_by` is positive for worse, `low` and `high` are its one-sided 95 % bounds, `spread` the standard deviation of one case's part
    in it. `p` is of the permutation test. `differ` of `cases` do not measure the same, `worse_in` and
    `better_in` name those that both runs measure, the largest change first. `claims` is the McNemar test on the verdicts,
    None for a metric that is no share of verdicts. `unchanged` says that no claim, verdict or number of any case differs.
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
    """Returns {name: comparison} over the cases of both; a metric that this run could not measure is absent.

    Raises:
        MissingBaseline: the baseline does not hold one of the metrics.
        ValueError: no metric has one of the names.
    """
    metrics = {name: parse_metric(name, declared) for name in sorted(names)}
    require_metrics(baseline, [metric.name for metric in metrics.values()])
    now = {one.case.id: case_baseline(one, metrics.values()) for one in report.reports}
    compared = {
        name: _compare(metric, baseline.cases, now, seed=seed, resamples=resamples)
        for name, metric in metrics.items()
    }
    same = same_claims(report, baseline)
    return {
        name: dataclasses.replace(
            one, claims=_claims(one.metric, report, baseline), unchanged=same and not one.differ
        )
        for name, one in compared.items()
        if one is not None
    }


def _claims(metric: Metric, report: SliceReport, baseline: SliceBaseline) -> McNemar | None:
    bad = bad_labels(metric.name)
    return mcnemar(report, baseline, bad=bad) if bad else None


def _compare(
    metric: Metric,
    before: Mapping[str, CaseBaseline],
    after: Mapping[str, CaseBaseline],
    *,
    seed: int,
    resamples: int,
) -> Comparison | None:
    case_ids = sorted(before.keys() & after.keys())
    old, new = (_fractions(metric, [cases[name] for name in case_ids]) for cases in (before, after))
    # a quantile has no parts to sum: it needs each case in both runs
    counted = (old[1] > 0) & (new[1] > 0) if metric.quantile is not None else (old[1] > 0) | (new[1] > 0)
    pairs = Pairs(
        before=old[:, counted[:, 0]],
        after=new[:, counted[:, 0]],
        sign=1.0 if metric.direction == "lower" else -1.0,
    )
    if not ((pairs.before[1] > 0).any() and (pairs.after[1] > 0).any()):
        return None
    if metric.quantile is None:
        p, worsening = swap_p_values(pairs, seed=seed, resamples=resamples), worsenings(pairs)
    else:
        p = quantile_p_value(pairs, metric.quantile, seed=seed, resamples=resamples)
        worsening = quantile_worsening(pairs, metric.quantile, seed=seed, resamples=resamples)
    moved = _moved(pairs, [name for name, counts in zip(case_ids, counted[:, 0], strict=True) if counts])
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


def _moved(pairs: Pairs, case_ids: Sequence[str]) -> list[tuple[str, float]]:
    """Returns (case, worsening of its value) of the cases that both runs measure, the worst first."""
    old, new = pairs.before[..., 0], pairs.after[..., 0]
    both = (old[1] > 0) & (new[1] > 0)
    change = np.where(
        both, pairs.sign * (new[0] / np.where(both, new[1], 1) - old[0] / np.where(both, old[1], 1)), 0.0
    )
    return sorted(zip(case_ids, map(float, change), strict=True), key=lambda row: -row[1])


def _fractions(metric: Metric, cases: Sequence[CaseBaseline]) -> Floats:
    """Returns float64 (2, cases, 1)."""
    rows = [case.fractions.get(metric.name, (0.0, 0.0)) for case in cases]
    return np.array(rows, dtype=np.float64).reshape(len(rows), 2).T[:, :, None]


def _value(fractions: Floats, quantile: float | None) -> float:
    top, base = fractions
    return float(top.sum() / base.sum() if quantile is None else np.quantile(top / base, quantile))


def tolerated_worsening(comparison: Comparison, margin: float) -> float:
    """Returns `margin`, or what stands in for a margin of 0: a share of the metric's range, or of the value before."""
    low, high = comparison.metric.range
    return margin or UNSTATED_MARGIN * (high - low if math.isfinite(high - low) else abs(comparison.before))


def judge_comparison(
    comparison: Comparison, *, expression: str, margin: float, p: float, tests: int = 1
) -> GateResult:
    """Returns what the gate `expression` answers.

    Args:
        comparison: of the gate's metric.
        expression: as the user wrote it, for the result.
        margin: the worsening that the gate allows, in the metric's unit, 0 or more.
        p: of the comparison, Holm-corrected where `tests` is above 1.
        tests: how many metrics of this slice are compared with the baseline.
    """
    tolerated = tolerated_worsening(comparison, margin)
    if comparison.unchanged:
        outcome: Outcome = "pass"
        said = f"nothing differs from the baseline: {_cases(comparison.cases)} with the same claims, verdicts and numbers"
    else:
        outcome = decide(
            worse_by=comparison.worse_by, high=comparison.high, p=p, margin=margin, tolerated=tolerated
        )
        said = "; ".join(
            [_tests_said(comparison, p, tests), _outcome_said(outcome, comparison, margin, tolerated, tests)]
        )
    message = f"{comparison.metric.name} is {_shown(comparison, comparison.after)}, was {_shown(comparison, comparison.before)}; {said}"
    return GateResult(
        expression=expression, outcome=outcome, value=round(comparison.after, _DECIMALS), message=message
    )


def _cases(number: int) -> str:
    return "1 case" if number == 1 else f"{number} cases"


def _shown(comparison: Comparison, value: float) -> str:
    return f"{value:.1f} ms" if comparison.metric.family == "latency" else f"{value:.3f}"


def _tests_said(comparison: Comparison, p: float, tests: int) -> str:
    size = abs(comparison.worse_by)
    change = f"{'better' if comparison.worse_by < 0 else 'worse'} by {_shown(comparison, size)}"
    bounds = ""
    if math.isfinite(comparison.high):
        bounds = f" (worsening within [{_shown(comparison, comparison.low)}, {_shown(comparison, comparison.high)}], 90 % interval)"
    left_out = (
        f"{_cases(comparison.left_out)} with a value in one of the runs only left out; "
        if comparison.left_out
        else ""
    )
    corrected = f", Holm-corrected for {tests} metrics compared on this slice" if tests > 1 else ""
    said = (
        f"{change}{bounds} over {_cases(comparison.cases)}, of which {comparison.differ} differ; {left_out}"
        f"paired permutation test {_p_shown(p)}{corrected}"
    )
    claims = comparison.claims
    if claims is not None and claims.matched:
        reworded = f" ({claims.reworded} of them reworded)" if claims.reworded else ""
        said = (
            f"{said}; of {claims.matched} claims in both runs{reworded} {claims.worse} turned for the worse and {claims.better} for the better, "
            f"exact McNemar {_p_shown(claims.p)}"
        )
    if comparison.worse_by > 0 and not (claims and claims.worse):
        said = f"{said}; {_cases_said(comparison)}"
    return said


def _cases_said(comparison: Comparison) -> str:
    """Returns which cases a worsening comes from, where no claim of both runs explains it."""
    new = comparison.claims.new_bad if comparison.claims else 0
    made = f"{new} claims that worsen it are new; " if new else ""
    worse, better = comparison.worse_in, comparison.better_in
    names = ", ".join([*worse[:_CASES_NAMED], *["..."] * (len(worse) > _CASES_NAMED)])
    return (
        f"{made}it is worse in {_cases(len(worse))}{f': {names}' if names else ''}, better in {len(better)}"
    )


def _p_shown(p: float) -> str:
    return f"p = {p:.3f}" if p >= _SMALLEST_SHOWN else f"p < {_SMALLEST_SHOWN}"


def _outcome_said(
    outcome: Outcome, comparison: Comparison, margin: float, tolerated: float, tests: int
) -> str:
    allowed = f"{_shown(comparison, margin)} is allowed" if margin else "no worsening is allowed"
    if outcome == "fail":
        return f"{allowed}, and chance does not explain this one"
    if outcome == "pass":
        return f"{allowed}; a worsening above {_shown(comparison, tolerated)} is ruled out"
    needed = cases_to_settle(
        worse_by=comparison.worse_by,
        spread=comparison.spread,
        margin=margin,
        tolerated=tolerated,
        alpha=ALPHA / tests,
    )
    if needed is None:
        settle = "no number of cases can be named that would settle it"
    else:
        settle = (
            f"about {max(needed, comparison.cases + 1)} cases like these would settle it in 9 of 10 runs, if the true difference is "
            f"{'the one measured' if comparison.worse_by > 0 else 'none'}"
        )
    return f"{allowed}; too few cases to say more: a worsening above {_shown(comparison, tolerated)} is not ruled out; {settle}"
