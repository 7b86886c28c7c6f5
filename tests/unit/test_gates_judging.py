"""What gates answer: bounds on a value or its interval, comparisons, slices that were not measured whole."""

import math

import pytest
from gate_samples import case, report_of, slice_of, stored

from pytest_medfaith.errors import DataError, MissingBaseline
from pytest_medfaith.gates.expressions import asks_for_audit, parse_gate
from pytest_medfaith.gates.judging import judge_bound, judge_gates, stops_run
from pytest_medfaith.records import GateResult, MetricValue, SliceReport

NO_CLAIM = "the answer makes no checkable claim"


def report(value, low=None, high=None, *, missing=(), n=10, name="hallucination"):
    metric = MetricValue(name=name, value=value, low=low, high=high, n=n)
    return SliceReport(
        slice="iron", retriever="bm25", checker="default", k=5, metrics={name: metric}, missing=missing
    )


@pytest.mark.parametrize(
    ("expression", "value", "low", "high", "outcome"),
    [
        ("hallucination <= 0.05", 0.05, 0.01, 0.2, "pass"),
        ("hallucination <= 5%", 0.0501, 0.01, 0.2, "fail"),
        ("hallucination <= 0.05 at 95%", 0.02, 0.0, 0.04, "pass"),
        ("hallucination <= 0.05 at 95%", 0.02, 0.0, 0.06, "fail"),
        ("hallucination <= 0.05 at 95%", 0.05, 0.0, 0.06, "fail"),
        ("hallucination <= 0.05 at 95%", 0.06, None, None, "fail"),
        ("hallucination <= 0.05 at 95%", 0.02, None, None, "inconclusive"),
        ("hallucination <= 0.07 at 95 %", 0.05, 0.02, 0.06, "pass"),
    ],
)
def test_a_gate_is_judged_on_the_value_or_on_the_far_end_of_the_interval(
    expression, value, low, high, outcome
):
    result = judge_bound(parse_gate(expression), report(value, low, high))
    assert (result.outcome, result.value) == (outcome, value)


def test_a_bound_that_the_interval_does_not_clear_says_how_many_cases_would_show_it():
    result = judge_bound(
        parse_gate("faithfulness >= 0.8 at 95%"), report(0.85, 0.75, 0.93, n=50, name="faithfulness")
    )
    assert result.outcome == "fail"
    # the lower half of the interval is 0.10 wide; to become 0.05 wide, it needs four times as many cases
    assert result.message == (
        "faithfulness is 0.850, 95 % interval [0.750, 0.930] over 50 cases; wanted at least 0.8 for sure; "
        "if the value stays, about 200 "
        "cases would show it"
    )


@pytest.mark.parametrize(("n", "outcome"), [(71, "inconclusive"), (72, "pass")])
def test_cases_that_all_come_out_alike_show_a_bound_only_where_there_are_enough_of_them(n, outcome):
    # 0.95^72 < 0.025 <= 0.95^71: so many cases without one that hallucinates through and through
    result = judge_bound(parse_gate("hallucination <= 0.05 at 95%"), report(0.0, 0.0, 0.0, n=n))
    assert result.outcome == outcome
    assert ("shows nothing below 72 cases" in result.message) == (outcome == "inconclusive")


def test_no_number_of_cases_shows_that_every_claim_will_be_supported():
    result = judge_bound(
        parse_gate("faithfulness >= 1 at 95%"), report(1.0, 1.0, 1.0, n=10_000, name="faithfulness")
    )
    assert result.outcome == "inconclusive"
    assert "below any number of cases" in result.message


def test_what_could_not_be_measured_never_passes():
    result = judge_bound(parse_gate("hallucination <= 0.9"), report(None))
    assert (result.outcome, result.message) == (
        "fail",
        "hallucination could not be measured on this slice, so nothing says that it passes",
    )


@pytest.mark.parametrize("number", [math.nan, math.inf])
def test_a_value_that_is_not_finite_is_an_error(number):
    with pytest.raises(DataError, match=r"hallucination of slice 'iron' is .*, expected finite numbers"):
        judge_bound(parse_gate("hallucination <= 0.9"), report(number))


def test_a_slice_cut_short_never_passes():
    result = judge_bound(parse_gate("hallucination <= 0.5"), report(0.1, missing=("iron-2",)))
    assert result.outcome == "fail"
    assert "did not finish: iron-2" in result.message


def test_a_cut_off_that_no_card_shows_is_measured_for_its_gate():
    cases = [case("a", "s", found=True), case("b", "s", found=False)]
    judged = judge_gates(["recall@20 >= 0.5", "recall@20 >= 0.6"], report_of(cases))
    assert [(gate.outcome, gate.value) for gate in judged.gates] == [("pass", 0.5), ("fail", 0.5)]


def test_a_comparison_without_a_baseline_names_the_flag():
    with pytest.raises(
        MissingBaseline,
        match=r"compares faithfulness of slice 'iron' .* write one with pytest --medfaith-update-baseline",
    ):
        judge_gates(["hallucination <= 0.5", "faithfulness no worse than baseline"], slice_of({"a": "s"}))


def test_gates_keep_their_order_and_two_metrics_are_corrected_for_two_looks(tmp_path):
    baseline = stored(tmp_path, slice_of({f"c{i}": "sssss" for i in range(8)}))
    worse = slice_of({f"c{i}": "srsss" if i < 6 else "sssss" for i in range(8)})
    single = judge_gates(["hallucination no worse than baseline"], worse, baseline=baseline).gates[0]
    # 6 cases of 8 became worse, none better: 2^2 of 2^8 swaps come out as bad
    assert (single.outcome, single.value) == ("fail", 0.15)
    assert "p = 0.016;" in single.message
    expressions = [
        "faithfulness >= 0.5",
        "hallucination no worse than baseline",
        "faithfulness no worse than baseline by 0.1",
    ]
    bound, hallucination, faithfulness = judge_gates(expressions, worse, baseline=baseline).gates
    assert [bound.expression, hallucination.expression, faithfulness.expression] == expressions
    for gate in (hallucination, faithfulness):
        assert gate.outcome == "fail"
        assert "p = 0.031, Holm-corrected for 2 metrics compared on this slice" in gate.message


def test_two_gates_on_one_metric_are_one_look(tmp_path):
    baseline = stored(tmp_path, slice_of({"a": "sr", "b": "ss"}))
    expressions = ["hallucination no worse than baseline", "hallucination no worse than baseline by 0.1"]
    judged = judge_gates(expressions, slice_of({"a": "sr", "b": "us"}), baseline=baseline)
    assert not any("Holm" in gate.message for gate in judged.gates)


def test_a_metric_that_this_run_could_not_measure_fails_its_comparison(tmp_path):
    baseline = stored(tmp_path, slice_of({"a": "s", "b": "s"}))
    judged = judge_gates(
        ["faithfulness no worse than baseline"], slice_of({"a": "?", "b": "?"}), baseline=baseline
    )
    assert judged.gates[0].outcome == "fail"
    assert "could not be measured" in judged.gates[0].message


def test_a_comparison_over_a_slice_cut_short_fails(tmp_path):
    whole = slice_of({"a": "s", "b": "s"})
    cut = report_of([case("a", "s")], expected=("a", "b"))
    gate = judge_gates(["faithfulness no worse than baseline"], cut, baseline=stored(tmp_path, whole)).gates[
        0
    ]
    assert gate.outcome == "fail"
    assert "1 of 2 cases did not finish: b" in gate.message


@pytest.mark.parametrize(
    ("outcome", "inconclusive", "stops"),
    [
        ("fail", "warn", True),
        ("fail", "pass", True),
        ("pass", "fail", False),
        ("inconclusive", "fail", True),
        ("inconclusive", "warn", False),
        ("inconclusive", "pass", False),
    ],
)
def test_the_user_says_what_inconclusive_does(outcome, inconclusive, stops):
    assert stops_run(GateResult(expression="x", outcome=outcome), inconclusive=inconclusive) == stops


def test_inconclusive_does_not_stop_a_run_by_default():
    assert not stops_run(GateResult(expression="x", outcome="inconclusive"))


def test_a_gate_on_an_audit_is_a_bound_and_says_that_it_counts_claims():
    result = judge_gates(["audit.recall >= 0.9"], report(0.8, 0.7, 0.9, n=60, name="audit.recall")).gates[0]
    assert (result.outcome, result.value) == ("fail", 0.8)
    assert (
        "audit.recall is 0.800, 95 % interval [0.700, 0.900] over 60 claims; wanted at least 0.9"
        in result.message
    )
    assert asks_for_audit(["hallucination <= 0.1", "audit.recall.negation >= 0.9"])
    assert not asks_for_audit(["hallucination <= 0.1"])
    with pytest.raises(
        ValueError, match=r"audit\.recall has no cases to pair with a baseline's; expected a bound"
    ):
        parse_gate("audit.recall no worse than baseline")


@pytest.mark.parametrize(("n", "outcome"), [(9, "inconclusive"), (10, "pass")])
def test_an_interval_over_few_cases_shows_nothing(n, outcome):
    """Two cases that clear the bound would pass for sure: the bootstrap never leaves the range of values."""
    result = judge_bound(parse_gate("hallucination <= 0.05 at 95%"), report(0.025, 0.0, 0.05, n=n))
    assert result.outcome == outcome
    assert ("so few cases show nothing below 10 cases" in result.message) == (outcome == "inconclusive")


@pytest.mark.parametrize(
    ("name", "n", "outcome"),
    [("latency_p95", 71, "inconclusive"), ("latency_p95", 72, "pass"), ("latency_p50", 6, "pass")],
)
def test_a_quantile_is_bounded_by_cases_enough_to_hold_one_beyond_it(name, n, outcome):
    """0.95 ** 72 < 0.025."""
    assert (
        judge_bound(
            parse_gate(f"{name} <= 200ms at 95%"), report(110.0, 100.0, 120.0, n=n, name=name)
        ).outcome
        == outcome
    )


@pytest.mark.parametrize(
    ("verdicts", "gate", "outcome"),
    [
        ("ssss", "hallucination <= 0.05", "pass"),
        ("sssu", "hallucination <= 0.05", "pass"),
        ("ss??", "hallucination <= 0.05", "fail"),
        ("ss??", "faithfulness >= 0.5", "fail"),
        ("ss??", "safety_error_rate <= 0.1", "fail"),
        ("ss??", "hit@k >= 0.5", "pass"),
        ("rr??", "hallucination <= 0.05", "fail"),
        ("ss??", "unscored <= 0.6", "pass"),
    ],
)
def test_claims_that_nobody_could_score_let_no_gate_on_claims_pass(verdicts, gate, outcome):
    (result,) = judge_gates([gate], slice_of(dict.fromkeys("abc", verdicts))).gates
    assert result.outcome == outcome
    assert ("6 of 12 claims could not be scored" in result.message) == (
        outcome == "fail" and verdicts == "ss??"
    )


@pytest.mark.parametrize(
    ("allowed", "outcome"),
    [("unscored <= 0.05", "fail"), ("unscored <= 0.25", "pass"), ("unscored <= 50%", "pass")],
)
def test_a_gate_on_unscored_says_how_many_claims_may_be(allowed, outcome):
    results = judge_gates(["faithfulness >= 0.8", allowed], slice_of({"a": "sss?", "b": "sss?"})).gates
    assert [result.outcome for result in results] == [outcome, outcome]
    assert "2 of 8 claims could not be scored" in results[0].message


class TestSlicesThatAnswerNothing:
    GATES = ("faithfulness >= 0.8", "hallucination <= 0.05", "latency_p95 <= 1s", "hit@k >= 0.5")

    def outcomes(self, reports, *gates):
        judged = judge_gates(gates or self.GATES, report_of(reports))
        return {gate.expression: gate.outcome for gate in judged.gates}, " ".join(
            gate.message for gate in judged.gates
        )

    def test_four_of_five_refusals_fail(self):
        outcomes, said = self.outcomes([case("a", "ss", latency=1.0), *(refusal(name) for name in "bcde")])
        assert outcomes["abstention <= 0.5"] == "fail"
        assert "4 of 5 answers are refusals" in said

    def test_half_of_them_may_be(self):
        assert set(self.outcomes([case("a", "ss", latency=1.0), refusal("b")])[0].values()) == {"pass"}

    def test_the_slice_may_bound_abstention_itself(self):
        reports = [case("a", "ss"), *(refusal(name) for name in "bcde")]
        outcomes, _ = self.outcomes(reports, "faithfulness >= 0.8", "abstention >= 0.8")
        assert outcomes == {"faithfulness >= 0.8": "pass", "abstention >= 0.8": "pass"}
        assert self.outcomes(reports, "abstention <= 0.9")[0] == {"abstention <= 0.9": "pass"}
        assert self.outcomes(reports, "abstention <= 0.6")[0] == {"abstention <= 0.6": "fail"}

    def test_a_slice_without_gates_fails_too_but_not_for_its_only_case(self):
        assert judge_gates([], report_of([refusal("a"), refusal("b")])).gates[0].outcome == "fail"
        assert judge_gates([], report_of([refusal("a")])).gates == ()
        assert judge_gates([], report_of([case("a", "su"), refusal("b")])).gates == ()

    @pytest.mark.parametrize(
        ("answer", "said"),
        [
            ("", "the answer is empty"),
            (" \n\t ", "the answer is empty"),
            ("...", NO_CLAIM),
            ("\u200b", NO_CLAIM),
        ],
    )
    def test_an_answer_without_content_fails_every_gate(self, answer, said):
        empty = case("b", "", latency=1.0)
        empty = empty.with_(response=empty.response.with_(answer=answer))
        outcomes, told = self.outcomes([case("a", "ssss", latency=1.0), empty])
        assert outcomes == dict.fromkeys(self.GATES, "fail")
        assert f"1 of 2 cases failed: b ({said})" in told
        assert judge_gates([], report_of([case("a", "ssss"), empty])).gates[0].outcome == "fail"

    def test_a_case_without_contexts_fails_every_gate(self):
        bare = case("b", "ss", latency=1.0)
        bare = bare.with_(response=bare.response.with_(contexts=()))
        outcomes, told = self.outcomes([case("a", "ssss", latency=1.0), bare])
        assert outcomes == dict.fromkeys(self.GATES, "fail")
        assert "b (there are no contexts, so nothing was checked)" in told
        assert set(
            self.outcomes([case("a", "ssss", latency=1.0), bare.with_(contexts_optional=True)])[0].values()
        ) == {"pass"}

    def test_a_refusal_needs_no_contexts(self):
        bare = refusal("b")
        bare = bare.with_(response=bare.response.with_(contexts=()))
        assert set(self.outcomes([case("a", "ss", latency=1.0), bare])[0].values()) == {"pass"}

    def test_a_failed_case_fails_a_comparison_with_the_baseline(self, tmp_path):
        reports = [case("a", "ss"), case("b", "ss")]
        baseline = stored(tmp_path, report_of(reports))
        bare = reports[1].with_(response=reports[1].response.with_(contexts=()))
        (gate,) = judge_gates(
            ["faithfulness no worse than baseline"], report_of([reports[0], bare]), baseline=baseline
        ).gates
        assert gate.outcome == "fail"


def refusal(name):
    made = case(name, "", latency=1.0)
    return made.with_(response=made.response.with_(answer="I do not know."), abstained=True)
