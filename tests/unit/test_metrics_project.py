"""Metrics of a project: found by dotted name, checked when declared and when measured, unknown elsewhere."""

import json
import math
import sys
import types

import jsonschema
import numpy as np
import pytest

from pytest_medfaith.cards.html import html_report
from pytest_medfaith.cards.json_card import json_card, report_schema
from pytest_medfaith.cards.markdown import markdown_card
from pytest_medfaith.cards.run_folder import write_run
from pytest_medfaith.cards.run_reading import read_run
from pytest_medfaith.cards.terminal import result_card
from pytest_medfaith.compare.runs import compare_slices
from pytest_medfaith.errors import DataError
from pytest_medfaith.evaluation import slice_report
from pytest_medfaith.gates.baseline import read_baseline, write_baseline
from pytest_medfaith.gates.expressions import parse_gate
from pytest_medfaith.gates.judging import judge_gates
from pytest_medfaith.metrics.aggregate import case_metrics, slice_metrics
from pytest_medfaith.metrics.base import Metric
from pytest_medfaith.metrics.project import declared_metrics
from pytest_medfaith.metrics.registry import METRICS, parse_metric
from pytest_medfaith.records import Case, Claim, GateResult, Report, Response, SliceReport, SliceRun, Verdict


def brands(report):
    named = sum("Advil" in verdict.claim.text for verdict in report.verdicts)
    return (named, len(report.verdicts)) if report.verdicts else None


def metric(**changes):
    values = {
        "name": "brand_names",
        "direction": "lower",
        "definition": "claims that name a brand / claims",
        "per_case": brands,
    }
    return Metric(**{**values, **changes})


@pytest.fixture
def declare(monkeypatch):
    """Returns a function that puts metrics into a module, and loads them as settings that name them would."""

    def declared(*metrics):
        module = types.ModuleType("house_metrics")
        for number, each in enumerate(metrics):
            setattr(module, f"metric_{number}", each)
        monkeypatch.setitem(sys.modules, "house_metrics", module)
        return declared_metrics([f"house_metrics:metric_{number}" for number in range(len(metrics))])

    return declared


def report(name, *texts, label="supported"):
    verdicts = tuple(Verdict(claim=Claim(id=str(i), text=text), label=label) for i, text in enumerate(texts))
    return Report(
        case=Case(id=name, question="Which?"),
        response=Response(answer="An answer."),
        verdicts=verdicts,
        contexts_optional=True,
    )


REPORTS = [
    report("a", "Advil helps.", "Rest helps."),
    report("b", "Advil.", "Rest.", "Tea.", "Sleep."),
    report("c"),
]


def test_a_metric_of_the_settings_stands_behind_the_shipped_ones_and_knows_its_family(declare):
    declared = declare(metric(family="latency"))
    assert list(declared) == [*METRICS, "brand_names"]
    assert parse_metric("brand_names", declared).family == "project"
    assert parse_metric("recall@20", declared).k == 20


def test_nothing_is_left_of_it_for_the_next_run(declare):
    declare(metric())
    assert "brand_names" not in METRICS
    with pytest.raises(ValueError, match="no metric is called 'brand_names'"):
        parse_metric("brand_names")
    assert declared_metrics([]) == METRICS


def test_it_is_measured_like_the_shipped_ones_with_intervals(declare):
    declared = declare(metric())
    assert case_metrics(REPORTS[0], declared=declared)["brand_names"] == 0.5
    assert "brand_names" not in case_metrics(REPORTS[2], declared=declared)
    micro, macro = slice_metrics(REPORTS, declared=declared)
    assert (micro["brand_names"].value, macro["brand_names"].value, micro["brand_names"].n) == (
        pytest.approx(1 / 3),
        0.375,
        2,
    )
    assert micro["brand_names"].low < micro["brand_names"].high
    assert micro["abstention"].n == 3


def test_a_misspelled_name_is_told_the_name_of_the_projects_metric(declare):
    with pytest.raises(ValueError, match=r"no metric is called 'brand_name'; .* 'brand_names'"):
        parse_gate("brand_name <= 0.1", declare(metric()))


@pytest.mark.parametrize(
    ("expression", "outcome"),
    [("brand_names <= 0.1", "fail"), ("brand_names <= 40%", "pass"), ("brand_names <= 0.4 at 95%", "fail")],
)
def test_a_gate_reads_it(declare, expression, outcome):
    declared = declare(metric())
    measured, _ = slice_metrics(REPORTS[:2], declared=declared)
    whole = SliceReport(
        slice="s", retriever="r", checker="c", k=1, reports=tuple(REPORTS[:2]), metrics=measured
    )
    (gate,) = judge_gates([expression], whole, declared=declared).gates
    assert gate.outcome == outcome
    assert gate.message.startswith("brand_names is 0.333")


@pytest.mark.parametrize(("whole", "outcome"), [("claims", "fail"), ("items", "pass")])
def test_a_share_of_claims_fails_where_claims_could_not_be_scored(declare, whole, outcome):
    declared = declare(metric(whole=whole))
    reports = [*REPORTS[:2], report("d", "Tea.", "Rest.", label="unscored")]
    measured, _ = slice_metrics(reports, declared=declared)
    sliced = SliceReport(slice="s", retriever="r", checker="c", k=1, reports=tuple(reports), metrics=measured)
    (gate,) = judge_gates(["brand_names <= 0.4"], sliced, declared=declared).gates
    assert gate.outcome == outcome


@pytest.mark.parametrize(
    ("dotted", "message"),
    [
        ("brand_names", "the metric 'brand_names' is no dotted name; expected package.module:name"),
        (
            "no_such:thing",
            r"the metric 'no_such:thing' cannot be imported \(No module named 'no_such'\); expected",
        ),
        ("math:pie", r"the metric 'math:pie' cannot be imported \(module 'math' has no attribute 'pie'\)"),
        ("math:pi", r"the metric 'math:pi' is 3\.14\d+; expected a pytest_medfaith\.metrics\.base\.Metric"),
    ],
)
def test_a_name_that_leads_to_no_metric_is_an_error(dotted, message):
    with pytest.raises(DataError, match=message):
        declared_metrics([dotted])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"name": "faithfulness"},
            "the metric 'house_metrics:metric_0' has the name 'faithfulness', which a shipped one has",
        ),
        ({"name": "audit.recall"}, "which a shipped one has"),
        ({"name": "ragchecker.f1"}, "which a shipped one has"),
        ({"name": "recall@5"}, r"expected letters, digits, _ and \. with a letter first"),
        ({"name": "brand names"}, "has the name 'brand names'; expected letters"),
        ({"name": ""}, "has the name ''; expected letters"),
        ({"direction": "down"}, "has the direction 'down'; expected 'higher' or 'lower'"),
        ({"range": (1.0, 0.0)}, r"has the range \(1\.0, 0\.0\); expected \(lowest, highest\)"),
    ],
)
def test_a_declaration_that_cannot_hold_is_an_error(declare, changes, message):
    with pytest.raises(DataError, match=message):
        declare(metric(**changes))


def test_two_metrics_of_one_name_are_an_error(declare):
    with pytest.raises(
        DataError, match="metric_1' has the name 'brand_names', which another metric of the settings has"
    ):
        declare(metric(), metric(definition="another"))


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ((3, 2), r"metric 'brand_names' of case 'a' is 3 / 2 = 1\.5, expected a value in its range, 0 to 1"),
        ((-1, 2), r"is -1 / 2 = -0\.5, expected a value in its range"),
        (0.5, r"is 0\.5, expected \(part, whole\), such as \(1, 4\), or None"),
        ((1, 2, 3), r"is \(1, 2, 3\), expected \(part, whole\)"),
        (("1", 2), r"expected \(part, whole\)"),
        ((0, 0), "is 0 / 0, expected a whole number of 1 or more as the whole"),
        ((0.1, 0.5), r"is 0\.1 / 0\.5, expected a whole number of 1 or more"),
        ((math.nan, 1), "is nan / 1 = nan, expected a value in its range"),
        ((1, math.inf), "is 1 / inf, expected a whole number of 1 or more"),
    ],
)
def test_an_answer_that_no_baseline_could_hold_names_metric_and_case(declare, answer, message):
    (measured,) = [m for m in declare(metric(per_case=lambda _: answer)).values() if m.family == "project"]
    with pytest.raises(ValueError, match=message):
        measured.value(REPORTS[0])


@pytest.mark.parametrize(
    ("changes", "answer", "message"),
    [
        (
            {"part": "count"},
            (0.5, 2),
            r"is 0\.5 / 2, expected a whole number as the part, which is declared as a count",
        ),
        ({"whole": "claims"}, (1, 3), "is 1 / 3, but the answer makes 2 claims; expected no more of them"),
    ],
)
def test_a_count_is_held_to_its_declaration(declare, changes, answer, message):
    declared = declare(metric(per_case=lambda _: answer, **changes))
    with pytest.raises(ValueError, match=message):
        case_metrics(REPORTS[0], declared=declared)


@pytest.mark.parametrize("answer", [(np.int64(1), np.int64(2)), [1, 2], (np.float32(1), 2), (1 + 1e-12, 1)])
def test_numbers_of_other_kinds_and_the_last_bits_of_a_sum_are_taken(declare, answer):
    part, whole = declare(metric(per_case=lambda _: answer))["brand_names"].measure(REPORTS[0])
    assert 0 <= part / whole <= 1
    assert (type(part), type(whole)) == (float, float)


def test_a_range_without_an_end_takes_any_number(declare):
    declared = declare(metric(per_case=lambda _: (120, 1), range=(0.0, math.inf)))
    assert declared["brand_names"].value(REPORTS[0]) == 120


def sliced(declared, reports=REPORTS, **changes):
    run = SliceRun(slice="s", retriever="bm25", checker="student", k=3)
    return slice_report(run, reports, declared=declared).with_(**changes)


def test_every_card_shows_its_value_its_interval_and_what_it_means(declare):
    report = sliced(declare(metric()))
    line = "brand_names: 0.33 [0.25, 0.50] over 2 of 3 cases (claims that name a brand / claims)"
    assert line in result_card([report], verbose=True)
    assert "brand_names" not in result_card([report])
    assert line in markdown_card([report])
    page = html_report([report])
    assert "<td>brand_names</td>" in page
    assert "<dt>brand_names</dt><dd>claims that name a brand / claims</dd>" in page
    row = json.loads(json_card([report]))["slices"][0]
    jsonschema.validate(json.loads(json_card([report])), report_schema())
    assert row["metrics"]["brand_names"]["n"] == 2
    assert row["definitions"] == {"brand_names": "claims that name a brand / claims"}


def test_a_card_without_such_metrics_is_the_same_as_ever():
    assert "definitions" not in json_card([sliced(METRICS)])


def test_a_metric_that_applies_to_no_case_is_shown_as_unmeasured(declare):
    report = sliced(declare(metric(per_case=lambda _: None)))
    assert "brand_names: - over 0 of 3 cases" in result_card([report], verbose=True)


def test_a_run_folder_keeps_it(declare, tmp_path):
    report = sliced(declare(metric()))
    write_run(tmp_path / "run", [report], signature={}, facts={})
    (back,), _ = read_run(tmp_path / "run")
    assert back.definitions == report.definitions
    assert back.metrics["brand_names"] == report.metrics["brand_names"]


def test_a_baseline_holds_it_and_a_later_run_is_compared_case_by_case(declare, tmp_path):
    declared = declare(metric())
    path = tmp_path / "medfaith-baseline.json"
    write_baseline(path, [sliced(declared, REPORTS[:2])], signature={}, declared=declared)
    (entry,) = read_baseline(path, declared).slices
    assert entry.cases["b"].fractions["brand_names"] == (1.0, 4.0)
    gates = ["brand_names no worse than baseline"]
    same = judge_gates(gates, sliced(declared, REPORTS[:2]), declared=declared, baseline=entry)
    assert same.gates[0].outcome == "pass"
    names = [f"c{i}" for i in range(9)]
    before = sliced(declared, [report(name, "Tea.", "Rest.") for name in names])
    after = sliced(declared, [report(name, "Advil.", "Rest.") for name in names])
    write_baseline(path, [before], signature={}, declared=declared)
    (entry,) = read_baseline(path, declared).slices
    (gate,) = judge_gates(gates, after, declared=declared, baseline=entry).gates
    assert (gate.outcome, gate.value) == ("fail", 0.5)
    assert "brand_names is 0.500, was 0.000; worse by 0.500" in gate.message


def test_a_baseline_that_holds_an_impossible_value_is_refused_where_the_project_says_its_range(
    declare, tmp_path
):
    wide, narrow = declare(metric(per_case=lambda _: (3, 1), range=(0, 5))), declare(metric())
    path = tmp_path / "medfaith-baseline.json"
    write_baseline(path, [sliced(wide)], signature={}, declared=wide)
    assert read_baseline(path).slices
    with pytest.raises(DataError, match="brand_names is 3 / 1, expected a part of 0 to 1 of the whole"):
        read_baseline(path, narrow)


def test_two_runs_are_compared_with_a_test_in_the_project_and_without_one_elsewhere(declare):
    declared = declare(metric())
    gate = GateResult(expression="brand_names <= 0.4", outcome="pass")
    before = sliced(declared, gates=(gate,))
    after = sliced(declared, [report("a", "Advil.", "Advil."), *REPORTS[1:]], gates=(gate,))
    (inside,) = [
        one for one in compare_slices(before, after, declared=declared).metrics if one.name == "brand_names"
    ]
    assert inside.comparison.worse_by == pytest.approx(1 / 6)
    (outside,) = [one for one in compare_slices(before, after).metrics if one.name == "brand_names"]
    assert (outside.before.value, outside.after.value) == (inside.before.value, inside.after.value)
    assert outside.comparison is None
