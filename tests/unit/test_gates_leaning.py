"""Uncertain claims: in no average, bounded by a gate, and never what turns a gate green."""

import random

import pytest
from unit.gate_samples import case, report_of, slice_of, stored

from pytest_medfaith.asserts import assert_faithfulness
from pytest_medfaith.cards.csv_claims import claims_csv
from pytest_medfaith.cards.json_card import json_card, report_schema
from pytest_medfaith.cards.junit import case_properties
from pytest_medfaith.cards.terminal import result_card
from pytest_medfaith.checking.selective import Selective, as_leaning
from pytest_medfaith.gates.judging import judge_gates, stops_run
from pytest_medfaith.labels.sampling import draw_claims
from pytest_medfaith.metrics.aggregate import case_metrics
from pytest_medfaith.records import Claim, Verdict

SURE = Selective(supported=0.6, refuted=0.6, risk=0.05, confidence=0.9)


def selective_case(name, verdicts, uncertain):
    """Returns a case of which the claims at the places `uncertain` lean to their letter."""
    report = case(name, verdicts)
    changed = [
        verdict.with_(label="uncertain", leaning=verdict.label)
        if place in uncertain and verdict.label in ("supported", "refuted")
        else verdict
        for place, verdict in enumerate(report.verdicts)
    ]
    report = report.with_(verdicts=tuple(changed), selective=True)
    return report.with_(metrics=case_metrics(report))


def outcomes(gates, report, **beside):
    return [gate.outcome for gate in judge_gates(gates, report, **beside).gates]


def test_uncertain_claims_are_in_no_average():
    report = report_of([selective_case("a", "ssrs", {2, 3})])
    assert report.metrics["faithfulness"].value == 1
    assert report.metrics["hallucination"].value == 0
    assert report.metrics["uncertain"].value == 0.5
    assert report.metrics["unscored"].value == 0


def test_a_gate_does_not_turn_green_by_what_leaves_the_average():
    cases = [selective_case(f"c{i}", "sssss", set()) for i in range(3)]
    cases.append(selective_case("d", "ssssr", {4}))
    gates = ["hallucination <= 0.04", "uncertain <= 0.2"]
    judged = judge_gates(gates, report_of(cases)).gates
    assert [gate.outcome for gate in judged] == ["fail", "pass"]
    assert "with uncertain claims as they lean: " in judged[0].message
    assert "hallucination is 0.050" in judged[0].message
    assert outcomes(["hallucination <= 0.06", "uncertain <= 0.2"], report_of(cases)) == ["pass", "pass"]


def test_uncertain_claims_that_no_gate_allows_fail_a_gate():
    report = report_of([selective_case("a", "ssss", {0})])
    judged = judge_gates(["faithfulness >= 0.5"], report).gates[0]
    assert judged.outcome == "fail"
    assert "1 of 4 claims are uncertain, and the rate leaves them out (a gate such as uncertain <= 0.2" in (
        judged.message
    )
    assert outcomes(["faithfulness >= 0.5", "uncertain <= 0.2"], report) == ["fail", "fail"]
    assert outcomes(["faithfulness >= 0.5", "uncertain <= 0.25"], report) == ["pass", "pass"]


def test_a_slice_of_uncertain_claims_alone_passes_nothing():
    report = report_of([selective_case("a", "ss", {0, 1})])
    assert outcomes(["faithfulness >= 0.5", "uncertain <= 0.99"], report) == ["fail", "fail"]


def test_a_gate_on_uncertain_needs_selective_verdicts():
    judged = judge_gates(["uncertain <= 0.2"], slice_of({"a": "ss"})).gates[0]
    assert (judged.outcome, "could not be measured" in judged.message) == ("fail", True)


GATES = (
    "faithfulness >= 0.8",
    "hallucination <= 0.1",
    "unsupported <= 0.3",
    "major_hallucination <= 0.1",
    "major_error_rate <= 0.3",
    "faithfulness >= 0.6 at 95%",
)


@pytest.mark.parametrize("seed", range(25))
def test_no_gate_passes_that_fails_with_all_verdicts(seed):
    source = random.Random(seed)
    plain, selective = [], []
    for number in range(source.randint(1, 12)):
        letters = "".join(source.choice("ssssssru") for _ in range(source.randint(1, 6)))
        uncertain = {place for place in range(len(letters)) if source.random() < 0.3}
        plain.append(case(f"c{number}", letters))
        selective.append(selective_case(f"c{number}", letters, uncertain))
    without = judge_gates(GATES, report_of(plain)).gates
    given = judge_gates([*GATES, "uncertain <= 0.99"], report_of(selective)).gates
    for before, after in zip(without, given, strict=False):
        assert (
            not (before.outcome != "pass" and after.outcome == "pass") or before.outcome == after.outcome
        ), (before, after)


def test_a_comparison_with_a_baseline_counts_them_as_they_lean(tmp_path):
    before = report_of([case(f"c{i}", "ssss") for i in range(30)])
    baseline = stored(tmp_path, before)
    after = report_of([selective_case(f"c{i}", "rsss", {0}) for i in range(30)])
    gates = ["hallucination no worse than baseline by 0.02", "uncertain <= 0.5"]
    assert outcomes(gates, after, baseline=baseline) == ["fail", "pass"]


def test_a_failed_gate_stops_the_run():
    report = report_of([selective_case("a", "ssss", {0})])
    assert stops_run(judge_gates(["faithfulness >= 0.5"], report).gates[0])


def test_an_assertion_does_not_pass_by_what_leaves_the_average():
    report = selective_case("a", "ssssssssrr", {8, 9})
    with pytest.raises(AssertionError, match=r"hallucination is 0\.200, expected at most 0\.1"):
        assert_faithfulness(report, at_least=0.5, hallucination_at_most=0.1, unscored_at_most=0.5)
    with pytest.raises(AssertionError, match="2 of 10 claims could not be scored"):
        assert_faithfulness(report, at_least=0.5)


def verdict(label, score, **changes):
    return Verdict(claim=Claim(id="c", text="Iron helps."), label=label, score=score, **changes)


def test_verdicts_at_or_below_their_threshold_are_uncertain():
    assert SURE.applied(verdict("supported", 0.61)).label == "supported"
    below = SURE.applied(verdict("supported", 0.6, reason="two chunks together"))
    assert (below.label, below.leaning, below.score) == ("uncertain", "supported", 0.6)
    assert below.reason == "uncertain: supported at 0.60, a verdict stands above 0.60; two chunks together"
    assert as_leaning(below).label == "supported"
    assert SURE.applied(verdict("refuted", 0.2)).leaning == "refuted"


@pytest.mark.parametrize("label", ["unsupported", "unscored"])
def test_other_verdicts_stand(label):
    assert SURE.applied(verdict(label, 0.1)).label == label


def test_what_a_rule_decided_or_the_evidence_says_word_for_word_stands():
    for reason in ("decided by the rule numbers", "quoted from the evidence"):
        assert SURE.applied(verdict("refuted", 0.05, reason=reason)).label == "refuted"


def test_a_kind_without_a_certified_threshold_stands():
    only_supported = Selective(supported=0.6, refuted=None, risk=0.05, confidence=0.9)
    assert only_supported.applied(verdict("refuted", 0.1)).label == "refuted"


def test_cards_count_them():
    jsonschema = pytest.importorskip("jsonschema", reason="a dependency of the tests")
    import json

    report = report_of([selective_case("a", "ssr", {0, 2})])
    assert "3 claims: 1 supported, 0 refuted, 0 unsupported, 0 unscored, 2 uncertain" in result_card([report])
    written = json.loads(json_card([report]))
    jsonschema.validate(written, report_schema())
    assert written["slices"][0]["counts"]["uncertain"] == 2
    assert written["slices"][0]["cases"][0]["claims"][0]["leaning"] == "supported"
    assert ",uncertain," in claims_csv([report])
    assert dict(case_properties(report.reports[0], slice="iron"))["medfaith.uncertain"] == "0.666667"
    plain = report_of([case("a", "ssr")])
    assert "uncertain" not in json.loads(json_card([plain]))["slices"][0]["counts"]
    assert "uncertain" not in result_card([plain])


def test_uncertain_claims_are_drawn_and_come_first():
    cases = [selective_case(f"c{i}", "ssss", {0} if i % 5 == 4 else set()) for i in range(20)]
    drawn = draw_claims([report_of(cases)], count=40, seed=1)
    firsts = [claim.report.case.id for claim in drawn.claims]
    uncertain = {claim.report.case.id for claim in drawn.claims if claim.verdict.label == "uncertain"}
    assert uncertain
    assert set(firsts[: len([one for one in firsts if one in uncertain])]) == uncertain
    assert {"uncertain near", "uncertain far"} <= drawn.population.keys()
