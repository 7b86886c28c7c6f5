"""A teacher in whole runs: recorded, replayed without a socket, and never green where it did not answer."""

import json

import llm_server
import pytest
from llm_server import FAULTS, KEY

pytest.importorskip("openai", reason="comes with the extra llm")

from pytest_medfaith.cards.json_card import report_schema
from pytest_medfaith.cards.run_reading import read_run
from pytest_medfaith.cli import main

SLICE = 'checker = "teacher"\n'  # and no gate: nothing else would notice a fault
PLAIN = """
import pytest

@pytest.mark.medfaith("mini")
def test_answers(medfaith_report):
    assert medfaith_report.case.id
"""
ALONE = """
from pytest_medfaith import Chunk
from pytest_medfaith.run.hooks import resources_of

def test_alone(pytestconfig):
    resources_of(pytestconfig).checker("teacher")("Zinc helps.", [Chunk(id="a", text="Zinc is a metal.")])
"""
NO_SOCKETS = """
import socket

def forbidden(*_, **__):
    raise AssertionError("a socket was opened")

real = socket.socket.connect

def connect(self, address):
    return real(self, address) if self.family == socket.AF_UNIX else forbidden()

socket.socket.connect = connect
socket.getaddrinfo = socket.create_connection = forbidden
"""


def taught_by(project, server):
    """Returns the project with the teacher as its checker; its `llm` writes the settings anew."""

    def llm(more="", *, project_=""):
        project.configure(
            f'{SLICE}[tool.medfaith]\n{project_}[tool.medfaith.llm]\nmodel = "judge-7b"\n'
            f'base_url = "{server.url}"\nkey_env = "HOUSE_KEY"\nretries = 0\n{more}'
        )

    (project.path / "conftest.py").write_text("")
    project.test(PLAIN)
    project.llm = llm
    llm()
    return project


@pytest.fixture
def taught(project, server):
    """For runs of pytest."""
    return taught_by(project, server)


@pytest.fixture
def here(plain_project, server):
    """For commands in this process."""
    return taught_by(plain_project, server)


@pytest.fixture
def medfaith(capsys):
    """Runs a command in this process, and returns its exit status and what it told."""

    def call(*arguments):
        try:
            main([str(argument) for argument in arguments])
            status = 0
        except SystemExit as end:
            status = end.code or 0
        told = "".join(capsys.readouterr())
        assert KEY not in told
        return status, told

    return call


@pytest.fixture
def evaluate(medfaith, here):
    """Runs `medfaith evaluate` on the slice."""
    return lambda *options: medfaith("evaluate", "mini", "--root", here.path, *options)


def report_of(project, name="out"):
    return json.loads((project.path / name / "report.json").read_text())


def test_the_card_says_what_the_teacher_found_and_took(here, server, evaluate):
    here.llm('price_in = 1.0\nprice_out = 2.0\ncurrency = "EUR"\n')
    status, told = evaluate("--llm", "live", "--report", str(here.path / "out"))
    assert status == 0, told
    assert "3 supported, 1 refuted, 0 unsupported, 0 unscored" in told
    number = len(server.requests)
    assert (
        f"teacher judge-7b: {number} requests; {100 * number:,} tokens in, {20 * number:,} out; 0.00" in told
    )
    assert "EUR; " in told
    assert "ms at p50 / p95" in told
    found = report_of(here)["slices"][0]
    assert (found["llm"]["asked"], found["llm"]["tokens_in"]) == (number, 100 * number)
    assert len(found["llm"]["latencies_ms"]) == number
    import jsonschema

    jsonschema.validate(report_of(here), report_schema())
    (again,), signature = read_run(here.path / "out")
    assert sum(one.llm.get("asked", 0) for one in again.reports) == number
    assert signature["checkers"]["teacher"]["weights"].startswith("teacher|judge-7b|")
    for file in (here.path / "out").iterdir():
        assert KEY not in file.read_text(), file.name


@pytest.mark.parametrize("fault", FAULTS)
def test_a_run_with_a_fault_is_not_green(here, server, fault, evaluate):
    here.llm("timeout = 0.2\n" if fault == "slow" else "")
    server.faults, server.always = [fault], True
    status, told = evaluate("--llm", "live", "--report", str(here.path / "out"), "--limit", "1")
    assert status == 2, told
    assert "0 supported, 0 refuted, 0 unsupported, 2 unscored" in told
    assert told.count("ERROR: the teacher gave no usable answer to") == 1
    assert '": NaN' not in (here.path / "out" / "report.json").read_text()
    assert report_of(here)["slices"][0]["metrics"]["faithfulness"]["value"] is None


def test_one_fault_among_many_answers_is_not_green_either(here, server, evaluate):
    here.llm("concurrency = 1\n")
    server.faults = ["html"]
    status, told = evaluate("--llm", "live")
    assert status == 2
    assert "UNANSWERED: the teacher gave no usable answer to 1 of its items" in told


def test_a_spent_budget_ends_the_run_cleanly_and_says_it_once(here, server, evaluate):
    here.llm("token_budget = 3000\nconcurrency = 1\n")
    status, told = evaluate("--llm", "live")
    assert status == 2
    assert told.count("ERROR: ") == 1
    assert "because the budget of 3,000 tokens is spent. What was not judged is unscored" in told
    assert 1 <= len(server.requests) < 10


def test_recorded_by_two_workers_and_replayed_without_a_socket(taught, server, monkeypatch):
    recorded = taught.run("--medfaith-llm", "record", "-n", "2")
    recorded.assert_outcomes(passed=3)
    cassette = (taught.path / "medfaith-llm.jsonl").read_text()
    keys = [(row["role"], row["key"]) for row in map(json.loads, cassette.splitlines())]
    assert keys == sorted(keys)
    assert len(keys) == len(server.requests) == 11  # docs/teacher.md shows this card
    assert KEY not in cassette
    assert server.url not in cassette
    monkeypatch.setenv("CI", "true")
    monkeypatch.delenv("HOUSE_KEY")
    (taught.path / "conftest.py").write_text(NO_SOCKETS)
    replayed = taught.run("-v", "--medfaith-report", "out")
    replayed.assert_outcomes(passed=3)
    replayed.stdout.fnmatch_lines([f"*teacher judge-7b: {len(keys)} requests ({len(keys)} replayed);*"])
    assert len(server.requests) == len(keys)
    assert (taught.path / "medfaith-llm.jsonl").read_text() == cassette


def test_a_miss_names_the_case_and_fails(here, server, evaluate):
    assert evaluate("--llm", "record")[0] == 0
    sent = len(server.requests)
    responses = (here.path / "responses.jsonl").read_text()
    (here.path / "responses.jsonl").write_text(responses.replace("Moonlight sets", "Starlight sets"))
    status, told = evaluate()
    assert status != 0
    assert "case 'asthma': the cassette" in told
    assert "of the judge on claim 'c2'" in told
    assert "--medfaith-llm record" in told
    assert len(server.requests) == sent


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--llm", "off"), "the mode of the LLM is off"),
        (("--llm", "replay"), "there is no cassette"),
        (("--llm", "aloud"), "--llm is 'aloud'; expected one of off, replay, record, live"),
    ],
)
def test_what_may_not_be_asked_is_not(server, options, message, evaluate):
    status, told = evaluate(*options)
    assert status != 0
    assert message in told
    assert server.requests == []


def test_a_run_of_pytest_that_may_not_ask_says_it_once(taught, server, monkeypatch):
    monkeypatch.setenv("CI", "true")  # no cassette
    result = taught.run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert result.stdout.str().count("the mode of the LLM is off, as it is in CI without a cassette") == 1
    assert server.requests == []


def test_a_run_of_pytest_with_a_fault_is_not_green(taught, server):
    server.faults, server.always = ["label"], True
    result = taught.run("--medfaith-llm", "live")
    result.assert_outcomes(passed=3)  # they assert nothing of the claims
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stdout.fnmatch_lines(
        ["UNANSWERED: *", "ERROR: the teacher gave no usable answer to 11 of its items*"]
    )


def test_a_fault_apart_from_any_slice_is_not_green_either_and_the_card_is_shown(taught, server, workers):
    taught.test(PLAIN + ALONE)
    server.reply = lambda asked: (
        "no" if "Zinc" in asked["messages"][1]["content"] else llm_server.reply(asked)
    )
    result = taught.run("--medfaith-llm", "live", *workers)
    result.assert_outcomes(passed=4)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stdout.fnmatch_lines(
        ["*3 supported, 1 refuted*", "*ERROR: the teacher gave no usable answer to 1 of its items*"]
    )


@pytest.mark.parametrize(("more", "warned"), [("", True), ("allow_same_family = true\n", False)])
def test_a_judge_of_the_family_that_answered_is_a_warning_on_the_card(here, more, warned, evaluate):
    rows = [json.loads(line) for line in (here.path / "responses.jsonl").read_text().splitlines()]
    (here.path / "responses.jsonl").write_text(
        "".join(json.dumps({**row, "model": "hub/Judge-70b-Instruct"}) + "\n" for row in rows)
    )
    here.llm(more)
    status, told = evaluate("--llm", "live", "--report", str(here.path / "out"))
    assert status == 0
    warning = "WARNING: the judge judge-7b is of the family of hub/Judge-70b-Instruct"
    assert (warning in told) == warned
    assert (warning in (here.path / "out" / "card.md").read_text()) == warned


def test_the_teacher_splits_and_reranks_by_setting(here, server, evaluate):
    here.llm(project_='extractor = "teacher"\n')
    out = str(here.path / "out")
    status, told = evaluate("--llm", "live", "--retriever", "bm25+teacher", "--report", out)
    assert status == 0, told
    roles = {asked["messages"][0]["content"][:20] for asked in server.requests}
    assert roles == {"You check a claim of", "You split a medical ", "You grade passages b"}
    signature = json.loads((here.path / "out" / "signature.json").read_text())["signature"]
    assert signature["extractor"].startswith("teacher|judge-7b|")
    assert signature["retrievers"]["mini"]["bm25+teacher"]["reranker"].startswith("teacher|judge-7b|")


def test_medfaith_retrieve_reranks_by_the_teacher_of_the_project(here, server, medfaith):
    asked = (
        "iron deficiency",
        "--corpus",
        here.path / "corpus",
        "--retriever",
        "bm25+teacher",
        "--root",
        here.path,
    )
    status, told = medfaith("retrieve", *asked, "--llm", "live")
    assert status == 0
    assert "teacher judge-7b: 1 request; 100 tokens in, 20 out" in told
    assert "teacher 1" in told
    server.faults, server.always = ["empty"], True
    status, told = medfaith("retrieve", *asked, "--llm", "live")
    assert status == 2
    assert "the teacher did not grade the passages" in told


def test_medfaith_check_asks_the_teacher_row_by_row(here, server, tmp_path, medfaith):
    rows = [
        {"id": "x", "claim": "Iron helps.", "evidence": ["Iron helps.", "Zinc is a metal."]},
        {"id": "y", "claim": "Moonlight heals.", "evidence": "Zinc is a metal."},
        {"id": "z", "claim": "Zinc heals.", "evidence": "Zinc is a metal."},
    ]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))

    def check(*options):
        rows, out = tmp_path / "rows.jsonl", tmp_path / "out.jsonl"
        return medfaith("check", rows, "--out", out, "--checker", "teacher", "--root", here.path, *options)

    status, told = check("--llm", "record")
    assert status == 0
    assert "teacher judge-7b: 3 requests; 300 tokens in, 60 out" in told
    found = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [row["label"] for row in found] == ["entail", "contradict", "neutral"]
    assert (found[0]["span"], found[0]["evidence_index"]) == ([0, 10], 0)
    status, told = check()
    assert (status, "3 requests (3 replayed)" in told) == (0, True)
    (tmp_path / "rows.jsonl").write_text(json.dumps({**rows[0], "claim": "Iron cures."}) + "\n")
    status, told = check()
    assert status != 0
    assert "of the judge on claim '0 (row x)'" in told
    server.faults, server.always = ["empty"], True
    status, told = check("--llm", "live")
    assert status == 1
    assert "UNANSWERED: the teacher gave no usable answer to 1 of its items" in told
    assert json.loads((tmp_path / "out.jsonl").read_text())["label"] == "unscored"


RELEVANCY = 'relevancy = "teacher"\n'


@pytest.mark.usefixtures("word_vectors")
def test_relevancy_by_the_teacher_is_recorded_replayed_gated_and_shown(here, server, evaluate):
    here.llm(project_=RELEVANCY)
    gate = 'gates = ["answer_relevancy.teacher >= 0.99"]\n'
    text = (here.path / "pyproject.toml").read_text()
    (here.path / "pyproject.toml").write_text(text.replace(SLICE, SLICE + gate))
    status, told = evaluate("--llm", "record", "--report", str(here.path / "out"))
    assert status == 1, told
    assert "Relev-LLM" in told
    assert "answer_relevancy.teacher is 0." in told
    sent, found = len(server.requests), report_of(here)["slices"][0]
    assert found["metrics"]["answer_relevancy.teacher"]["n"] == 2  # of three cases, of which one is a refusal
    assert len(server.requests[-1]["messages"]) == 2
    assert evaluate("--llm", "replay", "--report", str(here.path / "again"))[0] == 1
    assert len(server.requests) == sent
    again = report_of(here, "again")["slices"][0]
    assert again["metrics"] == found["metrics"]
    (read,), signature = read_run(here.path / "again")
    assert [one.relevancy for one in read.reports] == [one.get("relevancy", {}) for one in again["cases"]]
    assert signature["relevancy"].startswith("teacher|judge-7b|")
    import jsonschema

    jsonschema.validate(report_of(here), report_schema())


@pytest.mark.usefixtures("word_vectors")
@pytest.mark.parametrize("said", ["no", "", '{"evasive": false, "questions": ["How?"]}'])
def test_relevancy_that_the_teacher_leaves_open_is_no_number_and_no_pass(here, server, evaluate, said):
    here.llm(project_=RELEVANCY)
    server.reply = lambda asked: said if "was lost" in str(asked) else llm_server.reply(asked)
    status, told = evaluate("--llm", "live", "--report", str(here.path / "out"), "--limit", "1")
    assert status == 2, told
    assert "UNANSWERED: the teacher gave no usable answer to 1 of its items" in told
    (case,) = report_of(here)["slices"][0]["cases"]
    assert "answer_relevancy.teacher" not in case["metrics"]
    assert case["metrics"]["answer_relevancy"] > 0
    assert case["relevancy"]["unscored"].startswith("the teacher gave no usable questions: ")
