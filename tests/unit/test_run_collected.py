import json

import pytest
from gate_samples import RUN, case

from pytest_medfaith.records import SliceRun
from pytest_medfaith.run.collected import Collected, Progress
from pytest_medfaith.run.results import Result

OTHER = SliceRun(slice="sleep", retriever="bm25", checker="student", k=3)


def result(report, *, run=RUN, gates=()):
    return Result(run=run, report=report, gates=tuple(gates))


@pytest.fixture
def collected():
    kept = Collected()
    kept.expect(RUN, ["b", "a", "c"], gates=["hallucination <= 0.1"], test_id="t.py::test_one[b]")
    return kept


def test_what_never_reports_is_missing(collected):
    collected.add(result(case("b", "s")), test_id="t.py::test_one[b]")
    ((report, gates),) = collected.rows()
    assert ([one.case.id for one in report.reports], report.missing, report.partial) == (
        ["b"],
        ("a", "c"),
        True,
    )
    assert gates == ()  # those of the result: the latest word of the test


def test_a_row_of_which_nothing_finished_is_still_a_row(collected):
    collected.expect(OTHER, ["x"], gates=["faithfulness >= 0.5"])
    collected.add(result(case("b", "s")))
    (_, _), (report, gates) = collected.rows()
    assert (report.slice, report.reports, report.missing, gates) == (
        "sleep",
        (),
        ("x",),
        ("faithfulness >= 0.5",),
    )


def test_a_row_is_there_also_where_no_case_of_any_row_finished(collected):
    ((report, gates),) = collected.rows()
    assert (report.reports, report.missing, gates) == ((), ("a", "b", "c"), ("hallucination <= 0.1",))


def test_nothing_expected_is_nothing_to_sum_up():
    assert Collected().rows() == []


def test_gates_are_told_apart_by_test_also_in_folders_with_brackets():
    collected = Collected()
    collected.expect(RUN, ["a"], gates=["hallucination <= 0.1"], test_id="app/[id]/t.py::test_x[a]")
    collected.expect(RUN, ["b"], gates=["faithfulness >= 0.1"], test_id="app/[id]/t.py::test_y[b]")
    assert collected.gates(RUN) == ("hallucination <= 0.1", "faithfulness >= 0.1")


def test_expectations_travel_as_plain_values(collected):
    collected.expect(OTHER, ["x"])
    told = json.loads(json.dumps(collected.expected_values()))
    controller = Collected()
    controller.take_expected(told)
    controller.add(result(case("a", "s")), test_id="t.py::test_one[a]")
    assert [(run.slice, cases) for run, cases, _ in controller.expected()] == [
        ("iron", ("a", "b", "c")),
        ("sleep", ("x",)),
    ]
    assert controller.rows()[0][0].missing == ("b", "c")


def test_gates_of_several_tests_are_judged_once_each_in_one_order():
    for order in (("t.py::test_a[x]", "t.py::test_b[x]"), ("t.py::test_b[x]", "t.py::test_a[x]")):
        collected = Collected()
        for test in order:
            of_test = "faithfulness >= 0.5" if "test_a" in test else "unsupported <= 0.1"
            collected.expect(RUN, ["x"], gates=["hallucination <= 0.1", of_test], test_id=test)
        assert collected.gates(RUN) == ("hallucination <= 0.1", "faithfulness >= 0.5", "unsupported <= 0.1")


def test_two_tests_that_measure_a_case_alike_count_it_once():
    collected = Collected()
    for test, latency in (("t.py::test_b[a]", 5.0), ("t.py::test_a[a]", 9.0)):
        collected.add(result(case("a", "sr", latency=latency)), test_id=test)
    assert collected.problems() == []
    ((report, _),) = collected.rows()
    assert [one.response.latency_ms for one in report.reports] == [
        9.0
    ]  # of the first test by name, whichever finished first


def test_two_tests_that_measure_a_case_differently_are_named():
    collected = Collected()
    collected.add(result(case("a", "ss")), test_id="t.py::test_a[a]")
    collected.add(result(case("a", "sr")), test_id="t.py::test_b[a]")
    (message,) = collected.problems()
    assert (
        "1 case(s) of slice 'iron', retriever 'bm25', checker 'student' and k=3 came out differently in "
        "different tests: a." in message
    )
    assert "t.py::test_a[a], t.py::test_b[a]" in message
    assert "make the answers repeatable" in message


def test_a_test_that_runs_again_replaces_what_it_measured():
    collected = Collected()
    collected.add(result(case("a", "rr")), test_id="t.py::test_a[a]")
    collected.add(result(case("a", "ss")), test_id="t.py::test_a[a]")
    assert collected.problems() == []
    assert collected.rows()[0][0].metrics["hallucination"].value == 0


def test_the_progress_counts_what_came_in(collected):
    collected.add(result(case("b", "sr?")))
    assert collected.progress() == Progress(done=1, cases=3, claims=3, scored=2, refuted=1)
