"""Rerankers by name: models that read question and chunk together, and put the best hits in a new order.

`teacher` asks an LLM for grades. `fast` and `default` are the shipped checkers: a chunk is relevant if it
probably entails or contradicts the question's words. They learned on claims, so they serve where questions
are worded as claims. Any further name is a cross-encoder of Hugging Face whose head has a single logit, as
those trained on MS MARCO have.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from pytest_medfaith import defaults
from pytest_medfaith.english.letters import compatible
from pytest_medfaith.errors import DataError, TeacherError
from pytest_medfaith.models.folders import model_signature
from pytest_medfaith.models.foreign import load_foreign
from pytest_medfaith.models.pace import batch_size
from pytest_medfaith.models.whole import whole
from pytest_medfaith.records import Hit
from pytest_medfaith.retrieval.bm25 import searchable_text
from pytest_medfaith.retrieval.cost import index_bytes, sized, timed, vector_indexes
from pytest_medfaith.retrieval.ranking import Retriever, check_query
from pytest_medfaith.retrieval.transformer_encoder import longest_input, padded_batches
from pytest_medfaith.teacher.asking import Teacher
from pytest_medfaith.teacher.ranking import ranking_signature, relevances
from pytest_medfaith.teacher.settings import TEACHER

Score = Callable[[str, Sequence[str]], Sequence[float]]  # (question, n texts) -> n relevances above 0

_LONGEST = 512  # tokens of question and text together, at most: cross-encoders are trained with so many
# Tokens that the shipped checkers read of question and chunk together; longer chunks are cut.
_SHIPPED_TOKENS = {"fast": 512, "default": 384}
_NEUTRAL = 1  # the column of the shipped checkers' logits: entail, neutral, contradict
_EXPECTED = (
    "'fast', 'default', 'teacher', or a folder or Hugging Face name of a cross-encoder with safetensors and "
    "a head of a single logit"
)


@dataclass(frozen=True)
class Reranker:
    """A model that scores texts by how relevant they are to a question.

    Attributes:
        name: what the user called it; it stands in the `ranks` and `scores` of hits.
        signature: text that names the weights.
        score: function from (question, n texts) to n relevances, all above 0.
    """

    name: str
    signature: str
    score: Score


def load_reranker(name: str, *, teacher: Teacher | None = None) -> Reranker:
    """Returns the reranker called `name`: "fast", "default", "teacher", a folder, or a Hugging Face name.

    Args:
        name: of the reranker.
        teacher: the LLM that "teacher" asks; other names do not need it.

    Raises:
        TeacherError: the name is "teacher", and `teacher` is None.
        MissingExtra: the model is not shipped, and the extra `models` is not installed.
        DataError: no such model, a head with several logits, or shipped weights that are not installed.
    """
    if name == TEACHER:
        if teacher is None:
            raise TeacherError(
                "the reranker 'teacher' asks an LLM, which is set up in [tool.medfaith.llm]; expected a "
                "model and a base_url there"
            )
        return Reranker(name, reranker_signature(name, teacher=teacher), partial(relevances, teacher))
    if name in _SHIPPED_TOKENS:
        _load_shipped(name)
        return Reranker(name, reranker_signature(name), partial(_checker_relevance, name))
    _load(name)
    return Reranker(name, reranker_signature(name), partial(_cross_encoder_relevance, name))


def reranker_signature(name: str, *, teacher: Teacher | None = None) -> str:
    """Returns text that names the weights of the reranker called `name`, without loading them.

    For "teacher" it names model, prompt and parameters of the LLM; it is "teacher" where `teacher` is None.

    Raises:
        DataError: shipped weights are not installed.
    """
    if name == TEACHER:
        return ranking_signature(teacher.settings) if teacher else TEACHER
    if name not in _SHIPPED_TOKENS:
        return model_signature(name)
    from pytest_medfaith.models.onnx import weights_signature

    return weights_signature(_shipped_folder(name) / "model.onnx")


def reranked_retriever(
    retriever: Retriever,
    reranker: Reranker,
    *,
    name: str,
    size: int,
    pool: int = defaults.RERANK_POOL,
) -> Retriever:
    """Returns a retriever that puts the best hits of `retriever` in the order of the reranker's scores.

    Each hit keeps the ranks and scores that `retriever` gave it, beside those of the reranker.

    Args:
        retriever: finds the hits.
        reranker: scores them.
        name: of `retriever`.
        size: number of chunks in the corpus.
        pool: how many hits of `retriever` are read, or `top_k` if that is more.

    Raises:
        ValueError: a `pool` below 1.
    """
    if pool < 1:
        raise ValueError(f"the pool of the reranker is {pool} candidates; expected 1 or more")

    def search(query: str, *, top_k: int) -> list[Hit]:
        check_query(query, top_k=top_k, size=size)
        hits = retriever(query, top_k=max(top_k, min(size, pool)))
        with timed("rerank"):
            scores = reranker.score(query, [searchable_text(hit.chunk) for hit in hits]) if hits else []
        order = sorted(zip(scores, hits, strict=True), key=lambda pair: (-pair[0], pair[1].rank))[:top_k]
        return [_anew(hit, rank, score) for rank, (score, hit) in enumerate(order, start=1)]

    def _anew(hit: Hit, rank: int, score: float) -> Hit:
        ranks = {**hit.ranks, name: int(hit.rank), reranker.name: rank}
        scores = {**hit.scores, name: float(hit.score), reranker.name: score}
        return Hit(chunk=hit.chunk, rank=rank, score=score, ranks=ranks, scores=scores)

    return sized(search, partial(index_bytes, retriever), vector_indexes(retriever))


def _shipped_folder(name: str) -> Path:
    """Returns the folder with the weights of the shipped checker "fast" or "default"."""
    from pytest_medfaith.models.shipped import FAST_CHECKER, default_weights

    return FAST_CHECKER if name == "fast" else default_weights()


def _load_shipped(name: str) -> tuple[Any, Any]:
    """Returns (session, tokenizer) of a shipped checker; both are loaded once in a process."""
    from pytest_medfaith.models.onnx import load_session, load_tokenizer
    from pytest_medfaith.models.shipped import MINILM_TOKENIZER

    folder = _shipped_folder(name)
    file = folder / "tokenizer.json"
    tokenizer = load_tokenizer(file if file.is_file() else MINILM_TOKENIZER, max_tokens=_SHIPPED_TOKENS[name])
    return load_session(folder / "model.onnx"), tokenizer


def _checker_relevance(name: str, query: str, texts: Sequence[str]) -> list[float]:
    """Returns each text's probability to entail or contradict the question: 1 - P(neutral), above 0."""
    import numpy as np

    from pytest_medfaith.models.onnx import run_rows, worker_count

    session, tokenizer = _load_shipped(name)
    pairs = [(whole(compatible(text)), whole(compatible(query))) for text in texts]
    rows = [(encoding.ids, encoding.type_ids) for encoding in tokenizer.encode_batch(pairs)]
    with ThreadPoolExecutor(worker_count()) as workers:
        logits = np.vstack(list(workers.map(partial(run_rows, session), rows))).astype(np.float64)
    shares = np.exp(logits - logits.max(axis=1, keepdims=True))
    neutral = shares[:, _NEUTRAL] / shares.sum(axis=1)
    return [float(one) for one in np.maximum(1 - neutral, np.finfo(float).tiny)]


def _cross_encoder_relevance(name: str, query: str, texts: Sequence[str]) -> list[float]:
    """Returns the sigmoid of each text's logit, above 0: the order is that of the logits.

    Raises:
        DataError: the model gave a number that is not finite.
    """
    import numpy as np

    model, tokenizer, torch = _load(name)
    question, limit = whole(compatible(query)), min(_LONGEST, longest_input(model, tokenizer))
    encoded = [
        tokenizer(question, whole(compatible(text)), truncation=True, max_length=limit) for text in texts
    ]
    logits = np.zeros(len(texts), dtype=np.float64)
    for batch, inputs in padded_batches(encoded, size=batch_size(), tokenizer=tokenizer, torch=torch):
        with torch.inference_mode():
            logits[batch] = model(**inputs).logits[:, 0].float().numpy()
    if not np.isfinite(logits).all():
        raise DataError(f"the reranker {name!r} gave a number that is not finite; expected {_EXPECTED}")
    return [float(one) for one in 1 / (1 + np.exp(-np.clip(logits, -700, 700)))]


@lru_cache(maxsize=2)
def _load(name: str) -> tuple[Any, Any, Any]:
    """Returns (model, tokenizer, torch) of a cross-encoder, loaded once in a process.

    Raises:
        DataError: no name, no such model, or a head with several logits.
    """
    what = f"the reranker {name!r}"
    if not name.strip():  # else the hub would be asked for it, several times
        raise DataError(f"{what} cannot be loaded: no name is given; expected {_EXPECTED}")
    model, tokenizer, torch = load_foreign(
        name, what, kind="AutoModelForSequenceClassification", expected=_EXPECTED, gives="its order"
    )
    if model.config.num_labels != 1:
        raise DataError(f"{what} has a head of {model.config.num_labels} logits; expected {_EXPECTED}")
    return model.float(), tokenizer, torch
