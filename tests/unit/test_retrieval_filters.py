"""Filters of queries by source, journal and year, and stop words."""

import pytest

from pytest_medfaith.errors import DataError
from pytest_medfaith.records import Chunk, Hit
from pytest_medfaith.retrieval.bm25 import as_stop_words, query_words
from pytest_medfaith.retrieval.build import build_retriever
from pytest_medfaith.retrieval.filters import filtered_retriever, passing_ids
from pytest_medfaith.retrieval.settings import RetrievalSettings
from pytest_medfaith.retrieval.signature import retriever_signature

CHUNKS = [
    Chunk(id="old", text="Iron helps.", source="pubmed", year=2001, extra={"journal": "Lancet"}),
    Chunk(id="new", text="Iron helps much.", source="pubmed", year=2020),
    Chunk(id="book", text="Iron helps very much.", source="textbooks"),
]


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (["source=pubmed"], {"old", "new"}),
        (["source=PubMed", "source=textbooks"], {"old", "new", "book"}),
        (["journal=lancet"], {"old"}),
        (["year=2001"], {"old"}),
        (["year=2002-"], {"new"}),
        (["year=-2010"], {"old"}),
        (["year=2000-2010", "year=2020"], {"old", "new"}),
        (["source=pubmed", "year=2020"], {"new"}),
    ],
)
def test_a_filter_passes(filters, expected):
    assert passing_ids(CHUNKS, filters) == expected


@pytest.mark.parametrize("name", ["bm25", "bm25s"])
def test_hits_pass_and_keep_their_order(name):
    every = [hit.chunk.id for hit in build_retriever(name, CHUNKS)("iron", top_k=3)]
    settings = RetrievalSettings(filters=("source=pubmed",))
    hits = build_retriever(name, CHUNKS, settings=settings)("iron", top_k=1)
    assert [hit.chunk.id for hit in hits] == [one for one in every if one != "book"][:1]
    assert [(hit.rank, hit.ranks) for hit in hits] == [(1, {name: 1})]


def test_as_many_pass_as_are_asked_for_however_far_below_they_are():
    corpus = [Chunk(id=str(i), text="x", source="a" if i % 50 == 49 else "b") for i in range(300)]
    asked = []

    def retriever(_query, *, top_k):
        asked.append(top_k)
        return [Hit(chunk=chunk, rank=i, score=1 / i) for i, chunk in enumerate(corpus[:top_k], start=1)]

    found = filtered_retriever(retriever, corpus, ["source=a"])("q", top_k=3)
    assert [hit.chunk.id for hit in found] == ["49", "99", "149"]
    assert [hit.rank for hit in found] == [1, 2, 3]
    assert asked[-1] < 300


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("year=2030", "no chunk of the corpus passes year=2030; in the corpus year is 2001, 2020"),
        ("journal=JAMA", "in the corpus journal is Lancet"),
        ("author=Smith", "'author=Smith' has another form; expected source, journal, year"),
        ("year=20-", "'year=20-' has another form"),
        ("year=-", "'year=-' has another form"),
        ("year=20152016", "has another form"),
        ("year=2020-2010", "ends before it begins"),
        ("source=", "has another form"),
    ],
)
def test_a_filter_that_is_wrong_or_matches_nothing_is_an_error(text, message):
    with pytest.raises(DataError, match=message):
        build_retriever("bm25", CHUNKS, settings=RetrievalSettings(filters=(text,)))


def test_filters_and_stop_words_are_part_of_the_signature():
    settings = RetrievalSettings(filters=("source=pubmed",), stop_words=("iron",))
    signed = retriever_signature("bm25", settings, size=3)
    assert (signed["filters"], signed["stop_words"]) == (["source=pubmed"], ["iron"])


@pytest.mark.parametrize("name", ["bm25", "rank-bm25", "bm25s"])
def test_stop_words_are_left_out_of_questions(name):
    settings = RetrievalSettings(stop_words=("english", "iron"))
    hits = build_retriever(name, CHUNKS, settings=settings)("does iron help very", top_k=3)
    assert [hit.chunk.id for hit in hits] == []  # "very" is a stop word, and nothing says "help"
    assert [hit.chunk.id for hit in build_retriever(name, CHUNKS)("very", top_k=3)] == ["book"]


def test_a_question_of_stop_words_alone_and_negations_are_kept():
    stop = as_stop_words(["english"])
    assert query_words("what is it", stop) == ["what", "is", "it"]
    assert query_words("what without iron", stop) == ["without", "iron"]
