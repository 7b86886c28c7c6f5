"""A factory of a project is called with its chunks and what it asks for, and a wrong setting is named."""

import functools
import sys
import types
from pathlib import Path

import pytest

from pytest_medfaith.records import Chunk, Hit
from pytest_medfaith.retrieval.build import BUILT_IN, ENCODING, RetrievalSettings, build_retriever

CHUNKS = [Chunk(id="a", text="Iron."), Chunk(id="b", text="Zinc.")]


def answering(**given):
    """A retriever that says what its factory got."""
    return lambda _query, *, top_k: [Hit(chunk=CHUNKS[0], rank=1, score=1.0, extra={**given, "k": top_k})]


class Made:
    def __init__(self, chunks, *, k1):
        self.chunks, self.k1 = chunks, k1

    def __call__(self, query, *, top_k):
        return answering(chunks=len(self.chunks), k1=self.k1)(query, top_k=top_k)


class Unreadable:
    """A callable whose parameters Python cannot read, as those of some compiled code."""

    __signature__ = "none"

    def __call__(self, chunks, **table):
        return answering(chunks=len(chunks), table=table)


@pytest.fixture(autouse=True)
def my_search(monkeypatch):
    module = types.ModuleType("my_search")
    module.only_chunks = lambda chunks: answering(chunks=len(chunks))
    module.all_of_it = lambda texts, k1, b, *, rrf_k, weights, encoders, cache: answering(
        chunks=len(texts), k1=k1, b=b, rrf_k=rrf_k, weights=weights, encoders=encoders, cache=cache
    )
    module.needs_depth = lambda chunks, *, depth, k1=5.0: answering(chunks=len(chunks), depth=depth, k1=k1)
    module.takes_any = lambda chunks, **more: answering(chunks=len(chunks), more=more)
    module.Made = Made
    module.bound = functools.partial(module.needs_depth, depth=3)
    module.cache_of_chunks = lambda cache: answering(chunks=len(cache))
    module.no_chunks = answering
    module.unreadable = Unreadable()
    monkeypatch.setitem(sys.modules, "my_search", module)


def made_with(name, **settings):
    return build_retriever(name, CHUNKS, settings=RetrievalSettings(**settings))("q", top_k=1)[0].extra


@pytest.mark.parametrize(
    ("name", "table", "given"),
    [
        ("my_search:only_chunks", {}, {"chunks": 2}),
        ("my_search.only_chunks", {}, {"chunks": 2}),
        (
            "my_search:all_of_it",
            {},
            {
                "chunks": 2,
                "k1": 2.0,
                "b": 0.4,
                "rrf_k": 100,
                "weights": None,
                "encoders": ("default",),
                "cache": Path("kept"),
            },
        ),
        ("my_search:needs_depth", {"depth": 3}, {"chunks": 2, "depth": 3, "k1": 2.0}),
        ("my_search.needs_depth", {"depth": 3}, {"chunks": 2, "depth": 3, "k1": 2.0}),
        ("my_search:needs_depth", {"depth": 3, "k1": 7.0}, {"chunks": 2, "depth": 3, "k1": 7.0}),
        ("my_search:takes_any", {}, {"chunks": 2, "more": {}}),
        ("my_search:takes_any", {"depth": 3}, {"chunks": 2, "more": {"depth": 3}}),
        ("my_search:Made", {}, {"chunks": 2, "k1": 2.0}),
        ("my_search:bound", {}, {"chunks": 2, "depth": 3, "k1": 2.0}),
        ("my_search:cache_of_chunks", {}, {"chunks": 2}),
        ("my_search:unreadable", {"depth": 3}, {"chunks": 2, "table": {"depth": 3}}),
    ],
)
def test_a_factory_gets_its_table_and_the_settings_that_it_asks_for(name, table, given):
    tables = {"my_search:" + name[len("my_search:") :]: table, "my_search:other": {"depth": 1}}
    assert made_with(name, k1=2.0, cache=Path("kept"), retriever_settings=tables) == {**given, "k": 1}


@pytest.mark.parametrize(
    ("name", "table", "message"),
    [
        (
            "my_search:needs_depth",
            {},
            r"cannot be made \(missing a required argument: 'depth'\); its parameters after the chunks are depth, k1=5.0, it was given k1\.",
        ),
        (
            "my_search:needs_depth",
            {},
            r"Its settings belong into \[tool\.medfaith\.retriever_settings\.\"my_search:needs_depth\"\]",
        ),
        ("my_search:needs_depth", {"dept": 3}, r"it was given k1, dept\."),
        (
            "my_search:only_chunks",
            {"depth": 3},
            r"cannot be made \(got an unexpected keyword argument 'depth'\)",
        ),
        ("my_search:no_chunks", {}, r"cannot be made \(too many positional arguments\)"),
        ("bm25", {"k1": 3}, r"retriever_settings holds \{'k1': 3\} for 'bm25', expected the dotted name"),
    ],
)
def test_settings_that_do_not_fit_are_named(name, table, message):
    with pytest.raises(ValueError, match=message):
        made_with(name, retriever_settings={name: table})


def test_the_built_in_retrievers_that_encode_are_built_in():
    assert set(ENCODING) < set(BUILT_IN)
