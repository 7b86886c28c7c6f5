"""The arithmetic inside the benches that measure the encoder and speed."""

import importlib.util
import time
from pathlib import Path

import numpy as np
import pytest

from pytest_medfaith.retrieval.cost import timed

BENCH = Path(__file__).parents[2] / "bench"


def load(name):
    spec = importlib.util.spec_from_file_location(f"bench_{name}", BENCH / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def encoder_quality():
    pytest.importorskip("ir_measures", reason="comes with the extra dev")
    return load("encoder_quality")


@pytest.fixture(scope="module")
def speed():
    pytest.importorskip("torch", reason="comes with the extra train")
    pytest.importorskip("transformers", reason="comes with the extra train")
    return load("speed")


def test_ranks_become_measures_by_query(encoder_quality):
    from training.retrieval_pairs import Collection

    collection = Collection(
        ("q0", "q1", "q2"), ("a", "b", "c"), (frozenset({0}), frozenset({0}), frozenset({0, 1}))
    )
    documents = np.eye(3, dtype=np.float32)
    queries = np.array([[0.9, 0.1, 0], [0.1, 0.9, 0], [0.5, 0, 0.6]], dtype=np.float32)
    found = encoder_quality.per_query(collection, queries, documents)
    second, third = 1 / np.log2(3), 1 / np.log2(4)
    assert found["nDCG@10"] == pytest.approx([1.0, second, (second + third) / (1 + second)])
    assert found["R@10"] == pytest.approx([1.0, 1.0, 1.0])


def test_an_interval_is_a_point_where_queries_agree_and_holds_the_mean_elsewhere(encoder_quality):
    assert encoder_quality.with_interval(np.full(20, 0.25)) == {"value": 0.25, "low": 0.25, "high": 0.25}
    found = encoder_quality.with_interval(np.array([0.0, 1.0] * 50))
    assert found["value"] == 0.5
    assert 0.35 < found["low"] < 0.45
    assert 0.55 < found["high"] < 0.65


def test_texts_are_embedded_once_under_a_model_and_again_under_another(
    encoder_quality, tmp_path, monkeypatch
):
    calls = []

    def embed(path, texts):
        calls.append((path.name, len(texts)))
        return np.ones((len(texts), 2), dtype=np.float32)

    monkeypatch.setattr(encoder_quality, "embed", embed)
    for name in ("a.onnx", "b.onnx"):
        (tmp_path / name).write_text(name)
    texts = [f"text {n}" for n in range(600)]
    for name in ("a.onnx", "a.onnx", "b.onnx"):
        assert encoder_quality.cached(tmp_path / name, texts, tmp_path / "cache").shape == (600, 2)
    assert calls == [("a.onnx", 512), ("a.onnx", 88), ("b.onnx", 512), ("b.onnx", 88)]


def test_operations_are_those_of_the_weights_and_of_attention(speed):
    from transformers import BertConfig, BertModel

    sizes = {"hidden_size": 8, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
    encoder = BertModel(BertConfig(vocab_size=10, **sizes), add_pooling_layer=False).encoder
    weights = sum(parameter.numel() for parameter in encoder.parameters() if parameter.dim() == 2)
    length, scores_and_sums = (
        5,
        2 * (2 * 5 * 5 * 8),
    )  # two products of (length x length x hidden) in each layer
    assert (
        speed.operations(length, **sizes)
        == 2 * length * weights + sizes["num_hidden_layers"] * scores_and_sums
    )


@pytest.mark.parametrize("length", [64, 512])
def test_the_students_rows_have_the_length_that_is_named(speed, length, monkeypatch):
    read = []
    monkeypatch.setattr(
        speed.student, "score_with_student", lambda _, most, pairs: read.append((most, pairs))
    )
    run = speed.student_run(length, 3)
    run(0)
    run(1)
    for most, pairs in read:
        assert most == length
        assert [len(speed.student.pair_row(*pair, max_tokens=2 * length)[0]) for pair in pairs] == [
            length
        ] * 3
    assert not set(read[0][1]) & set(read[1][1])  # nothing of one round is in a cache for the next


def test_chunks_are_cut_to_their_tokens(speed):
    chunks = speed.chunks_of_tokens(
        ["Iron treats anaemia.", "It may hurt the stomach."] * 30, tokens=50, count=4
    )
    assert [
        len(speed.load_tokenizer().encode(chunk.text, add_special_tokens=False).ids) for chunk in chunks
    ] == [50] * 4
    with pytest.raises(ValueError, match="the texts hold 2 tokens, expected 200"):
        speed.chunks_of_tokens(["Iron."], tokens=50, count=4)


def test_contestants_take_turns(speed):
    turns = []
    found = speed.rates(
        {name: (lambda number, name=name: turns.append((name, number)), 7) for name in "ab"}, rounds=2
    )
    assert turns == [("a", -1), ("b", -1), ("a", 0), ("b", 0), ("a", 1), ("b", 1)]
    assert [len(values) for values in found.values()] == [2, 2]


@pytest.fixture(scope="module")
def audit_agreement():
    return load("audit_agreement")


def test_the_audits_recall_takes_the_found_sets_shares_of_kinds(audit_agreement):
    recalls = {"audit.caught.number": 0.8, "audit.caught.route": 0.5}
    assert audit_agreement.weighed(
        recalls, {"error: number": 2, "error: dose": 1, "error: route": 1}
    ) == pytest.approx(0.725)
    with pytest.raises(ValueError, match=r"measured nothing of the kinds \['error: spelling'\]"):
        audit_agreement.weighed(recalls, {"error: number": 2, "error: spelling": 1})


def test_every_kind_of_error_of_the_found_set_has_its_metric(audit_agreement):
    from pytest_medfaith.metrics.audit import AUDIT_METRICS

    rows = audit_agreement.read_labelled(audit_agreement.FOUND)
    assert {row["kind"] for row in rows if row["label"] == "contradict"} <= audit_agreement.KINDS.keys()
    assert set(audit_agreement.KINDS.values()) <= AUDIT_METRICS.keys()


@pytest.mark.usefixtures("word_vectors")
def test_recall_on_the_found_set_counts_errors_that_are_not_supported(audit_agreement):
    from pytest_medfaith.testing import scripted_checker

    caught, total, kinds = audit_agreement.found_recall(
        scripted_checker(lambda *_: "neutral"), audit_agreement.FOUND
    )
    assert (caught, total) == (sum(kinds.values()), 28)
    assert audit_agreement.found_recall(scripted_checker(lambda *_: "entail"), audit_agreement.FOUND)[0] == 0


def test_a_recall_far_from_the_found_sets_is_said_to_be(audit_agreement):
    assert audit_agreement.beside("audit", 0.66, 0.86) == "audit: 0.660, -0.200, not within 0.10"
    assert audit_agreement.beside("audit", 0.80, 0.86) == "audit: 0.800, -0.060, within 0.10"


@pytest.fixture
def hybrid_latency(monkeypatch):
    pytest.importorskip("bm25s", reason="comes with the extra fast")
    monkeypatch.syspath_prepend(str(BENCH))
    return load("hybrid_latency")


def test_the_time_after_encoding_is_all_but_encoding(hybrid_latency):
    def retriever(_question, **_depth):
        with timed("encode"):
            time.sleep(0.02)
        with timed("search"):
            time.sleep(0.01)

    synthetic = hybrid_latency.Synthetic()
    found = hybrid_latency.measure(retriever, synthetic, ["one", "two"])
    assert [len(values) for values in found.values()] == [2] * len(found)
    for total, encode, after in zip(found["total"], found["encode"], found["after"], strict=True):
        assert after == pytest.approx(total - encode)
        assert 10 <= after < total - 19


def test_the_bars_are_judged_at_their_size_and_by_the_clock(hybrid_latency):
    ms = {"after": [9.0, 14.0], "after cpu": [5.0, 6.0], "total": [30.0, 41.0], "total cpu": [20.0, 21.0]}
    row = {"chunks": 135_000, "index": "hnsw", "ms": ms}
    assert hybrid_latency.verdicts([row, {**row, "chunks": 1000}]) == [
        "hnsw: p95 after 14.0 ms (6.0 ms of cpu), under 15 ms",
        "hnsw: p95 total 41.0 ms (21.0 ms of cpu), NOT under 40 ms",
    ]


def test_synthetic_vectors_are_of_length_1_and_in_clusters(hybrid_latency):
    vectors = hybrid_latency.Synthetic().vectors(3000)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    nearest = np.sort(vectors @ vectors.T, axis=1)[:, -2]
    assert 0.4 < np.median(nearest) < 0.9
