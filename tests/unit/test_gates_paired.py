import itertools
import math

import numpy as np
import pytest
from gate_samples import case, report_of, slice_of, stored
from hypothesis import given
from hypothesis import strategies as st

from pytest_medfaith.errors import MissingBaseline
from pytest_medfaith.gates.paired import (
    Pairs,
    cases_to_settle,
    compare_metrics,
    decide,
    holm,
    judge_comparison,
    swap_p_values,
    tolerated_worsening,
    worsenings,
)

COUNTS = st.lists(st.tuples(st.integers(0, 3), st.integers(1, 4), st.integers(0, 3), st.integers(1, 4)), min_size=1, max_size=6)


def pairs_of(rows, *, sign=1.0):
    """Returns one column of (numerator before, denominator before, numerator after, denominator after) a case."""
    table = np.array(rows, dtype=np.float64)
    return Pairs(before=table[:, :2].T[:, :, None], after=table[:, 2:].T[:, :, None], sign=sign)


def compared(tmp_path, before, after, metric="hallucination"):
    return compare_metrics([metric], slice_of(after), stored(tmp_path, slice_of(before)))[metric]


def judged(comparison, *, margin=0.0, tests=1):
    return judge_comparison(comparison, expression="the gate", margin=margin, p=comparison.p, tests=tests)


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
    both = Pairs(before=np.concatenate([first.before, second.before], axis=2), after=np.concatenate([first.after, second.after], axis=2))
    for of in (swap_p_values, lambda pairs: worsenings(pairs).high, lambda pairs: worsenings(pairs).spread):
        np.testing.assert_allclose(of(both), np.concatenate([of(first), of(second)]))


def test_where_higher_is_better_a_fall_is_the_worsening(tmp_path):
    fall = compared(tmp_path, {"a": "ss", "b": "ss"}, {"a": "su", "b": "ss"}, "faithfulness")
    assert (fall.before, fall.after, fall.worse_by) == (1.0, 0.75, 0.25)
    rise = compared(tmp_path, {"a": "su", "b": "ss"}, {"a": "ss", "b": "ss"}, "faithfulness")
    assert (rise.worse_by, rise.p) == (-0.25, 1.0)


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
def test_a_gate_fails_on_a_worsening_shown_and_above_the_margin_and_passes_on_one_ruled_out(worse_by, high, p, margin, outcome):
    assert decide(worse_by=worse_by, high=high, p=p, margin=margin, tolerated=0.02) == outcome


def test_without_a_margin_a_worsening_by_5_points_is_to_be_ruled_out(tmp_path):
    comparison = compared(tmp_path, {"a": "ss"}, {"a": "sr"})
    assert tolerated_worsening(comparison, 0.0) == 0.05
    assert tolerated_worsening(comparison, 0.02) == 0.02


def test_holm_steps_down_from_the_smallest():
    assert holm({"a": 0.04, "b": 0.01, "c": 0.03}) == pytest.approx({"b": 0.03, "c": 0.06, "a": 0.06})
    assert holm({"a": 0.7, "b": 0.6}) == {"a": 1.0, "b": 1.0}
    assert holm({}) == {}


def test_the_number_of_cases_to_pass_is_that_of_the_textbook():
    # (1.6449 + 1.2816)^2 * (0.2 / 0.02)^2 = 856.4
    assert cases_to_settle(worse_by=-0.01, spread=0.2, margin=0.02, tolerated=0.02) == 857
    assert cases_to_settle(worse_by=0.01, spread=0.2, margin=0.02, tolerated=0.02) == 3426


def test_the_number_of_cases_to_fail_lets_the_test_reject_and_the_estimate_clear_the_margin():
    assert cases_to_settle(worse_by=0.05, spread=0.2, margin=0.0, tolerated=0.05) == math.ceil((2.926406 * 0.2 / 0.05) ** 2)
    assert cases_to_settle(worse_by=0.03, spread=0.2, margin=0.02, tolerated=0.02) == math.ceil((1.281552 * 0.2 / 0.01) ** 2)


@pytest.mark.parametrize(("worse_by", "spread"), [(0.02, 0.2), (0.0, math.inf)])
def test_sometimes_no_number_of_cases_settles_it(worse_by, spread):
    assert cases_to_settle(worse_by=worse_by, spread=spread, margin=0.02, tolerated=0.02) is None


def test_a_failure_tells_before_and_after_the_interval_and_both_tests(tmp_path):
    names = [f"c{i:02}" for i in range(40)]
    comparison = compared(
        tmp_path, dict.fromkeys(names, "sssss"), {name: "rssss" if i % 4 == 0 else "sssss" for i, name in enumerate(names)}
    )
    result = judged(comparison, margin=0.02)
    assert (result.outcome, result.value, result.expression) == ("fail", 0.05, "the gate")
    assert result.message == (
        "hallucination is 0.050, was 0.000; worse by 0.050 (worsening within [0.024, 0.076], 90 % interval) over 40 cases, of which 10 "
        "differ; paired permutation test p = 0.001; of 200 claims in both runs 10 turned for the worse and 0 for the better, exact McNemar "
        "p < 0.001; 0.020 is allowed, and chance does not explain this one"
    )


def test_a_pass_says_what_is_ruled_out(tmp_path):
    names = [f"c{i:02}" for i in range(60)]
    before = {name: "rssss" if i == 0 else "sssss" for i, name in enumerate(names)}
    result = judged(compared(tmp_path, before, dict.fromkeys(names, "sssss")), margin=0.02)
    assert result.outcome == "pass"
    assert "; better by 0.003 " in result.message
    assert result.message.endswith("; 0.020 is allowed; a worsening above 0.020 is ruled out")


def test_too_few_cases_are_told_how_many_would_do(tmp_path):
    result = judged(compared(tmp_path, {"a": "sssss", "b": "sssss", "c": "rssss"}, {"a": "sssss", "b": "rssss", "c": "sssss"}))
    assert result.outcome == "inconclusive"
    assert "no worsening is allowed; too few cases to say more: a worsening above 0.050 is not ruled out; about " in result.message
    assert result.message.endswith(" cases like these would settle it in 9 of 10 runs, if the true difference is none")


def test_what_was_measured_is_assumed_where_it_is_a_worsening(tmp_path):
    result = judged(compared(tmp_path, {"a": "sssss", "b": "sssss"}, {"a": "sssss", "b": "rssss"}))
    assert result.message.endswith("if the true difference is the one measured")


def test_one_case_tells_nothing_and_says_so(tmp_path):
    result = judged(compared(tmp_path, {"a": "ss"}, {"a": "sr"}))
    assert result.outcome == "inconclusive"
    assert "worse by 0.500 over 1 cases" in result.message
    assert "no number of cases can be named" in result.message


def test_a_run_that_repeats_its_baseline_passes_however_few_its_cases(tmp_path):
    comparison = compared(tmp_path, {"a": "sr"}, {"a": "sr"})
    assert comparison.unchanged
    assert judged(comparison).outcome == "pass"
    assert "nothing differs from the baseline" in judged(comparison).message


def test_the_same_numbers_from_other_answers_are_no_repetition(tmp_path):
    baseline = stored(tmp_path, report_of([case("a", "s", texts=["Iron is stored."])]))
    now = report_of([case("a", "s", texts=["Iron is kept."])])
    comparison = compare_metrics(["hallucination"], now, baseline)["hallucination"]
    assert (comparison.differ, comparison.unchanged) == (0, False)
    assert judged(comparison).outcome == "inconclusive"


def test_cases_that_one_run_could_not_measure_still_count(tmp_path):
    comparison = compared(tmp_path, {"a": "sr", "b": "?", "c": "?"}, {"a": "ss", "b": "rr", "c": "?"})
    assert (comparison.before, comparison.after, comparison.cases, comparison.differ) == (0.5, 0.5, 2, 2)


def test_a_metric_that_the_baseline_lacks_names_the_flag(tmp_path):
    report = slice_of({"a": "s"})
    with pytest.raises(MissingBaseline, match="holds no value of recall@20; store one with pytest --medfaith-update-baseline"):
        compare_metrics(["recall@20"], report, stored(tmp_path, report))


def test_a_cut_off_compares_once_it_is_stored(tmp_path):
    before, after = (report_of([case(name, "s", found=found) for name in "abc"]) for found in (True, False))
    comparison = compare_metrics(["recall@20"], after, stored(tmp_path, before, metrics=("recall@20",)))["recall@20"]
    assert (comparison.before, comparison.after, comparison.claims) == (1.0, 0.0, None)


def latencies(*values):
    return report_of([case(f"c{i:03}", "s", latency=value) for i, value in enumerate(values)])


def test_a_quantile_is_compared_by_the_same_swaps(tmp_path):
    before, after = (10.0, 20.0, 30.0, 40.0), (15.0, 20.0, 30.0, 90.0)
    comparison = compare_metrics(["latency_p50"], latencies(*after), stored(tmp_path, latencies(*before)))["latency_p50"]
    drawn = [
        np.median([b if s else a for b, a, s in zip(before, after, swapped, strict=True)])
        - np.median([a if s else b for b, a, s in zip(before, after, swapped, strict=True)])
        for swapped in itertools.product([False, True], repeat=4)
    ]
    assert comparison.worse_by == 0.0
    assert comparison.p == np.mean(np.array(drawn) >= 0)


def test_a_slower_system_fails_in_its_unit(tmp_path):
    before, after = [100 + i % 7 for i in range(40)], [140 + i % 5 for i in range(40)]
    baseline = stored(tmp_path, latencies(*before))
    comparison = compare_metrics(["latency_p95"], latencies(*after), baseline)["latency_p95"]
    assert judged(comparison, margin=20.0).outcome == "fail"
    assert "latency_p95 is 144.0 ms, was 106.0 ms; worse by 38.0 ms" in judged(comparison, margin=20.0).message
    assert judged(comparison, margin=50.0).outcome == "pass"
    assert tolerated_worsening(comparison, 0.0) == pytest.approx(0.05 * 106)


def test_a_quantile_reads_the_cases_that_both_runs_timed(tmp_path):
    before, after = latencies(100.0, 200.0, None), latencies(110.0, None, 5000.0)
    comparison = compare_metrics(["latency_p95"], after, stored(tmp_path, before))["latency_p95"]
    assert (comparison.before, comparison.after, comparison.cases) == (100.0, 110.0, 1)
    assert compare_metrics(["latency_p95"], latencies(None, None, 7.0), stored(tmp_path, before)) == {}
