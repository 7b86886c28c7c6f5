import itertools

import numpy as np
import pytest
from gate_samples import case, report_of, slice_of, stored

from pytest_medfaith.errors import MissingBaseline
from pytest_medfaith.gates.comparison import compare_metrics
from pytest_medfaith.gates.judging import judge_comparison, tolerated_worsening


def compared(tmp_path, before, after, metric="hallucination"):
    return compare_metrics([metric], slice_of(after), stored(tmp_path, slice_of(before)))[metric]


def judged(comparison, *, margin=0.0, tests=1):
    return judge_comparison(comparison, expression="the gate", margin=margin, p=comparison.p, tests=tests)


def test_where_higher_is_better_a_fall_is_the_worsening(tmp_path):
    fall = compared(tmp_path, {"a": "ss", "b": "ss"}, {"a": "su", "b": "ss"}, "faithfulness")
    assert (fall.before, fall.after, fall.worse_by) == (1.0, 0.75, 0.25)
    rise = compared(tmp_path, {"a": "su", "b": "ss"}, {"a": "ss", "b": "ss"}, "faithfulness")
    assert (rise.worse_by, rise.p) == (-0.25, 1.0)


def test_without_a_margin_a_worsening_by_5_points_is_to_be_ruled_out(tmp_path):
    comparison = compared(tmp_path, {"a": "ss"}, {"a": "sr"})
    assert tolerated_worsening(comparison, 0.0) == 0.05
    assert tolerated_worsening(comparison, 0.02) == 0.02


def test_a_failure_tells_before_and_after_the_interval_and_both_tests(tmp_path):
    names = [f"c{i:02}" for i in range(40)]
    comparison = compared(
        tmp_path,
        dict.fromkeys(names, "sssss"),
        {name: "rssss" if i % 4 == 0 else "sssss" for i, name in enumerate(names)},
    )
    result = judged(comparison, margin=0.02)
    assert (result.outcome, result.value, result.expression) == ("fail", 0.05, "the gate")
    assert result.message == (
        "hallucination is 0.050, was 0.000; worse by 0.050 (worsening within [0.024, 0.076], 90 % interval) "
        "over 40 cases, of which 10 "
        "differ; paired permutation test p = 0.001; of 200 claims in both runs 10 turned for the worse "
        "and 0 for the better, exact McNemar "
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
    result = judged(
        compared(
            tmp_path, {"a": "sssss", "b": "sssss", "c": "rssss"}, {"a": "sssss", "b": "rssss", "c": "sssss"}
        )
    )
    assert result.outcome == "inconclusive"
    assert (
        "no worsening is allowed; too few cases to say more: a worsening above 0.050 is not ruled out; about "
        in result.message
    )
    assert result.message.endswith(
        " cases like these would settle it in 9 of 10 runs, if the true difference is none"
    )


def test_what_was_measured_is_assumed_where_it_is_a_worsening(tmp_path):
    result = judged(compared(tmp_path, {"a": "sssss", "b": "sssss"}, {"a": "sssss", "b": "rssss"}))
    assert result.message.endswith("if the true difference is the one measured")


def test_one_case_tells_nothing_and_says_so(tmp_path):
    result = judged(compared(tmp_path, {"a": "ss"}, {"a": "sr"}))
    assert result.outcome == "inconclusive"
    assert "worse by 0.500 over 1 case," in result.message
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
    with pytest.raises(
        MissingBaseline, match="holds no value of recall@20; store one with pytest --medfaith-update-baseline"
    ):
        compare_metrics(["recall@20"], report, stored(tmp_path, report))


def test_a_cut_off_compares_once_it_is_stored(tmp_path):
    before, after = (report_of([case(name, "s", found=found) for name in "abc"]) for found in (True, False))
    comparison = compare_metrics(["recall@20"], after, stored(tmp_path, before, metrics=("recall@20",)))[
        "recall@20"
    ]
    assert (comparison.before, comparison.after, comparison.claims) == (1.0, 0.0, None)


def latencies(*values):
    return report_of([case(f"c{i:03}", "s", latency=value) for i, value in enumerate(values)])


def test_a_quantile_is_compared_by_the_same_swaps(tmp_path):
    before, after = (10.0, 20.0, 30.0, 40.0), (15.0, 20.0, 30.0, 90.0)
    comparison = compare_metrics(["latency_p50"], latencies(*after), stored(tmp_path, latencies(*before)))[
        "latency_p50"
    ]
    drawn = [
        np.median([b if s else a for b, a, s in zip(before, after, swapped, strict=True)])
        - np.median([a if s else b for b, a, s in zip(before, after, swapped, strict=True)])
        for swapped in itertools.product([False, True], repeat=4)
    ]
    assert comparison.worse_by == 0.0
    assert comparison.p == np.mean(np.array(drawn) >= 0)


def test_a_slower_system_fails_in_its_unit(tmp_path):
    before, after = [100 + i % 7 for i in range(60)], [140 + i % 5 for i in range(60)]
    baseline = stored(tmp_path, latencies(*before))
    comparison = compare_metrics(["latency_p95"], latencies(*after), baseline)["latency_p95"]
    assert judged(comparison, margin=20.0).outcome == "fail"
    assert (
        "latency_p95 is 144.0 ms, was 106.0 ms; worse by 38.0 ms" in judged(comparison, margin=20.0).message
    )
    assert judged(comparison, margin=50.0).outcome == "pass"
    assert tolerated_worsening(comparison, 0.0) == pytest.approx(0.05 * 106)


def test_a_quantile_reads_the_cases_that_both_runs_timed(tmp_path):
    before, after = latencies(100.0, 200.0, None), latencies(110.0, None, 5000.0)
    comparison = compare_metrics(["latency_p95"], after, stored(tmp_path, before))["latency_p95"]
    assert (comparison.before, comparison.after, comparison.cases) == (100.0, 110.0, 1)
    assert "2 cases with a value in one of the runs only left out" in judged(comparison, margin=20.0).message
    assert compare_metrics(["latency_p95"], latencies(None, None, 7.0), stored(tmp_path, before)) == {}


def test_a_worsening_without_a_turned_claim_is_explained_by_cases(tmp_path):
    """Answers in other words share no claim with those before, and 0 regressions would explain nothing."""
    names = [f"c{number:02}" for number in range(30)]
    before = stored(tmp_path, report_of([case(name, "ss") for name in names]))
    bad = [
        case(name, "rr", texts=["Something else altogether here.", "And more of the same."])
        for name in names[:8]
    ]
    after = report_of([*bad, *(case(name, "ss") for name in names[8:])])
    compared = compare_metrics(["hallucination"], after, before)["hallucination"]
    assert compared.worse_in == tuple(names[:8])
    said = judge_comparison(compared, expression="x", margin=0.0, p=compared.p).message
    assert "0 turned for the worse" in said
    assert (
        "16 claims that worsen it are new; it is worse in 8 cases: c00, c01, c02, c03, c04, ..., better in 0"
        in said
    )


def test_a_metric_that_is_no_share_of_verdicts_names_its_cases(tmp_path):
    names = [f"c{number:02}" for number in range(20)]
    before = stored(tmp_path, report_of([case(name, "s") for name in names]), metrics=("hit@k",))
    after = report_of([case(name, "s", found=name >= "c06") for name in names])
    compared = compare_metrics(["hit@k"], after, before)["hit@k"]
    said = judge_comparison(compared, expression="x", margin=0.0, p=compared.p).message
    assert "it is worse in 6 cases: c00, c01, c02, c03, c04, ..., better in 0" in said
