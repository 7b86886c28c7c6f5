"""Fusion: makes one ranking out of the rankings of several retrievers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial

from pytest_medfaith import defaults
from pytest_medfaith.errors import DataError
from pytest_medfaith.records import Chunk, Hit
from pytest_medfaith.retrieval.cost import sized, sum_of_sizes, timed, vector_indexes
from pytest_medfaith.retrieval.ranking import Retriever, check_query

# What the lowest hit of a ranking gets after scaling to 0..1: it was found, so its score is above 0.
_LOWEST = 1e-9

Rankings = Mapping[str, Sequence[Hit]]
Fuse = Callable[[Rankings], Mapping[str, float]]  # rankings by retriever -> fused score by chunk id


def reciprocal_rank_fusion(rankings: Rankings, *, k: int = defaults.RRF_K) -> dict[str, float]:
    """Returns chunk id -> sum of 1 / (k + rank) over the retrievers that found it.

    Example: with k 60, ranks 1 and 3 give 1/61 + 1/63. Source: Cormack et al., SIGIR 2009.

    Args:
        rankings: retriever name -> its hits, ranks from 1.
        k: > 0; the larger, the less the first ranks stand out.

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
    """Returns chunk id -> weighted sum of its scores, each divided by the best score of its ranking.

    Example: scores of 20 and 15 become 1 and 0.75, cosines of 0.8 and 0.6 become 1 and 0.75. A chunk that
    only retrievers of weight 0 found is left out.

    Args:
        rankings: retriever name -> its hits.
        weights: retriever name -> weight >= 0, 0 for a name that is missing; None gives all the same weight.

    Raises:
        ValueError: a negative weight, or the weight of a retriever that has no ranking.
        DataError: a retriever gave a score of 0 or below, which cannot be a share of the best score.
    """
    return _weighted_sum(rankings, weights, _shares_of_largest)


def minmax_fusion(rankings: Rankings, *, weights: Mapping[str, float] | None = None) -> dict[str, float]:
    """Returns chunk id -> weighted sum of its scores, those of each ranking stretched to 0..1 (min-max).

    Example: scores of 20, 15 and 10 become 1, 0.5 and almost 0. Where all scores of a ranking are equal, each
    becomes 1. Arguments and errors are those of `weighted_fusion`, but scores may be 0 or negative.
    """
    return _weighted_sum(rankings, weights, _spread)


def _weighted_sum(
    rankings: Rankings,
    weights: Mapping[str, float] | None,
    scaled: Callable[[str, Sequence[float]], list[float]],
) -> dict[str, float]:
    """Returns chunk id -> weighted sum of its scores; ids with a sum of 0 are left out.

    Args:
        rankings: retriever name -> its hits.
        weights: retriever name -> weight; None gives all the same weight.
        scaled: function from a retriever's name and its scores to the scores that are added.
    """
    weights = weights or dict.fromkeys(rankings, 1.0 / max(1, len(rankings)))
    check_weights(weights, names=rankings)
    fused: dict[str, float] = {}
    for name, hits in rankings.items():
        for hit, score in zip(hits, scaled(name, [hit.score for hit in hits]), strict=True):
            fused[hit.chunk.id] = fused.get(hit.chunk.id, 0.0) + weights.get(name, 0.0) * score
    return {name: score for name, score in fused.items() if score > 0}


def _shares_of_largest(name: str, scores: Sequence[float]) -> list[float]:
    """Returns each score divided by the largest; DataError if a score is 0 or below."""
    if scores and min(scores) <= 0:
        raise DataError(
            f"the retriever {name!r} gave the score {min(scores):g}, which cannot be a share of its largest "
            f"score ({max(scores):g}); expected scores above 0. Fuse it by `rrf` or `weighted-minmax`"
        )
    largest = max(scores, default=1.0)
    return [score / largest for score in scores]


def _spread(_name: str, scores: Sequence[float]) -> list[float]:
    """Returns the scores stretched to 0..1: largest to 1, lowest to 1e-9; equal scores all to 1."""
    low = min(scores, default=0.0)
    span = max(scores, default=0.0) - low
    return [((score - low) / span if span else 1.0) * (1 - _LOWEST) + _LOWEST for score in scores]


def check_weights(weights: Mapping[str, float], *, names: Collection[str]) -> None:
    """Refuses weights with which the retrievers `names` cannot be fused.

    A retriever without a weight passes: it counts 0. Nothing is refused where both are empty.

    Raises:
        ValueError: a negative weight, a weight of a retriever outside `names`, or no weight above 0.
    """
    if weights.keys() - set(names) or any(weight < 0 for weight in weights.values()):
        raise ValueError(
            f"fusion weights are {dict(weights)}; expected weights >= 0 for {', '.join(names)} only"
        )
    if names and not any(weights.values()):
        raise ValueError(f"fusion weights are {dict(weights)}; expected at least one above 0")


def fuse_rankings(rankings: Rankings, *, fuse: Fuse, top_k: int) -> list[Hit]:
    """Returns the `top_k` hits with the highest fused scores; ties go by chunk id.

    Its rank counts from 1. Each hit also tells the rank and the score of each retriever that found it. [] for
    rankings without hits.

    Args:
        rankings: retriever name -> its hits, ranks from 1.
        fuse: returns the fused score of each chunk id.
        top_k: how many hits at most.
    """
    chunks: dict[str, Chunk] = {}
    ranks: dict[str, dict[str, int]] = {}
    scores: dict[str, dict[str, float]] = {}
    for name, hits in rankings.items():
        for hit in hits:
            chunks[hit.chunk.id] = hit.chunk
            ranks.setdefault(hit.chunk.id, {})[name] = int(
                hit.rank
            )  # a project's retriever may count in numpy
            scores.setdefault(hit.chunk.id, {})[name] = float(hit.score)
    order = sorted(fuse(rankings).items(), key=lambda item: (-item[1], item[0]))[:top_k]
    return [
        Hit(chunk=chunks[name], rank=rank, score=score, ranks=ranks[name], scores=scores[name])
        for rank, (name, score) in enumerate(order, start=1)
    ]


def fused_retriever(
    retrievers: Mapping[str, Retriever],
    *,
    size: int,
    fuse: Fuse = reciprocal_rank_fusion,
    pool: int = defaults.POOL,
) -> Retriever:
    """Returns a retriever that asks each of `retrievers` and fuses their rankings.

    Args:
        retrievers: name -> retriever, at least one.
        size: number of chunks in the corpus; no retriever is asked for more hits.
        fuse: returns the fused score of each chunk id, given all rankings.
        pool: how many hits each retriever is asked for, or `top_k` if that is more.

    Raises:
        ValueError: no retriever, or a `pool` below 1.
    """
    if not retrievers:
        raise ValueError("there is no retriever to fuse; expected at least one")
    if pool < 1:
        raise ValueError(f"the pool is {pool} candidates of each retriever; expected 1 or more")

    def search(query: str, *, top_k: int) -> list[Hit]:
        check_query(query, top_k=top_k, size=size)
        depth = max(top_k, min(size, pool))
        rankings = {name: retriever(query, top_k=depth) for name, retriever in retrievers.items()}
        with timed("fuse"):
            return fuse_rankings(rankings, fuse=fuse, top_k=top_k)

    asked = retrievers.values()
    return sized(search, partial(sum_of_sizes, *asked), vector_indexes(*asked))
