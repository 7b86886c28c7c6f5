"""The recipe of the docs: a slice over a public data set by its name, with its documents as the corpus."""

import re
import shlex
import shutil
from pathlib import Path

import pytest

from pytest_medfaith.cli import main
from pytest_medfaith.jsonl import read_records, write_records
from pytest_medfaith.records import Case

REPO = Path(__file__).parents[2]
RECIPE = (
    (REPO / "docs" / "recipes.md")
    .read_text(encoding="utf-8")
    .split("\n## Public data sets\n")[1]
    .split("\n## ")[0]
)


def code(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", RECIPE, re.MULTILINE | re.DOTALL)


def type_in(command):
    """Runs a line of the recipe as its command does."""
    with pytest.raises(SystemExit) as left:
        main(shlex.split(command.removeprefix("$ medfaith ")))
    assert left.value.code == 0, command


@pytest.fixture
def patients(project, monkeypatch):
    """The recipe's project; each case is answered by its first gold claim, based on the page of the case."""
    monkeypatch.chdir(project.path)
    shutil.copytree(REPO / "fixtures" / "datasets" / "medquad", "data/MedQuAD")
    shutil.rmtree("corpus")
    adapt, review = code("console")
    for command in (*adapt.splitlines(), *review.splitlines()):
        type_in(command)
    cases = read_records(Path("gold/medquad.jsonl"), Case)
    answers = [
        {"case_id": case.id, "answer": case.gold_claims[0].text, "contexts": [{"id": case.references[0]}]}
        for case in cases
    ]
    write_records(Path("answers.jsonl"), answers)
    project.configure(code("toml")[0])
    project.test(code("python")[0])
    return project


def test_the_card_counts_who_wrote_the_gold_claims_and_what_was_skipped(patients, workers):
    result = patients.run("--medfaith-report", "run", *workers)
    result.assert_outcomes(passed=4)
    shown = [
        "4 cases (0 abstained), *",
        "*gold claims: * extracted",
        "1 record skipped while the cases were read: 1 empty answer",
    ]
    result.stdout.fnmatch_lines(shown)
    card = (patients.path / "run" / "card.md").read_text()
    assert re.search(r"^(\d+) gold claims: \1 extracted", card, re.MULTILINE)
    assert shown[-1] in card


def test_a_limit_reads_and_counts_no_further(patients):
    result = patients.run("--medfaith-limit", "1")
    result.stdout.fnmatch_lines(["1 case (0 abstained), *"])
    result.stdout.no_fnmatch_line("*skipped while the cases were read*")


def test_a_data_set_of_which_nothing_is_left_says_why(patients):
    shutil.rmtree("data/MedQuAD/2_Sample_QA")
    Path("data/MedQuAD/1_Example_QA/0000001_1.xml").unlink()
    Path("data/MedQuAD/1_Example_QA/0000001.xml").write_text(
        '<Document id="1"><QAPairs><QAPair pid="1"><Question>What '
        "helps?</Question><Answer/></QAPair></QAPairs></Document>"
    )
    result = patients.run()
    result.stdout.fnmatch_lines(
        [
            (
                "*slice 'patient-questions': medquad:*MedQuAD holds no case; *; skipped 1: empty answer "
                "(first: *pair 1)*"
            )
        ]
    )
