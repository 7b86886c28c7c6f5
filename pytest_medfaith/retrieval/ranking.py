"""The one shape of a retriever, and how scores become hits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from pytest_medfaith.records import Chunk, Hit


class Retriever(Protocol):
    """Returns the `top_k` best chunks for `query`, best first; fewer where fewer match, none where none does. Scores are above 0."""

    def __call__(self, query: str, *, top_k: int) -> list[Hit]:  # noqa: D102 - the class says it
        ...


def check_query(query: str, *, top_k: int, size: int) -> None:
    """Refuses a query that no retriever can answer truthfully.

    Raises:
        ValueError: an empty query, `top_k` below 1 or above the corpus size (precision at k would be a lie).
    """
    if not query.strip():
        raise ValueError(f"the query is {query!r}; expected a question or keywords")
    if not 1 <= top_k <= size:
        raise ValueError(f"k is {top_k}, but the corpus holds {size} chunks; expected 1 <= k <= {size}: lower k or add chunks")


def best_first(scores: Any, *, top_k: int) -> list[int]:
    """Returns the positions of the `top_k` largest scores; ties keep corpus order, so the ranking is reproducible.

    Args:
        scores: float array (n_chunks,).
        top_k: how many; more than there are is all.
    """
    import numpy as np

    scores = np.asarray(scores)
    return [int(i) for i in np.argsort(-scores, kind="stable")[:top_k]]


def to_hits(chunks: Sequence[Chunk], positions: Sequence[int], scores: Sequence[float], *, name: str) -> list[Hit]:
    """Returns hits ranked from 1 in the order of `positions`; a chunk whose score is not above 0 was not found, and is no hit.

    Without this a question that matches nothing would be given chunks in the order of a file, and credit for them.
    """
    found = [(position, float(score)) for position, score in zip(positions, scores, strict=True) if position >= 0 and score > 0]
    return [
        Hit(chunk=chunks[position], rank=rank, score=score, ranks={name: rank}) for rank, (position, score) in enumerate(found, start=1)
    ]
