"""How much of exact search an approximate index finds, on sentences of the corpus.

A sentence stands in for a question: it is encoded as questions are. A chunk's vector would find itself in
nearly any index.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from pytest_medfaith import defaults
from pytest_medfaith.english.letters import compatible
from pytest_medfaith.english.sentences import sentences_of
from pytest_medfaith.records import Chunk

QUERIES = 200  # of which recall has a standard error of 0.02 at most
_DEPTHS = (10, 100)
_TIMES = 10  # a depth is measured where the corpus is this many times as large
_EQUAL = (
    1e-5  # scores this near are the same: FAISS adds up in another order for many queries than for a single
)


def sampled_queries(chunks: Sequence[Chunk]) -> list[str]:
    """Returns a sentence of each of up to `QUERIES` chunks; the same corpus gives the same sentences."""
    draw = random.Random(defaults.SEED)
    drawn = draw.sample(chunks, min(QUERIES, len(chunks)))
    return [compatible(draw.choice(sentences_of(chunk.text) or [chunk.text])) for chunk in drawn]


def measure_recall(index: Any, vectors: Any, queries: Any, *, by_distance: bool) -> dict[str, float]:
    """Returns {"10": recall@10, "100": recall@100}; @100 only where the corpus is ten times as large.

    Recall is the share of the best hits of exact search that the index finds, the mean over queries. A hit
    that is as near as the last of them counts too: copies of a passage are equally good.

    Args:
        index: of FAISS, its search as it is to be measured.
        vectors: float32 (n, width), of the corpus.
        queries: float32 (n, width).
        by_distance: whether near vectors have a small Euclidean distance, instead of a large inner product.
    """
    import faiss
    import numpy as np

    depths = [min(_DEPTHS[0], len(vectors))]
    depths += [depth for depth in _DEPTHS[1:] if len(vectors) >= _TIMES * depth]
    metric = faiss.METRIC_L2 if by_distance else faiss.METRIC_INNER_PRODUCT
    best = faiss.knn(queries, vectors, depths[-1], metric=metric)[0]
    found = index.search(queries, depths[-1])[1]
    hits = dict.fromkeys(depths, 0)
    for query, exact, places in zip(queries, -best if by_distance else best, found, strict=True):
        near = vectors[places[places >= 0]]
        scores = -((near - query) ** 2).sum(axis=1) if by_distance else near @ query
        for depth in depths:
            last = exact[depth - 1]
            hits[depth] += int(np.count_nonzero(scores[:depth] >= last - _EQUAL * max(1.0, abs(last))))
    return {str(depth): round(number / (depth * len(queries)), 4) for depth, number in hits.items()}
