"""On GitHub Actions, by itself: a summary of the step, and annotations on the lines of failed tests."""

import pytest

GATE = ("--medfaith-gate", "hallucination <= 0.01")


@pytest.fixture
def actions(project, monkeypatch):
    """Makes the project's folder the checkout of a workflow, and returns the file of the step's summary."""
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(project.path.parent))
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(project.path / "summary.md"))
    return project.path / "summary.md"


def annotations(result):
    return [line for line in result.outlines if line.startswith("::")]


def test_the_card_is_the_summary_of_the_step(project, actions, workers):
    project.run(*GATE, *workers)
    text = actions.read_text()
    assert text.startswith("### medfaith: 1 of 1 gates failed\n")
    assert "| mini" in text
    assert text.count("### medfaith") == 1


@pytest.mark.usefixtures("actions")
def test_gates_and_failed_tests_are_annotated(project, workers):
    gate, test = annotations(project.run(*GATE, *workers))
    assert gate.startswith("::error title=mini%3A hallucination <= 0.01::hallucination is 0.250")
    place = f"file={project.path.name}/test_suite.py,line=7,title=test_suite.py%3A%3Atest_faithful[asthma]"
    assert test.startswith(
        f"::error {place}::AssertionError: faithfulness is 0.500, expected at least 0.8%0A"
    )
    assert "Moonlight sets off asthma." in test


@pytest.mark.usefixtures("actions")
def test_a_case_that_breaks_before_its_report_is_annotated_at_its_test(project):
    responses = (project.path / "responses.jsonl").read_text().splitlines(keepends=True)
    (project.path / "responses.jsonl").write_text("".join(responses[:2]))
    found = [line for line in annotations(project.run()) if "[gout]" in line]
    assert len(found) == 1
    assert f"file={project.path.name}/test_suite.py,line=5," in found[0]
    assert "no response for case 'gout'" in found[0]


@pytest.mark.usefixtures("actions")
def test_an_inconclusive_gate_is_a_warning(project):
    (line,) = annotations(project.run("-k", "iron", "--medfaith-gate", "faithfulness >= 0.5 at 95%"))
    assert line.startswith("::warning title=mini%3A faithfulness >= 0.5 at 95%25::")


def test_other_tests_are_left_alone(project, actions):
    project.test("def test_plain():\n    assert False\n")
    assert annotations(project.run()) == []
    assert not actions.exists()


def test_elsewhere_there_are_none(project, monkeypatch):
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    assert annotations(project.run(*GATE)) == []


def test_a_summary_that_cannot_be_written_is_an_error_and_the_card_is_shown(project, actions):
    actions.mkdir()
    result = project.run("-k", "iron")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stdout.fnmatch_lines(
        ["*mini*bm25*", "ERROR: GITHUB_STEP_SUMMARY names *summary.md, which cannot be written*"]
    )


@pytest.mark.parametrize("variable", ["CI", "GITHUB_ACTIONS"])
def test_on_ci_passing_gates_are_counted_and_failed_ones_shown(project, monkeypatch, variable):
    monkeypatch.setenv(variable, "true")
    gates = ("--medfaith-gate", "faithfulness >= 0.1", "--medfaith-gate", "claim_recall >= 0.1", *GATE)
    result = project.run(*gates)
    result.stdout.fnmatch_lines(["PASS  2 gates; -v shows them", "FAIL  hallucination <= 0.01*"])
    result.stdout.no_fnmatch_line("PASS  faithfulness*")
    project.run(*gates, "-v").stdout.fnmatch_lines(["PASS  faithfulness >= 0.1*", "PASS  claim_recall*"])
