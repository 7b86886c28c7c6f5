"""The shape that all retrievers have, and how scores become hits."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any, Protocol

from pytest_medfaith.answers.foreign import in_pieces
from pytest_medfaith.errors import DataError, shown
from pytest_medfaith.records import Chunk, Hit


class Retriever(Protocol):
    """Returns the `top_k` best chunks for `query`, best first, scores above 0; fewer where fewer match."""

    def __call__(self, query: str, *, top_k: int) -> list[Hit]:  # noqa: D102 - the class says it
        ...


def check_query(query: str, *, top_k: int, size: int) -> None:
    """Refuses a query that no retriever can answer truthfully.

    Args:
        query: what is asked.
        top_k: how many hits are wanted.
        size: number of chunks in the corpus.

    Raises:
        ValueError: an empty query, `top_k` below 1 or above `size` (precision at k would be a lie).
    """
    if not query.strip():
        raise ValueError(f"the query is {query!r}; expected a question or keywords")
    if not 1 <= top_k <= size:
        raise ValueError(
            f"k is {top_k}, but the corpus holds {size} chunks; expected 1 <= k <= {size}: lower k or add "
            "chunks"
        )


def best_first(scores: Any, *, top_k: int) -> list[int]:
    """Returns the positions of the `top_k` largest scores; ties keep the order of the corpus.

    Args:
        scores: float array (n_chunks,).
        top_k: how many; all where there are fewer.
    """
    import numpy as np

    scores = np.asarray(scores)
    candidates = np.arange(len(scores))
    if top_k < len(scores):  # only what reaches the last of them is sorted: a corpus may hold millions
        least = np.partition(scores, len(scores) - top_k)[len(scores) - top_k]
        candidates = np.flatnonzero(scores >= least)
    order = np.argsort(-scores[candidates], kind="stable")[:top_k]
    return [int(i) for i in candidates[order]]


def to_hits(
    chunks: Sequence[Chunk], positions: Sequence[int], scores: Sequence[float], *, name: str
) -> list[Hit]:
    """Returns hits ranked from 1 in the order of `positions`.

    A chunk whose score is not above 0 was not found, and is no hit. Without this rule a question that matches
    nothing would get the first chunks of the file, and credit for them.

    Args:
        chunks: the corpus.
        positions: of the chunks, best first; -1 stands for no chunk, as FAISS writes it.
        scores: of each position.
        name: of the retriever, under which hits note their rank and score.
    """
    found = [
        (position, float(score))
        for position, score in zip(positions, scores, strict=True)
        if position >= 0 and score > 0
    ]
    return [
        Hit(chunk=chunks[position], rank=rank, score=score, ranks={name: rank}, scores={name: score})
        for rank, (position, score) in enumerate(found, start=1)
    ]


def checked_hits(found: Any, *, k: int | None, case: str) -> list[Hit]:
    """Returns what a retriever gave for the question of the case called `case`; see `hits_in_order`."""
    return hits_in_order(found, k=k, place=f"case {case!r}")


def hits_in_order(found: Any, *, k: int | None, place: str) -> list[Hit]:
    """Returns what a retriever gave, best rank first, at most `k` hits.

    Args:
        found: what the retriever returned.
        k: hits below this rank were not asked for, and are left out; None keeps all.
        place: where messages say that it happened, such as "case 'iron'".

    Raises:
        DataError: no list, an item that is no Hit, a chunk without a text, a score that is not finite, a rank
            that is no whole number from 1, or a rank given twice.
    """
    if isinstance(found, (str, bytes, Mapping, Hit, Chunk)) or not hasattr(found, "__iter__"):
        what = in_pieces(found) or f"{shown(found)}; expected a list of hits, [] where nothing matches"
        raise DataError(f"{place}: the retriever gave {what}")
    hits = list(found)
    ranks: dict[int, str] = {}
    for hit in hits:
        problem = _problem(hit)
        if problem:
            raise DataError(f"{place}: the retriever gave {problem}; mend the retriever")
        if hit.rank in ranks:
            raise DataError(
                f"{place}: the retriever gave the chunks {ranks[hit.rank]!r} and {hit.chunk.id!r} the "
                f"rank {hit.rank}, expected 1, 2, 3 and so on; mend the retriever"
            )
        ranks[hit.rank] = hit.chunk.id
    return sorted(hits, key=lambda hit: hit.rank)[:k]


def _problem(hit: Any) -> str:
    """Returns what is wrong with an item of a ranking; "" where nothing is wrong."""
    if not isinstance(hit, Hit) or not isinstance(hit.chunk, Chunk):
        return f"{shown(hit)}, expected a Hit with a Chunk, a rank from 1 and a score"
    name = f"chunk {hit.chunk.id!r}"
    if not isinstance(hit.chunk.text, str) or not hit.chunk.text.strip():
        return f"{name} without a text, expected the passage"
    if isinstance(hit.score, bool) or not isinstance(hit.score, Real) or not math.isfinite(hit.score):
        return f"{name} the score {shown(hit.score)}, expected a finite number"
    if isinstance(hit.rank, bool) or not isinstance(hit.rank, Integral) or hit.rank < 1:
        return f"{name} the rank {shown(hit.rank)}, expected a whole number from 1"
    return ""
