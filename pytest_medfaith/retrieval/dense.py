"""Dense retrieval: finds the chunks whose vectors are nearest to the question's vector."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from pytest_medfaith.english.letters import compatible
from pytest_medfaith.records import Chunk, Hit
from pytest_medfaith.retrieval.cost import sized, timed
from pytest_medfaith.retrieval.encoders import Encoder
from pytest_medfaith.retrieval.faiss_index import open_index
from pytest_medfaith.retrieval.index import checked_vectors
from pytest_medfaith.retrieval.index_kinds import IndexChoice
from pytest_medfaith.retrieval.ranking import Retriever, check_query, to_hits


def dense_retriever(
    chunks: Sequence[Chunk],
    encoder: Encoder,
    *,
    cache: Path,
    name: str = "dense",
    choice: IndexChoice | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Retriever:
    """Returns a retriever that compares vectors, in an index of FAISS.

    Scores are inner products, which are cosines for vectors of length 1. For encoders with the metric l2 they
    are 1 / (1 + distance). The index kinds ivfpq and sq8 score rounded vectors.

    Args:
        chunks: the corpus, at least one chunk.
        encoder: gives the vectors.
        cache: folder for indexes, see `embed_corpus`.
        name: the retriever's name in the `ranks` and `scores` of its hits.
        choice: kind of index; None takes exact search.
        progress: called with (chunks done, chunks in all) after each shard.

    Raises:
        DataError: see `open_index`. A search raises it for a question whose vector is not finite, or not as
            wide as the index.
    """
    import numpy as np

    held = open_index(chunks, encoder, cache=cache, choice=choice or IndexChoice(), progress=progress)

    def search(query: str, *, top_k: int) -> list[Hit]:
        check_query(query, top_k=top_k, size=len(chunks))
        with timed("encode"):
            encoded = encoder.encode_queries([compatible(query)])
            vector = checked_vectors(encoded, rows=1, encoder=encoder.name, width=held.width)
        with timed("search"):
            scores, positions = held.index.search(vector, top_k)
        if encoder.metric == "l2":  # FAISS gives squared distances, which rounding may put a little below 0
            scores = 1 / (1 + np.sqrt(np.maximum(scores, 0)))
        return to_hits(chunks, [int(i) for i in positions[0]], scores[0], name=name)

    return sized(search, held.size, {name: held.told} if held.told else {})
