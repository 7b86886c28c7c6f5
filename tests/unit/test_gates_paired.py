import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_medfaith.gates.paired import Pairs, cases_to_settle, decide, holm, swap_p_values, worsenings

COUNTS = st.lists(
    st.tuples(st.integers(0, 3), st.integers(1, 4), st.integers(0, 3), st.integers(1, 4)),
    min_size=1,
    max_size=6,
)


def pairs_of(rows, *, sign=1.0):
    """Returns a column; each case is (numerator, denominator) before, then after."""
    table = np.array(rows, dtype=np.float64)
    return Pairs(before=table[:, :2].T[:, :, None], after=table[:, 2:].T[:, :, None], sign=sign)


@given(COUNTS)
def test_p_is_the_share_of_swaps_that_come_out_at_least_as_bad(rows):
    def worse_by(swapped):
        sums = np.zeros(4)
        for row, swap in zip(rows, swapped, strict=True):
            sums += np.array(row[2:] + row[:2] if swap else row)
        return sums[2] / sums[3] - sums[0] / sums[1]

    measured = worse_by([False] * len(rows))
    drawn = [worse_by(swapped) for swapped in itertools.product([False, True], repeat=len(rows))]
    assert swap_p_values(pairs_of(rows))[0] == pytest.approx(np.mean(np.array(drawn) >= measured - 1e-9))


def test_random_swaps_come_near_all_of_them_and_repeat_with_their_seed():
    rows = [(i % 2, 5, i % 3, 5) for i in range(13)]
    exact, drawn = swap_p_values(pairs_of(rows))[0], swap_p_values(pairs_of(rows), resamples=4000, seed=3)[0]
    assert drawn == pytest.approx(exact, abs=0.03)
    assert drawn != exact
    assert drawn == swap_p_values(pairs_of(rows), resamples=4000, seed=3)[0]


def test_p_is_never_0():
    assert swap_p_values(pairs_of([(0, 5, 5, 5)] * 60), resamples=999)[0] == 1 / 1000


def test_columns_do_not_touch_each_other():
    first, second = pairs_of([(0, 5, 1, 5)] * 20), pairs_of([(1, 5, i % 3, 4) for i in range(20)])
    both = Pairs(
        before=np.concatenate([first.before, second.before], axis=2),
        after=np.concatenate([first.after, second.after], axis=2),
    )
    for of in (swap_p_values, lambda pairs: worsenings(pairs).high, lambda pairs: worsenings(pairs).spread):
        np.testing.assert_allclose(of(both), np.concatenate([of(first), of(second)]))


def test_the_bounds_are_those_of_a_paired_t_interval_with_one_claim_turned_each_way():
    differences = np.array([0, 1, 1, -1, 2, 0, 0, 1]) / 5
    rows = [(1, 5, 1 + round(5 * difference), 5) for difference in differences]
    found = worsenings(pairs_of(rows))
    deviations = differences - differences.mean()
    spread = math.sqrt(((deviations**2).sum() + 2 * 0.2**2) / 7)
    assert found.estimate[0] == pytest.approx(0.1)
    assert found.spread[0] == pytest.approx(spread)
    # Student's t with 7 degrees of freedom, 95 %: 1.8946, from a printed table
    assert found.high[0] == pytest.approx(0.1 + 1.8946 * spread / math.sqrt(8), abs=1e-4)
    assert found.low[0] == pytest.approx(0.1 - 1.8946 * spread / math.sqrt(8), abs=1e-4)


def test_unequal_numbers_of_claims_weigh_as_the_ratio_does():
    found = worsenings(pairs_of([(1, 10, 2, 10), (0, 1, 1, 2), (0, 5, 0, 1)]))
    assert found.estimate[0] == pytest.approx(3 / 13 - 1 / 16)


def test_a_single_case_bounds_nothing():
    found = worsenings(pairs_of([(0, 5, 1, 5)]))
    assert (found.low[0], found.high[0], found.spread[0]) == (-math.inf, math.inf, math.inf)


@pytest.mark.parametrize(
    ("worse_by", "high", "p", "margin", "outcome"),
    [
        (0.05, 0.08, 0.05, 0.02, "fail"),
        (0.05, 0.08, 0.051, 0.02, "inconclusive"),
        (0.02, 0.03, 0.001, 0.02, "inconclusive"),
        (0.01, 0.02, 0.001, 0.02, "pass"),
        (-0.01, 0.021, 0.8, 0.02, "inconclusive"),
        (0.001, 0.01, 0.04, 0.0, "fail"),
    ],
)
def test_a_gate_fails_on_a_worsening_shown_and_above_the_margin_and_passes_on_one_ruled_out(
    worse_by, high, p, margin, outcome
):
    assert decide(worse_by=worse_by, high=high, p=p, margin=margin, tolerated=0.02) == outcome


def test_holm_steps_down_from_the_smallest():
    assert holm({"a": 0.04, "b": 0.01, "c": 0.03}) == pytest.approx({"b": 0.03, "c": 0.06, "a": 0.06})
    assert holm({"a": 0.7, "b": 0.6}) == {"a": 1.0, "b": 1.0}
    assert holm({}) == {}


def test_the_number_of_cases_to_pass_is_that_of_the_textbook():
    # (1.6449 + 1.2816)^2 * (0.2 / 0.02)^2 = 856.4
    assert cases_to_settle(worse_by=-0.01, spread=0.2, margin=0.02, tolerated=0.02) == 857
    assert cases_to_settle(worse_by=0.01, spread=0.2, margin=0.02, tolerated=0.02) == 3426


def test_the_number_of_cases_to_fail_lets_the_test_reject_and_the_estimate_clear_the_margin():
    assert cases_to_settle(worse_by=0.05, spread=0.2, margin=0.0, tolerated=0.05) == math.ceil(
        (2.926406 * 0.2 / 0.05) ** 2
    )
    assert cases_to_settle(worse_by=0.03, spread=0.2, margin=0.02, tolerated=0.02) == math.ceil(
        (1.281552 * 0.2 / 0.01) ** 2
    )


@pytest.mark.parametrize(("worse_by", "spread"), [(0.02, 0.2), (0.0, math.inf)])
def test_sometimes_no_number_of_cases_settles_it(worse_by, spread):
    assert cases_to_settle(worse_by=worse_by, spread=spread, margin=0.02, tolerated=0.02) is None
