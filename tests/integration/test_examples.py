"""The examples run as a user runs them, the worked example with the shipped model.

The questions and the corpus are those of a few topics. Where a test asks nothing about the strong model's
verdicts, it has a smaller checker.
"""

import json
import re
import shutil
from pathlib import Path

import pytest

REPO = Path(__file__).parents[2]
TOPICS = ("pcos", "type_2_diabetes")
ASKED = re.compile('^{"(case_)?id": "pcos-')  # the rows that are read; each file begins with them
JUDGE = """
from pytest_medfaith.english.words import content_words

def judge(evidence, claim):
    return "entail" if content_words(claim) <= content_words(evidence) else "neutral"
"""


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """A copy of what the examples read, so that caches and reports stay out of the repository."""
    root = tmp_path_factory.mktemp("repo")
    shutil.copytree(REPO / "examples", root / "examples")
    for path in (*REPO.glob("gold/*.jsonl"), *REPO.glob("fixtures/responses/*.jsonl")):
        copied = root / path.relative_to(REPO)
        copied.parent.mkdir(parents=True, exist_ok=True)
        rows = path.read_text(encoding="utf-8").splitlines(keepends=True)
        copied.write_text("".join(row for row in rows if ASKED.search(row)), encoding="utf-8")
    for topic in TOPICS:
        for path in (REPO / "corpus_samples").rglob(f"{topic}.jsonl"):
            copied = root / path.relative_to(REPO)
            copied.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, copied)
    (root / "small_judge.py").write_text(JUDGE, encoding="utf-8")
    return root


@pytest.fixture
def run(copy, run_pytest):
    def run(*arguments):
        result = run_pytest(copy, *arguments)
        return result.returncode, result.stdout

    return run


@pytest.fixture
def demo(copy, run_forked):
    def run():
        script = "import runpy; runpy.run_path('examples/demo.py', run_name='__main__')"
        result = run_forked("python", "-c", script, folder=copy)
        return result.returncode, result.stdout, result.stderr

    return run


def test_the_demo_ends_in_success_and_says_that_the_failure_is_the_point(demo):
    status, output, _ = demo()
    assert status == 0, output
    before, _, rest = output.partition(
        "test session starts" if "test session starts" in output else "=== FAILURES"
    )
    assert "Its test has to FAIL: that is the point" in before
    assert "1 failed, 4 passed" in rest
    assert "this demo ends in success" in rest
    assert "Error" not in output.replace("AssertionError", "")


def test_a_demo_that_shows_something_else_ends_in_failure(demo, monkeypatch):
    monkeypatch.setenv("PYTEST_ADDOPTS", "-k sore-throat --medfaith-checker fast")
    status, output, errors = demo()
    assert status == 1
    assert (
        "The demo did not show what it should: claims of no answer were refuted, expected paracetamol-dose "
        "alone" in errors
    )
    assert "ends in success" not in output


def test_make_demo_runs_the_demo_and_does_not_ignore_how_it_ends():
    recipe = re.search(
        r"^demo: .*\n((?:\t.*\n)+)", (REPO / "Makefile").read_text(encoding="utf-8"), re.MULTILINE
    )[1]
    assert recipe == "\t@$(DEMO_VENV)/bin/python examples/demo.py\n"


def test_quickstart_prints_a_card_and_shows_what_is_not_backed(copy, run):
    options = ("--medfaith-limit", "1", "--medfaith-checker", "small_judge:judge", "--medfaith-report", "run")
    status, output = run("examples/quickstart", *options)
    assert status in (0, 1), output
    assert re.search(r"medquad-nih\s*\|\s*rrf\s*\|\s*10", output)
    assert re.search(r"bioasq-summary\s*\|\s*rrf\s*\|\s*10", output)
    assert (copy / "run" / "card.md").is_file()


def test_quickstart_finds_the_wrong_dose_and_the_worked_example_comes_out_to_the_digit(copy, run):
    """5 gold claims, 10 chunks of which 5 entail one, 3 of 5 claims supported and 2 refuted."""
    status, output = run(
        "examples/quickstart", "-k", "test_patient and pcos-1", "-v", "--medfaith-report", "pcos"
    )
    assert status == 1
    assert "faithfulness is 0.600, expected at least 0.8" in output
    assert "rule numbers: claim says 25 mg, evidence says 2.5 mg" in output
    assert "rule direction: claim says 'raises', evidence says 'lowers'" in output
    report = json.loads((copy / "pcos" / "report.json").read_text(encoding="utf-8"))
    [case] = [case for row in report["slices"] for case in row["cases"]]
    expected = {
        "context_precision": 0.5,
        "faithfulness": 0.6,
        "hallucination": 0.4,
        "claim_recall": 0.6,
        "context_utilization": 0.6,
    }
    assert {name: case["metrics"][name] for name in expected} == expected


def test_own_rag_says_nothing_that_its_passages_do_not_say(run):
    status, output = run("examples/own_rag", "--medfaith-limit", "1", "--medfaith-checker", "fast")
    assert status == 0, output
    assert "1 passed" in output


def test_what_a_user_said_does_not_back_the_answer_of_the_conversation(run):
    status, output = run("examples/conversation")
    assert status == 0, output
    assert "3 passed" in output


def test_ablation_shows_three_retrievers_in_one_card(run):
    status, output = run("examples/ablation", "--medfaith-limit", "1")
    assert status == 0, output
    for retriever in ("bm25", "dense", "rrf"):
        assert re.search(rf"medquad-nih\s*\|\s*{retriever}\s*\|\s*5", output)
