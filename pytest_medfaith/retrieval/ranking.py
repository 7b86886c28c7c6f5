"""What all retrievers have in common: their shape, and how scores become ranked hits."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any, Protocol

from pytest_medfaith.answers.foreign import in_pieces
from pytest_medfaith.errors import DataError, shown
from pytest_medfaith.records import Chunk, Hit


class Retriever(Protocol):
    """A function `(query, *, top_k)` that returns the best chunks for a question, as hits, best first.

    It returns at most `top_k` hits, fewer where fewer match, with ranks from 1 and scores above 0.
    """

    def __call__(self, query: str, *, top_k: int) -> list[Hit]:  # noqa: D102 - the class says it
        ...


def check_query(query: str, *, top_k: int, size: int) -> None:
    """Refuses a question without text, and a number of hits that the corpus cannot give.

    Args:
        query: the question.
        top_k: how many hits are wanted.
        size: number of chunks in the corpus.

    Raises:
        ValueError: an empty query, or `top_k` below 1 or above `size` (precision at k would divide by hits
            that cannot be).
    """
    if not query.strip():
        raise ValueError(f"the query is {query!r}; expected a question or keywords")
    if not 1 <= top_k <= size:
        raise ValueError(
            f"k is {top_k}, but the corpus holds {size} chunks; expected 1 <= k <= {size}: lower k or add "
            "chunks"
        )


def best_first(scores: Any, *, top_k: int) -> list[int]:
    """Returns the positions of the `top_k` largest scores, largest first; ties keep the order of the corpus.

    Args:
        scores: float array (n_chunks,).
        top_k: how many; all where there are fewer.
    """
    import numpy as np

    scores = np.asarray(scores)
    candidates = np.arange(len(scores))
    if top_k < len(scores):  # sorting only the best saves time over millions of chunks
        least = np.partition(scores, len(scores) - top_k)[len(scores) - top_k]
        candidates = np.flatnonzero(scores >= least)
    order = np.argsort(-scores[candidates], kind="stable")[:top_k]
    return [int(i) for i in candidates[order]]


def to_hits(
    chunks: Sequence[Chunk], positions: Sequence[int], scores: Sequence[float], *, name: str
) -> list[Hit]:
    """Returns the chunks at `positions` as hits, ranked from 1 in that order.

    A chunk whose score is 0 or below is left out. Otherwise a question that matches nothing would get the
    first chunks of the file, and credit for them.

    Args:
        chunks: the corpus.
        positions: places in `chunks`, best first; -1 is skipped, as FAISS writes it for no chunk.
        scores: the score for each position.
        name: the retriever's name in the `ranks` and `scores` of the hits.
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
    """Returns a retriever's hits for a case, checked and in order of rank; see `hits_in_order`."""
    return hits_in_order(found, k=k, place=f"case {case!r}")


def hits_in_order(found: Any, *, k: int | None, place: str) -> list[Hit]:
    """Returns what a project's retriever gave, checked, best rank first, at most `k` hits.

    Args:
        found: what the retriever returned.
        k: how many hits were asked for, later ones are left out; None keeps all.
        place: where it happened, for messages, such as "case 'iron'".

    Raises:
        DataError: `found` is not a list of hits, a chunk has no text, a score is not finite, a rank is no
            whole number from 1, or two hits share a rank.
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
    """Returns what is wrong with an item of a ranking, in words; "" where nothing is wrong."""
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
