"""The statistics of paired cases against those of scipy, which draws and gathers every sample."""

import numpy as np
import pytest
from scipy import stats

from pytest_medfaith.gates.paired import (
    Pairs,
    quantile_p_value,
    quantile_worsening,
    swap_p_values,
    worsenings,
)


def samples(cases, seed):
    generator = np.random.default_rng(seed)
    bases = generator.integers(1, 7, size=(2, cases))
    tops = generator.binomial(bases, 0.3)
    return tops.astype(float), bases.astype(float)


def ours(tops, bases, *, sign):
    before, after = (np.stack([tops[i], bases[i]])[:, :, None] for i in (0, 1))
    return Pairs(before=before, after=after, sign=sign)


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("cases", [2, 5, 11])
@pytest.mark.parametrize("seed", range(4))
def test_every_swap_gives_scipys_p(cases, seed, sign):
    tops, bases = samples(cases, seed)
    top, base = tops.ravel(), bases.ravel()

    def worse_by(new, old, axis):
        return sign * (top[new].sum(axis) / base[new].sum(axis) - top[old].sum(axis) / base[old].sum(axis))

    expected = stats.permutation_test(
        (cases + np.arange(cases), np.arange(cases)),
        worse_by,
        permutation_type="samples",
        vectorized=True,
        alternative="greater",
        n_resamples=2**cases,
    )
    assert swap_p_values(ours(tops, bases, sign=sign))[0] == pytest.approx(expected.pvalue)


def test_the_spread_is_that_of_scipys_bootstrap():
    tops, bases = samples(400, 7)

    def worse_by(picked, axis):
        return tops[1][picked].sum(axis) / bases[1][picked].sum(axis) - tops[0][picked].sum(axis) / bases[0][
            picked
        ].sum(axis)

    bootstrap = stats.bootstrap(
        (np.arange(400),),
        worse_by,
        vectorized=True,
        method="percentile",
        confidence_level=0.9,
        n_resamples=4000,
    )
    found = worsenings(ours(tops, bases, sign=1.0))
    assert found.spread[0] / 20 == pytest.approx(bootstrap.standard_error, rel=0.05)
    assert (found.low[0], found.high[0]) == pytest.approx(tuple(bootstrap.confidence_interval), abs=0.005)


def times(cases, seed):
    generator = np.random.default_rng(seed)
    before = generator.lognormal(5.0, 0.4, cases)
    after = before * generator.lognormal(0.02, 0.2, cases)
    ones = np.ones(cases)
    pairs = Pairs(before=np.stack([before, ones])[:, :, None], after=np.stack([after, ones])[:, :, None])
    return before, after, pairs


def later(new, old, axis):
    return np.quantile(new, 0.95, axis=axis) - np.quantile(old, 0.95, axis=axis)


@pytest.mark.parametrize("cases", [2, 5, 11])
def test_every_swap_of_a_quantile_gives_scipys_p(cases):
    before, after, pairs = times(cases, 3)
    expected = stats.permutation_test(
        (after, before),
        later,
        permutation_type="samples",
        vectorized=True,
        alternative="greater",
        n_resamples=2**cases,
    )
    found = quantile_p_value(pairs, 0.95, seed=0, resamples=9999)
    assert found[0] == pytest.approx(expected.pvalue)


def test_the_bounds_of_a_quantile_are_those_of_scipys_bootstrap():
    before, after, pairs = times(60, 3)
    bootstrap = stats.bootstrap(
        (after, before),
        later,
        paired=True,
        vectorized=True,
        method="percentile",
        confidence_level=0.9,
        n_resamples=2000,
        random_state=np.random.default_rng(5),
    )
    found = quantile_worsening(pairs, 0.95, seed=5, resamples=2000)
    interval = tuple(bootstrap.confidence_interval)
    assert (found.low[0], found.high[0]) == pytest.approx(interval)  # the same draws
    assert found.spread[0] / np.sqrt(60) == pytest.approx(bootstrap.standard_error, rel=1e-3)
