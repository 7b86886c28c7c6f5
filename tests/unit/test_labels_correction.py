"""Rates corrected by labels: known answers, intervals that cover, labels of the wrong kind."""

import random

import numpy as np
import pytest
from label_samples import label_row, many_claims

from pytest_medfaith.errors import DataError
from pytest_medfaith.gates.judging import judge_gates
from pytest_medfaith.labels.correction import (
    Labelled,
    Rate,
    error_rates,
    jeffreys_limits,
    labels_for_width,
    stratified_rate,
    transported_rate,
)
from pytest_medfaith.labels.rates import corrected_slice, one_label_a_claim
from pytest_medfaith.labels.sampling import draw_claims, strata_of

CHECKER = "fast@0123456789abcdef"


def test_the_rate_is_the_sum_over_strata_of_share_times_share_of_true_labels():
    """The example of the module: 50 of 1,000 claims refuted, 18 of 30 and 1 of 90 labels true."""
    strata = np.repeat([0, 1], [50, 950])
    chosen = np.array([*range(30), *range(50, 140)])
    truth = np.array([True] * 18 + [False] * 12 + [True] + [False] * 89)
    found = stratified_rate(Labelled(cases=np.arange(1000), strata=strata, chosen=chosen, truth=truth))
    assert found.value == pytest.approx(0.05 * 18 / 30 + 0.95 / 90)
    assert found.low < found.value < found.high


def test_a_stratum_without_a_label_gives_no_rate():
    labelled = Labelled(
        cases=np.arange(4),
        strata=np.array([0, 0, 1, 1]),
        chosen=np.array([0, 1]),
        truth=np.array([True, False]),
    )
    assert stratified_rate(labelled) is None


def test_no_error_among_few_labels_still_leaves_room_for_errors():
    labelled = Labelled(
        cases=np.arange(500),
        strata=np.zeros(500, dtype=int),
        chosen=np.arange(30),
        truth=np.zeros(30, dtype=bool),
    )
    found = stratified_rate(labelled)
    assert (found.value, found.low) == (0, 0)
    assert 0.05 < found.high < 0.12  # the rule of three says 0.1


def test_jeffreys_limits_are_the_published_ones():
    """Brown, Cai & DasGupta 2001, table of the Jeffreys interval: 0 to 5 of 10 at 95 %."""
    low, high = jeffreys_limits(np.array([1, 5]), np.array([10, 10]))
    assert low == pytest.approx([0.011, 0.224], abs=1e-3)
    assert high == pytest.approx([0.381, 0.776], abs=1e-3)


def test_labels_of_one_case_that_resemble_each_other_widen_the_interval():
    truth = np.repeat([True, False] * 10, 5)
    apart, together = np.arange(100), np.repeat(np.arange(20), 5)
    widths = [
        (
            found := stratified_rate(
                Labelled(cases=cases, strata=np.zeros(100, dtype=int), chosen=np.arange(100), truth=truth)
            )
        ).high
        - found.low
        for cases in (apart, together)
    ]
    assert widths[1] > 1.8 * widths[0]


def _world(rng, *, rate, tpr, cases=120, claims=5):
    truth = rng.random(cases * claims) < rate
    said = np.where(truth, rng.random(len(truth)) < tpr, rng.random(len(truth)) < 0.04)
    return np.repeat(np.arange(cases), claims), truth, said


def test_intervals_cover_the_truth_about_as_often_as_they_say():
    rng, hits = np.random.default_rng(0), 0
    for _ in range(150):
        cases, truth, said = _world(rng, rate=0.05, tpr=0.8)
        chosen = np.concatenate(
            [
                rng.choice(np.flatnonzero(said == flag), 40, replace=False)
                for flag in (False, True)
                if (said == flag).sum() >= 40
            ]
            or [rng.choice(len(said), 80, replace=False)]
        )
        flagged = np.flatnonzero(said)
        chosen = np.unique([*chosen, *flagged[:20]])
        found = stratified_rate(
            Labelled(cases=cases, strata=said.astype(int), chosen=chosen, truth=truth[chosen])
        )
        hits += found.low <= 0.05 <= found.high
    assert hits / 150 >= 0.9


def test_error_rates_weigh_labels_by_the_claims_they_speak_for():
    said = [True] * 30 + [False] * 40
    truth = [True] * 20 + [False] * 10 + [True] * 4 + [False] * 36
    found = error_rates(said, truth, said, [1.0] * 30 + [10.0] * 40)
    assert found.sensitivity.value == pytest.approx(20 / (20 + 40))
    assert found.specificity.value == pytest.approx(360 / 370)


def test_too_few_labels_of_a_class_give_no_error_rates():
    assert error_rates([True] * 19 + [False] * 50, [True] * 19 + [False] * 50, [0] * 69, [1.0] * 69) is None


def test_rogan_and_gladen_undo_the_errors_of_the_checker():
    rng = np.random.default_rng(1)
    _, truth, said = _world(rng, rate=0.3, tpr=0.8)
    rates = error_rates(list(said), list(truth), list(said), [1.0] * len(said))
    cases, other_truth, other_said = _world(rng, rate=0.1, tpr=0.8, cases=2000)
    found = transported_rate(cases, other_said, rates)
    assert found.value == pytest.approx(0.1, abs=0.03)
    assert found.low <= other_truth.mean() <= found.high


def test_a_checker_that_guesses_gives_no_carried_rate():
    coin = [bool(i % 2) for i in range(80)]
    truth = [i % 4 < 2 for i in range(80)]
    rates = error_rates(coin, truth, coin, [1.0] * 80)
    assert transported_rate(np.arange(80), np.array(coin), rates) is None


def test_wanted_labels_follow_the_square_of_the_width():
    assert labels_for_width(Rate(0.1, 0.06, 0.14), 100) == 300
    assert labels_for_width(Rate(0.1, 0.09, 0.11), 100) == 0


@pytest.fixture
def report():
    return many_claims({"supported": 300, "refuted": 30, "unsupported": 20})


def labels_of(report, *, count, wrong=lambda _: False, checker=CHECKER):
    """Labels of drawn claims: what the checker says, or "supported" and "refuted" exchanged where `wrong`."""
    other = {"supported": "refuted", "refuted": "supported", "unsupported": "supported"}
    return [
        label_row(
            slice=drawn.slice,
            case_id=drawn.report.case.id,
            claim=drawn.verdict.claim.text,
            key=drawn.key,
            label=other[drawn.verdict.label] if wrong(drawn.verdict) else drawn.verdict.label,
            verdict=drawn.verdict.label,
            stratum=drawn.stratum,
            weight=drawn.weight,
            checker=checker,
        )
        for drawn in draw_claims([report], count=count, seed=0).claims
    ]


def corrected(report, labels, checker=CHECKER):
    return corrected_slice(report, labels, checker=checker, strata=strata_of([report]))


def test_labels_that_agree_leave_the_rates_where_they_are(report):
    found = corrected(report, labels_of(report, count=90))
    assert found.metrics["hallucination.corrected"].value == pytest.approx(30 / 350)
    assert found.metrics["faithfulness.corrected"].value == pytest.approx(300 / 350)
    assert found.metrics["hallucination.corrected"].n == 90


def test_a_checker_that_misses_errors_has_a_higher_corrected_rate(report):
    source = random.Random(3)
    labels = labels_of(
        report, count=120, wrong=lambda verdict: verdict.label == "supported" and source.random() < 0.2
    )
    found = corrected(report, labels)
    assert found.metrics["hallucination.corrected"].low > 30 / 350
    assert "labels: 120 of claims of this slice" in found.lines[0]


def test_labels_drawn_under_another_checker_are_left_out_and_counted(report):
    found = corrected(report, labels_of(report, count=60), checker="fast@ffffffffffffffff")
    assert all(metric.value is None for metric in found.metrics.values())
    assert "60 drawn under another checker, left out" in found.lines[0]
    assert "too few labels" in found.lines[-1]


def test_labels_of_claims_that_are_gone_give_error_rates_only(report):
    new = many_claims({"supported": 200, "refuted": 60, "unsupported": 0}, seed=2)
    new = new.with_(
        reports=tuple(
            one.with_(
                response=one.response.with_(answer="New. " + one.response.answer),
                case=one.case.with_(id=f"new-{one.case.id}"),
            )
            for one in new.reports
        )
    )
    labels = labels_of(report, count=240)
    found = corrected(new, labels)
    assert "240 of claims that it no longer has, for error rates only" in found.lines[0]
    assert found.metrics["hallucination.corrected"].value == pytest.approx(60 / 260, abs=0.02)
    assert any("by error rates on labels of other claims" in line for line in found.lines)


def test_what_is_no_claim_counts_in_nothing(report):
    labels = labels_of(report, count=60)
    more = [label_row(**{**label.to_dict(), "label": "no_claim"}) for label in labels[:5]]
    found = corrected(report, [*more, *labels[5:]])
    assert found.metrics["hallucination.corrected"].n == 55
    assert "5 of what is no claim, left out" in found.lines[0]


def test_labels_of_several_reviewers_are_refused_until_they_are_merged(report, tmp_path):
    labels = labels_of(report, count=60)
    with pytest.raises(DataError, match=r"holds 2 labels of the claim .* medfaith review --import"):
        one_label_a_claim([*labels, labels[0].with_(reviewer="ab")], tmp_path / "labels.jsonl")


@pytest.mark.parametrize(
    ("gate", "outcome"),
    [
        ("hallucination.corrected <= 0.2", "pass"),
        ("hallucination.corrected <= 0.01", "fail"),
        ("faithfulness.corrected >= 0.5 at 95%", "pass"),
    ],
)
def test_gates_bound_the_corrected_rate(report, gate, outcome):
    found = corrected(report, labels_of(report, count=90))
    judged = judge_gates([gate], report.with_(metrics={**report.metrics, **found.metrics}))
    assert judged.gates[0].outcome == outcome
    assert "over 90 labels" in judged.gates[0].message


def test_a_gate_without_labels_fails_and_says_what_is_wanted(report):
    judged = judge_gates(["hallucination.corrected <= 0.2"], report)
    assert judged.gates[0].outcome == "fail"
    assert "medfaith review" in judged.gates[0].message
