"""How a run ends: gates judged row by row, the steps that follow, and the status."""

import pytest
from gate_samples import SIGNATURE, report_of, slice_of

from pytest_medfaith.errors import DataError, MissingBaseline
from pytest_medfaith.gates.baseline import read_baseline, write_baseline
from pytest_medfaith.run.collected import Row
from pytest_medfaith.run.finish import Judging, finish_run

GOOD, BAD, COMPARED = "hallucination <= 0.9", "hallucination <= 0.1", "hallucination no worse than baseline"
REPORT = slice_of({"a": "sr", "b": "ss"})


def judging(path, **changes):
    given = {"signature": SIGNATURE, "seed": 0, "inconclusive": "warn"} | changes
    return Judging(read_baseline=lambda: read_baseline(path), **given)


def test_a_run_passes_where_no_gate_stops_it(tmp_path):
    finish = finish_run([Row(REPORT, (GOOD,)), Row(REPORT, ())], judging=judging(tmp_path / "none.json"))
    assert (finish.status, finish.errors, finish.baselines) == ("passed", (), (None, None))
    assert [gate.outcome for gate in finish.reports[0].gates] == ["pass"]


def test_a_gate_that_fails_fails_the_run(tmp_path):
    finish = finish_run([Row(REPORT, (GOOD, BAD))], judging=judging(tmp_path / "none.json"))
    assert finish.status == "failed"


@pytest.mark.parametrize(("inconclusive", "status"), [("warn", "passed"), ("fail", "failed")])
def test_what_an_undecided_gate_comes_to_is_configured(tmp_path, inconclusive, status):
    row = Row(report_of(list(slice_of({"a": "ss"}).reports)), ("faithfulness >= 0.5 at 95%",))
    finish = finish_run([row], judging=judging(tmp_path / "none.json", inconclusive=inconclusive))
    assert (finish.status, finish.inconclusive) == (status, inconclusive)


def test_a_comparison_without_a_baseline_makes_the_run_unusable_and_bounds_are_judged(tmp_path):
    finish = finish_run([Row(REPORT, (GOOD, COMPARED))], judging=judging(tmp_path / "none.json"))
    assert finish.status == "unusable"
    assert [gate.outcome for gate in finish.reports[0].gates] == ["pass", "fail"]
    assert "no baseline is there yet" in finish.reports[0].gates[1].message


def test_a_comparison_keeps_the_entry_that_it_was_made_with(tmp_path):
    path = tmp_path / "baseline.json"
    write_baseline(path, [REPORT], signature=SIGNATURE)
    finish = finish_run([Row(REPORT, (COMPARED,))], judging=judging(path))
    assert finish.baselines[0].run == REPORT.run


def test_a_row_of_which_no_case_finished_fails_every_gate_and_stays_usable(tmp_path):
    finish = finish_run(
        [Row(report_of([], expected=("a", "b")), (GOOD, COMPARED))], judging=judging(tmp_path / "none.json")
    )
    assert finish.status == "failed"
    assert {gate.message for gate in finish.reports[0].gates} == {
        "none of the 2 cases finished, so nothing says that it passes"
    }


@pytest.mark.parametrize("error", [DataError("no room"), MissingBaseline("no room"), OSError("no room")])
def test_a_step_that_cannot_be_done_makes_the_run_unusable_and_the_next_step_runs(tmp_path, error):
    def refused(_reports):
        raise error

    finish = finish_run(
        [Row(REPORT, (BAD,))],
        judging=judging(tmp_path / "none.json"),
        steps=[refused, lambda reports: [f"{len(reports)} written"]],
        notes=["before"],
    )
    assert (finish.status, finish.errors, finish.notes) == ("unusable", ("no room",), ("before", "1 written"))


def test_a_fault_of_a_step_is_no_error_of_the_run(tmp_path):
    def broken(_reports):
        raise KeyError

    with pytest.raises(KeyError):
        finish_run([Row(REPORT, ())], judging=judging(tmp_path / "none.json"), steps=[broken])


def test_tests_that_disagree_make_the_run_unusable(tmp_path):
    finish = finish_run([Row(REPORT, ())], judging=judging(tmp_path / "none.json"), errors=["they disagree"])
    assert (finish.status, finish.errors) == ("unusable", ("they disagree",))
