"""The audit as a user meets it: option, gates, command, with and without workers."""

import json
from pathlib import Path

import bags
import pytest

CHECKER = """
import pytest_medfaith.checking.loading
import pytest_medfaith.models.onnx
from bags import embed_texts
from pytest_medfaith.testing import scripted_checker

pytest_medfaith.models.onnx.embed_texts = embed_texts

def label(evidence, claim):
    with open("asked.txt", "a") as log:
        log.write(claim + "\\n")
    return "contradict" if " not " in claim or "cannot" in claim else "entail"

def load_checker(name="default", **_):
    return scripted_checker(label, name=name)

pytest_medfaith.checking.loading.load_checker = load_checker
"""
PLAIN_TEST = """
import pytest

@pytest.mark.medfaith("mini")
def test_mini(medfaith_report):
    pass
"""
MORE = {
    "id": "iron-3",
    "text": "Doctors often give iron tablets to women with low iron.",
    "url": "https://example.org/women",
}


@pytest.fixture
def audited(project):
    (project.path / "conftest.py").write_text(CHECKER)
    (project.path / "bags.py").write_text(Path(bags.__file__).read_text())
    with (project.path / "corpus" / "chunks.jsonl").open("a") as chunks:
        chunks.write(json.dumps(MORE) + "\n")
    project.test(PLAIN_TEST)
    return project


def gates(project, *expressions):
    project.configure(f"gates = {json.dumps(expressions)}\n")


def test_the_option_audits_once_after_the_tests_and_the_run_folder_holds_it(audited, workers):
    result = audited.run("--medfaith-audit", "--medfaith-report", "out", *workers)
    assert result.ret == 0
    result.stdout.fnmatch_lines(
        ["audit of default on mini, seed 0", "negation*| 1.00*", "direction*| 0.00*", "false alarms: 0.00*"]
    )
    asked = (audited.path / "asked.txt").read_text().splitlines()
    assert asked.count("Vitamin C does not help the body take up iron.") == 1
    row = json.loads((audited.path / "out" / "audit.json").read_text())["audits"][0]
    assert row["title"] == "mini / default"
    report = json.loads((audited.path / "out" / "report.json").read_text())
    assert report["slices"][0]["metrics"]["audit.recall"]["value"] == row["metrics"]["audit.recall"]["value"]
    assert "medfaith audit: mini / default" in (audited.path / "out" / "audit.md").read_text()


def test_without_the_option_or_a_gate_nothing_is_audited(audited):
    audited.run().stdout.no_fnmatch_line("audit of*")


def test_gates_on_an_audit_run_it_and_are_judged(audited, workers):
    gates(
        audited,
        "audit.recall.negation >= 0.9",
        "audit.false_alarms <= 0.05",
        "audit.recall >= 0.9",
        "audit.recall.dose_up >= 0.1",
    )
    result = audited.run(*workers)
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        [
            "PASS  audit.recall.negation >= 0.9: 1.000",
            "PASS  audit.false_alarms <= 0.05: 0.000",
            (
                "FAIL  audit.recall >= 0.9: audit.recall is 0.*, 95 % interval * over * claims; wanted at "
                "least 0.9"
            ),
            "FAIL  audit.recall.dose_up >= 0.1: audit.recall.dose_up could not be measured*",
            "audit of default on mini, seed 0",
        ]
    )


def test_a_checker_that_a_test_put_in_is_not_audited_and_the_gate_fails(project):
    project.test(PLAIN_TEST)
    gates(project, "audit.recall >= 0.1")
    result = project.run()
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        [
            "*audit.recall could not be measured*",
            "no audit of slice 'mini': a test put the checker 'scripted'*",
        ]
    )


def test_the_command_prints_the_card_and_writes_the_files(project, medfaith):
    first = medfaith(
        "audit", "corpus", "--limit", "1", "--checker", "fast", "--out", "out", folder=project.path
    )
    assert first.returncode == 0, first.stderr
    assert first.stdout.startswith("audit of fast on corpus, seed 0\n")
    assert "false alarms:" in first.stdout
    assert {path.name for path in (project.path / "out").iterdir()} == {"audit.json", "audit.md"}
    assert (project.path / ".medfaith_cache" / "pairs.sqlite").is_file()
    again = medfaith("audit", "corpus", "--limit", "1", "--checker", "fast", folder=project.path)
    assert again.stdout == first.stdout.partition("out/audit.json")[0].rstrip("\n") + "\n"


def test_the_command_says_what_is_wrong_with_a_corpus(tmp_path, medfaith):
    (tmp_path / "empty").mkdir()
    result = medfaith("audit", "empty", folder=tmp_path)
    assert result.returncode == 2
    assert "the corpus folder holds no .jsonl file" in result.stderr
