"""What a user gets wrong first: each a plain message, never a traceback, never a pass."""

import json

import pytest

CASE = {"id": "iron", "question": "What treats iron deficiency?"}


def spoil_missing_gold(path):
    (path / "gold.jsonl").unlink()


def spoil_gold(text):
    return lambda path: (path / "gold.jsonl").write_bytes(text)


def spoil_corpus(text):
    return lambda path: (path / "corpus" / "chunks.jsonl").write_bytes(text)


def spoil_responses(text):
    return lambda path: (path / "responses.jsonl").write_bytes(text)


def row(**values):
    return json.dumps(values).encode()


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (spoil_missing_gold, "*gold.jsonl*no such file*"),
        (spoil_gold(b""), "*slice 'mini': *gold.jsonl holds no case*"),
        (spoil_gold(b"{id: iron}"), "*gold.jsonl:1: not JSON*"),
        (
            spoil_gold(row(**CASE) + b"\n" + row(**CASE)),
            "*gold.jsonl:2: id 'iron' was used on line 1 already*",
        ),
        (spoil_gold(row(id="iron", question=7)), "*gold.jsonl:1: field 'question' is 7, expected text*"),
        (
            spoil_gold(b'{"id": "iron", "question": "caf\xe9?"}'),
            "*gold.jsonl:1: byte b'\\xe9' at column * is not UTF-8*",
        ),
        (spoil_corpus(b""), "*holds no chunk; an empty corpus can support nothing*"),
        (
            spoil_corpus(row(id="a", text="x") + b"\n" + row(id="a", text="y")),
            "*chunks.jsonl:2: id 'a' was used on line 1 already*",
        ),
        (spoil_corpus(row(id="a", text=" ")), "*chunk 'a' has no text*"),
        (spoil_corpus(row(id="a", text="x")), "*responses.jsonl:1: context 'iron-1' is in no corpus file*"),
        (
            spoil_responses(row(case_id="iron", answer="x", contexts=[{"id": "gone"}])),
            "*responses.jsonl:1: context 'gone' is in no corpus file*",
        ),
        (
            spoil_responses(row(case_id="iron", answer="x")),
            "*responses.jsonl: no response for case 'asthma'; record one*",
        ),
        (spoil_responses(row(answer="x")), "*responses.jsonl:1: field 'case_id' is missing*"),
    ],
)
def test_a_spoiled_file_is_a_plain_error(project, spoil, message):
    spoil(project.path)
    result = project.run()
    assert result.ret in (
        1,
        2,
        4,
    )  # a failed test, an interrupted collection, or a usage error before the first test
    result.stdout.fnmatch_lines([message])
    result.stdout.no_fnmatch_line("*Traceback*")
    result.stdout.no_fnmatch_line("*plugin.py:*")


def test_a_retriever_without_a_finite_score(project):
    project.test(
        """
import pytest
from pytest_medfaith import Chunk
from pytest_medfaith.records import Hit

@pytest.fixture
def medfaith_retriever():
    return lambda query, *, top_k: [Hit(chunk=Chunk(id="a", text="Iron."), rank=1, score=float("nan"))]

@pytest.mark.medfaith("mini", limit=1)
def test_x(medfaith_report): pass
"""
    )
    result = project.run("--medfaith-gate", "hallucination <= 0.9")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(
        ["*case 'iron': the retriever gave chunk 'a' the score nan, expected a finite number*"]
    )


def test_a_threshold_that_is_no_number_is_never_a_pass(project):
    project.configure("[tool.medfaith]\ncontradict_threshold = nan\n")
    result = project.run()
    assert result.ret == 2
    result.stdout.fnmatch_lines(["*contradict_threshold is nan, expected a number from 0.01 to 0.99*"])


@pytest.mark.parametrize(
    ("argument", "shown"), [("k=0", "k=0"), ("limit=-1", "limit=-1"), ("k=2.5", "k=2.5")]
)
def test_a_count_of_the_marker_that_is_none(project, argument, shown):
    project.test(
        f"import pytest\n@pytest.mark.medfaith('mini', {argument})\ndef test_x(medfaith_report): pass\n"
    )
    result = project.run()
    assert result.ret == 2
    result.stdout.fnmatch_lines([f"*the marker medfaith got {shown}; expected a whole number of 1 or more*"])


def test_an_unknown_slice(project):
    project.test("import pytest\n@pytest.mark.medfaith('minni')\ndef test_x(medfaith_report): pass\n")
    result = project.run()
    assert result.ret == 2
    result.stdout.fnmatch_lines(["*slice 'minni' is unknown; did you mean 'mini'?*"])


def test_an_unknown_checker(project, monkeypatch):
    (project.path / "conftest.py").unlink()
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    result = project.run("--medfaith-checker", "no/such-model")
    result.assert_outcomes(errors=3)
    result.stdout.fnmatch_lines(
        ["*the checker 'no/such-model' *"]
    )  # cannot be loaded, or needs an extra: either is plain
    result.stdout.no_fnmatch_line("*Traceback*")


def test_an_answer_without_a_claim_fails_and_says_so(project):
    (project.path / "responses.jsonl").write_text(
        "".join(
            json.dumps({"case_id": name, "answer": "Hello!", "contexts": [{"id": "iron-1"}]}) + "\n"
            for name in ("iron", "asthma", "gout")
        )
    )
    result = project.run()
    result.assert_outcomes(failed=3)
    result.stdout.fnmatch_lines(["*the answer makes no checkable claim*"])


def test_a_fixture_without_a_case_says_what_to_do(project):
    project.test("def test_x(medfaith_report): pass\n")
    result = project.run()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*this test has no case; mark it with @pytest.mark.medfaith*"])
