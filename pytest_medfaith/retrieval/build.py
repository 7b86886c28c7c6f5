"""Builds a retriever from its name."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

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

ENCODING = ("dense", "rrf", "weighted")  # those that read the vectors of an encoder
NAMES = ("bm25", *ENCODING)


@dataclass(frozen=True, kw_only=True)
class RetrievalSettings:
    """What can be set about retrieval; each default's reason stands beside it in bm25, fusion and encoders."""

    k1: float = DEFAULT_K1
    b: float = DEFAULT_B
    rrf_k: int = DEFAULT_RRF_K
    weights: Mapping[str, float] | None = None
    encoders: tuple[str, ...] = ("default",)
    cache: Path = field(default_factory=lambda: Path(".medfaith_cache"))


def build_retriever(
    name: str,
    chunks: Sequence[Chunk],
    *,
    settings: RetrievalSettings | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Retriever:
    """Returns the retriever called `name` over `chunks`.

    Args:
        name: bm25, dense, rrf, weighted, or the dotted name of a callable `package.module:factory` that takes the chunks.
        chunks: the corpus, at least one chunk.
        settings: parameters of the built-in retrievers.
        progress: told (chunks done, chunks in all) while a dense index is built.

    Raises:
        ValueError: an unknown name, an empty corpus, or a dotted name that leads nowhere.
    """
    settings = settings or RetrievalSettings()
    if not chunks:
        raise ValueError("the corpus holds no chunk; expected at least one to retrieve from")
    if name == "bm25":
        return bm25_retriever(chunks, k1=settings.k1, b=settings.b)
    if name in NAMES:
        dense = _dense_retrievers(chunks, settings, progress)
        if name == "dense" and len(dense) == 1:
            return next(iter(dense.values()))
        both = (
            dense
            if name == "dense"
            else {"bm25": bm25_retriever(chunks, k1=settings.k1, b=settings.b), **dense}
        )
        fuse = (
            partial(weighted_fusion, weights=settings.weights)
            if name == "weighted"
            else partial(reciprocal_rank_fusion, k=settings.rrf_k)
        )
        return fused_retriever(both, size=len(chunks), fuse=fuse)
    return _dotted(name)(chunks)


def _dense_retrievers(
    chunks: Sequence[Chunk], settings: RetrievalSettings, progress: Callable[[int, int], None] | None
) -> dict[str, Retriever]:
    names = (
        ["dense"] if len(settings.encoders) == 1 else [f"dense:{encoder}" for encoder in settings.encoders]
    )
    return {
        name: dense_retriever(
            chunks, load_encoder(encoder), cache=settings.cache, name=name, progress=progress
        )
        for name, encoder in zip(names, settings.encoders, strict=True)
    }


def _dotted(name: str) -> Callable[[Sequence[Chunk]], Retriever]:
    module, _, attribute = name.replace(":", ".").rpartition(".")
    if not module:
        raise ValueError(
            f"the retriever {name!r} is unknown; expected one of {', '.join(NAMES)}, or a dotted name such as my_app.search:make_retriever"
        )
    try:
        factory = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise ValueError(
            f"the retriever {name!r} cannot be imported ({error}); expected the dotted name of a callable that takes the chunks"
        ) from error
    if not callable(factory):
        raise ValueError(  # noqa: TRY004 - a wrong name in a configuration, not a wrong type in code
            f"the retriever {name!r} is {factory!r}; expected a callable that takes the chunks and returns a retriever"
        )
    return factory  # type: ignore[no-any-return]
