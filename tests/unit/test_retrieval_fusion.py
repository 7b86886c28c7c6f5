import pytest

from pytest_medfaith.records import Chunk, Hit
from pytest_medfaith.retrieval.fusion import (
    fuse_rankings,
    fused_retriever,
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


def test_weighted_fusion_scales_each_retriever_to_zero_one():
    fused = weighted_fusion(
        {"x": ranking(A, B, scores=(100.0, 50.0)), "y": ranking(B, A, scores=(0.9, 0.8))},
        weights={"x": 0.25, "y": 0.75},
    )
    assert fused == {"A": pytest.approx(0.25), "B": pytest.approx(0.75)}


def test_fused_hits_carry_the_rank_of_every_retriever_and_ties_go_by_id():
    hits = fuse_rankings({"x": ranking(B, A), "y": ranking(A, B)}, fuse=reciprocal_rank_fusion, top_k=2)
    assert [(hit.chunk.id, hit.rank, dict(hit.ranks)) for hit in hits] == [
        ("A", 1, {"x": 2, "y": 1}),
        ("B", 2, {"x": 1, "y": 2}),
    ]


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
        (lambda: fused_retriever({}, size=1), "no retriever to fuse"),
    ],
)
def test_wrong_use_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
