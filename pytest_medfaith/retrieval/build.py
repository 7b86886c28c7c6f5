"""Builds a retriever from its name: a built-in such as "bm25", or a project's factory "my_app.search:make".

A plus sign adds a reranker: "rrf+fast". To add a built-in retriever, touch three files: its module in this
folder, its line in `BUILT_IN` below, and its description in docs/how-it-works.md.
"""

from __future__ import annotations

import dataclasses
import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from pytest_medfaith import defaults
from pytest_medfaith.dotted import load_dotted
from pytest_medfaith.errors import DataError
from pytest_medfaith.records import Chunk, Hit
from pytest_medfaith.retrieval import bm25_fast
from pytest_medfaith.retrieval.bm25 import bm25_retriever
from pytest_medfaith.retrieval.context import chunk_lines, contextual_chunks, given_back
from pytest_medfaith.retrieval.dense import dense_retriever
from pytest_medfaith.retrieval.encoders import load_encoder
from pytest_medfaith.retrieval.filters import filtered_retriever
from pytest_medfaith.retrieval.fusion import (
    Fuse,
    check_weights,
    fused_retriever,
    minmax_fusion,
    reciprocal_rank_fusion,
    weighted_fusion,
)
from pytest_medfaith.retrieval.lucene import lucene_retriever
from pytest_medfaith.retrieval.ranking import Retriever, hits_in_order
from pytest_medfaith.retrieval.rerank import load_reranker, reranked_retriever
from pytest_medfaith.retrieval.settings import RetrievalSettings, patience_of, settled
from pytest_medfaith.retrieval.stores.address import is_store, refuse_password, split_reranker
from pytest_medfaith.retrieval.stores.searching import StoreSettings, store_retriever

Progress = Callable[[int, int], None] | None  # called with (chunks done, chunks in all)
Build = Callable[[Sequence[Chunk], "RetrievalSettings", Progress], Retriever]


def build_retriever(
    name: str,
    chunks: Sequence[Chunk],
    *,
    settings: RetrievalSettings | None = None,
    progress: Progress = None,
) -> Retriever:
    """Returns the retriever called `name` over `chunks`.

    Args:
        name: a built-in retriever, such as bm25, dense, rrf or weighted; or "store:" and the address of a
            store; or `package.module:factory` for a project's own. The factory is called with the chunks, and
            by keyword with those settings that it has a parameter for. A plus sign adds a reranker:
            "rrf+fast". Brackets hold settings: "rrf[context=none]", see `variant`.
        chunks: the corpus, at least one chunk; [] where the retriever asks nothing but stores.
        settings: parameters of the retrievers; None takes the defaults.
        progress: called with (chunks done, chunks in all) while a dense index is built.

    Raises:
        ValueError: an unknown name, an empty corpus, an id that two chunks have, a factory that cannot be
            imported, or settings that the factory or the fusion does not take.
        DataError: a model, an index or a Java runtime is missing or cannot be read.
        MissingExtra: the retriever, encoder or reranker needs an extra that is not installed.
    """
    settings = settings or RetrievalSettings()
    refuse_passwords(name, settings)
    name, settings = settled(name, settings)
    if chunks or needs_chunks(name, settings):
        _check_corpus(chunks)
    settings = dataclasses.replace(settings, chunk_lines=chunk_lines(settings.chunk_lines, chunks))
    name, reranker = split_reranker(name)
    if reranker is not None:
        loaded = load_reranker(reranker, teacher=settings.teacher)
        found = _retriever(name, chunks, settings, progress)
        return reranked_retriever(found, loaded, name=name, size=_size(chunks), pool=settings.rerank_pool)
    return _retriever(name, chunks, settings, progress)


def check_name(name: str) -> None:
    """Refuses a retriever's name, with or without a reranker, that leads to no retriever.

    Raises:
        ValueError: it is neither built in nor the dotted name of a factory.
    """
    if base_name(name) not in BUILT_IN:
        _imported(base_name(name))


def base_name(name: str) -> str:
    """Returns the name of a retriever without its reranker: "rrf" of "rrf+fast", "rrf" of "rrf"."""
    return split_reranker(name)[0]


def fused_names(name: str, settings: RetrievalSettings) -> tuple[str, ...]:
    """Returns the retrievers that `name` asks: ("bm25", "dense") for "rrf", ("bm25",) for "bm25"."""
    return settings.fused if base_name(name) in FUSING else (base_name(name),)


def needs_chunks(name: str, settings: RetrievalSettings) -> bool:
    """Returns whether `name`, or a retriever that it fuses, needs a corpus here; stores have it elsewhere."""
    return not all(map(is_store, fused_names(name, settings)))


def asks_stores(name: str, settings: RetrievalSettings) -> bool:
    """Returns whether the retriever called `name` asks a store, itself or among those that it fuses."""
    return any(map(is_store, fused_names(name, settings)))


def refuse_passwords(name: str, settings: RetrievalSettings) -> None:
    """Refuses a store's address with a password in it, since cards and signatures show retrievers' names.

    Raises:
        ValueError: there is such an address; the message does not show it.
    """
    for one in (name, *settings.fused):
        refuse_password(one)


def _size(chunks: Sequence[Chunk]) -> int:
    """Returns the number of chunks; `sys.maxsize` for a corpus in a store, whose size is not known."""
    return len(chunks) or sys.maxsize


def _check_corpus(chunks: Sequence[Chunk]) -> None:
    """Refuses an empty corpus, and two chunks with the same id (ValueError)."""
    if not chunks:
        raise ValueError("the corpus holds no chunk; expected at least one to retrieve from")
    seen: set[str] = set()
    for chunk in chunks:
        if chunk.id in seen:
            raise ValueError(f"two chunks of the corpus have the id {chunk.id!r}; ids must be unique")
        seen.add(chunk.id)


def _retriever(
    name: str, chunks: Sequence[Chunk], settings: RetrievalSettings, progress: Progress
) -> Retriever:
    """Returns the retriever called `name`, without reranker and brackets, after checking its settings."""
    if is_store(name):
        if settings.filters:
            raise DataError(
                f"the filters {', '.join(settings.filters)} are for a corpus of files; write source=, from= "
                "and to= behind the question mark of the store's address"
            )
        held_to = StoreSettings(settings.encoders, settings.k1, settings.b, patience_of(settings))
        return store_retriever(name, chunks, held_to)
    table = factory_settings(name, settings)
    if name not in BUILT_IN:
        found = _from_factory(name, chunks, settings, table or {})
        return filtered_retriever(found, chunks, settings.filters)
    if table is not None:
        raise ValueError(
            f"retriever_settings holds {dict(table)} for {name!r}, expected the dotted name of a "
            "factory; set k1, b, rrf_k, weights and encoders of the built-in retrievers in [tool.medfaith] "
            "itself"
        )
    return BUILT_IN[name](chunks, settings, progress)


def factory_settings(name: str, settings: RetrievalSettings) -> Mapping[str, Any] | None:
    """Returns the table in `retriever_settings` for the retriever called `name`; None where it has none.

    "search:make" and "search.make" lead to the same table.
    """
    tables = {key.replace(":", "."): table for key, table in settings.retriever_settings.items()}
    return tables.get(name.replace(":", "."))


def takes_fast_bm25(size: int) -> bool:
    """Returns whether `bm25` uses bm25s: above `defaults.FAST_BM25_FROM` chunks, if bm25s is installed."""
    return size > defaults.FAST_BM25_FROM and bm25_fast.is_installed()


def _over_corpus(build: Build) -> Build:
    """Returns `build` wrapped: chunks are read with their context, and hits must pass the settings' filters.

    The hits hold the chunks of the corpus, without the context.
    """

    def built(chunks: Sequence[Chunk], settings: RetrievalSettings, progress: Progress) -> Retriever:
        read = contextual_chunks(chunks, settings.chunk_context, lines=settings.chunk_lines)
        found = build(read, settings, progress)
        found = found if read is chunks else given_back(found, chunks)
        return filtered_retriever(found, chunks, settings.filters)

    return built


def _bm25(chunks: Sequence[Chunk], settings: RetrievalSettings, _progress: Progress) -> Retriever:
    build = bm25_fast.fast_bm25_retriever if takes_fast_bm25(len(chunks)) else bm25_retriever
    return build(chunks, k1=settings.k1, b=settings.b, stop_words=settings.stop_words, name="bm25")


def _rank_bm25(chunks: Sequence[Chunk], settings: RetrievalSettings, _progress: Progress) -> Retriever:
    return bm25_retriever(
        chunks, k1=settings.k1, b=settings.b, stop_words=settings.stop_words, name="rank-bm25"
    )


def _bm25s(chunks: Sequence[Chunk], settings: RetrievalSettings, _progress: Progress) -> Retriever:
    return bm25_fast.fast_bm25_retriever(chunks, k1=settings.k1, b=settings.b, stop_words=settings.stop_words)


def _lucene(chunks: Sequence[Chunk], settings: RetrievalSettings, _progress: Progress) -> Retriever:
    return lucene_retriever(chunks, cache=settings.cache, k1=settings.k1, b=settings.b)


def _dense(chunks: Sequence[Chunk], settings: RetrievalSettings, progress: Progress) -> Retriever:
    """Returns dense retrieval with one encoder, or with several encoders fused by reciprocal rank."""
    found = _by_encoder(chunks, settings, progress)
    if len(found) == 1:
        return next(iter(found.values()))
    return fused_retriever(found, size=_size(chunks), fuse=_rrf_of(settings), pool=settings.pool)


def _rrf(chunks: Sequence[Chunk], settings: RetrievalSettings, progress: Progress) -> Retriever:
    found = _components(chunks, settings, progress)
    return fused_retriever(found, size=_size(chunks), fuse=_rrf_of(settings), pool=settings.pool)


def _rrf_of(settings: RetrievalSettings) -> Fuse:
    return partial(reciprocal_rank_fusion, k=settings.rrf_k)


def _weighted(
    chunks: Sequence[Chunk],
    settings: RetrievalSettings,
    progress: Progress,
    *,
    fusion: Callable[..., dict[str, float]] = weighted_fusion,
    by_kind: bool = False,
) -> Retriever:
    """Returns a retriever that fuses others by the weighted sum of their scores.

    Args:
        chunks: the corpus.
        settings: which retrievers are fused, and their weights.
        progress: told while a dense index is built.
        fusion: scales and adds the scores.
        by_kind: True gives 0.7 to dense and 0.3 to the rest, whatever the settings' weights.
    """
    found = _components(chunks, settings, progress)
    weights = _weights_by_kind(list(found)) if by_kind else settings.weights
    if weights is not None:
        check_weights(weights, names=found)
    return fused_retriever(
        found, size=_size(chunks), fuse=partial(fusion, weights=weights), pool=settings.pool
    )


def _weights_by_kind(names: Sequence[str]) -> dict[str, float]:
    """Returns retriever -> weight: 0.7 shared among the dense ones, 0.3 among all others.

    Raises:
        ValueError: there is no dense retriever, or none but dense.
    """
    dense = [name for name in names if name.partition(":")[0] == "dense"]
    others = [name for name in names if name not in dense]
    if not dense or not others:
        raise ValueError(
            f"the retriever 'weighted-0.7-0.3' fuses {', '.join(names)}; expected dense and at least one "
            'retriever by words, as in fused = ["bm25", "dense"]'
        )
    return {
        **{name: defaults.DENSE_WEIGHT / len(dense) for name in dense},
        **{name: (1 - defaults.DENSE_WEIGHT) / len(others) for name in others},
    }


def _components(
    chunks: Sequence[Chunk], settings: RetrievalSettings, progress: Progress
) -> dict[str, Retriever]:
    """Returns the retrievers that a fusion asks, by name; "dense" becomes one for each encoder.

    Raises:
        ValueError: none is named, one twice, or one that fuses or reranks itself.
    """
    names = settings.fused
    wrong = [name for name in names if base_name(name) in FUSING or split_reranker(name)[1] is not None]
    if not names or wrong or len(set(names)) < len(names):
        raise ValueError(
            f"fused is {list(names)}; expected at least one retriever, each once, that neither fuses nor "
            'reranks itself, as in fused = ["bm25", "dense"]'
        )
    found: dict[str, Retriever] = {}
    for name in names:
        if name == "dense":
            found.update(_by_encoder(chunks, settings, progress))
        else:
            found[name] = _retriever(name, chunks, settings, progress)
            if name not in BUILT_IN and not is_store(name):
                found[name] = partial(_checked, found[name], name)
    return found


def _checked(retriever: Retriever, name: str, query: str, *, top_k: int) -> list[Hit]:
    """Returns the hits of a project's retriever, checked: a fusion relies on their ranks and scores."""
    return hits_in_order(retriever(query, top_k=top_k), k=top_k, place=f"fusing {name!r}")


def dense_names(name: str, settings: RetrievalSettings) -> dict[str, str]:
    """Returns {name of a dense retriever: name of its encoder} for all dense ones that `name` asks.

    Example: {"dense": "e5-base"}, and with two encoders {"dense:e5-base": "e5-base", "dense:medcpt":
    "medcpt"}. {} where nothing is dense.
    """
    if "dense" not in fused_names(name, settings):
        return {}
    single = len(settings.encoders) == 1
    return {"dense" if single else f"dense:{encoder}": encoder for encoder in settings.encoders}


def _by_encoder(
    chunks: Sequence[Chunk], settings: RetrievalSettings, progress: Progress
) -> dict[str, Retriever]:
    """Returns a dense retriever for each encoder, by its name as in `dense_names`."""

    def build(name: str, encoder: str) -> Build:
        loaded = load_encoder(encoder)
        return lambda read, given, told: dense_retriever(
            read, loaded, cache=given.cache, name=name, choice=given.choice, progress=told
        )

    return {
        name: _over_corpus(build(name, encoder))(chunks, settings, progress)
        for name, encoder in dense_names("dense", settings).items()
    }


BUILT_IN: Mapping[str, Build] = {
    "bm25": _over_corpus(_bm25),
    "dense": _dense,
    "rrf": _rrf,
    "weighted": _weighted,
    "weighted-minmax": partial(_weighted, fusion=minmax_fusion),
    "weighted-0.7-0.3": partial(_weighted, by_kind=True),
    "rank-bm25": _over_corpus(_rank_bm25),
    "bm25s": _over_corpus(_bm25s),
    "lucene": _over_corpus(_lucene),
}
FUSING = ("rrf", "weighted", "weighted-minmax", "weighted-0.7-0.3")


def _from_factory(
    name: str, chunks: Sequence[Chunk], settings: RetrievalSettings, table: Mapping[str, Any]
) -> Retriever:
    """Returns what a project's factory returns for the chunks, its `table` and the settings that it can take.

    Raises:
        ValueError: the factory does not accept them.
    """
    factory = _imported(name)
    try:
        parameters = list(inspect.signature(factory).parameters.values())[1:]  # the first takes the chunks
    except (TypeError, ValueError):  # a callable written in C names no parameters
        return factory(chunks, **table)  # type: ignore[no-any-return]
    asked = {one.name for one in parameters if one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)}
    kept = ("retriever_settings", "teacher")
    names = [one.name for one in dataclasses.fields(settings) if one.name not in kept]
    offered = {name: getattr(settings, name) for name in names}
    given = {key: value for key, value in offered.items() if key in asked} | dict(table)
    try:
        inspect.signature(factory).bind(chunks, **given)
    except TypeError as error:
        raise ValueError(
            f"the retriever {name!r} cannot be made ({error}); its parameters after the chunks are "
            f"{', '.join(map(str, parameters)) or 'none'}, it was given {', '.join(given) or 'nothing'}. "
            f'Its settings belong into [tool.medfaith.retriever_settings."{name}"]; '
            f"{', '.join(offered)} are given to every factory that has a parameter for them"
        ) from None
    return factory(chunks, **given)  # type: ignore[no-any-return]


def _imported(name: str) -> Callable[..., Any]:
    """Returns the factory with the dotted name `name`; ValueError if it cannot be imported or called."""
    module, _, attribute = name.replace(":", ".").rpartition(".")
    if not module:
        raise ValueError(
            f"the retriever {name!r} is unknown; expected one of {', '.join(BUILT_IN)}, or a dotted name "
            "such as my_app.search:make_retriever"
        )
    try:
        factory = load_dotted(f"{module}:{attribute}", what="the retriever")
    except DataError as error:
        raise ValueError(str(error)) from None
    if not callable(factory):
        raise ValueError(  # noqa: TRY004 - a wrong name in a configuration, not a wrong type in code
            f"the retriever {name!r} is {factory!r}; expected a callable that takes the chunks and returns a "
            "retriever"
        )
    return factory  # type: ignore[no-any-return]
