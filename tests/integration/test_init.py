"""What `medfaith init` writes: a suite that runs at once and fails at its wrong answer, or nothing."""

import json
import re
from pathlib import Path

import pytest

from pytest_medfaith.answers.responses import read_responses
from pytest_medfaith.claims.split import extract_claims
from pytest_medfaith.cli import main
from pytest_medfaith.commands.init_project import TEMPLATES, init_project
from pytest_medfaith.config import load_settings
from pytest_medfaith.datasets.registry import read_cases
from pytest_medfaith.errors import DataError
from pytest_medfaith.jsonl import read_chunks, read_records
from pytest_medfaith.records import Case, Chunk

SUITE = {
    "medfaith.toml",
    "pytest.ini",
    "medfaith/corpus/samples.jsonl",
    "medfaith/gold.jsonl",
    "medfaith/responses.jsonl",
    "tests/test_medical_answers.py",
}
REPO = Path(__file__).parents[2]
# The suite under test is the written suite. Only the model is replaced, by a checker that reads words and
# knows the dose that clashes.
CONFTEST = """
import dataclasses

import pytest
from pytest_medfaith.checking.rules import RULES
from pytest_medfaith.english.words import content_words
from pytest_medfaith.testing import scripted_checker

def label(evidence, claim):
    if "8 grams" in claim and "4 grams" in evidence:
        return "contradict"
    return "entail" if content_words(claim) <= content_words(evidence) else "neutral"

@pytest.fixture
def medfaith_checker():
    return dataclasses.replace(scripted_checker(label), rules=frozenset(RULES))
"""


def files_in(folder):
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def first_run(pytester):
    """Writes a first suite and returns a callable that runs pytest there, as in `medfaith init && pytest`."""
    init_project(pytester.path)
    (pytester.path / "conftest.py").write_text(CONFTEST)
    return pytester.runpytest_subprocess


def test_the_first_run_fails_at_the_wrong_dose_alone(first_run, workers):
    result = first_run(*workers)
    result.assert_outcomes(passed=4, failed=1)
    result.stdout.fnmatch_lines(
        [
            "*REFUTED*8 grams of paracetamol in 24*",
            "*evidence: paracetamol-1*",
            "*4 grams of paracetamol in 24*",
            "samples*rrf*",
            "*5 cases (1 abstained), 8 claims: 7 supported, 1 refuted, 0 unsupported, 0 unscored*",
            "PASS*faithfulness >= 0.8: 0.875*",
            "FAIL*hallucination <= 0.05*0.125*",
            "FAILED*[[]paracetamol-dose[]]*",
        ]
    )


def test_the_mended_answer_passes_with_its_gates(first_run, pytester):
    responses = pytester.path / "medfaith" / "responses.jsonl"
    responses.write_text(responses.read_text().replace("8 grams", "4 grams", 1))
    result = first_run()
    assert result.ret == 0
    result.stdout.fnmatch_lines(["PASS*faithfulness*1.000*", "PASS*hallucination*0.000*"])


def test_the_output_in_the_quickstart_is_that_of_the_first_run(first_run, monkeypatch):
    page = (REPO / "docs" / "quickstart.md").read_text(encoding="utf-8")
    shown = [
        line for block in re.findall(r"```text\n(.*?)```", page, re.DOTALL) for line in block.splitlines()
    ]
    assert len(shown) > 15
    monkeypatch.setenv("COLUMNS", "80")
    stand_in = [line.replace("[", "[[]").replace("checker: default", "checker: scripted") for line in shown]
    patterns = [
        re.sub(r" score [<>]?[0-9.]+, threshold [0-9.]+", " score *, threshold *", line) for line in stand_in
    ]
    first_run().stdout.fnmatch_lines(
        [pattern for pattern in patterns if pattern.strip()]
    )  # scores and thresholds are the model's


def test_the_tutorial_works_as_it_is_written(pytester):
    page = (REPO / "docs" / "tutorial.md").read_text(encoding="utf-8")
    files = dict(re.findall(r'```python title="([\w/]+\.py)"\n(.*?)```', page, re.DOTALL))
    assert files.keys() == {"my_rag.py", "conftest.py", "tests/test_medical_answers.py"}
    init_project(pytester.path)
    for name, code in files.items():
        (pytester.path / name).write_text(code)
    with (pytester.path / "conftest.py").open("a", encoding="utf-8") as conftest:
        conftest.write(CONFTEST)
    result = pytester.runpytest_subprocess()
    result.assert_outcomes(passed=5)
    result.stdout.fnmatch_lines(["*5 cases (0 abstained)*0 refuted*", "PASS*hallucination*"])


def test_the_samples_fit_together(tmp_path):
    init_project(tmp_path)
    settings = load_settings(tmp_path).slice("samples")
    chunks, cases = read_chunks(settings.corpus), list(read_cases(settings.cases))
    responses = read_responses(settings.responses, chunks)
    known = {chunk.id for chunk in chunks}
    assert len(chunks) >= settings.k
    assert responses.keys() == {case.id for case in cases}
    assert all(set(case.references) <= known for case in cases)
    assert all(chunk.url.startswith("https://") and chunk.authority for chunk in chunks)
    claims = {case_id: extract_claims(response.answer) for case_id, response in responses.items()}
    assert {case_id: len(found) for case_id, found in claims.items() if len(found) != 2} == {"sore-throat": 0}
    assert all(claim.citations == ("1",) for found in claims.values() for claim in found)


def test_the_wrong_answer_says_that_it_is_wrong_on_purpose():
    rows = [json.loads(line) for line in (TEMPLATES / "responses.jsonl").read_text().splitlines()]
    assert [row["case_id"] for row in rows if "wrong on purpose" in row.get("meta", {}).get("note", "")] == [
        "paracetamol-dose"
    ]
    evidence = {chunk.id: chunk.text for chunk in read_records(TEMPLATES / "corpus.jsonl", Chunk)}
    assert "4 grams" in evidence["paracetamol-1"]
    assert "8 grams" not in evidence["paracetamol-1"]
    gold = {case.id: case for case in read_records(TEMPLATES / "gold.jsonl", Case)}
    assert "4 grams" in gold["paracetamol-dose"].gold_claims[1].text


def test_it_returns_what_it_wrote_and_workflows_only_where_asked(tmp_path):
    written = init_project(tmp_path / "plain")
    assert (
        {str(path.relative_to(tmp_path / "plain")) for path in written}
        == files_in(tmp_path / "plain")
        == SUITE
    )
    init_project(tmp_path / "both", ci=["github", "gitlab"])
    assert files_in(tmp_path / "both") == SUITE | {".github/workflows/medfaith.yml", ".gitlab-ci.yml"}


@pytest.mark.parametrize(
    ("ci", "file"), [("github", ".github/workflows/medfaith.yml"), ("gitlab", ".gitlab-ci.yml")]
)
def test_a_workflow_runs_the_written_test_with_options_that_exist(pytester, ci, file):
    yaml = pytest.importorskip("yaml", reason="comes with the extra docs")
    init_project(pytester.path, ci=[ci])
    text = (pytester.path / file).read_text()
    assert yaml.safe_load(text)["jobs" if ci == "github" else "medfaith"]
    command = re.search(r"python -m pytest (.*)", text)[1]
    (pytester.path / "conftest.py").write_text(CONFTEST)
    result = pytester.runpytest_subprocess(*command.split())
    result.assert_outcomes(passed=4, failed=1)
    assert (pytester.path / "medfaith-report" / "card.md").is_file()
    assert (pytester.path / "medfaith-junit.xml").is_file()


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("pyproject.toml", "[project]\nname = 'own'\n"),
        ("pytest.ini", "[pytest]\n"),
        ("tox.ini", "[pytest]\naddopts = -q\n"),
        ("setup.cfg", "[tool:pytest]\n"),
    ],
)
def test_a_project_keeps_its_own_configuration_of_pytest(tmp_path, file, text):
    (tmp_path / file).write_text(text)
    written = init_project(tmp_path)
    assert tmp_path / "pytest.ini" not in written
    assert (tmp_path / file).read_text() == text


def test_a_tox_file_without_pytest_does_not_count(tmp_path):
    (tmp_path / "tox.ini").write_text("[tox]\n")
    assert tmp_path / "pytest.ini" in init_project(tmp_path)


@pytest.mark.parametrize("file", ["medfaith.toml", "tests/test_medical_answers.py", ".gitlab-ci.yml"])
def test_a_file_that_is_there_is_named_and_left_alone(tmp_path, file):
    (tmp_path / file).parent.mkdir(exist_ok=True)
    (tmp_path / file).write_text("# mine")
    with pytest.raises(
        DataError,
        match=rf"{re.escape(str(tmp_path / file))}: there already, and nothing is overwritten; "
        ".*medfaith init FOLDER",
    ):
        init_project(tmp_path, ci=["gitlab"])
    assert files_in(tmp_path) == {file}
    assert (tmp_path / file).read_text() == "# mine"


def test_a_link_that_leads_nowhere_is_left_alone(tmp_path):
    (tmp_path / "medfaith.toml").symlink_to(tmp_path / "nowhere")
    with pytest.raises(DataError, match="there already"):
        init_project(tmp_path)
    assert (tmp_path / "medfaith.toml").is_symlink()


def test_settings_in_pyproject_are_not_hidden(tmp_path):
    (tmp_path / "pyproject.toml").write_text("[tool.medfaith]\nseed = 7\n")
    with pytest.raises(
        DataError, match=r"pyproject.toml: has a table \[tool.medfaith\], which a medfaith.toml would hide"
    ):
        init_project(tmp_path)
    assert files_in(tmp_path) == {"pyproject.toml"}


@pytest.mark.parametrize("blocked", ["medfaith", "tests"])
def test_nothing_half_written_remains(tmp_path, blocked):
    folder = tmp_path / "new"
    folder.mkdir()
    (folder / blocked).write_text("a file stands where a folder should be")
    with pytest.raises(DataError, match=r"cannot be written \(.*\); expected a folder that you may write"):
        init_project(folder, ci=["github"])
    assert [path.name for path in folder.iterdir()] == [blocked]


def test_a_file_in_the_place_of_the_folder_is_an_error(tmp_path):
    (tmp_path / "taken").write_text("")
    with pytest.raises(DataError, match=r"taken.*cannot be written"):
        init_project(tmp_path / "taken")


def test_an_interruption_leaves_nothing(tmp_path, monkeypatch):
    import pytest_medfaith.commands.init_project as module

    def interrupted(path, text):
        if path.name == "gold.jsonl":
            raise KeyboardInterrupt
        write_text(path, text)

    write_text = module.write_text
    monkeypatch.setattr(module, "write_text", interrupted)
    with pytest.raises(KeyboardInterrupt):
        init_project(tmp_path / "new")
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_workflow_is_an_error(tmp_path):
    with pytest.raises(ValueError, match="no workflow for 'jenkins'; expected github or gitlab"):
        init_project(tmp_path, ci=["jenkins"])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ("medfaith.toml", "[slices.a]\ncases = 'gold.jsonl'\n"),
        ("pyproject.toml", "[tool.medfaith.slices.a]\ncases = 'g'\n"),
    ],
)
def test_a_suite_that_is_there_gets_the_workflow_alone(tmp_path, capsys, settings, text):
    (tmp_path / settings).write_text(text)
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_mine.py").write_text("def test_mine(): pass\n")
    before = files_in(tmp_path)
    with pytest.raises(SystemExit):
        main(["init", str(tmp_path), "--github"])
    assert "only the workflow was added" in capsys.readouterr().err
    assert files_in(tmp_path) - before == {".github/workflows/medfaith.yml"}
    workflow = tmp_path / ".github" / "workflows" / "medfaith.yml"
    assert "python -m pytest -m medfaith --medfaith-report=medfaith-report" in workflow.read_text()
    assert "test_medical_answers" not in workflow.read_text()
    workflow.write_text("mine")
    with pytest.raises(DataError, match=r"medfaith\.yml: there already, and nothing is overwritten"):
        init_project(tmp_path, ci=["github"])
    assert workflow.read_text() == "mine"


def test_a_workflow_is_added_to_the_suite_that_init_wrote(tmp_path):
    init_project(tmp_path)
    (written,) = init_project(tmp_path, ci=["gitlab"])
    assert written == tmp_path / ".gitlab-ci.yml"
    assert "tests/test_medical_answers.py" in written.read_text()


def test_a_project_with_tests_of_its_own_gets_the_whole_suite(tmp_path):
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_mine.py").write_text("def test_mine(): pass\n")
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'mine'\nversion = '1'\n")
    init_project(tmp_path, ci=["github"])
    assert files_in(tmp_path) == (SUITE - {"pytest.ini"}) | {
        "tests/test_mine.py",
        "pyproject.toml",
        ".github/workflows/medfaith.yml",
    }
