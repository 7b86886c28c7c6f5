"""Rerankers order candidates anew; the numbers are those of the model itself."""

import json

import numpy as np
import pytest
from tiny_models import tiny_bert

from pytest_medfaith.checking.loading import load_checker
from pytest_medfaith.errors import DataError
from pytest_medfaith.records import Chunk, Hit
from pytest_medfaith.retrieval.build import build_retriever
from pytest_medfaith.retrieval.rerank import Reranker, load_reranker, reranked_retriever
from pytest_medfaith.retrieval.settings import RetrievalSettings

CHUNKS = [Chunk(id=name, text=f"{name} helps.") for name in ("iron", "zinc", "copper", "gold")]


def in_order(_query, *, top_k):
    """A retriever that finds the chunks in the order of the corpus."""
    return [
        Hit(chunk=chunk, rank=rank, score=1 / rank, ranks={"bm25": rank}, scores={"bm25": 9 / rank})
        for rank, chunk in enumerate(CHUNKS[:top_k], start=1)
    ]


def by_length(_query, texts):
    return [float(len(text)) for text in texts]


def reranked(**more):
    return reranked_retriever(in_order, Reranker("length", "", by_length), name="rrf", size=4, **more)


def test_the_pool_is_read_and_the_best_are_left_with_all_ranks_and_scores():
    hits = reranked(pool=3)("q", top_k=2)
    assert [(hit.chunk.id, hit.rank, hit.score) for hit in hits] == [("copper", 1, 13.0), ("iron", 2, 11.0)]
    assert hits[0].ranks == {"bm25": 3, "rrf": 3, "length": 1}
    assert hits[0].scores == {"bm25": 3.0, "rrf": 1 / 3, "length": 13.0}


@pytest.mark.parametrize(("pool", "top_k", "read"), [(2, 3, 3), (2, 1, 2), (20, 1, 4)])
def test_no_more_than_the_pool_is_read_unless_more_hits_are_wanted(pool, top_k, read):
    asked = []
    reranker = Reranker("x", "", lambda _query, texts: asked.append(len(texts)) or [1.0] * len(texts))
    hits = reranked_retriever(in_order, reranker, name="rrf", size=4, pool=pool)("q", top_k=top_k)
    assert asked == [read]
    assert [hit.chunk.id for hit in hits] == [chunk.id for chunk in CHUNKS[:top_k]]  # ties keep their order


def test_what_finds_nothing_is_not_read():
    reranker = Reranker("x", "", None)
    assert reranked_retriever(lambda _query, **_: [], reranker, name="rrf", size=4)("q", top_k=2) == []


@pytest.mark.parametrize(
    ("query", "top_k", "message"), [("", 1, "query is ''"), ("q", 0, "k is 0"), ("q", 5, "holds 4 chunks")]
)
def test_wrong_questions_are_refused(query, top_k, message):
    with pytest.raises(ValueError, match=message):
        reranked()(query, top_k=top_k)
    with pytest.raises(ValueError, match="the pool of the reranker is 0"):
        reranked(pool=0)


def test_the_shipped_relevance_is_what_the_checker_finds_not_neutral():
    texts = [
        "Iron tablets treat iron deficiency.",
        "Zinc is a metal.",
        "Iron tablets never treat deficiency.",
    ]
    query = "Iron tablets treat iron deficiency."
    found = load_reranker("fast").score(query, texts)
    logits = np.asarray(load_checker("fast").score_texts([(text, query) for text in texts]), dtype=float)
    shares = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    assert found == pytest.approx(list(shares[:, 0] + shares[:, 2]), abs=1e-6)
    assert found[1] < min(found[0], found[2])


def test_a_long_text_is_cut_to_what_the_shipped_model_reads():
    scores = load_reranker("fast").score("Iron helps.", ["Iron helps. " + "Zinc is a metal. " * 400])
    assert 0 < scores[0] <= 1


@pytest.fixture
def folder(tmp_path):
    pytest.importorskip("torch", reason="comes with the extra models")
    return tiny_bert(tmp_path / "reranker", labels=1)


def test_a_cross_encoder_scores_as_transformers_does(folder):
    import torch
    import transformers

    texts = ["Iron tablets treat deficiency.", "Zinc.", "Copper is a metal that conducts well, " * 40]
    found = load_reranker(str(folder)).score("What treats iron deficiency?", texts)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    for text, score in zip(texts, found, strict=True):
        inputs = tokenizer(
            "What treats iron deficiency?", text, truncation=True, max_length=512, return_tensors="pt"
        )
        with torch.inference_mode():
            assert score == pytest.approx(float(torch.sigmoid(model(**inputs).logits[0, 0])), abs=1e-6)
    assert len(set(found)) == 3


def test_a_cross_encoder_reranks_by_its_folder(folder):
    retriever = build_retriever(f"bm25+{folder}", CHUNKS, settings=RetrievalSettings(rerank_pool=2))
    hits = retriever("iron or zinc helps", top_k=2)
    assert {hit.chunk.id for hit in hits} == {"iron", "zinc"}
    assert hits[0].scores.keys() == {"bm25", str(folder)}
    assert hits[0].score > hits[1].score


def test_a_head_of_another_width_is_refused(tmp_path):
    pytest.importorskip("torch", reason="comes with the extra models")
    folder = tiny_bert(tmp_path / "three")
    with pytest.raises(
        DataError, match="has a head of 3 logits; expected 'fast', 'default', 'teacher', or a folder"
    ):
        load_reranker(str(folder))


def test_a_model_without_a_head_is_refused(folder):
    import safetensors.torch

    path = folder / "model.safetensors"
    held = safetensors.torch.load_file(path)
    kept = {name: one for name, one in held.items() if not name.startswith("classifier")}
    safetensors.torch.save_file(kept, path, metadata={"format": "pt"})
    with pytest.raises(DataError, match=r"lacks weights \(classifier.bias, classifier.weight\)"):
        load_reranker(str(folder))


@pytest.mark.parametrize("name", ["no/such-folder-here", "fats", ""])
def test_an_unknown_reranker_is_one_message(name, monkeypatch):
    pytest.importorskip("torch", reason="comes with the extra models")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(DataError, match=f"the reranker {name!r} cannot be loaded") as caught:
        build_retriever(f"bm25+{name}", CHUNKS)
    assert "\n" not in str(caught.value)


def test_a_logit_that_is_not_finite_is_an_error(folder):
    import safetensors.torch

    path = folder / "model.safetensors"
    held = safetensors.torch.load_file(path)
    held["classifier.bias"][0] = float("nan")
    safetensors.torch.save_file(held, path, metadata={"format": "pt"})
    with pytest.raises(DataError, match="not finite"):
        load_reranker(str(folder)).score("q", ["a text"])


def test_the_head_is_read_from_the_configuration(folder):
    assert len(json.loads((folder / "config.json").read_text())["id2label"]) == 1
