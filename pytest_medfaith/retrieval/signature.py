"""What decides a retriever's hits, as plain values.

A run's signature holds them, so that two runs can be told to have searched differently.
"""

from __future__ import annotations

import hashlib
import json
from importlib.metadata import version
from typing import Any

from pytest_medfaith.retrieval.build import BUILT_IN, FUSING, factory_settings, fused_names, takes_fast_bm25
from pytest_medfaith.retrieval.encoders import encoder_signature
from pytest_medfaith.retrieval.faiss_index import faiss_version
from pytest_medfaith.retrieval.index_kinds import index_signature
from pytest_medfaith.retrieval.lucene import lucene_version
from pytest_medfaith.retrieval.matches import BY_WORDS
from pytest_medfaith.retrieval.rerank import reranker_signature
from pytest_medfaith.retrieval.settings import RetrievalSettings, patience_of, settled
from pytest_medfaith.retrieval.stores.address import is_store, split_reranker
from pytest_medfaith.retrieval.stores.searching import store_fingerprint


def encoder_signatures(name: str, settings: RetrievalSettings) -> dict[str, str] | None:
    """Returns {encoder's name: its signature} for the retriever called `name`; None if it has no encoder."""
    name, settings = settled(name, settings)
    if "dense" not in fused_names(name, settings):
        return None
    return {encoder: encoder_signature(encoder) for encoder in settings.encoders}


def retriever_signature(name: str, settings: RetrievalSettings, *, size: int) -> dict[str, Any]:
    """Returns what decides the hits of the retriever called `name`, apart from its encoders and its corpus.

    Example: {"packages": {"rank-bm25": "0.2.2"}, "k1": 0.9, "b": 0.4, "chunk_context": "path"}. Settings of a
    project's factory may hold a password, so only their digest is kept.

    Args:
        name: of the retriever, with its reranker.
        settings: of retrieval.
        size: number of chunks in the corpus; it decides which package `bm25` uses, and what "ivfpq" becomes.
    """
    name, settings = settled(name, settings)
    base, reranker = split_reranker(name)
    names = fused_names(name, settings)
    found: dict[str, Any] = {"packages": _packages(names, size=size)}
    if set(names) & set(BY_WORDS):
        found |= {"k1": settings.k1, "b": settings.b}
        found |= {"stop_words": sorted(settings.stop_words)} if settings.stop_words else {}
    if "dense" in names:
        found["index"] = index_signature(settings.choice, size=size)
    if base in FUSING or (base == "dense" and len(settings.encoders) > 1):
        found["pool"] = settings.pool
        found |= {"rrf_k": settings.rrf_k} if base in ("rrf", "dense") else {}
    if base in FUSING:
        takes_weights = base in ("weighted", "weighted-minmax")  # the weights of weighted-0.7-0.3 are fixed
        found |= {"fused": list(names)} | ({"weights": dict(settings.weights or {})} if takes_weights else {})
    if set(names) & set(BUILT_IN):
        found["chunk_context"] = settings.chunk_context
    found |= {"filters": sorted(settings.filters)} if settings.filters else {}
    if reranker is not None:
        found |= {
            "reranker": reranker_signature(reranker, teacher=settings.teacher),
            "rerank_pool": settings.rerank_pool,
        }
    tables = {
        name: dict(factory_settings(name, settings) or {})
        for name in names
        if name not in BUILT_IN and not is_store(name)
    }
    if stores := {name: store_fingerprint(name, patience_of(settings)) for name in names if is_store(name)}:
        found["stores"] = stores
    if tables:
        held = json.dumps(tables, sort_keys=True, default=str)
        found["settings"] = hashlib.sha256(held.encode()).hexdigest()[:16]
    return found


def _packages(names: tuple[str, ...], *, size: int) -> dict[str, str]:
    """Returns {package: version} of the packages that score for the built-in retrievers `names`."""
    found: dict[str, str] = {}
    if "rank-bm25" in names or ("bm25" in names and not takes_fast_bm25(size)):
        found["rank-bm25"] = version("rank-bm25")
    if "bm25s" in names or ("bm25" in names and takes_fast_bm25(size)):
        found["bm25s"] = version("bm25s")
    if "lucene" in names:
        found["pyserini"] = lucene_version()
    if "dense" in names:
        found["faiss"] = faiss_version()
    return found
