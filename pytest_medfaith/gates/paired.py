"""Statistics of cases that two runs measured: permutation test, bounds of a worsening, Holm's correction."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from pytest_medfaith import defaults
from pytest_medfaith.metrics.bootstrap import Floats, ratio

ALPHA = 0.05
POWER = 0.9
RESAMPLES = 9999
_BLOCK = 2_000_000  # numbers held at once, 16 MB
_TIE = 1e-9  # equal outcomes of swaps differ in their last bits

Outcome = Literal["pass", "fail", "inconclusive"]


@dataclass(frozen=True, kw_only=True)
class Pairs:
    """Fractions of n cases before and after, in c columns that are tested alike.

    Attributes:
        before: float64 (2, n, c), numerators then denominators; both are 0 where a case was not measured.
        after: likewise.
        sign: 1 where a lower value is better, else -1.
    """

    before: Floats
    after: Floats
    sign: float = 1.0


@dataclass(frozen=True, kw_only=True)
class Worsening:
    """How much worse "after" is, in the unit of the metric, positive for worse; every field is (c,).

    Attributes:
        estimate: of the worsening.
        low: its lower one-sided 95 % bound; infinite, as all bounds, with a single case.
        high: its upper one-sided 95 % bound.
        spread: the standard deviation of what a case adds to it.
    """

    estimate: Floats
    low: Floats
    high: Floats
    spread: Floats


def swap_p_values(pairs: Pairs, *, seed: int = defaults.SEED, resamples: int = RESAMPLES) -> Floats:
    """Returns (c,) p values of a worsening: the share of swaps that are at least as bad as what was measured.

    A swap exchanges "before" and "after" of some cases. All 2^n swaps are tried where they are at most
    `resamples`; else `resamples` random ones and the measured state, so that p is never 0 (Phipson & Smyth
    2010, Statistical Applications in Genetics and Molecular Biology 9(1)).
    """
    before, after = pairs.before.sum(axis=1), pairs.after.sum(axis=1)
    measured = _worse_by(before, after, pairs.sign)
    _, cases, columns = pairs.before.shape
    reached = np.zeros(columns)
    for swaps in _swaps(cases, resamples=resamples, seed=seed, width=2 * columns):
        moved = np.matmul(swaps, pairs.after - pairs.before)  # (2, swaps, c)
        drawn = _worse_by(before[:, None] + moved, after[:, None] - moved, pairs.sign)
        # a swap that leaves a side without any measured case counts as bad
        reached += (~(drawn < measured - _TIE)).sum(axis=0)
    return _share(reached, cases, resamples)


def _worse_by(before: Floats, after: Floats, sign: float) -> Floats:
    return np.asarray(sign * (ratio(after[0], after[1]) - ratio(before[0], before[1])), dtype=np.float64)


def _share(reached: Floats, cases: int, resamples: int) -> Floats:
    return reached / 2**cases if _is_exact(cases, resamples) else (1 + reached) / (1 + resamples)


def _is_exact(cases: int, resamples: int) -> bool:
    return 1 << cases <= resamples


def _swaps(cases: int, *, resamples: int, seed: int, width: int = 0) -> Iterator[Floats]:
    """Yields blocks (b, cases), 1 for a swapped case, else 0: all combinations, or `resamples` random."""
    if _is_exact(cases, resamples):
        yield (np.arange(2**cases)[:, None] >> np.arange(cases) & 1).astype(np.float64)
        return
    generator = np.random.default_rng(seed)
    rows = max(1, _BLOCK // max(cases, width))
    for start in range(0, resamples, rows):
        yield generator.integers(2, size=(min(rows, resamples - start), cases)).astype(np.float64)


def worsenings(pairs: Pairs, *, alpha: float = ALPHA) -> Worsening:
    """Returns the difference of the two ratios in every column, with Student's t bounds over cases.

    The spread is taken as if a unit (a claim) had turned in two more cases, once each way: where next to
    nothing differs, the measured spread is an accident (after Agresti & Min 2005, Statistics in Medicine
    24(5), for paired proportions).

    Args:
        pairs: the cases.
        alpha: the chance that a bound is missed on its side.
    """
    from scipy.stats import t

    counted = ((pairs.before[1] > 0) | (pairs.after[1] > 0)).sum(axis=0).astype(np.float64)
    before, after = (fractions.sum(axis=1) for fractions in (pairs.before, pairs.after))
    unit = counted / np.minimum(before[1], after[1])
    parts = _parts(pairs.after, after) - _parts(pairs.before, before)
    squares = ((counted * parts) ** 2).sum(axis=0) + 2 * unit**2
    spread = np.sqrt(np.divide(squares, counted - 1, out=np.full_like(squares, np.inf), where=counted > 1))
    reach = t.isf(alpha, np.maximum(counted - 1, 1)) * spread / np.sqrt(counted)
    estimate = _worse_by(before, after, pairs.sign)
    return Worsening(estimate=estimate, low=estimate - reach, high=estimate + reach, spread=spread)


def _parts(fractions: Floats, sums: Floats) -> Floats:
    """Returns (n, c) what each case adds to the distance of its ratio from the mean; they sum to 0."""
    return np.asarray((fractions[0] - sums[0] / sums[1] * fractions[1]) / sums[1], dtype=np.float64)


def quantile_p_value(pairs: Pairs, quantile: float, *, seed: int, resamples: int) -> Floats:
    """Returns (1,) the p value of a worsening of a quantile; both runs must have measured every case."""
    before, after = _values(pairs)
    measured = _worse_quantile(before, after, quantile, pairs.sign)
    reached = np.zeros(1)
    for swaps in _swaps(len(before), resamples=resamples, seed=seed):
        old, new = np.where(swaps, after, before), np.where(swaps, before, after)
        reached += (_worse_quantile(old, new, quantile, pairs.sign) >= measured - _TIE).sum()
    return _share(reached, len(before), resamples)


def cases_beyond(quantile: float, *, tail: float) -> int:
    """Returns the least n with quantile^n <= tail: of n cases some lie beyond the quantile almost surely."""
    return math.ceil(math.log(tail) / math.log(quantile))


def quantile_worsening(pairs: Pairs, quantile: float, *, seed: int, resamples: int) -> Worsening:
    """Returns the difference of the quantiles, with bounds by the percentile bootstrap over cases."""
    before, after = _values(pairs)
    cases, generator = len(before), np.random.default_rng(seed)
    rows = max(1, _BLOCK // cases)
    drawn = []
    for start in range(0, resamples, rows):
        picked = generator.integers(cases, size=(min(rows, resamples - start), cases))
        drawn.append(_worse_quantile(before[picked], after[picked], quantile, pairs.sign))
    draws = np.concatenate(drawn)
    # The bootstrap never leaves the range of the values seen: below so many cases it does not reach the
    # bound.
    enough = cases >= cases_beyond(max(quantile, 1 - quantile), tail=ALPHA)
    low, high = np.quantile(draws, [ALPHA, 1 - ALPHA]) if enough else (-math.inf, math.inf)
    spread = draws.std() * math.sqrt(cases) if cases > 1 else math.inf
    estimate = _worse_quantile(before, after, quantile, pairs.sign)
    return Worsening(
        estimate=estimate.reshape(1), low=np.array([low]), high=np.array([high]), spread=np.array([spread])
    )


def _values(pairs: Pairs) -> tuple[Floats, Floats]:
    return pairs.before[0, :, 0] / pairs.before[1, :, 0], pairs.after[0, :, 0] / pairs.after[1, :, 0]


def _worse_quantile(before: Floats, after: Floats, quantile: float, sign: float) -> Floats:
    difference = np.quantile(after, quantile, axis=-1) - np.quantile(before, quantile, axis=-1)
    return np.asarray(sign * difference, dtype=np.float64)


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """Returns {name: p value corrected for the number of p values, at most 1}, the smallest first.

    Holm 1979, Scandinavian Journal of Statistics 6(2).
    """
    corrected: dict[str, float] = {}
    highest = 0.0
    for place, name in enumerate(sorted(p_values, key=lambda name: p_values[name])):
        highest = max(highest, min(1.0, (len(p_values) - place) * p_values[name]))
        corrected[name] = highest
    return corrected


def decide(*, worse_by: float, high: float, p: float, margin: float, tolerated: float) -> Outcome:
    """Returns "fail", "pass" or "inconclusive" for a comparison with the baseline.

    "fail" if `p` is at most 0.05 and `worse_by` above `margin`; else "pass" if `high` is at most `tolerated`.

    Args:
        worse_by: the best estimate of the worsening.
        high: its upper bound.
        p: of the test for a worsening.
        margin: the worsening that the gate allows.
        tolerated: the worsening that must be ruled out for a pass.
    """
    if p <= ALPHA and worse_by > margin:
        return "fail"
    return "pass" if high <= tolerated else "inconclusive"


def cases_to_settle(
    *, worse_by: float, spread: float, margin: float, tolerated: float, alpha: float = ALPHA
) -> int | None:
    """Returns how many cases a gate needs to pass or fail in 9 of 10 runs, None where no number does.

    Normal approximation. It assumes that the true difference is `worse_by`, or none where that is below 0,
    and that new cases spread as these do. To fail, the test must reject at `alpha` and the estimate stay
    above the margin; to pass, the upper bound must stay within what is tolerated.

    Args:
        worse_by: how much worse the metric was, on average over cases; above 0 for a worsening.
        spread: the standard deviation of what a case adds to `worse_by`.
        margin: the worsening that the gate allows.
        tolerated: the worsening that the upper bound may reach in a pass.
        alpha: the level of the test that fails the gate; the bound of a pass always has 0.05.
    """
    from scipy.stats import norm

    difference, power = max(worse_by, 0.0), norm.isf(1 - POWER)
    to_fail = to_pass = math.inf
    if difference > margin:
        to_fail = max((norm.isf(alpha) + power) / difference, power / (difference - margin))
    if difference < tolerated:
        to_pass = (norm.isf(ALPHA) + power) / (tolerated - difference)
    needed = (min(to_fail, to_pass) * spread) ** 2
    return math.ceil(needed) if math.isfinite(needed) else None
