"""A factory of a project is called with its chunks and what it asks for, and a wrong setting is named."""

import functools
import sys
import types
from pathlib import Path

import pytest

from pytest_medfaith import defaults
from pytest_medfaith.errors import DataError
from pytest_medfaith.records import Chunk, Hit
from pytest_medfaith.retrieval import bm25_fast, build
from pytest_medfaith.retrieval.build import BUILT_IN, FUSING, build_retriever
from pytest_medfaith.retrieval.notes import size_notes
from pytest_medfaith.retrieval.settings import RetrievalSettings

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
            (
                r"cannot be made \(missing a required argument: 'depth'\); its parameters after the chunks "
                r"are depth, k1=5.0, it was given k1\."
            ),
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


def test_the_built_in_retrievers_that_fuse_are_built_in():
    assert set(FUSING) < set(BUILT_IN)


DIABETES = [
    Chunk(id="metformin", text="Metformin is the first drug given for type 2 diabetes."),
    Chunk(id="insulin", text="Insulin is given for type 1 diabetes."),
    Chunk(id="iron", text="Iron tablets treat iron deficiency anaemia."),
]
QUESTION = "Which drug is first for type 2 diabetes?"


def names_and_scores(name, **settings):
    retriever = build_retriever(name, DIABETES, settings=RetrievalSettings(**settings))
    return [(hit.chunk.id, hit.score, dict(hit.ranks)) for hit in retriever(QUESTION, top_k=3)]


def test_any_retrievers_are_fused(tmp_path):
    sys.modules["my_search"].found = lambda chunks: (
        lambda _query, *, top_k: [
            Hit(chunk=chunk, rank=rank, score=1 / rank) for rank, chunk in enumerate(chunks[:top_k], start=1)
        ]
    )
    fused = ("bm25", "rank-bm25", "dense", "my_search:found")
    for name in ("rrf", "weighted", "weighted-minmax", "weighted-0.7-0.3"):
        best = names_and_scores(name, fused=fused, cache=tmp_path)[0]
        assert best[0] == "metformin"
        assert best[2] == dict.fromkeys(fused, 1)
    assert [ranks for *_, ranks in names_and_scores("rrf", fused=("bm25",))] == [{"bm25": 1}, {"bm25": 2}]


@pytest.mark.parametrize(
    "fused", [(), ("bm25", "bm25"), ("bm25", "rrf"), ("weighted-minmax",), ("bm25+fast", "dense")]
)
def test_what_cannot_be_fused_is_named(fused):
    with pytest.raises(ValueError, match=r"fused is \[.*expected at least one retriever, each once"):
        build_retriever("rrf", DIABETES, settings=RetrievalSettings(fused=fused))


def test_weights_of_a_retriever_that_is_not_fused_are_refused_before_the_first_question(tmp_path):
    settings = RetrievalSettings(weights={"dense:default": 1.0}, cache=tmp_path)
    for name in ("weighted", "weighted-minmax"):
        with pytest.raises(ValueError, match=r"expected weights >= 0 for bm25, dense only"):
            build_retriever(name, DIABETES, settings=settings)


def test_the_preset_weighs_dense_seven_parts_and_words_three(tmp_path):
    preset = names_and_scores("weighted-0.7-0.3", cache=tmp_path, weights={"bm25": 1.0})
    weights = {"bm25": 0.3, "dense": 0.7}
    assert [row[1] for row in preset] == pytest.approx(
        [row[1] for row in names_and_scores("weighted", cache=tmp_path, weights=weights)]
    )
    assert preset[0][1] == pytest.approx(1.0)  # first by both
    with pytest.raises(ValueError, match=r"'weighted-0\.7-0\.3' fuses bm25; expected dense and at least one"):
        build_retriever("weighted-0.7-0.3", DIABETES, settings=RetrievalSettings(fused=("bm25",)))


def test_a_fused_retriever_that_gives_nonsense_is_named():
    sys.modules["my_search"].nonsense = lambda _chunks: lambda _query, **_: None
    retriever = build_retriever(
        "rrf", CHUNKS, settings=RetrievalSettings(fused=("bm25", "my_search:nonsense"))
    )
    with pytest.raises(DataError, match="fusing 'my_search:nonsense': the retriever gave None"):
        retriever("iron", top_k=1)


def test_an_id_that_two_chunks_have_is_named():
    with pytest.raises(ValueError, match="two chunks of the corpus have the id 'a'"):
        build_retriever("bm25", [*CHUNKS, Chunk(id="a", text="Copper.")])


@pytest.mark.parametrize("name", ["bm25", "rank-bm25", "bm25s", "dense", "rrf", "weighted", "bm25+fast"])
def test_hits_keep_their_score_under_the_name_of_who_gave_it(name, tmp_path):
    if name == "bm25s":
        pytest.importorskip("bm25s", reason="comes with the extra fast")
    retriever = build_retriever(name, DIABETES, settings=RetrievalSettings(cache=tmp_path))
    hit = retriever(QUESTION, top_k=3)[0]
    assert hit.chunk.id == "metformin"
    assert hit.ranks.keys() == hit.scores.keys()
    assert all(isinstance(score, float) and score > 0 for score in hit.scores.values())


@pytest.fixture
def built_by(monkeypatch):
    """Which of the two scorers the retriever bm25 was built with, for a limit of two chunks."""
    monkeypatch.setattr(defaults, "FAST_BM25_FROM", 2)
    made = []
    monkeypatch.setattr(build, "bm25_retriever", lambda *_, name, **__: made.append(("rank-bm25", name)))
    monkeypatch.setattr(bm25_fast, "fast_bm25_retriever", lambda *_, name, **__: made.append(("bm25s", name)))
    return made


@pytest.mark.parametrize(
    ("chunks", "installed", "scorer", "note"),
    [
        (DIABETES[:2], True, "rank-bm25", ""),
        (DIABETES, True, "bm25s", "bm25 scores the 3 chunks by bm25s, as it does above 2"),
        (DIABETES, False, "rank-bm25", "pip install 'pytest-medfaith[fast]'"),
    ],
)
def test_a_large_corpus_is_scored_by_bm25s(built_by, monkeypatch, chunks, installed, scorer, note):
    monkeypatch.setattr(bm25_fast, "is_installed", lambda: installed)
    build_retriever("bm25", chunks)
    assert built_by == [(scorer, "bm25")]
    said = size_notes("rrf", RetrievalSettings(), size=len(chunks))
    assert note in " ".join(said)
    assert bool(said) == bool(note)
    assert size_notes("dense", RetrievalSettings(), size=len(chunks)) == []
