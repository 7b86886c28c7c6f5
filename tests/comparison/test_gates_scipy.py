"""The permutation test by matrix products against scipy's, which draws and gathers every swap."""

import numpy as np
import pytest
from scipy import stats

from pytest_medfaith.gates.paired import Pairs, swap_p_values, worsenings


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
