"""Measures which share of exact search's hits an approximate index finds.

Sentences of the corpus serve as questions, encoded as questions are. A chunk's own vector would be no test:
it finds itself in nearly any index.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from pytest_medfaith import defaults
from pytest_medfaith.english.letters import compatible
from pytest_medfaith.english.sentences import sentences_of
from pytest_medfaith.records import Chunk

QUERIES = 200  # enough for a standard error of recall of at most 0.02
_DEPTHS = (10, 100)
_TIMES = 10  # recall@100 is measured where the corpus has at least so many times 100 vectors
_EQUAL = (
    1e-5  # scores this near are equal: FAISS adds up in another order for many queries than for one query
)


def sampled_queries(chunks: Sequence[Chunk]) -> list[str]:
    """Returns up to 200 sentences, each of a different chunk; the same corpus gives the same sentences."""
    draw = random.Random(defaults.SEED)
    drawn = draw.sample(chunks, min(QUERIES, len(chunks)))
    return [compatible(draw.choice(sentences_of(chunk.text) or [chunk.text])) for chunk in drawn]


def measure_recall(index: Any, vectors: Any, queries: Any, *, by_distance: bool) -> dict[str, float]:
    """Returns the recall of an index: {"10": recall@10, "100": recall@100}, each from 0 to 1.

    Recall@10 is the share of the ten best hits of exact search that the index finds, averaged over queries. A
    hit as near as the tenth best counts too, since copies of a passage are equally good. A corpus of fewer
    than 1,000 vectors has no "100"; one of fewer than 10 has its size in place of "10".

    Args:
        index: an index of FAISS, with the search parameters that are to be measured.
        vectors: float32 (n, width), of the corpus.
        queries: float32 (n, width).
        by_distance: True compares by Euclidean distance, False by inner product.
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
