"""Fuses the rankings of several retrievers into a single ranking."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from pytest_medfaith import defaults
from pytest_medfaith.records import Chunk, Hit
from pytest_medfaith.retrieval.cost import sized, sum_of_sizes, timed
from pytest_medfaith.retrieval.ranking import Retriever

# Each retriever is asked for three times the wanted depth: a chunk that both rank below the cut may rank
# above it in the fusion.
POOL_FACTOR = 3

# What the lowest hit of a ranking gets after scaling to 0..1: it was found, so its score is above 0.
_LOWEST = 1e-9

Rankings = Mapping[str, Sequence[Hit]]


def reciprocal_rank_fusion(rankings: Rankings, *, k: int = defaults.RRF_K) -> dict[str, float]:
    """Returns chunk id -> sum over retrievers of 1 / (k + rank). Source: Cormack et al., SIGIR 2009.

    Args:
        rankings: retriever name -> its hits, ranks from 1.
        k: damping, > 0.

    Raises:
        ValueError: `k` is 0 or below.
    """
    if k <= 0:
        raise ValueError(f"the RRF constant k is {k}; expected a number above 0")
    fused: dict[str, float] = {}
    for hits in rankings.values():
        for hit in hits:
            fused[hit.chunk.id] = fused.get(hit.chunk.id, 0.0) + 1.0 / (k + hit.rank)
    return fused


def weighted_fusion(rankings: Rankings, *, weights: Mapping[str, float] | None = None) -> dict[str, float]:
    """Returns chunk id -> weighted sum of the scores that the retrievers gave it.

    The scores of each ranking are scaled to 0..1 first (min-max). Where all hits of a ranking have the same
    score, each gets 1. A chunk that only retrievers of weight 0 found is left out.

    Args:
        rankings: retriever name -> its hits.
        weights: retriever name -> weight >= 0; None gives all the same weight.

    Raises:
        ValueError: a negative weight, or the weight of a retriever that has no ranking.
    """
    weights = weights or dict.fromkeys(rankings, 1.0 / len(rankings))
    unknown = sorted(set(weights) - set(rankings))
    if unknown or any(weight < 0 for weight in weights.values()):
        raise ValueError(
            f"fusion weights are {dict(weights)}; expected weights >= 0 for {', '.join(rankings)} only"
        )
    fused: dict[str, float] = {}
    for name, hits in rankings.items():
        low = min((hit.score for hit in hits), default=0.0)
        span = max((hit.score for hit in hits), default=0.0) - low
        for hit in hits:
            scaled = ((hit.score - low) / span if span else 1.0) * (1 - _LOWEST) + _LOWEST
            fused[hit.chunk.id] = fused.get(hit.chunk.id, 0.0) + weights.get(name, 0.0) * scaled
    return {name: score for name, score in fused.items() if score > 0}


def fuse_rankings(
    rankings: Rankings, *, fuse: Callable[[Rankings], Mapping[str, float]], top_k: int
) -> list[Hit]:
    """Returns the `top_k` chunks by fused score, each with its rank in every ranking; ties go by chunk id.

    Args:
        rankings: retriever name -> its hits, ranks from 1.
        fuse: returns the fused score of each chunk id.
        top_k: at most so many hits.
    """
    chunks: dict[str, Chunk] = {}
    ranks: dict[str, dict[str, int]] = {}
    for name, hits in rankings.items():
        for hit in hits:
            chunks[hit.chunk.id] = hit.chunk
            ranks.setdefault(hit.chunk.id, {})[name] = hit.rank
    order = sorted(fuse(rankings).items(), key=lambda item: (-item[1], item[0]))[:top_k]
    return [
        Hit(chunk=chunks[name], rank=rank, score=score, ranks=ranks[name])
        for rank, (name, score) in enumerate(order, start=1)
    ]


def fused_retriever(
    retrievers: Mapping[str, Retriever],
    *,
    size: int,
    fuse: Callable[[Rankings], Mapping[str, float]] = reciprocal_rank_fusion,
) -> Retriever:
    """Returns a retriever that asks each of `retrievers` and fuses their rankings.

    Args:
        retrievers: name -> retriever, at least one of them.
        size: number of chunks in the corpus; no retriever is asked for more.
        fuse: returns the fused score of each chunk id, given all rankings.

    Raises:
        ValueError: no retriever.
    """
    if not retrievers:
        raise ValueError("there is no retriever to fuse; expected at least one")

    def search(query: str, *, top_k: int) -> list[Hit]:
        depth = max(top_k, min(size, top_k * POOL_FACTOR))
        rankings = {name: retriever(query, top_k=depth) for name, retriever in retrievers.items()}
        with timed("fuse"):
            return fuse_rankings(rankings, fuse=fuse, top_k=top_k)

    return sized(search, partial(sum_of_sizes, *retrievers.values()))
