"""Builds a retriever from its name: built-in such as "bm25", or a project's factory "my_app.search:make".

To add a built-in retriever, touch three files: its module in this folder, its line in `BUILT_IN` below, and
its description in docs/how-it-works.md.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from pytest_medfaith.dotted import load_dotted
from pytest_medfaith.errors import DataError
from pytest_medfaith.records import Chunk
from pytest_medfaith.retrieval.bm25 import DEFAULT_B, DEFAULT_K1, bm25_retriever
from pytest_medfaith.retrieval.encoders import load_encoder
from pytest_medfaith.retrieval.fusion import (
    DEFAULT_RRF_K,
    fused_retriever,
    reciprocal_rank_fusion,
    weighted_fusion,
)
from pytest_medfaith.retrieval.index import dense_retriever
from pytest_medfaith.retrieval.ranking import Retriever

Progress = Callable[[int, int], None] | None  # told (chunks done, chunks in all)


@dataclass(frozen=True, kw_only=True)
class RetrievalSettings:
    """What can be set about retrieval; bm25, fusion and encoders give the reason for each default.

    `retriever_settings` holds the settings of a project's factories, by dotted name. Of all fields before it
    a factory gets those that it has a parameter for.
    """

    k1: float = DEFAULT_K1
    b: float = DEFAULT_B
    rrf_k: int = DEFAULT_RRF_K
    weights: Mapping[str, float] | None = None
    encoders: tuple[str, ...] = ("default",)
    cache: Path = field(default_factory=lambda: Path(".medfaith_cache"))
    retriever_settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


def build_retriever(
    name: str,
    chunks: Sequence[Chunk],
    *,
    settings: RetrievalSettings | None = None,
    progress: Progress = None,
) -> Retriever:
    """Returns the retriever called `name` over `chunks`.

    Args:
        name: a built-in retriever, such as bm25, dense, rrf or weighted, or the dotted name of a factory,
            `package.module:factory`. The factory gets the chunks, and by keyword those settings that it has a
            parameter for.
        chunks: the corpus, at least one chunk.
        settings: parameters of the retrievers; None takes the defaults.
        progress: told (chunks done, chunks in all) while a dense index is built.

    Raises:
        ValueError: an unknown name, an empty corpus, a dotted name that leads nowhere, or settings that the
            factory does not take.
    """
    settings = settings or RetrievalSettings()
    if not chunks:
        raise ValueError("the corpus holds no chunk; expected at least one to retrieve from")
    # A dotted name may be written "search:make" or "search.make"; both lead to the same settings.
    tables = {key.replace(":", "."): table for key, table in settings.retriever_settings.items()}
    if name not in BUILT_IN:
        return _from_factory(name, chunks, settings, tables.get(name.replace(":", "."), {}))
    if name in tables:
        raise ValueError(
            f"retriever_settings holds {dict(tables[name])} for {name!r}, expected the dotted name of a "
            "factory; set k1, b, rrf_k, weights and encoders of the built-in retrievers in [tool.medfaith] "
            "itself"
        )
    return BUILT_IN[name](chunks, settings, progress)


def _bm25(chunks: Sequence[Chunk], settings: RetrievalSettings, _progress: Progress) -> Retriever:
    return bm25_retriever(chunks, k1=settings.k1, b=settings.b)


def _dense(chunks: Sequence[Chunk], settings: RetrievalSettings, progress: Progress) -> Retriever:
    found = _by_encoder(chunks, settings, progress)
    if len(found) == 1:
        return next(iter(found.values()))
    return fused_retriever(found, size=len(chunks), fuse=partial(reciprocal_rank_fusion, k=settings.rrf_k))


def _rrf(chunks: Sequence[Chunk], settings: RetrievalSettings, progress: Progress) -> Retriever:
    both = {"bm25": _bm25(chunks, settings, None), **_by_encoder(chunks, settings, progress)}
    return fused_retriever(both, size=len(chunks), fuse=partial(reciprocal_rank_fusion, k=settings.rrf_k))


def _weighted(chunks: Sequence[Chunk], settings: RetrievalSettings, progress: Progress) -> Retriever:
    both = {"bm25": _bm25(chunks, settings, None), **_by_encoder(chunks, settings, progress)}
    return fused_retriever(both, size=len(chunks), fuse=partial(weighted_fusion, weights=settings.weights))


def _by_encoder(
    chunks: Sequence[Chunk], settings: RetrievalSettings, progress: Progress
) -> dict[str, Retriever]:
    """Returns a dense retriever for each encoder, by name: "dense", or "dense:ENCODER" for several."""
    single = len(settings.encoders) == 1
    named = {"dense" if single else f"dense:{encoder}": encoder for encoder in settings.encoders}
    return {
        name: dense_retriever(
            chunks, load_encoder(encoder), cache=settings.cache, name=name, progress=progress
        )
        for name, encoder in named.items()
    }


BUILT_IN: Mapping[str, Callable[[Sequence[Chunk], RetrievalSettings, Progress], Retriever]] = {
    "bm25": _bm25,
    "dense": _dense,
    "rrf": _rrf,
    "weighted": _weighted,
}
ENCODING = ("dense", "rrf", "weighted")  # retrievers whose results depend on the encoders


def _from_factory(
    name: str, chunks: Sequence[Chunk], settings: RetrievalSettings, table: Mapping[str, Any]
) -> Retriever:
    """Returns what a factory makes of the chunks, its `table`, and the settings it has a parameter for."""
    factory = _imported(name)
    try:
        parameters = list(inspect.signature(factory).parameters.values())[1:]  # the first takes the chunks
    except (TypeError, ValueError):  # a callable written in C names no parameters
        return factory(chunks, **table)  # type: ignore[no-any-return]
    asked = {one.name for one in parameters if one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)}
    names = [one.name for one in dataclasses.fields(settings) if one.name != "retriever_settings"]
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
