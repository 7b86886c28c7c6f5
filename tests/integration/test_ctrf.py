"""--medfaith-ctrf FILE: tests, gates and claims of a run in the form that CI dashboards read."""

import json
import signal
from pathlib import Path

import pytest
from jsonschema import Draft7Validator

SCHEMA = json.loads(
    (Path(__file__).parents[1] / "data/schemas/ctrf-schema-0.0.json").read_text(encoding="utf-8")
)
PLAIN = """
import pytest

@pytest.mark.skip(reason="not today")
def test_skipped():
    pass

@pytest.mark.xfail
def test_expected():
    assert False
"""


def read(project, name="out/ctrf.json"):
    document = json.loads((project.path / name).read_text(encoding="utf-8"))
    Draft7Validator(SCHEMA, format_checker=Draft7Validator.FORMAT_CHECKER).validate(document)
    results = document["results"]
    statuses = [test["status"] for test in results["tests"]]
    assert results["summary"]["tests"] == len(statuses)
    for status in ("passed", "failed", "skipped", "pending", "other"):
        assert results["summary"][status] == statuses.count(status)
    return results


def statuses(results):
    return {test["name"]: (test["status"], test["rawStatus"]) for test in results["tests"]}


def test_tests_gates_slices_and_the_claims_to_blame(project, workers):
    (project.path / "test_plain.py").write_text(PLAIN)
    gates = ("--medfaith-gate", "hallucination <= 0.01", "--medfaith-gate", "faithfulness >= 0.5")
    result = project.run("--medfaith-ctrf", "out/ctrf.json", *gates, *workers)
    assert result.ret == 1
    result.stdout.fnmatch_lines(["CTRF report: *ctrf.json"])
    results = read(project)
    assert statuses(results) == {
        "test_faithful[iron]": ("passed", "passed"),
        "test_faithful[asthma]": ("failed", "failed"),
        "test_faithful[gout]": ("passed", "passed"),
        "test_skipped": ("skipped", "skipped"),
        "test_expected": ("skipped", "xfailed"),
        "hallucination <= 0.01": ("failed", "fail"),
        "faithfulness >= 0.5": ("passed", "pass"),
    }
    by_name = {test["name"]: test for test in results["tests"]}
    asthma = by_name["test_faithful[asthma]"]
    assert (asthma["filePath"], asthma["testId"]) == (
        "test_suite.py",
        "test_suite.py::test_faithful[asthma]",
    )
    assert "faithfulness" in asthma["message"]
    (claim,) = asthma["extra"]["medfaith"]["claims"]
    assert (claim["text"], claim["verdict"]) == ("Moonlight sets off asthma.", "refuted")
    assert claim["evidence"]["chunk"] == "asthma-2"
    assert by_name["test_skipped"]["message"] == "Skipped: not today"
    gate = by_name["hallucination <= 0.01"]
    assert gate["suite"] == ["mini", "bm25 scripted k=2", "gates"]
    assert gate["extra"]["medfaith"]["claims"][0]["case"] == "asthma"
    (row,) = results["extra"]["medfaith"]["slices"]
    assert (row["slice"], row["metrics"]["hallucination"]["value"]) == ("mini", 0.25)
    assert results["extra"]["exitStatus"] == 1


def test_a_test_that_runs_again_keeps_its_attempts(project, workers):
    project.test(
        project.TEST.replace("def test_faithful", "@pytest.mark.flaky(reruns=2)\ndef test_faithful")
        + """
tries = []

@pytest.mark.flaky(reruns=2)
def test_flaky():
    tries.append(1)
    assert len(tries) == 2
"""
    )
    project.configure("")
    settings = (project.path / "pyproject.toml").read_text().replace("-p no:rerunfailures ", "")
    (project.path / "pyproject.toml").write_text(settings)
    project.run("--medfaith-ctrf", "out/ctrf.json", *workers)
    by_name = {test["name"]: test for test in read(project)["tests"]}
    flaky, failed = by_name["test_flaky"], by_name["test_faithful[asthma]"]
    assert (flaky["status"], flaky["flaky"], flaky["retries"]) == ("passed", True, 1)
    assert flaky["retryAttempts"][0]["message"].startswith("assert 1 == 2")
    assert (failed["status"], failed["flaky"], failed["retries"]) == ("failed", False, 2)
    assert len(failed["extra"]["medfaith"]["claims"]) == 1


def test_what_cannot_be_collected_is_a_failed_test(project, workers):
    (project.path / "test_broken.py").write_text("import no_such_module\n")
    project.run("--medfaith-ctrf", "out/ctrf.json", *workers)
    results = read(project)
    (broken,) = [test for test in results["tests"] if test["name"] == "test_broken.py"]
    assert broken["status"] == "failed"
    assert "no_such_module" in broken["trace"]


def test_an_interrupted_run_says_which_tests_did_not_run(project):
    project.test(
        """
import pytest

@pytest.mark.medfaith("mini")
def test_stops(medfaith_report):
    if medfaith_report.case.id == "asthma":
        raise KeyboardInterrupt
"""
    )
    assert project.run("--medfaith-ctrf", "out/ctrf.json").ret == 2
    shown = statuses(read(project))
    assert shown["test_stops[iron]"] == ("passed", "passed")
    assert shown["test_stops[asthma]"] == ("pending", "interrupted")
    assert shown["test_stops[gout]"] == ("pending", "not run")
    assert shown["run"] == ("failed", "exit status 2")


def test_a_refused_run_is_no_green_document(project, workers):
    (project.path / "responses.jsonl").write_text("{broken\n")
    assert project.run("--medfaith-ctrf", "out/ctrf.json", *workers).ret == 4
    results = read(project)
    assert results["summary"]["failed"] >= 1
    assert any("responses.jsonl" in test.get("message", "") for test in results["tests"])


def test_no_test_is_no_green_document(project):
    assert project.run("--medfaith-ctrf", "out/ctrf.json", "-k", "nothing_has_this_name").ret == 5
    assert statuses(read(project)) == {"run": ("failed", "exit status 5")}


def test_an_undecided_gate_is_neither_green_nor_red_unless_the_settings_say_so(project):
    gate = ("-k", "iron", "--medfaith-gate", "faithfulness >= 0.5 at 95%")
    project.run("--medfaith-ctrf", "out/ctrf.json", *gate)
    assert statuses(read(project))["faithfulness >= 0.5 at 95%"] == ("other", "inconclusive")
    project.configure('\n[tool.medfaith]\ninconclusive = "fail"\n')
    project.run("--medfaith-ctrf", "out/ctrf.json", *gate)
    assert statuses(read(project))["faithfulness >= 0.5 at 95%"] == ("failed", "inconclusive")


def test_a_worker_that_dies_leaves_a_failed_test(project):
    project.test(project.TEST + "\n\ndef test_dies():\n    import os\n    os._exit(3)\n")
    project.run("--medfaith-ctrf", "out/ctrf.json", "-n", "1", "--max-worker-restart", "0")
    shown = statuses(read(project))
    assert shown["test_dies"][0] == "failed"


def test_a_run_that_dies_leaves_no_report_of_an_earlier_run(project):
    project.test("def test_fine():\n    pass\n")
    assert project.run("--medfaith-ctrf", "out/ctrf.json").ret == 0
    assert read(project)["summary"]["failed"] == 0
    project.test("import os, signal\n\ndef test_dies():\n    os.kill(os.getpid(), signal.SIGKILL)\n")
    assert project.run("--medfaith-ctrf", "out/ctrf.json", "-q").ret == -signal.SIGKILL
    assert list((project.path / "out").iterdir()) == []


def test_a_file_of_something_else_is_not_replaced(project):
    before = (project.path / "gold.jsonl").read_text()
    result = project.run("--medfaith-ctrf", "gold.jsonl")
    assert result.ret == 4
    result.stderr.fnmatch_lines(["*gold.jsonl holds something that is no CTRF report*--medfaith-ctrf FILE*"])
    assert (project.path / "gold.jsonl").read_text() == before
    project.run("--medfaith-ctrf", "gold.jsonl/ctrf.json").stderr.fnmatch_lines(["*cannot be written*"])


def test_a_collection_that_is_only_shown_leaves_the_report(project):
    project.run("--medfaith-ctrf", "out/ctrf.json")
    before = (project.path / "out/ctrf.json").read_bytes()
    project.run("--medfaith-ctrf", "out/ctrf.json", "--collect-only")
    assert (project.path / "out/ctrf.json").read_bytes() == before


@pytest.mark.parametrize("text", ["\\ud800 half", "\\x1b[31mred", "::error::taken for a command"])
def test_no_text_of_a_failure_makes_the_report_unreadable(project, text):
    project.test(f'def test_it():\n    raise ValueError("{text}")\n')
    project.run("--medfaith-ctrf", "out/ctrf.json")
    (test,) = read(project)["tests"]
    assert test["status"] == "failed"
    assert "\x1b" not in test["message"]


def test_a_run_folder_holds_the_same_cases_and_gates_without_times(project):
    project.configure('\n[tool.medfaith]\nformats = ["ctrf"]\n')
    gates = ("--medfaith-gate", "hallucination <= 0.01")
    project.run("--medfaith-report", "out", *gates)
    first = (project.path / "out/ctrf.json").read_bytes()
    results = read(project)
    assert {test["name"]: test["status"] for test in results["tests"]} == {
        "iron": "passed",
        "asthma": "passed",
        "gout": "passed",
        "hallucination <= 0.01": "failed",
    }
    (asthma,) = [test for test in results["tests"] if test["name"] == "asthma"]
    assert asthma["extra"]["medfaith"]["claims"][0]["text"] == "Moonlight sets off asthma."
    project.run("--medfaith-report", "out", *gates)
    assert (project.path / "out/ctrf.json").read_bytes() == first
