"""Micro and macro values over cases, and their bootstrap intervals."""

import math
import random

import numpy as np
import pytest

from pytest_medfaith.metrics.aggregate import aggregate, case_metrics, slice_metrics
from pytest_medfaith.metrics.base import Metric
from pytest_medfaith.metrics.bootstrap import percentile_interval, resampled_counts
from pytest_medfaith.metrics.registry import METRICS
from pytest_medfaith.records import Case, Claim, MetricValue, Report, Response, Verdict

FAITHFULNESS = METRICS["faithfulness"]


def report(name, supported, refuted=0, *, latency=None, abstained=False):
    labels = ["supported"] * supported + ["refuted"] * refuted
    return Report(
        case=Case(id=name, question="Which?"),
        response=Response(answer="x", latency_ms=latency),
        verdicts=tuple(Verdict(claim=Claim(id="1", text="A claim."), label=label) for label in labels),
        abstained=abstained,
    )


def many(n, *, seed=1):
    generator = random.Random(seed)
    return [
        report(
            f"case-{i}", generator.randint(0, 6), generator.randint(0, 3), latency=generator.uniform(5, 50)
        )
        for i in range(n)
    ]


def test_micro_is_over_claims_and_macro_over_cases():
    micro, macro = aggregate(
        FAITHFULNESS, [report("a", 8, 2), report("b", 0, 1), report("c", 0, abstained=True)]
    )
    assert (micro.value, micro.n) == (pytest.approx(8 / 11), 2)
    assert (macro.value, macro.n) == (pytest.approx(0.4), 2)


@pytest.mark.parametrize("reports", [[], [report("a", 0, abstained=True)]])
def test_nothing_measured_is_none_and_not_nan(reports):
    nothing = MetricValue(name="faithfulness", value=None)
    assert aggregate(FAITHFULNESS, reports) == (nothing, nothing)


def test_one_case_has_a_value_and_no_interval():
    micro, _ = aggregate(FAITHFULNESS, [report("a", 1, 1), report("b", 0, abstained=True)])
    assert (micro.value, micro.low, micro.high, micro.n) == (0.5, None, None, 1)


def test_cases_that_agree_have_an_interval_of_no_width():
    micro, _ = aggregate(FAITHFULNESS, [report(name, 2, 1) for name in "abc"])
    assert micro.low == micro.value == micro.high


def test_intervals_are_those_of_resampled_reports():
    reports = many(30)
    micro, macro = aggregate(FAITHFULNESS, reports, resamples=4000)
    ratios = [FAITHFULNESS.measure(each) for each in reports]
    generator = random.Random(2)
    draws = [[pair for pair in generator.choices(ratios, k=len(ratios)) if pair] for _ in range(4000)]
    by_micro = np.quantile(
        [sum(s for s, _ in draw) / sum(n for _, n in draw) for draw in draws], [0.025, 0.975]
    )
    by_macro = np.quantile([sum(s / n for s, n in draw) / len(draw) for draw in draws], [0.025, 0.975])
    assert (micro.low, micro.high) == pytest.approx(tuple(by_micro), abs=0.006)
    assert (macro.low, macro.high) == pytest.approx(tuple(by_macro), abs=0.006)


def test_the_interval_of_a_quantile_is_that_of_resampled_values():
    reports = many(25)
    micro, _ = aggregate(METRICS["latency_p95"], reports, resamples=4000)
    values = [each.response.latency_ms for each in reports]
    generator = np.random.default_rng(3)
    draws = np.quantile(generator.choice(values, size=(4000, len(values))), 0.95, axis=1)
    assert (micro.low, micro.high) == pytest.approx(tuple(np.quantile(draws, [0.025, 0.975])), abs=0.6)


def test_intervals_cover_the_truth_about_as_often_as_they_say():
    inside = 0
    for trial in range(200):
        generator = random.Random(trial)
        heads = [sum(generator.random() < 0.7 for _ in range(4)) for _ in range(60)]
        reports = [report(str(number), count, 4 - count) for number, count in enumerate(heads)]
        _, macro = aggregate(FAITHFULNESS, reports, resamples=400)
        inside += macro.low <= 0.7 <= macro.high
    assert 0.88 <= inside / 200 <= 0.99


def test_the_same_seed_gives_the_same_interval_whatever_the_order():
    reports = many(40)
    shuffled = random.Random(5).sample(reports, len(reports))
    assert aggregate(FAITHFULNESS, reports) == aggregate(FAITHFULNESS, shuffled)
    assert aggregate(FAITHFULNESS, reports) != aggregate(FAITHFULNESS, reports, seed=1)


def test_a_wider_level_gives_a_wider_interval():
    (narrow, _), (wide, _) = (aggregate(FAITHFULNESS, many(40), level=level) for level in (0.5, 0.99))
    assert wide.low < narrow.low < narrow.high < wide.high


def test_a_slice_gives_what_each_metric_gives_alone():
    reports = many(20)
    names = ("faithfulness", "abstention", "latency_p50", "recall@5")
    micro, macro = slice_metrics(reports, names=names, seed=7)
    assert list(micro) == list(macro) == list(names)
    assert micro["recall@5"].value is None
    for name in names[:3]:
        assert (micro[name], macro[name]) == aggregate(METRICS[name], reports, seed=7)


def test_a_slice_measures_every_metric_unless_told_otherwise():
    micro, macro = slice_metrics(many(3))
    assert micro.keys() == macro.keys() == METRICS.keys()
    assert slice_metrics(many(3), names=[]) == ({}, {})


def test_no_value_of_a_slice_is_nan():
    micro, macro = slice_metrics([*many(5), report("refusal", 0, abstained=True)])
    numbers = [
        number
        for value in [*micro.values(), *macro.values()]
        for number in (value.value, value.low, value.high)
    ]
    assert not any(number is not None and math.isnan(number) for number in numbers)


def test_a_rare_metric_has_an_interval_from_the_resamples_that_hold_it():
    reports = [report(str(i), 0, abstained=True) for i in range(30)] + [report("x", 1, 3), report("y", 3, 1)]
    micro, _ = aggregate(FAITHFULNESS, reports)
    assert (micro.value, micro.low, micro.high, micro.n) == (0.5, 0.25, 0.75, 2)


def test_case_metrics_leaves_out_what_does_not_apply():
    assert case_metrics(report("a", 3, 1), names=["faithfulness", "ndcg@5"]) == {"faithfulness": 0.75}
    with pytest.raises(ValueError, match="faithfulness"):
        case_metrics(report("a", 1), names=["faithful"])


def test_a_metric_of_your_own_aggregates_too():
    words = Metric(
        name="words",
        family="claims",
        direction="lower",
        definition="words",
        source="test",
        per_case=lambda each: (len(each.verdicts), 2.0),
        range=(0.0, math.inf),
    )
    micro, macro = aggregate(words, [report("a", 3), report("b", 1)])
    assert micro.value == macro.value == 1.0


@pytest.mark.parametrize("items", [1, 7, 3_000_000])
def test_counts_of_a_resample_sum_to_the_items(items):
    resamples = 3 if items > 1000 else 100
    blocks = list(resampled_counts(items, resamples=resamples))
    assert sum(len(block) for block in blocks) == resamples
    assert all((block.sum(axis=1) == items).all() for block in blocks)


def test_draws_that_measured_nothing_are_left_out_of_the_interval():
    assert percentile_interval(np.array([np.nan, 1.0, np.nan, 1.0])) == (1.0, 1.0)
    assert percentile_interval(np.array([np.nan])) is None


def test_wrong_arguments_of_the_bootstrap_are_errors():
    with pytest.raises(ValueError, match=r"level is 95, expected a share between 0 and 1; give 0\.95"):
        aggregate(FAITHFULNESS, many(3), level=95)
    with pytest.raises(ValueError, match="cannot draw 0 resamples of 3 items, expected 1 or more"):
        aggregate(FAITHFULNESS, many(3), resamples=0)
