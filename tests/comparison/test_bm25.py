"""Our BM25 against the formula written out, and bm25s against it."""

import math
import sys
from pathlib import Path

import pytest

from pytest_medfaith.datasets.registry import read_cases
from pytest_medfaith.english.words import search_words
from pytest_medfaith.errors import MissingExtra
from pytest_medfaith.jsonl import read_chunks
from pytest_medfaith.records import Chunk
from pytest_medfaith.retrieval.bm25 import bm25_retriever
from pytest_medfaith.retrieval.bm25_fast import fast_bm25_retriever

TEXTS = [
    "Metformin lowers blood sugar and is the first drug in type 2 diabetes.",
    "Insulin lowers blood sugar when tablets are not enough.",
    "Ramipril lowers blood pressure; lowers it more with a diuretic.",
    "Iron tablets are taken on an empty stomach.",
]


@pytest.mark.parametrize(("k1", "b"), [(0.9, 0.4), (1.2, 0.75), (0.1, 0.0)])
@pytest.mark.parametrize("query", ["what lowers blood sugar", "blood pressure", "iron iron tablets"])
def test_scores_are_those_of_the_formula(k1, b, query):
    documents = [search_words(text) for text in TEXTS]
    average = sum(map(len, documents)) / len(documents)
    expected = {}
    for number, document in enumerate(documents):
        score = 0.0
        for word in search_words(query):
            containing = sum(word in other for other in documents)
            if containing:
                idf = math.log(1 + (len(documents) - containing + 0.5) / (containing + 0.5))
                frequency = document.count(word)
                score += idf * frequency * (k1 + 1) / (frequency + k1 * (1 - b + b * len(document) / average))
        expected[f"c{number}"] = score
    retriever = bm25_retriever([Chunk(id=f"c{i}", text=text) for i, text in enumerate(TEXTS)], k1=k1, b=b)
    for hit in retriever(query, top_k=len(TEXTS)):
        assert hit.score == pytest.approx(expected[hit.chunk.id], abs=1e-12)


@pytest.fixture(scope="module")
def samples():
    """The sample corpora, their questions, and questions of strange words."""
    root = Path(__file__).parents[2]
    chunks = read_chunks([root / "corpus_samples"])
    questions = [
        case.question for path in sorted((root / "gold").glob("*.jsonl")) for case in read_cases(str(path))
    ]
    return chunks, [*questions, "iron iron IRON tablets", "5mg or 10 mg a day", "the of and", "薬", "?!"]


@pytest.mark.parametrize(("k1", "b"), [(0.9, 0.4), (1.2, 0.75), (0.1, 0.0), (3.0, 1.0)])
def test_bm25s_gives_the_scores_and_the_order_of_rank_bm25(samples, k1, b):
    pytest.importorskip("bm25s", reason="comes with the extra fast")
    chunks, questions = samples
    reference = bm25_retriever(chunks, k1=k1, b=b)
    fast = fast_bm25_retriever(chunks, k1=k1, b=b, name="bm25")
    found = 0
    for question in questions:
        expected, given = (retriever(question, top_k=len(chunks)) for retriever in (reference, fast))
        assert [hit.chunk.id for hit in given] == [hit.chunk.id for hit in expected]
        assert [hit.score for hit in given] == pytest.approx([hit.score for hit in expected], abs=1e-4)
        found += len(given)
    assert len(questions) > 20
    assert found > 20 * len(questions)


@pytest.mark.parametrize("texts", [["???"], ["???", "..."], ["iron"], ["iron", "???"], ["iron"] * 5])
def test_bm25s_and_rank_bm25_agree_on_corpora_of_next_to_nothing(texts):
    pytest.importorskip("bm25s", reason="comes with the extra fast")
    chunks = [Chunk(id=f"c{i}", text=text) for i, text in enumerate(texts)]
    for query in ("iron", "zinc", "?!", "iron zinc"):
        expected, given = (
            [(hit.chunk.id, pytest.approx(hit.score)) for hit in retriever(query, top_k=len(chunks))]
            for retriever in (bm25_retriever(chunks), fast_bm25_retriever(chunks))
        )
        assert given == expected


@pytest.mark.parametrize(
    ("query", "k", "message"),
    [(" ", 1, "the query is ' '"), ("a", 0, "k is 0, but"), ("a", 5, "holds 4 chunks")],
)
def test_bm25s_refuses_what_rank_bm25_does(query, k, message):
    pytest.importorskip("bm25s", reason="comes with the extra fast")
    retriever = fast_bm25_retriever([Chunk(id=f"c{i}", text=text) for i, text in enumerate(TEXTS)])
    with pytest.raises(ValueError, match=message):
        retriever(query, top_k=k)
    with pytest.raises(ValueError, match="k1 is 0 and b is 2"):
        fast_bm25_retriever([Chunk(id="a", text="iron")], k1=0, b=2)


def test_without_bm25s_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "bm25s", None)
    with pytest.raises(MissingExtra, match=r"the retriever 'bm25s' needs the extra 'fast'"):
        fast_bm25_retriever([Chunk(id="a", text="iron")])
