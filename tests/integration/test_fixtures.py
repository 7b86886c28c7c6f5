import pytest

from pytest_medfaith import plugin


def test_check_needs_no_slice_and_no_configuration(project, workers):
    (project.path / "pyproject.toml").write_text("")
    project.test(
        """
def test_answer(medfaith_check):
    text = "Iron tablets treat iron deficiency."
    report = medfaith_check(f"{text} Iron tablets cure asthma.", contexts=[text])
    assert [verdict.label for verdict in report.verdicts] == ["supported", "unsupported"]
    assert report.metrics["faithfulness"] == 0.5
"""
    )
    project.run(*workers).assert_outcomes(passed=1)


def test_a_live_rag_takes_the_place_of_recorded_responses(project, workers):
    (project.path / "responses.jsonl").unlink()
    project.test(
        """
import pytest
from pytest_medfaith import assert_faithfulness

@pytest.fixture
def medfaith_rag(medfaith_retriever):
    def answer(question):
        return medfaith_retriever(question, top_k=1)[0].chunk.text
    return answer

@pytest.mark.medfaith("mini")
def test_live(medfaith_report):
    assert_faithfulness(medfaith_report)
"""
    )
    project.run(*workers).assert_outcomes(passed=3)


def test_case_gold_claims_response_and_settings(project):
    project.test(
        """
import pytest

@pytest.mark.medfaith("mini", limit=1)
def test_parts(
    medfaith_case, medfaith_gold_claims, medfaith_response, medfaith_settings, medfaith_extractor,
    medfaith_retriever,
):
    assert medfaith_case.id == "iron"
    assert medfaith_gold_claims[0].text == "Iron tablets treat iron deficiency."
    assert [chunk.id for chunk in medfaith_response.contexts] == ["iron-1", "iron-2"]
    assert medfaith_settings.slice("mini").k == 2
    assert len(medfaith_extractor(medfaith_response.answer)) == 2
    assert medfaith_retriever("asthma airways", top_k=1)[0].chunk.id == "asthma-1"
"""
    )
    project.run().assert_outcomes(passed=1)


def test_two_tests_may_read_one_slice(project, workers):
    project.test(
        """
import pytest

@pytest.mark.medfaith("mini")
def test_one(medfaith_report):
    pass

@pytest.mark.medfaith("mini")
def test_two(medfaith_report):
    pass
"""
    )
    result = project.run("--medfaith-report", "out", *workers)
    result.assert_outcomes(passed=6)
    assert len((project.path / "out" / "responses.jsonl").read_text().splitlines()) == 3


def test_a_test_that_breaks_before_its_report_leaves_its_case_missing(project, workers):
    project.test(
        """
import pytest

@pytest.fixture
def medfaith_response(medfaith_case, medfaith_response):
    if medfaith_case.id == "asthma":
        raise RuntimeError("the service is down")
    return medfaith_response

@pytest.mark.medfaith("mini")
def test_one(medfaith_report):
    pass
"""
    )
    result = project.run("--medfaith-gate", "faithfulness >= 0.1", *workers)
    result.assert_outcomes(passed=2, errors=1)
    result.stdout.fnmatch_lines(["*1 of 3 cases did not finish: asthma*"])


def test_a_crashed_worker_loses_nothing_that_was_finished(project):
    project.test(
        """
import os
import pytest

@pytest.fixture
def medfaith_response(medfaith_target, medfaith_response):
    if (medfaith_target.settings.retriever, medfaith_target.case.id) == ("dense", "gout"):
        os._exit(1)
    return medfaith_response

@pytest.mark.medfaith("mini", retriever=["bm25", "dense"])
def test_one(medfaith_report):
    pass
"""
    )
    result = project.run("--medfaith-gate", "faithfulness >= 0.1", "-n", "1")
    result.assert_outcomes(passed=5, failed=1)
    result.stdout.fnmatch_lines(["*mini*bm25*", "*mini*dense*", "*1 of 3 cases did not finish: gout*"])


def test_every_fixture_is_listed_with_what_it_gives(project):
    lines = project.run("--fixtures").outlines
    for name in (name for name in vars(plugin) if name.startswith("medfaith_")):
        if name != "medfaith_checker":  # the fixture of the project takes its place
            place = next(number for number, line in enumerate(lines) if line.startswith(f"{name} "))
            assert lines[place + 1].startswith("    "), name
            assert "no docstring" not in lines[place + 1], name


def test_a_slice_whose_every_case_was_skipped_passes_no_gate(project, workers):
    project.test(
        "import pytest\n@pytest.fixture\ndef medfaith_response():\n    pytest.skip('service down')\n"
        "@pytest.mark.medfaith('mini', hallucination_at_most=0.5)\ndef test_reported(medfaith_report):\n    "
        "pass\n"
    )
    result = project.run(*workers)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.assert_outcomes(skipped=3)
    result.stdout.fnmatch_lines(["*none of the 3 cases finished, so nothing says that it passes*"])


def test_a_retriever_may_score_in_numpy_numbers(project, workers):
    (project.path / "conftest.py").write_text(
        project.CONFTEST
        + """
import numpy as np
from pytest_medfaith.records import Chunk, Hit

@pytest.fixture
def medfaith_retriever():
    chunk = Chunk(id="iron-1", text="Iron tablets treat iron deficiency.")
    return lambda query, *, top_k: [Hit(chunk=chunk, rank=np.int64(1), score=np.float32(0.5))]
"""
    )
    result = project.run(*workers)
    assert "INTERNALERROR" not in result.stdout.str()
    result.assert_outcomes(passed=2, failed=1)


def test_rows_of_answers_are_replayed(project):
    (project.path / "conftest.py").write_text(
        project.CONFTEST
        + """
@pytest.fixture(scope="session")
def medfaith_rag():
    iron, air = "Iron tablets treat iron deficiency.", "A reliever inhaler opens the airways in asthma."
    return [
        {"case_id": "iron", "answer": iron, "contexts": [iron]},
        {"case_id": "asthma", "answer": air, "contexts": [iron]},
    ]
"""
    )
    result = project.run()
    result.assert_outcomes(passed=1, failed=1, errors=1)
    result.stdout.fnmatch_lines(
        ["*the rows of medfaith_rag: no response for case 'gout'*", "*2 claims: 1 supported*"]
    )
