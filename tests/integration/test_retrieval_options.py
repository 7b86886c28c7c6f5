"""What decides retrieval has one effect in the settings, in pytest's options and in `medfaith retrieve`."""

import json
from functools import partial

import pytest

WEIGHTED = {
    "packages": ...,
    "k1": 1.5,
    "b": 0.6,
    "pool": 3,
    "fused": ["bm25", "rank-bm25"],
    "chunk_context": "path",
    "read": ...,
    "weights": {"bm25": 1.0, "rank-bm25": 0.5},
}
FLAGS = (
    *("--medfaith-k1", "1.5", "--medfaith-b", "0.6", "--medfaith-pool", "3", "--medfaith-rrf-k", "7"),
    *("--medfaith-fuse", "bm25", "--medfaith-fuse", "rank-bm25", "--medfaith-rerank-pool", "2"),
    *("--medfaith-weight", "bm25=1", "--medfaith-weight", "rank-bm25=0.5"),
)
SETTINGS = """
[tool.medfaith]
k1 = 1.5
b = 0.6
pool = 3
rrf_k = 7
rerank_pool = 2
fused = ["bm25", "rank-bm25"]
weights = {bm25 = 1, rank-bm25 = 0.5}
"""
ROWS = ("weighted", "rrf", "bm25+fast")


def run_folder(project, name, *arguments):
    rows = [part for row in ROWS for part in ("--medfaith-retriever", row)]
    project.run("--medfaith-report", name, *rows, *arguments).stdout.fnmatch_lines(["*mini*weighted*"])
    written = json.loads((project.path / name / "signature.json").read_text())
    signature = written["signature"]["retrievers"]["mini"]
    for row in signature.values():
        row["packages"] = row["read"] = ...
    return signature, (project.path / name / "snippets.jsonl").read_text()


def test_the_command_line_says_the_same_as_the_settings(project, workers):
    signature, hits = run_folder(project, "by-flags", *FLAGS, *workers)
    plain = run_folder(project, "plain", *workers)
    project.configure(SETTINGS)
    assert run_folder(project, "by-settings", *workers) == (signature, hits)
    assert signature["weighted"] == WEIGHTED
    assert signature["rrf"]["rrf_k"] == 7
    assert signature["bm25+fast"]["rerank_pool"] == 2
    assert plain[0]["rrf"]["fused"] == ["bm25", "dense"]
    assert plain[1] != hits
    rows = map(json.loads, hits.splitlines())
    first = next(row for row in rows if row["retriever"] == "weighted")["hits"][0]
    assert first["ranks"] == {"bm25": 1, "rank-bm25": 1}
    assert first["score"] == pytest.approx(1.5)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--medfaith-b", "1.5"), "*command line: b is 1.5, expected a number from 0 to 1*"),
        (("--medfaith-k1", "nan"), "*command line: k1 is nan, expected a number of 0 or more*"),
        (("--medfaith-pool", "0"), "*--medfaith-pool: '0' is no whole number of 1 or more*"),
        (("--medfaith-weight", "dense"), "*the weight 'dense' has another form; expected RETRIEVER=NUMBER*"),
        (("--medfaith-weight", "dense=x"), "*the weight 'dense=x' has another form*"),
    ],
)
def test_a_value_out_of_its_range_ends_the_run_at_once(project, arguments, message):
    result = project.run(*arguments)
    assert result.ret == 4
    result.stderr.fnmatch_lines([message])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("--medfaith-retriever", "weighted", "--medfaith-weight", "dnse=1"),
            ("*expected weights >= 0 for bm25, dense only*"),
        ),
        (
            ("--medfaith-retriever", "rrf", "--medfaith-fuse", "rrf"),
            ("*fused is [[]'rrf'[]]; expected at least one retriever*"),
        ),
        (
            ("--medfaith-retriever", "dense", "--medfaith-encoder", "e6=model"),
            ("*the family 'e6', which is not known*"),
        ),
        (("--medfaith-retriever", "bm25+"), "*the reranker '' cannot be loaded*"),
    ],
)
def test_a_name_that_leads_nowhere_passes_nothing(project, monkeypatch, arguments, message):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    result = project.run(*arguments)
    assert result.ret != 0
    assert "passed" not in result.stdout.lines[-1]
    result.stdout.fnmatch_lines([message])


def test_a_large_corpus_is_noted_below_the_card(project):
    (project.path / "conftest.py").write_text(
        project.CONFTEST + "from pytest_medfaith import defaults\ndefaults.FAST_BM25_FROM = 2\n"
    )
    project.run().stdout.fnmatch_lines(["*slice 'mini': bm25 scores the 5 chunks by *bm25*"])


@pytest.fixture
def retrieve(project, medfaith):
    return partial(medfaith, "retrieve", "iron tablets", "--corpus", "corpus", folder=project.path)


def test_retrieve_takes_them_too_and_shows_what_each_retriever_gave(retrieve):
    given = "--retriever weighted+fast --fuse bm25 --fuse rank-bm25 --weight bm25=1 --k 1".split()
    found = retrieve(*given, "--k1", "1.5", "--b", "0.6", "--pool", "3", "--rerank-pool", "2")
    first = found.stdout.splitlines()[0]
    assert "iron-" in first, found.stderr
    assert "(bm25 1 at " in first
    assert "weighted 1 at 1, fast 1 at 0." in first
    shown = json.loads(retrieve(*given, "--json").stdout.splitlines()[0])
    assert shown["scores"].keys() == {"bm25", "rank-bm25", "weighted", "fast"}
    wrong = retrieve("--b", "7")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "b is 7.0, expected a number from 0 to 1" in wrong.stderr


def test_an_approximate_index_is_on_the_card_and_in_the_signature(project):
    project.configure('\n[tool.medfaith]\ndense_index = "hnsw"\n')
    asked = ("--medfaith-retriever", "rrf", "--medfaith-contexts", "retrieved", "--medfaith-report", "out")
    shown = project.run(*asked, "--medfaith-ef-search", "32", "-n", "2")
    shown.stdout.fnmatch_lines(
        ["*dense by HNSW32 (efSearch 32): recall@5 1.000 of exact search, on 5 sentences of the corpus*"]
    )
    signature = json.loads((project.path / "out" / "signature.json").read_text())["signature"]
    assert signature["retrievers"]["mini"]["rrf"]["index"] == {"factory": "HNSW32", "efSearch": 32}


def test_evaluate_has_the_options_of_retrieve(project, monkeypatch):
    from pytest_medfaith.cli import main
    from pytest_medfaith.run.resources import Resources
    from pytest_medfaith.testing import containment_checker

    monkeypatch.setattr(Resources, "_load_checker", lambda _self, _name: containment_checker())
    monkeypatch.chdir(project.path)
    options = [
        *(
            "--k1",
            "1.5",
            "--b",
            "0.6",
            "--pool",
            "3",
            "--rrf-k",
            "7",
            "--fuse",
            "bm25",
            "--fuse",
            "rank-bm25",
        ),
        *(
            "--weight",
            "bm25=1",
            "--weight",
            "rank-bm25=0.5",
            "--rerank-pool",
            "2",
            "--chunk-context",
            "title",
        ),
        *("--stop-word", "english", "--filter", "source=", "--report", "out", "--retriever", "weighted"),
    ]
    with pytest.raises(SystemExit) as wrong:
        main(["evaluate", "mini", *options])
    assert wrong.value.code == 2  # "source=" names no source
    place = options.index("--filter")
    del options[place : place + 2]
    with pytest.raises(SystemExit) as end:
        main(["evaluate", "mini", *options])
    assert not end.value.code
    signature = json.loads((project.path / "out" / "signature.json").read_text())["signature"]
    found = signature["retrievers"]["mini"]["weighted"]
    told = [name for name in WEIGHTED if name not in ("packages", "read", "chunk_context")]
    assert {name: found[name] for name in told} == {name: WEIGHTED[name] for name in told}
    assert (found["chunk_context"], found["stop_words"]) == ("title", ["english"])
