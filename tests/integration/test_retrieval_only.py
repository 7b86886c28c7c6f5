"""A retrieval card without answers: tests that ask for hits alone, `medfaith evaluate --retrieval-only`."""

import json
import shutil

import numpy as np  # noqa: F401 - what a test loads, pytester forgets, and numpy loads once in a process
import pytest
import scripted_retrievers

from pytest_medfaith.cards.run_reading import read_run
from pytest_medfaith.cli import main
from pytest_medfaith.run.resources import Resources
from pytest_medfaith.testing import containment_checker

HITS = """
import pytest

@pytest.mark.medfaith("mini", retriever=["bm25", "search:backwards"])
def test_something_is_found(medfaith_hits):
    assert medfaith_hits
"""
REPORT = """
@pytest.mark.medfaith("mini")
def test_faithful(medfaith_report):
    pass
"""
REFUTED = [
    {
        "id": "asthma",
        "question": "What opens the airways in asthma?",
        "gold_claims": [
            {"id": "g1", "text": "A reliever inhaler opens the airways in asthma."},
            {"id": "g2", "text": "Moonlight sets off asthma."},
        ],
        "meta": {"relevance_keywords": {"decisive": ["inhaler"], "supportive": ["asthma", "air"]}},
    }
]


@pytest.fixture
def searching(project, monkeypatch):
    shutil.copy(scripted_retrievers.__file__, project.path / "search.py")
    monkeypatch.setenv("PYTHONPATH", str(project.path))
    (project.path / "responses.jsonl").unlink()
    project.test(HITS)
    return project


def values(project, *names):
    document = json.loads((project.path / "out" / "report.json").read_text())
    return {
        row["retriever"]: [row["metrics"][name]["value"] for name in names]
        for row in document["slices"]
        if row.get("contexts_mode") == "none"
    }


def test_hits_are_judged_over_the_pool_of_all_retrievers(searching, workers):
    result = searching.run("--medfaith-report", "out", *workers)
    result.assert_outcomes(passed=6)
    # The pool of each question holds one r-chunk. bm25 finds all three first; the other retriever finds the
    # last two chunks, "Allopurinol" and "Cold air": the r-chunk of gout at rank 1.
    names = ("recall@k", "ndcg@k", "rchunk.recall@k", "rchunk.ndcg@k", "rchunk.precision@k", "rchunk.mrr@k")
    found = values(searching, *names)
    assert found["bm25"] == [1.0, 1.0, 1.0, 1.0, 0.5, 1.0]
    third = pytest.approx(1 / 3)
    assert found["search:backwards"] == [third, third, third, third, pytest.approx(1 / 6), third]
    unmeasured = ("faithfulness", "abstention", "context_recall", "claim_recall", "ragchecker.claim_recall")
    assert values(searching, *unmeasured)["bm25"] == [None] * 5
    result.stdout.fnmatch_lines(
        [
            "Slice*|Contexts      |Rec@K|nDCG@K|R-Rec@K|R-nDCG@K|R-Prec@K|R-Hit@K|R-MRR@K",
            "mini *|bm25 *|2|retrieval only|1.00 |1.00  |1.00   |1.00    |0.50    |1.00   |1.00",
            "3 cases; only what was retrieved is measured, no answer",
            "r-chunks: of the hits of bm25, search:backwards",
            "retrieval in * ms at p50 / p95 (search * / *)",
            "index: * bytes",
        ]
    )


def test_references_and_r_chunks_are_told_apart(searching):
    cases = [json.loads(line) for line in (searching.path / "gold.jsonl").read_text().splitlines()]
    wrong = "".join(json.dumps({**case, "references": ["asthma-2"]}) + "\n" for case in cases)
    (searching.path / "gold.jsonl").write_text(wrong)
    searching.run("--medfaith-report", "out")
    found = values(searching, "recall@k", "rchunk.recall@k")
    assert found["search:backwards"] == [1.0, pytest.approx(1 / 3)]
    assert found["bm25"] == [pytest.approx(1 / 3), 1.0]


def test_a_gate_that_needs_no_answer_is_judged_and_can_fail_the_run(searching, workers):
    gates = ("--medfaith-gate", "rchunk.recall@k >= 0.5", "--medfaith-gate", "search_p95 <= 10s")
    result = searching.run(*gates, *workers)
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        [
            "PASS  rchunk.recall@k >= 0.5: 1.000",
            "PASS  search_p95 <= 10s: *",
            "FAIL  rchunk.recall@k >= 0.5: rchunk.recall@k is 0.333*over 3 cases; wanted at least 0.5",
            "FAIL  search_p95 <= 10s: search_p95 could not be measured on this slice, so nothing says*",
        ]
    )


def test_a_retriever_that_is_compared_with_none_has_no_recall_of_r_chunks(searching):
    result = searching.run(
        *("--medfaith-retriever", "bm25", "--medfaith-gate", "rchunk.recall@k >= 0.1"),
        *("--medfaith-gate", "rchunk.ndcg@k >= 0.1"),
    )
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        [
            "r-chunks: of the hits of bm25 alone, which says nothing of its recall",
            "FAIL  rchunk.recall@k >= 0.1: rchunk.recall@k could not be measured on this slice*",
            "PASS  rchunk.ndcg@k >= 0.1: 1.000",
        ]
    )


def test_a_retriever_that_finds_nothing_has_no_recall_left_out(searching):
    searching.test(HITS.replace("assert medfaith_hits", "pass"))
    retrievers = ("--medfaith-retriever", "bm25", "--medfaith-retriever", "search:nothing")
    result = searching.run(*retrievers, "--medfaith-report", "out", "--medfaith-gate", "rchunk.hit@k >= 0.5")
    assert result.ret == 1
    assert values(searching, "recall@k", "rchunk.recall@k", "rchunk.ndcg@k")["search:nothing"] == [
        0.0,
        0.0,
        0.0,
    ]


@pytest.mark.parametrize("gates", ['["faithfulness >= 0.5"]', '["recall@k >= 0.1", "hallucination <= 0.5"]'])
def test_gates_on_answers_are_never_passed_over(searching, gates, workers):
    with (searching.path / "pyproject.toml").open("a") as file:
        file.write(f"gates = {gates}\n")
    result = searching.run(*workers)
    assert result.ret == 4
    result.stdout.fnmatch_lines(
        ["ERROR: the gates of slice 'mini' would not be judged, since no test measures it*"]
    )


def test_a_bound_of_the_marker_on_answers_is_never_passed_over(searching):
    searching.test(HITS.replace('"mini", ', '"mini", hallucination_at_most=0.05, '))
    assert searching.run().ret == 4


def test_tests_of_answers_and_of_hits_have_rows_of_their_own(project, workers):
    project.test(HITS.replace(', "search:backwards"', "") + REPORT)
    with (project.path / "pyproject.toml").open("a") as file:
        file.write('gates = ["faithfulness >= 0.5", "recall@k >= 0.5"]\n')
    result = project.run("--medfaith-report", "out", "--medfaith-update-baseline", *workers)
    result.assert_outcomes(passed=6)
    assert result.ret == 0
    result.stdout.fnmatch_lines(["PASS  recall@k >= 0.5: 1.000", "PASS  faithfulness >= 0.5: 0.750"])
    reports, _ = read_run(project.path / "out")
    assert [report.contexts_mode for report in reports] == ["none", "recorded"]
    assert [len(report.gates) for report in reports] == [1, 2]
    assert [one.has_answer for report in reports for one in report.reports] == [False] * 3 + [True] * 3
    assert len((project.path / "out" / "claims.csv").read_text().splitlines()) == 1 + 4 + 1  # and a refusal
    assert project.run("--medfaith-gate", "recall@k no worse than baseline", *workers).ret == 0


def test_a_slice_without_a_corpus_is_refused(searching):
    settings = searching.path / "pyproject.toml"
    settings.write_text(settings.read_text().replace('corpus = ["corpus"]\n', ""))
    result = searching.run()
    assert result.ret == 4
    result.stdout.fnmatch_lines(
        ["ERROR: slice 'mini': only what a retriever finds is measured, and there is nothing*"]
    )


def test_hits_of_the_suite_are_measured_too(searching):
    with (searching.path / "conftest.py").open("a") as file:
        file.write(
            """
from pytest_medfaith.records import Chunk, Hit

@pytest.fixture
def medfaith_hits(medfaith_case):
    chunk = Chunk(id="echo", text=medfaith_case.gold_claims[0].text)
    return [Hit(chunk=chunk, rank=1, score=1.0)]
"""
        )
    searching.test(HITS.replace(', retriever=["bm25", "search:backwards"]', ""))
    result = searching.run("--medfaith-gate", "rchunk.mrr@k >= 0.9")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["PASS  rchunk.mrr@k >= 0.9: 1.000"])


def test_a_test_that_looks_at_the_response_measures_nothing_new(project):
    project.test(
        HITS.replace("medfaith_hits)", "medfaith_hits, medfaith_response)").replace(
            ', "search:backwards"', ""
        )
    )
    result = project.run()
    result.assert_outcomes(passed=3)
    result.stdout.no_fnmatch_line("*retrieval only*")


def test_the_passage_that_refutes_a_claim_is_looked_for(searching):
    (searching.path / "gold.jsonl").write_text("".join(json.dumps(case) + "\n" for case in REFUTED))
    searching.run("--medfaith-report", "out")
    names = ("contradiction_mrr", "auto.ndcg@k", "auto.recall@k", "rchunk.recall@k")
    found = values(searching, *names)
    # bm25 finds the inhaler (grade 2) and then the cold air, which refutes the moonlight (two supportive
    # keywords).
    assert found["bm25"] == [0.5, 1.0, 1.0, 1.0]
    # The other retriever finds gout, and then the cold air, of grade 1: 1 / log2(3) of 2 + 1 / log2(3).
    assert found["search:backwards"] == [0.5, pytest.approx(0.2398, abs=1e-4), 0.5, 0.0]


def test_keywords_of_another_form_are_an_error(searching):
    (searching.path / "gold.jsonl").write_text(
        json.dumps({**REFUTED[0], "meta": {"relevance_keywords": ["inhaler"]}}) + "\n"
    )
    result = searching.run()
    result.assert_outcomes(errors=2)
    result.stdout.fnmatch_lines(
        ["*case 'asthma': meta.relevance_keywords is a list of 1, expected*decisive*supportive*"]
    )


def test_the_page_and_all_formats_show_a_run_without_answers(searching):
    with (searching.path / "pyproject.toml").open("a") as file:
        file.write('\n[tool.medfaith]\nformats = ["junit"]\n')
    searching.run("--medfaith-report", "out", "--medfaith-gate", "recall@k >= 0.9")
    folder = searching.path / "out"
    assert "retrieval only" in (folder / "card.md").read_text()
    assert "retrieval only" in (folder / "card.html").read_text()
    junit = (folder / "junit.xml").read_text()
    assert 'testsuite name="mini bm25 scripted k=2 none"' in junit
    assert json.loads((folder / "report.json").read_text())["slices"][0]["counts"]["claims"] == 0


@pytest.fixture
def scripted(searching, monkeypatch):
    monkeypatch.setattr(Resources, "checker", lambda *_: containment_checker())
    monkeypatch.syspath_prepend(searching.path)
    monkeypatch.chdir(searching.path)
    return searching


def evaluate(*arguments):
    with pytest.raises(SystemExit) as ended:
        main(["evaluate", "mini", "--retrieval-only", *arguments])
    return ended.value.code


def test_evaluate_measures_the_retrieval_of_a_slice_without_responses(scripted, capsys):
    assert evaluate("--retriever", "bm25", "--retriever", "search:backwards", "--report", "out") == 0
    assert values(scripted, "rchunk.recall@k") == {"bm25": [1.0], "search:backwards": [pytest.approx(1 / 3)]}
    assert "retrieval only" in capsys.readouterr().out


def test_evaluate_names_the_gates_that_need_answers_and_judges_the_rest(scripted, capsys):
    settings = scripted.path / "pyproject.toml"
    gates = 'k = 2\ngates = ["faithfulness >= 0.8", "recall@k >= 0.5"]'
    settings.write_text(settings.read_text().replace("k = 2", gates))
    assert evaluate() == 0
    told = capsys.readouterr()
    assert "slice 'mini': no answer was judged, so these gates were not: faithfulness >= 0.8" in told.err
    assert "PASS  recall@k >= 0.5" in told.out
    assert evaluate("--retriever", "search:backwards") == 1


def test_evaluate_refuses_a_slice_without_a_corpus(scripted, capsys):
    settings = scripted.path / "pyproject.toml"
    settings.write_text(settings.read_text().replace('corpus = ["corpus"]\n', ""))
    assert evaluate() == 2
    assert "only what a retriever finds is measured, and there is nothing" in capsys.readouterr().err


@pytest.mark.usefixtures("scripted")
def test_two_retrieval_only_runs_are_compared(capsys):
    assert evaluate("--retriever", "search:backwards", "--report", "before") == 0
    assert evaluate("--retriever", "bm25", "--report", "after") == 0
    capsys.readouterr()
    main_compare("before", "after")
    out = capsys.readouterr().out
    assert "mini / search:backwards / k=2 / retrieval only → mini / bm25 / k=2 / retrieval only:" in out
    assert "3 cases in both, 3 cases with other hits" in out
    row = next(line for line in out.splitlines() if line.startswith("Rec@K"))
    assert [cell.strip().split(" ")[0] for cell in row.split("|")] == [
        "Rec@K",
        "0.33",
        "1.00",
        "+0.67",
        "1.000",
    ]
    assert "verdicts" not in out
    for kind in ("markdown", "html"):
        main_compare("before", "after", "--format", kind)
        assert "search:backwards" in capsys.readouterr().out


def test_a_retrieval_only_run_is_not_paired_with_a_run_of_answers(searching, monkeypatch, capsys):
    """Their r-chunks and their hits say different things of a slice: each row is told to be alone."""
    scripted_rows = [("bm25", "before", ()), ("bm25", "after", ("--contexts", "retrieved"))]
    monkeypatch.setattr(Resources, "checker", lambda *_: containment_checker())
    monkeypatch.chdir(searching.path)
    answers = [{"case_id": name, "answer": "Iron."} for name in ("iron", "asthma", "gout")]
    (searching.path / "responses.jsonl").write_text("".join(json.dumps(one) + "\n" for one in answers))
    for retriever, folder, more in scripted_rows:
        only = [] if more else ["--retrieval-only"]
        with pytest.raises(SystemExit):
            main(["evaluate", "mini", "--retriever", retriever, *only, *more, "--report", folder])
    capsys.readouterr()
    main_compare("before", "after")
    out = capsys.readouterr().out
    assert "only before: mini / bm25 / k=2 / containment / retrieval only" in out
    assert "only after: mini / bm25 / k=2 / containment / retrieved" in out


def main_compare(*arguments):
    with pytest.raises(SystemExit) as ended:
        main(["compare", *arguments])
    assert not ended.value.code
