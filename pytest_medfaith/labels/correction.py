"""Rates of a run's claims from a few labels of people and the checker's verdicts on all claims.

Example: the checker refutes 50 of 1,000 claims. People label 30 of those and 90 of the others. Of the refuted
claims 18 of 30 are errors, of the others 1 of 90. So the rate is 0.05 * 18 / 30 + 0.95 * 1 / 90 = 4.1 %.

`stratified_rate` takes labels of the run's own claims. Post-stratification by a yes-or-no verdict equals, for
many labels, the power-tuned prediction-powered estimate (Angelopoulos, Duchi & Zrnic 2023, PPI++,
arXiv:2311.01453). Its usual normal interval covers 64 to 94 % where 95 % are promised, because few labels
hold few errors. The interval here combines the limits of the strata, and covers 93 to 99 %
(`bench/corrected_rates.py` prints both).

`transported_rate` takes the checker's error rates from labels of other claims (Rogan & Gladen 1978,
Am J Epidemiol 107(1)).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pytest_medfaith import defaults

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
LEAST_OF_CLASS = 20  # labels with and without the thing counted, before error rates are told
_DRAWS = 4000


class Rate(NamedTuple):
    """A rate with its 95 % interval, all from 0 to 1."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, kw_only=True)
class Labelled:
    """The claims of a run, and which of them people labelled.

    Attributes:
        cases: (n,) the case of each claim, from 0.
        strata: (n,) the stratum of each claim, from 0.
        chosen: (m,) the places of the labelled claims.
        truth: (m,) whether the label is what the rate counts.
    """

    cases: Ints
    strata: Ints
    chosen: Ints
    truth: Bools

    @property
    def sizes(self) -> Ints:
        """How many claims each stratum has."""
        return np.bincount(self.strata)

    @property
    def counts(self) -> tuple[Ints, Ints]:
        """How many labels each stratum has, and how many of them are true."""
        strata, width = self.strata[self.chosen], len(self.sizes)
        return np.bincount(strata, minlength=width), np.bincount(strata[self.truth], minlength=width)


def stratified_rate(labelled: Labelled, *, level: float = defaults.LEVEL) -> Rate | None:
    """Returns the share of claims whose label would be true, or None where a stratum has no label.

    The value is the sum over strata of (share of the claims) * (share of true labels). The interval holds two
    chances: which claims were labelled, and which cases the run has. The first joins Jeffreys' limits of the
    strata as Zou & Donner 2008 do (Stat Med 27(10)), widened by as much as labels of one case resemble each
    other. The second is the linearised variance over cases of the shares of the strata.

    Args:
        labelled: claims and labels.
        level: of the interval.
    """
    from scipy.stats import norm

    counts, true = labelled.counts
    sizes = labelled.sizes
    if not sizes.size or (counts[sizes > 0] == 0).any():
        return None
    shares, found = sizes / sizes.sum(), _share(true, counts)
    low, high = jeffreys_limits(true, counts, level=level)
    value = float(shares @ found)
    of_cases = norm.ppf((1 + level) / 2) ** 2 * _case_variance(labelled, found)
    alike = _design_effect(labelled, found)
    below = math.sqrt(alike * float((shares**2 * (found - low) ** 2).sum()) + of_cases)
    above = math.sqrt(alike * float((shares**2 * (high - found) ** 2).sum()) + of_cases)
    return Rate(value, max(0.0, value - below), min(1.0, value + above))


def jeffreys_limits(true: Ints, counts: Ints, *, level: float = defaults.LEVEL) -> tuple[Floats, Floats]:
    """Returns the ends of Jeffreys' interval of each share `true / counts`; 0 and 1 where all are alike.

    Source: Brown, Cai & DasGupta 2001, Stat Sci 16(2). A share without labels may be anything.
    """
    from scipy.stats import beta

    tail = (1 - level) / 2
    false = counts - true
    low = np.where(true > 0, beta.ppf(tail, true + 0.5, false + 0.5), 0.0)
    high = np.where(false > 0, beta.ppf(1 - tail, true + 0.5, false + 0.5), 1.0)
    return low, high


def _share(true: Ints, counts: Ints) -> Floats:
    return np.divide(true, counts, out=np.zeros(len(counts)), where=counts > 0)


def _case_variance(labelled: Labelled, found: Floats) -> float:
    """Returns the variance over cases of the sum of (share of a stratum) * (its share of true labels)."""
    cases, number = np.unique(labelled.cases, return_inverse=True)
    if len(cases) < 2:
        return 0.0
    expected = np.bincount(number, weights=found[labelled.strata])
    claims = np.bincount(number)
    spread = expected - claims * expected.sum() / claims.sum()
    return float((spread**2).sum() * len(cases) / (len(cases) - 1) / claims.sum() ** 2)


def _design_effect(labelled: Labelled, found: Floats) -> float:
    """Returns by how much labels of one case that resemble each other widen the variance; at least 1.

    Source: Kish 1965, Survey Sampling.
    """
    strata = labelled.strata[labelled.chosen]
    counts, _ = labelled.counts
    off = (labelled.sizes / np.maximum(counts, 1))[strata] * (labelled.truth - found[strata])
    single = float((off**2).sum())
    together = np.bincount(labelled.cases[labelled.chosen], weights=off)
    return max(1.0, float((together**2).sum()) / single) if single else 1.0


class ErrorRates(NamedTuple):
    """What the checker finds of the true labels, and what it leaves alone of the others, with intervals.

    `draws` are pairs of both from the distribution behind the intervals, (n, 2).
    """

    sensitivity: Rate
    specificity: Rate
    draws: Floats


def error_rates(
    said: Sequence[bool],
    truth: Sequence[bool],
    strata: Sequence[object],
    weights: Sequence[float],
    *,
    seed: int = defaults.SEED,
    level: float = defaults.LEVEL,
) -> ErrorRates | None:
    """Returns sensitivity (TPR) and specificity (TNR), or None below `LEAST_OF_CLASS` labels of a class.

    Args:
        said: of each labelled claim, whether the verdict is what is counted.
        truth: of each, whether the label is.
        strata: of each, the stratum that it was drawn from; the verdicts of a stratum are equal.
        weights: of each, how many claims it speaks for.
        seed: of the draws from Jeffreys' posteriors of the strata, which give the intervals.
        level: of the intervals.
    """
    if min(sum(truth), len(truth) - sum(truth)) < LEAST_OF_CLASS:
        return None
    names = sorted(set(zip(map(str, strata), said, strict=True)))
    place = {name: number for number, name in enumerate(names)}
    number = np.array([place[str(stratum), flag] for stratum, flag in zip(strata, said, strict=True)])
    sizes = np.bincount(number, weights=np.asarray(weights, dtype=np.float64)).astype(np.float64)
    counts = np.bincount(number)
    true = np.bincount(number, weights=np.asarray(truth, dtype=np.float64)).astype(np.int64)
    flagged = np.array([flag for _, flag in names], dtype=bool)
    draws = np.random.default_rng(seed).beta(true + 0.5, counts - true + 0.5, size=(_DRAWS, len(names)))
    point, drawn = _both(_share(true, counts)[None], sizes, flagged), _both(draws, sizes, flagged)
    tails = (1 - level) / 2, (1 + level) / 2
    caught, passed = (
        Rate(float(point[0, i]), *map(float, np.quantile(drawn[:, i], tails))) for i in range(2)
    )
    return ErrorRates(caught, passed, drawn)


def _both(shares: Floats, sizes: Floats, flagged: Bools) -> Floats:
    """Returns TPR and TNR, (n, 2), where `shares` (n, h) of the strata are true."""
    true, false = shares * sizes, (1 - shares) * sizes
    return np.stack([true[:, flagged].sum(1) / true.sum(1), false[:, ~flagged].sum(1) / false.sum(1)], axis=1)


def transported_rate(
    cases: Ints, said: Bools, rates: ErrorRates, *, seed: int = defaults.SEED, level: float = defaults.LEVEL
) -> Rate | None:
    """Returns the share of claims whose label would be true, by error rates measured on other claims.

    It is (share of verdicts + TNR - 1) / (TPR + TNR - 1), cut off at 0 and 1. It is None where the checker
    tells true from false no better than chance may: the lower end of TPR + TNR - 1 is not above 0.

    Args:
        cases: (n,) the case of each claim, from 0.
        said: (n,) whether the verdict is what is counted.
        rates: of the checker, on labels of claims that were drawn from other answers.
        seed: of the resamples of cases.
        level: of the interval.
    """
    tails = (1 - level) / 2, (1 + level) / 2
    if float(np.quantile(rates.draws.sum(1), tails[0])) <= 1:
        return None
    _, number = np.unique(cases, return_inverse=True)
    claims, flagged = np.bincount(number), np.bincount(number, weights=said)
    many = len(claims)
    picks = np.random.default_rng(seed).multinomial(many, np.full(many, 1 / many), size=len(rates.draws))
    shares = (picks @ flagged) / (picks @ claims)
    drawn = _rogan_gladen(shares, rates.draws)
    point = _rogan_gladen(
        np.array([said.mean()]), np.array([[rates.sensitivity.value, rates.specificity.value]])
    )
    return Rate(float(point[0]), *map(float, np.quantile(drawn, tails)))


def _rogan_gladen(shares: Floats, rates: Floats) -> Floats:
    above_chance = np.maximum(rates.sum(axis=1) - 1, 1e-6)
    rate: Floats = np.clip((shares + rates[:, 1] - 1) / above_chance, 0.0, 1.0)
    return rate


def labels_for_width(rate: Rate, labels: int, *, half_width: float = 0.02) -> int:
    """Returns how many labels more would bring the interval to about +- `half_width`; 0 where it is there.

    Widths fall with the square root of the number of labels.
    """
    ratio = (rate.high - rate.low) / 2 / half_width
    return max(0, math.ceil(round(labels * (ratio**2 - 1), 6)))
