"""Estimates rates of a run from a few people's labels and the checker's verdicts on all claims.

Example: the checker refutes 50 of 1,000 claims. People label 30 of those and 90 of the others. Of the refuted
claims 18 of 30 are errors, of the others 1 of 90. So the rate is 0.05 * 18 / 30 + 0.95 * 1 / 90 = 4.1 %.

`stratified_rate` needs labels of the run's own claims. Post-stratification by a yes-or-no verdict equals, for
many labels, the power-tuned prediction-powered estimate (Angelopoulos, Duchi & Zrnic 2023, PPI++,
arXiv:2311.01453). Its usual normal interval covers 64 to 94 % where 95 % are promised, because few labels
hold few errors. The interval here combines the limits of the strata, and covers 93 to 99 %
(`bench/corrected_rates.py` prints both).

`transported_rate` applies the checker's error rates on labels of other claims (Rogan & Gladen 1978, Am J
Epidemiol 107(1)).
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
    """A rate with its 95 % interval (value, low, high), each from 0 to 1."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, kw_only=True)
class Labelled:
    """The claims of a run, and which of them people labelled.

    Attributes:
        cases: (n,) number of each claim's case, from 0.
        strata: (n,) number of each claim's stratum (the group that it was drawn from), from 0.
        chosen: (m,) places of the labelled claims among all n.
        truth: (m,) whether the label is the one that the rate counts, such as "refuted".
    """

    cases: Ints
    strata: Ints
    chosen: Ints
    truth: Bools

    @property
    def sizes(self) -> Ints:
        """How many claims each stratum has: int (h,)."""
        return np.bincount(self.strata)

    @property
    def counts(self) -> tuple[Ints, Ints]:
        """(How many labels each stratum has, how many of these are true): two int (h,)."""
        strata, width = self.strata[self.chosen], len(self.sizes)
        return np.bincount(strata, minlength=width), np.bincount(strata[self.truth], minlength=width)


def stratified_rate(labelled: Labelled, *, level: float = defaults.LEVEL) -> Rate | None:
    """Returns the share of claims with a true label, with its interval; None where a stratum has no label.

    The value is the sum over strata of (share of the claims) * (share of true labels). The interval covers
    two chances: which claims were labelled, and which cases the run has. For the first, Jeffreys' limits of
    the strata are joined as by Zou & Donner 2008 (Stat Med 27(10)), and widened by how much labels of one
    case resemble each other. The second is the linearised variance, over cases, of the shares of the strata.

    Args:
        labelled: claims and labels.
        level: of the interval, such as 0.95.
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
    """Returns (lower, upper) ends of Jeffreys' interval of each share `true / counts`: two float (h,).

    The lower end is 0 where no label is true, the upper 1 where all are; without labels they are 0 and 1.
    Source: Brown, Cai & DasGupta 2001, Stat Sci 16(2).
    """
    from scipy.stats import beta

    tail = (1 - level) / 2
    false = counts - true
    low = np.where(true > 0, beta.ppf(tail, true + 0.5, false + 0.5), 0.0)
    high = np.where(false > 0, beta.ppf(1 - tail, true + 0.5, false + 0.5), 1.0)
    return low, high


def _share(true: Ints, counts: Ints) -> Floats:
    """Returns `true / counts`, float (h,); 0 where the count is 0."""
    return np.divide(true, counts, out=np.zeros(len(counts)), where=counts > 0)


def _case_variance(labelled: Labelled, found: Floats) -> float:
    """Returns the variance, over cases, of the rate that the strata's shares give."""
    cases, number = np.unique(labelled.cases, return_inverse=True)
    if len(cases) < 2:
        return 0.0
    expected = np.bincount(number, weights=found[labelled.strata])
    claims = np.bincount(number)
    spread = expected - claims * expected.sum() / claims.sum()
    return float((spread**2).sum() * len(cases) / (len(cases) - 1) / claims.sum() ** 2)


def _design_effect(labelled: Labelled, found: Floats) -> float:
    """Returns the factor by which labels of a case that resemble each other widen the variance; at least 1.

    Source: Kish 1965, Survey Sampling.
    """
    strata = labelled.strata[labelled.chosen]
    counts, _ = labelled.counts
    off = (labelled.sizes / np.maximum(counts, 1))[strata] * (labelled.truth - found[strata])
    single = float((off**2).sum())
    together = np.bincount(labelled.cases[labelled.chosen], weights=off)
    return max(1.0, float((together**2).sum()) / single) if single else 1.0


class ErrorRates(NamedTuple):
    """How well the checker tells claims with a true label from the others.

    Attributes:
        sensitivity: share of true labels that its verdicts find (TPR).
        specificity: share of other labels that its verdicts leave alone (TNR).
        draws: float (n, 2), random pairs of both, from which the intervals are taken.
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
    """Returns the checker's error rates on labels; None below 20 labels that are true, or 20 that are not.

    Args:
        said: for each labelled claim, whether the verdict is the one that is counted, such as "refuted".
        truth: for each, whether the label is.
        strata: for each, the stratum that it was drawn from; all its claims have the same verdict.
        weights: for each, how many claims of the run it stands for.
        seed: of the random draws (from Jeffreys' posteriors of the strata) behind the intervals.
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
    """Returns TPR and TNR, float (n, 2).

    Args:
        shares: float (n, h), share of true labels in each stratum.
        sizes: claims of each stratum.
        flagged: whether the verdict of each stratum is the one that is counted.
    """
    true, false = shares * sizes, (1 - shares) * sizes
    return np.stack([true[:, flagged].sum(1) / true.sum(1), false[:, ~flagged].sum(1) / false.sum(1)], axis=1)


def transported_rate(
    cases: Ints, said: Bools, rates: ErrorRates, *, seed: int = defaults.SEED, level: float = defaults.LEVEL
) -> Rate | None:
    """Returns the share of claims whose label would be true, from error rates on labels of other claims.

    It is (share of verdicts + TNR - 1) / (TPR + TNR - 1), limited to 0..1. It is None where the verdicts may
    be no better than chance: the lower end of TPR + TNR - 1 is not above 0.

    Args:
        cases: (n,) number of each claim's case, from 0.
        said: (n,) whether the verdict is the one that is counted.
        rates: the checker's error rates on labels of claims from other answers.
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
    """Returns (shares + TNR - 1) / (TPR + TNR - 1), limited to 0..1, for `rates` of (TPR, TNR)."""
    above_chance = np.maximum(rates.sum(axis=1) - 1, 1e-6)
    rate: Floats = np.clip((shares + rates[:, 1] - 1) / above_chance, 0.0, 1.0)
    return rate


def labels_for_width(rate: Rate, labels: int, *, half_width: float = 0.02) -> int:
    """Returns how many more labels would narrow the interval to about +- `half_width`; 0 if it is as narrow.

    It assumes that widths fall with the square root of the number of labels.
    """
    ratio = (rate.high - rate.low) / 2 / half_width
    return max(0, math.ceil(round(labels * (ratio**2 - 1), 6)))
