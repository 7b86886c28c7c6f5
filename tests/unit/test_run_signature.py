"""What decides the numbers of a run."""

from importlib.metadata import version

import pytest

from pytest_medfaith.gates.entry import slice_signature
from pytest_medfaith.models.onnx import weights_signature
from pytest_medfaith.models.shipped import FAST_CHECKER
from pytest_medfaith.records import Chunk, SliceRun
from pytest_medfaith.retrieval.context import contextual_chunks
from pytest_medfaith.retrieval.encoders import load_encoder
from pytest_medfaith.retrieval.index import corpus_hash
from pytest_medfaith.run.collected import Collected
from pytest_medfaith.run.options import Options
from pytest_medfaith.run.resources import Resources
from pytest_medfaith.run.signature import run_signature


def test_the_signature_names_the_encoders_of_the_rows_that_use_them(tmp_path):
    (tmp_path / "medfaith.toml").write_text('encoders = ["default", "medcpt"]\n')
    sparse, dense, fused = (
        SliceRun(slice="iron", retriever=name, checker="student", k=3) for name in ("bm25", "dense", "rrf")
    )
    signature = run_signature(Resources(root=tmp_path), Collected(), [sparse, dense, fused])
    named = {
        "default": load_encoder().signature,
        "medcpt": "ncbi/MedCPT-Query-Encoder|ncbi/MedCPT-Article-Encoder|cls pooling, title and text as a "
        "pair, inner product, 64 and 512 tokens",
    }
    assert signature["encoders"] == {"dense": named, "rrf": named}
    assert slice_signature(dense, signature)["encoders"] == {"dense": named}
    assert slice_signature(sparse, signature)["encoders"] == {}


SETTINGS = """
k1 = 1.2
pool = 50
weights = {bm25 = 0.4, dense = 0.6}

[slices.iron]
cases = "cases.jsonl"
corpus = ["corpus.jsonl"]

[slices.zinc]
cases = "cases.jsonl"
corpus = ["corpus.jsonl"]
"""


@pytest.fixture
def project(tmp_path):
    (tmp_path / "medfaith.toml").write_text(SETTINGS)
    (tmp_path / "corpus.jsonl").write_text('{"id": "a", "text": "Iron."}\n{"id": "b", "text": "Zinc."}\n')
    return tmp_path


def run_of(retriever, name="iron"):
    return SliceRun(slice=name, retriever=retriever, checker="student", k=2)


def held_of(project, retriever, options=None, name="iron"):
    """What the signature of a run of several rows holds of one of them."""
    run = run_of(retriever, name)
    runs = [run, run_of("bm25"), run_of("dense", "zinc")]
    signature = run_signature(Resources(root=project, options=options or Options()), Collected(), runs)
    return slice_signature(run, signature)["retrievers"]


def test_the_signature_names_packages_and_settings_of_each_retriever(project):
    by_words = {"k1": 1.2, "b": 0.4}
    chunks = contextual_chunks([Chunk(id="a", text="Iron."), Chunk(id="b", text="Zinc.")], "path")
    read = {"chunk_context": "path", "read": corpus_hash(chunks)}
    bm25, faiss = {"rank-bm25": version("rank-bm25")}, {"faiss": version("faiss-cpu")}
    flat = {"index": {"factory": "Flat"}}
    fused = {"packages": {**bm25, **faiss}, **by_words, **flat, "pool": 50, "fused": ["bm25", "dense"]}
    expected = {
        "bm25": {"packages": bm25, **by_words},
        "dense": {"packages": faiss, **flat},
        "rrf": {**fused, "rrf_k": 100},
        "weighted": {**fused, "weights": {"bm25": 0.4, "dense": 0.6}},
        "weighted-0.7-0.3": fused,
        "bm25+fast": {
            "packages": bm25,
            **by_words,
            "reranker": weights_signature(FAST_CHECKER / "model.onnx"),
            "rerank_pool": 20,
        },
    }
    assert {name: held_of(project, name) for name in expected} == {
        name: {"iron": {name: {**held, **read}}} for name, held in expected.items()
    }


def test_the_command_line_counts_in_the_signature(project):
    options = Options(retrieval={"k1": 1.5, "fused": ("bm25",)})
    held = held_of(project, "rrf", options)["iron"]["rrf"]
    assert (held["k1"], held["fused"]) == (1.5, ["bm25"])


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("hnsw", {"factory": "HNSW32", "efSearch": 64}),
        ("IVF4,SQ8", {"factory": "IVF4,SQ8", "nprobe": 8}),
        ("ivfpq", {"factory": "Flat"}),  # which a corpus of two chunks is searched by
    ],
)
def test_the_index_and_the_parameters_of_its_search_count(project, kind, expected):
    options = Options(retrieval={"dense_index": kind, "ef_search": 64, "nprobe": 8})
    assert held_of(project, "dense", options)["iron"]["dense"]["index"] == expected


def test_the_settings_of_a_factory_are_a_digest(project):
    before = held_of(project, "my_app.search:make")
    with (project / "medfaith.toml").open("a") as out:
        out.write('[retriever_settings."my_app.search.make"]\npassword = "secret"\n')
    after = held_of(project, "my_app.search:make")
    assert before != after
    assert "secret" not in str(after)


def test_a_row_without_a_corpus_retrieves_nothing(project):
    (project / "medfaith.toml").write_text('[slices.iron]\ncases = "cases.jsonl"\n')
    assert held_of(project, "rrf") == {}
