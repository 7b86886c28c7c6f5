"""BM25 by the package bm25s, for corpora on which rank-bm25 is slow.

It counts the same words and gives the same scores, to within 1e-4.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial
from importlib.util import find_spec
from typing import Any

from pytest_medfaith import defaults
from pytest_medfaith.errors import MissingExtra
from pytest_medfaith.records import Chunk, Hit
from pytest_medfaith.retrieval.bm25 import as_stop_words, check_parameters, corpus_words, query_words
from pytest_medfaith.retrieval.cost import sized, timed
from pytest_medfaith.retrieval.ranking import Retriever, best_first, check_query, to_hits


def is_installed() -> bool:
    """Returns whether bm25s (the extra `fast`) is installed, without importing it."""
    return find_spec("bm25s") is not None


def fast_bm25_retriever(
    chunks: Sequence[Chunk],
    *,
    k1: float = defaults.K1,
    b: float = defaults.B,
    stop_words: Collection[str] = (),
    name: str = "bm25s",
) -> Retriever:
    """Returns a BM25 retriever over `chunks` that computes all word scores when it is built, by bm25s.

    Arguments and ValueError are those of `bm25_retriever`. Source: Lù 2024, arXiv:2407.03618.

    Raises:
        MissingExtra: bm25s is not installed.
    """
    check_parameters(k1, b)
    try:
        import bm25s
    except ImportError:
        raise MissingExtra("the retriever 'bm25s'", "fast") from None
    index = bm25s.BM25(k1=k1, b=b, method="lucene", dtype="float64")
    index.index(corpus_words(chunks), create_empty_token=False, show_progress=False)
    index.scores["data"] *= k1 + 1  # bm25s leaves out this factor, since it does not change the order
    size = sum(index.scores[part].nbytes for part in ("data", "indices", "indptr"))
    return sized(partial(_search, chunks, index, name, as_stop_words(stop_words)), size)


def _search(
    chunks: Sequence[Chunk], index: Any, name: str, stop_words: frozenset[str], query: str, *, top_k: int
) -> list[Hit]:
    """Returns the hits of a question, by bm25s's scores; see `Retriever`."""
    check_query(query, top_k=top_k, size=len(chunks))
    words = index.get_tokens_ids(query_words(query, stop_words))
    if not words:
        return []
    with timed("search"):
        scores = index.get_scores_from_ids(words)
        positions = best_first(scores, top_k=top_k)
    return to_hits(chunks, positions, [scores[i] for i in positions], name=name)
