"""Whose contexts the claims of recorded answers are judged by: the setting, the marker, the option."""

import json
import shutil

import numpy as np  # noqa: F401 - what a test loads, pytester forgets, and numpy loads once in a process
import pytest
import scripted_retrievers

from pytest_medfaith.cli import main
from pytest_medfaith.run.resources import Resources
from pytest_medfaith.testing import containment_checker

MEASURES = """
import pytest

@pytest.mark.medfaith("mini")
def test_measured(medfaith_report):
    pass
"""
ONE_ANSWER = [
    {
        "case_id": "asthma",
        "answer": "A reliever inhaler opens the airways in asthma. Allopurinol lowers uric acid in gout.",
    }
]


@pytest.fixture
def retrieving(project, monkeypatch):
    shutil.copy(scripted_retrievers.__file__, project.path / "search.py")
    monkeypatch.setenv("PYTHONPATH", str(project.path))
    project.test(MEASURES)
    return project


def rows(project):
    """The slices of report.json by retriever and contexts mode."""
    document = json.loads((project.path / "out" / "report.json").read_text())
    return {(row["retriever"], row.get("contexts_mode", "recorded")): row for row in document["slices"]}


def value(row, name):
    return row["metrics"][name]["value"]


BOTH = (
    "--medfaith-retriever",
    "bm25",
    "--medfaith-retriever",
    "search:backwards",
    "--medfaith-report",
    "out",
)


def test_recorded_contexts_give_every_retriever_the_same_faithfulness_and_the_card_says_so(retrieving):
    result = retrieving.run(*BOTH)
    found = rows(retrieving)
    assert {value(row, "faithfulness") for row in found.values()} == {0.75}
    assert "contexts" not in json.loads((retrieving.path / "out/signature.json").read_text())["signature"]
    result.stdout.fnmatch_lines(
        ["slice 'mini': answers and contexts are recorded, so bm25, search:backwards differ only in*"]
    )


def test_retrieved_contexts_move_with_the_retriever(retrieving, workers):
    result = retrieving.run(*BOTH, "--medfaith-contexts", "retrieved", *workers)
    result.assert_outcomes(passed=6)
    found = rows(retrieving)
    bm25, backwards = found["bm25", "retrieved"], found["search:backwards", "retrieved"]
    # The last two chunks hold nothing but cold air, which refutes the moonlight, and gout, which refused.
    assert [value(row, "faithfulness") for row in (bm25, backwards)] == [0.75, 0.0]
    assert [value(row, "hallucination") for row in (bm25, backwards)] == [0.25, 0.25]
    assert [value(row, "context_precision") for row in (bm25, backwards)] == [0.5, pytest.approx(1 / 6)]
    assert [value(row, "context_utilization") for row in (bm25, backwards)] == [0.75, 0.0]
    assert [value(row, "rchunk.recall@k") for row in (bm25, backwards)] == [1.0, pytest.approx(1 / 3)]
    result.stdout.fnmatch_lines(
        [
            "Slice*|Contexts*",
            "mini*|search:backwards|2|retrieved*|0.00 *",
            "contexts given by the slice's retriever, in place of the responses file (3 cases)",
            "r-chunks: of the hits of bm25, search:backwards",
        ]
    )
    signature = json.loads((retrieving.path / "out/signature.json").read_text())["signature"]
    assert signature["contexts"] == {
        "mini": {"retrieved": {"pool": ["bm25", "search:backwards"], "query": "the question"}}
    }


def test_each_claim_is_a_query_and_its_verdict_cites_the_corpus(retrieving):
    (retrieving.path / "responses.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ONE_ANSWER))
    result = retrieving.run(
        *("--medfaith-contexts", "per-claim", "--medfaith-k", "1", "--medfaith-retriever", "search:noted"),
        *("-k", "asthma", "--medfaith-report", "out"),
    )
    result.assert_outcomes(passed=1)
    verdicts = [json.loads(line) for line in (retrieving.path / "out/claims.jsonl").read_text().splitlines()]
    cited = [
        (row["claim"]["text"], row["label"], row["chunk_id"]) for row in verdicts if row["of"] == "answer"
    ]
    assert cited == [
        ("A reliever inhaler opens the airways in asthma.", "supported", "asthma-1"),
        ("Allopurinol lowers uric acid in gout.", "supported", "gout-1"),
    ]
    asked = (retrieving.path / "asked.txt").read_text().splitlines()
    assert asked == ["What opens the airways in asthma?", *(text for text, _, _ in cited)]
    (snippets,) = map(json.loads, (retrieving.path / "out/snippets.jsonl").read_text().splitlines())
    assert snippets["retrieval"]["claims"] == {"c1": ["asthma-1"], "c2": ["gout-1"]}
    result.stdout.fnmatch_lines(
        [
            (
                "contexts given by the slice's retriever, claim by claim, in place of the responses file "
                "(1 case)"
            ),
            "r-chunks: of the hits of search:noted alone, which says nothing of its recall",
        ]
    )


def test_a_claim_is_asked_for_with_the_words_that_say_what_it_is(retrieving):
    answer = {"case_id": "gout", "answer": "Allopurinol lowers uric acid in gout. It is taken once a day."}
    (retrieving.path / "responses.jsonl").write_text(json.dumps(answer) + "\n")
    retrieving.run("--medfaith-contexts", "per-claim", "--medfaith-retriever", "search:noted", "-k", "gout")
    asked = (retrieving.path / "asked.txt").read_text().splitlines()
    assert asked[2] == "Allopurinol lowers uric acid in gout. It is taken once a day."


def test_a_refusal_asks_for_nothing_and_does_not_lack_contexts(retrieving):
    result = retrieving.run("--medfaith-contexts", "per-claim", "-k", "gout")
    result.stdout.fnmatch_lines(["1 case (1 abstained), 0 claims*"])
    result.stdout.no_fnmatch_line("*without contexts*")


def test_the_command_line_beats_the_marker_and_the_marker_beats_the_settings(retrieving):
    with (retrieving.path / "pyproject.toml").open("a") as file:
        file.write('contexts = "per-claim"\n')
    retrieving.run("--medfaith-report", "out")
    assert list(rows(retrieving)) == [("bm25", "per-claim")]
    retrieving.test(MEASURES.replace('"mini"', '"mini", contexts="retrieved"'))
    retrieving.run("--medfaith-report", "out")
    assert list(rows(retrieving)) == [("bm25", "retrieved")]
    retrieving.run("--medfaith-report", "out", "--medfaith-contexts", "recorded")
    assert list(rows(retrieving)) == [("bm25", "recorded")]


def test_several_modes_make_an_ablation_in_one_card(retrieving, workers):
    retrieving.test(MEASURES.replace('"mini"', '"mini", contexts=["recorded", "retrieved", "per-claim"]'))
    result = retrieving.run("--medfaith-report", "out", "-v", *workers)
    result.assert_outcomes(passed=9)
    assert [mode for _, mode in rows(retrieving)] == ["per-claim", "recorded", "retrieved"]
    assert "test_measured[per-claim-asthma]" in result.stdout.str()
    header = (retrieving.path / "out/claims.csv").read_text().splitlines()[0]
    assert header.startswith("slice,retriever,checker,k,contexts_mode,case,")


def test_optional_contexts_are_recorded_ones_and_stay_optional(retrieving):
    with (retrieving.path / "pyproject.toml").open("a") as file:
        file.write('contexts = "optional"\ngates = ["hallucination <= 0.5"]\n')
    (retrieving.path / "responses.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ONE_ANSWER))
    for said in ((), ("--medfaith-contexts", "recorded")):
        assert retrieving.run("-k", "asthma", *said).ret == 0
    # What a retriever does not find was not allowed to be missing.
    result = retrieving.run(
        *("-k", "asthma", "--medfaith-contexts", "retrieved", "--medfaith-retriever", "search:nothing")
    )
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        ["FAIL  hallucination <= 0.5: 1 of 1 case failed: asthma (there are no contexts*"]
    )


@pytest.mark.parametrize("mode", ["retrieved", "per-claim"])
def test_a_retriever_that_finds_nothing_fails_every_gate(retrieving, mode):
    result = retrieving.run(
        *("--medfaith-contexts", mode, "--medfaith-retriever", "search:nothing"),
        *("--medfaith-gate", "hallucination <= 0.5"),
    )
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        ["FAIL  hallucination <= 0.5: 2 of 3 cases failed: asthma (there are no contexts*"]
    )


@pytest.mark.parametrize("said", [("--medfaith-contexts", "retrieved"), ("--medfaith-contexts", "per-claim")])
def test_a_slice_without_a_corpus_is_refused_before_the_first_test(retrieving, said, workers):
    settings = retrieving.path / "pyproject.toml"
    settings.write_text(settings.read_text().replace('corpus = ["corpus"]\n', ""))
    (retrieving.path / "responses.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ONE_ANSWER))
    result = retrieving.run("-k", "asthma", *said, *workers)
    assert result.ret == 4
    result.stdout.fnmatch_lines(
        [
            (
                f"ERROR: slice 'mini': contexts = '{said[1]}' judges claims by what a retriever finds, and "
                f"there is*"
            )
        ]
    )
    assert "passed" not in result.stdout.str()


def test_a_retriever_of_the_suite_takes_the_place_of_a_corpus(retrieving):
    settings = retrieving.path / "pyproject.toml"
    settings.write_text(settings.read_text().replace('corpus = ["corpus"]\n', 'contexts = "per-claim"\n'))
    (retrieving.path / "responses.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ONE_ANSWER))
    with (retrieving.path / "conftest.py").open("a") as file:
        file.write(
            """
from pytest_medfaith.records import Chunk, Hit

@pytest.fixture
def medfaith_retriever():
    async def retrieve(query, *, top_k):
        return [Hit(chunk=Chunk(id=query, text=query), rank=1, score=1.0)]
    return retrieve
"""
        )
    result = retrieving.run("-k", "asthma", "--medfaith-gate", "faithfulness >= 0.9")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["PASS  faithfulness >= 0.9: 1.000"])


@pytest.mark.parametrize("given", ['"retreived"', "5", '["retrieved", "optional"]', "[None]"])
def test_an_unknown_mode_of_the_marker_is_an_error(retrieving, given):
    retrieving.test(MEASURES.replace('"mini"', f'"mini", contexts={given}'))
    result = retrieving.run()
    assert result.ret == 2
    result.stdout.fnmatch_lines(
        ["*the marker medfaith got contexts=*; expected recorded, retrieved, per-claim*"]
    )


def test_an_unknown_mode_of_the_settings_or_the_command_line_is_an_error(retrieving):
    result = retrieving.run("--medfaith-contexts", "optional")
    assert result.ret == 4
    result.stderr.fnmatch_lines(["*--medfaith-contexts: invalid choice: 'optional'*"])
    with (retrieving.path / "pyproject.toml").open("a") as file:
        file.write('contexts = "none"\n')
    result = retrieving.run()
    assert result.ret == 2
    result.stdout.fnmatch_lines(
        ["*.slices.mini? contexts is 'none', expected one of recorded, retrieved, per-claim*"]
    )


def test_gates_compare_only_what_was_judged_by_the_same_contexts(retrieving):
    gate = ("--medfaith-gate", "faithfulness no worse than baseline")
    assert retrieving.run("--medfaith-update-baseline").ret == 0
    assert retrieving.run(*gate).ret == 0
    result = retrieving.run(*gate, "--medfaith-contexts", "retrieved")
    assert result.ret == 4
    result.stdout.fnmatch_lines(
        ["ERROR: *no entry for slice 'mini'*with contexts 'retrieved'; it holds slice 'mini'*"]
    )
    # Both are kept side by side.
    assert retrieving.run("--medfaith-update-baseline", "--medfaith-contexts", "retrieved").ret == 0
    assert retrieving.run(*gate, "--medfaith-contexts", "retrieved").ret == 0
    assert retrieving.run(*gate).ret == 0


def test_a_baseline_of_another_pool_is_not_compared(retrieving):
    said = ("--medfaith-contexts", "retrieved")
    gate = ("--medfaith-gate", "rchunk.ndcg@k no worse than baseline")
    retrieving.run("--medfaith-update-baseline", *said)
    assert retrieving.run(*gate, *said).ret == 0
    with_two = retrieving.run(
        *gate, *said, "--medfaith-retriever", "bm25", "--medfaith-retriever", "search:backwards"
    )
    assert with_two.ret == 4
    with_two.stdout.fnmatch_lines(['*contexts.retrieved.pool was ?"bm25"?, is ?"bm25", "search:backwards"?*'])


def test_citations_are_not_counted_against_other_contexts(retrieving):
    retrieving.run(
        "--medfaith-report", "out", "--medfaith-contexts", "recorded", "--medfaith-contexts", "retrieved"
    )
    found = rows(retrieving)
    assert value(found["bm25", "recorded"], "citation_support") is not None
    assert value(found["bm25", "retrieved"], "citation_support") is None
    assert value(found["bm25", "retrieved"], "citation_coverage") == 1.0


def test_evaluate_has_the_same_modes(retrieving, monkeypatch, capsys):
    monkeypatch.setattr(Resources, "checker", lambda *_: containment_checker())
    monkeypatch.chdir(retrieving.path)
    command = ["evaluate", "mini", "--retriever", "bm25", "--contexts", "retrieved"]
    with pytest.raises(SystemExit) as ended:
        main([*command, "--contexts", "recorded", "--report", "out"])
    assert ended.value.code == 0
    assert [mode for _, mode in rows(retrieving)] == ["recorded", "retrieved"]
    with pytest.raises(SystemExit) as ended:
        main([*command, "--contexts", "optional"])
    assert ended.value.code == 2
    assert (
        "--contexts is 'optional'; expected one of recorded, retrieved, per-claim" in capsys.readouterr().err
    )
