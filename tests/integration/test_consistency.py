"""`consistency = 3`: a RAG is asked several times; its samples reach gates, the card and the run folder."""

import json

RAG = """
import itertools
import pytest

@pytest.fixture(scope="session")
def medfaith_rag():
    iron = "Iron tablets treat iron deficiency."
    asked = []

    async def answer(question, *, temperature):
        asked.append(temperature)
        other = temperature and len(asked) % 3 == 0
        return {"answer": "Moonlight treats iron deficiency." if other else iron, "contexts": [iron]}
    return answer
"""


def configured(project, settings):
    (project.path / "conftest.py").write_text(project.CONFTEST + RAG)
    path = project.path / "pyproject.toml"
    text = path.read_text()
    path.write_text(
        text.replace(
            "[tool.medfaith.slices.mini]", f"[tool.medfaith]\n{settings}\n[tool.medfaith.slices.mini]"
        )
    )
    project.test(
        """
import pytest

@pytest.mark.medfaith("mini", limit=1)
def test_answers(medfaith_report):
    assert medfaith_report.response.samples == (
        "Iron tablets treat iron deficiency.", "Moonlight treats iron deficiency."
    )
"""
    )


def test_samples_are_on_the_card_in_gates_and_in_the_run_folder(project):
    configured(project, "consistency = 3")
    result = project.run("--medfaith-gate", "self_consistency >= 0.9", "--medfaith-report", "out")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*Consist*Agree*", "*self_consistency >= 0.9*0.500*"])
    assert result.ret == 1
    (case,) = json.loads((project.path / "out" / "report.json").read_text())["slices"][0]["cases"]
    assert case["consistency"]["samples"] == 2
    assert list(case["consistency"]["supported"].values()) == [1]
    (row,) = map(json.loads, (project.path / "out" / "responses.jsonl").read_text().splitlines())
    assert row["samples"] == ["Iron tablets treat iron deficiency.", "Moonlight treats iron deficiency."]


def test_a_single_sample_is_refused(project):
    configured(project, "consistency = 1")
    project.run().stdout.fnmatch_lines(["*consistency is 1; expected 2 or more answers to each question*"])


def test_recorded_samples_are_measured_without_a_setting(project):
    path = project.path / "responses.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    rows[0]["samples"] = [rows[0]["answer"], "Moonlight treats iron deficiency."]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    result = project.run("--medfaith-gate", "self_consistency >= 0.9")
    result.stdout.fnmatch_lines(["*Consist*Agree*", "*self_consistency >= 0.9*0.500*"])


def test_a_gate_without_samples_does_not_pass(project):
    result = project.run("--medfaith-gate", "self_consistency >= 0.1")
    assert result.ret != 0


def test_the_risk_of_answers_is_on_the_card_in_gates_and_in_the_run_folder(project):
    path = project.path / "pyproject.toml"
    path.write_text(path.read_text() + "\n[tool.medfaith.risk]\ncaution = 0.3\nhigh = 0.6\n")
    rows = [json.loads(line) for line in (project.path / "responses.jsonl").read_text().splitlines()]
    rows[0]["answer"] = "Iron tablets treat iron deficiency."
    (project.path / "responses.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    result = project.run("--medfaith-gate", "high_risk <= 0", "--medfaith-report", "out")
    result.stdout.fnmatch_lines(
        [
            "*Risk*",
            (
                "*risk: 1 HIGH, 0 CAUTION, 1 LOW; not measured, so the other parts weigh more: consistency "
                "in 2 answers*"
            ),
            "*high_risk <= 0*0.500*",
        ]
    )
    (told,) = json.loads((project.path / "out" / "report.json").read_text())["slices"]
    flags = {case["case"]["id"]: case["risk"]["flag"] for case in told["cases"] if "risk" in case}
    assert flags == {"iron": "LOW", "asthma": "HIGH"}
    assert "HIGH risk 0." in (project.path / "out" / "card.html").read_text()
