"""The statistics of paired cases: a permutation test, bounds of a worsening, Holm's correction, and how many cases would settle it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from pytest_medfaith.metrics.bootstrap import Floats, ratio

ALPHA = 0.05
POWER = 0.9
RESAMPLES = 9999
_BLOCK = 2_000_000  # numbers held at once, 16 MB
_TIE = 1e-9  # swaps that come out alike differ in their last bits

Outcome = Literal["pass", "fail", "inconclusive"]


@dataclass(frozen=True, kw_only=True)
class Pairs:
    """Fractions of n cases before and after, in c columns that are tested alike: float64 (2, n, c), numerators then denominators.

    Where a case was not measured both are 0. `sign` is 1 where a lower value is better, else -1.
    """

    before: Floats
    after: Floats
    sign: float = 1.0


@dataclass(frozen=True, kw_only=True)
class Worsening:
    """How much worse "after" is, in the metric's unit, positive for worse: the estimate and its one-sided 95 % bounds, each (c,).

    `spread` is the standard deviation of one case's part in it. With a single case it is infinite, and so are the bounds.
    """

    estimate: Floats
    low: Floats
    high: Floats
    spread: Floats


def swap_p_values(pairs: Pairs, *, seed: int = 0, resamples: int = RESAMPLES) -> Floats:
    """Returns (c,) the share of swaps of "before" and "after" within cases that come out at least as bad as what was measured.

    All 2^n swaps where they are no more than `resamples`; else `resamples` random ones, with the measured one counted among them
    (Phipson & Smyth 2010, Statistical Applications in Genetics and Molecular Biology 9(1)), so that p is never 0.
    """
    before, after = pairs.before.sum(axis=1), pairs.after.sum(axis=1)
    measured = _worse_by(before, after, pairs.sign)
    _, cases, columns = pairs.before.shape
    reached = np.zeros(columns)
    for swaps in _swaps(cases, resamples=resamples, seed=seed, width=2 * columns):
        moved = np.matmul(swaps, pairs.after - pairs.before)  # (2, swaps, c)
        drawn = _worse_by(before[:, None] + moved, after[:, None] - moved, pairs.sign)
        # a swap that leaves one side without any measured case counts as bad
        reached += (~(drawn < measured - _TIE)).sum(axis=0)
    return _share(reached, cases, resamples)


def _worse_by(before: Floats, after: Floats, sign: float) -> Floats:
    return np.asarray(sign * (ratio(after[0], after[1]) - ratio(before[0], before[1])), dtype=np.float64)


def _share(reached: Floats, cases: int, resamples: int) -> Floats:
    return reached / 2**cases if _exact(cases, resamples) else (1 + reached) / (1 + resamples)


def _exact(cases: int, resamples: int) -> bool:
    return 1 << cases <= resamples


def _swaps(cases: int, *, resamples: int, seed: int, width: int = 0) -> Iterator[Floats]:
    """Yields blocks (b, cases) of 1 where a case is swapped, else 0: every combination, or `resamples` random ones."""
    if _exact(cases, resamples):
        yield (np.arange(2**cases)[:, None] >> np.arange(cases) & 1).astype(np.float64)
        return
    generator = np.random.default_rng(seed)
    rows = max(1, _BLOCK // max(cases, width))
    for start in range(0, resamples, rows):
        yield generator.integers(2, size=(min(rows, resamples - start), cases)).astype(np.float64)


def worsenings(pairs: Pairs) -> Worsening:
    """Returns the difference of the two ratios in every column, with Student's t bounds over cases.

    The spread is taken as if in two cases more one unit (one claim) had turned, once each way: where next to nothing differs, the
    spread measured is an accident (after Agresti & Min 2005, Statistics in Medicine 24(5), for paired proportions).
    """
    from scipy.stats import t

    counted = ((pairs.before[1] > 0) | (pairs.after[1] > 0)).sum(axis=0).astype(np.float64)
    before, after = (fractions.sum(axis=1) for fractions in (pairs.before, pairs.after))
    unit = counted / np.minimum(before[1], after[1])
    parts = _parts(pairs.after, after) - _parts(pairs.before, before)
    squares = ((counted * parts) ** 2).sum(axis=0) + 2 * unit**2
    spread = np.sqrt(np.divide(squares, counted - 1, out=np.full_like(squares, np.inf), where=counted > 1))
    reach = t.isf(ALPHA, np.maximum(counted - 1, 1)) * spread / np.sqrt(counted)
    estimate = _worse_by(before, after, pairs.sign)
    return Worsening(estimate=estimate, low=estimate - reach, high=estimate + reach, spread=spread)


def _parts(fractions: Floats, sums: Floats) -> Floats:
    """Returns (n, c) what each case adds to its ratio's distance from the mean; they sum to 0."""
    return np.asarray((fractions[0] - sums[0] / sums[1] * fractions[1]) / sums[1], dtype=np.float64)


def quantile_p_value(pairs: Pairs, quantile: float, *, seed: int, resamples: int) -> Floats:
    """Returns (1,) the p value of `swap_p_values` for a quantile; every case must be measured in both runs."""
    before, after = _values(pairs)
    measured = _worse_quantile(before, after, quantile, pairs.sign)
    reached = np.zeros(1)
    for swaps in _swaps(len(before), resamples=resamples, seed=seed):
        drawn = _worse_quantile(
            np.where(swaps, after, before), np.where(swaps, before, after), quantile, pairs.sign
        )
        reached += (drawn >= measured - _TIE).sum()
    return _share(reached, len(before), resamples)


def cases_beyond(quantile: float, *, tail: float) -> int:
    """Returns how many cases hold one beyond `quantile` but for a probability of `tail`: the least n with quantile^n <= tail."""
    return math.ceil(math.log(tail) / math.log(quantile))


def quantile_worsening(pairs: Pairs, quantile: float, *, seed: int, resamples: int) -> Worsening:
    """Returns the difference of the quantiles with bounds by the percentile bootstrap over cases, each (1,)."""
    before, after = _values(pairs)
    cases, generator = len(before), np.random.default_rng(seed)
    rows = max(1, _BLOCK // cases)
    drawn = [
        generator.integers(cases, size=(min(rows, resamples - start), cases))
        for start in range(0, resamples, rows)
    ]
    draws = np.concatenate(
        [_worse_quantile(before[picked], after[picked], quantile, pairs.sign) for picked in drawn]
    )
    # Below so many cases the bootstrap, which never leaves the range of the values seen, does not reach the quantile's bound.
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
    """Returns the p values corrected for their number (Holm 1979, Scandinavian Journal of Statistics 6(2)), at most 1."""
    corrected: dict[str, float] = {}
    highest = 0.0
    for place, name in enumerate(sorted(p_values, key=lambda name: p_values[name])):
        highest = max(highest, min(1.0, (len(p_values) - place) * p_values[name]))
        corrected[name] = highest
    return corrected


def decide(*, worse_by: float, high: float, p: float, margin: float, tolerated: float) -> Outcome:
    """Returns what a gate with `margin` answers; `tolerated` is the worsening that has to be ruled out for a pass."""
    if p <= ALPHA and worse_by > margin:
        return "fail"
    return "pass" if high <= tolerated else "inconclusive"


def cases_to_settle(
    *, worse_by: float, spread: float, margin: float, tolerated: float, alpha: float = ALPHA
) -> int | None:
    """Returns how many cases a gate needs to pass or fail in 9 of 10 runs, None where no number does.

    Normal approximation. Assumes that the true difference is `worse_by`, or none where that is below 0, and that new cases spread as
    these do. To fail the test must reject at `alpha` and the estimate stay above the margin; to pass the upper bound must stay within
    what is tolerated.
    """
    from scipy.stats import norm

    difference, power = max(worse_by, 0.0), norm.isf(1 - POWER)
    to_fail = (
        max((norm.isf(alpha) + power) / difference, power / (difference - margin))
        if difference > margin
        else math.inf
    )
    to_pass = (norm.isf(ALPHA) + power) / (tolerated - difference) if difference < tolerated else math.inf
    needed = (min(to_fail, to_pass) * spread) ** 2
    return math.ceil(needed) if math.isfinite(needed) else None
