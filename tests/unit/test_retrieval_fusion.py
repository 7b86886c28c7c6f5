import pytest

from pytest_medfaith.errors import DataError
from pytest_medfaith.records import Chunk, Hit
from pytest_medfaith.retrieval.fusion import (
    fuse_rankings,
    fused_retriever,
    minmax_fusion,
    reciprocal_rank_fusion,
    weighted_fusion,
)

A, B, C = (Chunk(id=name, text=name) for name in "ABC")


def ranking(*chunks: Chunk, scores=(3.0, 2.0, 1.0)) -> list[Hit]:
    return [
        Hit(chunk=chunk, rank=rank, score=score)
        for rank, (chunk, score) in enumerate(zip(chunks, scores, strict=False), start=1)
    ]


def test_rrf_sums_reciprocal_ranks():
    fused = reciprocal_rank_fusion({"x": ranking(A, B), "y": ranking(B, C)}, k=100)
    assert fused == {
        "A": pytest.approx(1 / 101),
        "B": pytest.approx(1 / 102 + 1 / 101),
        "C": pytest.approx(1 / 102),
    }


TWO = {"x": ranking(A, B, scores=(100.0, 50.0)), "y": ranking(B, A, scores=(0.9, 0.8))}


def test_weighted_fusion_divides_the_scores_of_each_retriever_by_their_largest():
    fused = weighted_fusion(TWO, weights={"x": 0.25, "y": 0.75})
    assert fused == {
        "A": pytest.approx(0.25 * 1 + 0.75 * 0.8 / 0.9),
        "B": pytest.approx(0.25 * 0.5 + 0.75 * 1),
    }


def test_minmax_fusion_scales_each_retriever_to_zero_one():
    fused = minmax_fusion(TWO, weights={"x": 0.25, "y": 0.75})
    assert fused == {"A": pytest.approx(0.25), "B": pytest.approx(0.75)}


def test_the_two_may_order_chunks_differently():
    rankings = {
        "x": ranking(A, B, C, scores=(10.0, 9.0, 1.0)),
        "y": ranking(C, A, B, scores=(1.0, 0.9, 0.89)),
    }
    best = {
        fuse: max(fused, key=fused.get)
        for fuse in (weighted_fusion, minmax_fusion)
        for fused in [fuse(rankings, weights={"x": 0.4, "y": 0.6})]
    }
    assert best == {weighted_fusion: "A", minmax_fusion: "C"}


@pytest.mark.parametrize("score", [0.0, -0.5])
def test_a_score_without_a_share_of_the_largest_is_named(score):
    rankings = {"x": ranking(A, B), "mine": ranking(A, B, scores=(1.0, score))}
    with pytest.raises(DataError, match=rf"'mine' gave the score {score:g}, which cannot be a share"):
        weighted_fusion(rankings)
    assert minmax_fusion(rankings)


def test_fused_hits_carry_rank_and_score_of_every_retriever_and_ties_go_by_id():
    hits = fuse_rankings({"x": ranking(B, A), "y": ranking(A, B)}, fuse=reciprocal_rank_fusion, top_k=2)
    assert [(hit.chunk.id, hit.rank, dict(hit.ranks), dict(hit.scores)) for hit in hits] == [
        ("A", 1, {"x": 2, "y": 1}, {"x": 2.0, "y": 3.0}),
        ("B", 2, {"x": 1, "y": 2}, {"x": 3.0, "y": 2.0}),
    ]
    assert [Hit.from_dict(hit.to_dict()) for hit in hits] == hits


def test_a_hit_of_an_earlier_version_has_no_scores():
    assert Hit.from_dict({"chunk": {"id": "a", "text": "Iron."}, "rank": 1, "score": 0.5}).scores == {}


@pytest.mark.parametrize(("pool", "top_k", "depth"), [(2, 1, 2), (2, 3, 3), (100, 1, 4), (1, 1, 1)])
def test_each_retriever_is_asked_for_the_pool_or_for_more_where_more_is_wanted(pool, top_k, depth):
    asked = []

    def retriever(_query, *, top_k):
        asked.append(top_k)
        return ranking(A, B, C)[:top_k]

    fused_retriever({"x": retriever}, size=4, pool=pool)("q", top_k=top_k)
    assert asked == [depth]


@pytest.mark.parametrize(
    ("query", "top_k", "message"),
    [(" ", 1, "query is ' '"), ("q", 0, "k is 0, but"), ("q", 4, "k is 4, but the corpus holds 3")],
)
def test_a_fusion_refuses_what_its_retrievers_would(query, top_k, message):
    retriever = fused_retriever({"x": lambda _query, **_: ranking(A)}, size=3)
    with pytest.raises(ValueError, match=message):
        retriever(query, top_k=top_k)


def test_any_number_of_retrievers_is_asked_deeper_than_wanted_but_never_beyond_the_corpus():
    asked = []

    def retriever(_query, *, top_k):
        asked.append(top_k)
        return ranking(A, B, C)[:top_k]

    hits = fused_retriever({"x": retriever, "y": retriever, "z": retriever}, size=3)("q", top_k=2)
    assert asked == [3, 3, 3]
    assert [hit.chunk.id for hit in hits] == ["A", "B"]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: reciprocal_rank_fusion({}, k=0), "RRF constant k is 0"),
        (lambda: weighted_fusion({"x": ranking(A)}, weights={"y": 1.0}), "expected weights >= 0 for x only"),
        (lambda: weighted_fusion({"x": ranking(A)}, weights={"x": -1.0}), "expected weights >= 0 for x only"),
        (lambda: weighted_fusion({"x": ranking(A)}, weights={"x": 0.0}), "expected at least one above 0"),
        (lambda: fused_retriever({}, size=1), "no retriever to fuse"),
        (lambda: fused_retriever({"x": None}, size=1, pool=0), "the pool is 0 candidates"),
    ],
)
def test_wrong_use_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
