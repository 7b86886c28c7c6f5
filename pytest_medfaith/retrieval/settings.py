"""The settings of retrieval, and those that a retriever's name holds beside them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytest_medfaith import defaults
from pytest_medfaith.defaults import ChunkContext
from pytest_medfaith.retrieval.context import Lines
from pytest_medfaith.retrieval.index_kinds import IndexChoice
from pytest_medfaith.retrieval.stores.opening import Patience
from pytest_medfaith.retrieval.variant import parse_variant
from pytest_medfaith.teacher.asking import Teacher


@dataclass(frozen=True, kw_only=True)
class RetrievalSettings:
    """What can be set about retrieval; `defaults` gives the reason for each default.

    `fused` names the retrievers that `rrf` and `weighted` fuse. `retriever_settings` holds the settings of a
    project's factories, by dotted name. Of all fields before it a factory gets those that it has a parameter
    for. `teacher` is the LLM that the reranker "teacher" asks.
    """

    k1: float = defaults.K1
    b: float = defaults.B
    rrf_k: int = defaults.RRF_K
    weights: Mapping[str, float] | None = None
    fused: tuple[str, ...] = defaults.FUSED
    pool: int = defaults.POOL
    rerank_pool: int = defaults.RERANK_POOL
    store_timeout: float = defaults.STORE_TIMEOUT
    store_retries: int = defaults.STORE_RETRIES
    chunk_context: ChunkContext = defaults.CHUNK_CONTEXT
    chunk_lines: Lines = None
    stop_words: tuple[str, ...] = ()
    filters: tuple[str, ...] = ()
    encoders: tuple[str, ...] = (defaults.ENCODER,)
    dense_index: str = defaults.INDEX
    ef_search: int = defaults.EF_SEARCH
    nprobe: int = defaults.NPROBE
    cache: Path = field(default_factory=lambda: Path(defaults.CACHE))
    retriever_settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    teacher: Teacher | None = None

    @property
    def choice(self) -> IndexChoice:
        """Which index dense retrieval searches."""
        return IndexChoice(kind=self.dense_index, ef_search=self.ef_search, nprobe=self.nprobe)


def settled(name: str, settings: RetrievalSettings) -> tuple[str, RetrievalSettings]:
    """Returns a retriever's name without its settings, and `settings` with those that the name holds."""
    variant = parse_variant(name)
    return variant.name, dataclasses.replace(settings, **variant.retrieval)


def patience_of(settings: RetrievalSettings) -> Patience:
    """Returns how long a store is waited for."""
    return Patience(timeout=settings.store_timeout, retries=settings.store_retries)
