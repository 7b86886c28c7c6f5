"""A test of a rate that may be looked at after every answer, and intervals for a rate of few answers.

The test bets against the claim that the rate is at most m. Before each answer it stakes a share of its
capital that only earlier answers decide; after an answer with the value x the capital is multiplied by
1 + stake * (x - m). Where the claim holds for every answer, given those before it, no strategy makes capital
grow: the chance that it ever reaches 1 / alpha is at most alpha (Ville's inequality). So you may read the
test after every answer. No distribution is assumed, only values from 0 to 1.

I. Waudby-Smith and A. Ramdas, Estimating means of bounded random variables by betting, JRSS-B 2024. That bets
may begin anew at later answers, each with its share of the capital, follows J. Shin, A. Ramdas and A.
Rinaldo, E-detectors, New England Journal of Statistics in Data Science 2024: a rate that was low for a year
and then rises is found nearly as soon as one that is high from the start.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_WINDOW = 100  # answers that a stake looks back on
_START_EVERY = 25  # answers; at each of these a share of the capital begins to bet
_MOST = 0.5  # of what can be staked without being ruined by a single answer
_LEAST_BOUND = 1e-6  # stakes grow with 1 / bound; this keeps them finite
_GRID = 401  # rates that an interval tries
_PRIOR = 0.25  # the variance that is believed before the first answer, the largest possible


@dataclass(frozen=True)
class BoundTest:
    """What the answers say against "the rate is at most `bound`".

    Attributes:
        evidence: the largest capital so far, of 1 at the start; 20 refutes the claim at alpha 0.05.
        crossed: the number of the answer, from 1, at which it first reached 1 / alpha; None where it did not.
    """

    evidence: float
    crossed: int | None


def betting_test(values: Sequence[float], bound: float, *, alpha: float = 0.05) -> BoundTest:
    """Returns the test of "the rate is at most `bound`" after all of `values`, as if read after each.

    Args:
        values: of answers, 0 to 1, in the order in which they were seen.
        bound: 0 to 1.
        alpha: the chance of a false alarm, over all time.

    Raises:
        ValueError: a value, a bound or an alpha outside of its range.
    """
    x = _checked(values)
    if not (0 <= bound <= 1 and 0 < alpha < 1):
        raise ValueError(f"bound is {bound!r} and alpha {alpha!r}; expected 0 to 1, and between 0 and 1")
    if not len(x):
        return BoundTest(1.0, None)
    if bound == 0:  # a single value above 0 refutes it
        wrong = np.flatnonzero(x > 0)
        return BoundTest(float("inf"), int(wrong[0]) + 1) if len(wrong) else BoundTest(1.0, None)
    m = max(bound, _LEAST_BOUND)
    grown = np.concatenate([[0.0], np.cumsum(np.log1p(_stakes(x, m) * (x - m)))])  # of a bet from the start
    starts = np.arange(0, len(x), _START_EVERY)
    shares = 6 / (np.pi * np.arange(1, len(starts) + 1)) ** 2  # of all starts for ever: they sum to 1
    begun = np.full(len(x), -np.inf)
    begun[starts] = np.log(shares) - grown[starts]
    betting = np.logaddexp.accumulate(begun) + grown[1:]
    waiting = 1 - np.cumsum(shares)[np.arange(len(x)) // _START_EVERY]
    capital = np.exp(np.minimum(betting, 700)) + waiting
    reached = np.flatnonzero(capital >= 1 / alpha)
    return BoundTest(float(capital.max()), int(reached[0]) + 1 if len(reached) else None)


def _stakes(x: Floats, m: float) -> Floats:
    """Returns the stake before each value, (n,), by the values before it alone (the aGRAPA rule).

    It would have made the capital grow most on earlier values, within bounds. Their mean and variance begin
    with a prior value that says nothing.
    """
    sums, squares = np.concatenate([[0.0], np.cumsum(x)]), np.concatenate([[0.0], np.cumsum(x * x)])
    now = np.arange(len(x))
    first = np.maximum(0, now - _WINDOW)
    seen = now - first
    mean = (m + sums[now] - sums[first]) / (seen + 1)
    variance = (_PRIOR + np.maximum(0, squares[now] - squares[first] - seen * mean**2)) / (seen + 1)
    stakes: Floats = np.clip((mean - m) / (variance + (mean - m) ** 2), 0, _MOST / m)
    return stakes


def rate_interval(values: Sequence[float], *, alpha: float = 0.05) -> tuple[float, float] | None:
    """Returns an interval that holds the mean with probability 1 - `alpha`; values lie from 0 to 1.

    Returns None for no values, or where no rate fits them. It is the hedged betting interval of the paper
    above, on a grid of 401 rates whose ends are widened by a step. It is wider than a bootstrap's and true
    for few answers, too. The values are taken in an order drawn by a fixed seed: where the rate changed in
    between, the given order would mislead.

    Raises:
        ValueError: a value outside 0 to 1.
    """
    x = np.random.default_rng(0).permutation(_checked(values))
    if not len(x):
        return None
    grid = np.linspace(0, 1, _GRID)
    up, down, most = np.zeros(_GRID), np.zeros(_GRID), np.full(_GRID, -np.inf)
    mean, spread = 0.5, _PRIOR
    for number, value in enumerate(x, start=1):
        stake = np.sqrt(2 * np.log(2 / alpha) / (spread / number * len(x)))
        up += np.log1p(np.minimum(stake, _MOST / np.maximum(grid, _LEAST_BOUND)) * (value - grid))
        down += np.log1p(-np.minimum(stake, _MOST / np.maximum(1 - grid, _LEAST_BOUND)) * (value - grid))
        most = np.maximum(most, np.maximum(up, down) - np.log(2))
        mean = (mean * number + value) / (number + 1)
        spread += (value - mean) ** 2
    kept = np.flatnonzero(most < np.log(1 / alpha))
    if not len(kept):
        return None
    step = 1 / (_GRID - 1)
    low, high = max(0.0, float(grid[kept[0]]) - step), min(1.0, float(grid[kept[-1]]) + step)
    return (0.0 if low <= step else low), (1.0 if high >= 1 - step else high)


def _checked(values: Sequence[float]) -> Floats:
    x = np.asarray(values, dtype=np.float64)
    if len(x) and not (np.isfinite(x).all() and x.min() >= 0 and x.max() <= 1):
        raise ValueError("a value of an answer is not a number from 0 to 1")
    return x
