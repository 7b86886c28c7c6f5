"""Contrastive learning of a sentence encoder: moves a question's vector towards its right document's.

Here are batches without false negatives, the search for hard negatives (wrong documents that are similar to
the question), and the InfoNCE loss.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from training.retrieval_pairs import RetrievalPair
from training.student import half_precision

# A document that scores above this share of the right document's score is probably a second answer, so it is
# no negative (the positive-aware mining of Moreira et al. 2024, NV-Retriever).
NEGATIVE_AT_MOST = 0.95


@dataclass(frozen=True)
class Example:
    """A pair to learn from.

    Attributes:
        pair: question and right document.
        negative: a pair whose document is similar to the question but wrong (a hard negative); None where
            none was found.
    """

    pair: RetrievalPair
    negative: RetrievalPair | None


def load_encoder_student(folder: Path) -> Any:
    """Returns the torch encoder in `folder`, without its pooling layer, which sentence vectors do not use."""
    from transformers import AutoModel

    return AutoModel.from_pretrained(folder, attn_implementation="eager", add_pooling_layer=False)


def vectors_of(model: Any, texts: Sequence[str], *, max_tokens: int) -> Any:
    """Returns the vectors of a batch of texts, of length 1: float32 tensor (n, width) on the model's device.

    A vector is the mean of the last layer over the text's tokens.

    Args:
        model: a BERT-like encoder of transformers.
        texts: at least one.
        max_tokens: of a text; the rest is left out.
    """
    import torch

    from pytest_medfaith.models.onnx import load_tokenizer

    rows = [encoding.ids for encoding in load_tokenizer(max_tokens=max_tokens).encode_batch(list(texts))]
    width = max(map(len, rows))
    ids = torch.tensor([row + [0] * (width - len(row)) for row in rows], device=model.device)
    mask = (ids != 0).long()
    hidden = model(input_ids=ids, attention_mask=mask).last_hidden_state.float()
    pooled = (hidden * mask.unsqueeze(-1)).sum(1) / mask.sum(1, keepdim=True)
    return torch.nn.functional.normalize(pooled, dim=-1)


def encode(model: Any, texts: Sequence[str], *, max_tokens: int, batch: int = 32) -> Any:
    """Returns the vectors of `texts`, of length 1, without gradients: float32 array (n, width)."""
    import numpy as np
    import torch

    order = sorted(range(len(texts)), key=lambda i: -len(texts[i]))
    vectors = np.zeros((len(texts), model.config.hidden_size), dtype=np.float32)
    with torch.no_grad():
        for start in range(0, len(order), batch):
            places = order[start : start + batch]
            batch_texts = [texts[i] for i in places]
            vectors[places] = vectors_of(model, batch_texts, max_tokens=max_tokens).cpu().numpy()
    return vectors


def info_nce(queries: Any, documents: Any, allowed: Any, *, scale: float) -> Any:
    """Returns the mean cross-entropy of each question's right document among those allowed for the question.

    Args:
        queries: unit vectors (n, width).
        documents: unit vectors (n + m, width): the right document of each question, then m hard negatives.
        allowed: bool (n, n + m), False for a document that is not the question's right one but may answer it.
        scale: cosines are multiplied by it; the inverse of the temperature.
    """
    import torch

    logits = (queries @ documents.T * scale).masked_fill(~allowed, float("-inf"))
    return torch.nn.functional.cross_entropy(logits, torch.arange(len(queries), device=logits.device))


@lru_cache(maxsize=65_536)
def same_text(text: str) -> str:
    """Returns the words of `text` in lower case; texts equal in this count as the same.

    Example: "iron helps" for "Iron helps.".
    """
    return " ".join(re.findall(r"\w+", text.lower()))


def may_answer(document_of: RetrievalPair, pair: RetrievalPair) -> bool:
    """Returns whether the document of the pair `document_of` may answer the question of `pair`.

    It may if both pairs have the same group, document or question.
    """
    return (
        document_of.group == pair.group
        or same_text(document_of.document) == same_text(pair.document)
        or same_text(document_of.query) == same_text(pair.query)
    )


def allowed_documents(batch: Sequence[RetrievalPair], negatives: Sequence[RetrievalPair]) -> list[list[bool]]:
    """Returns which documents compete for each question: n rows of n + m booleans.

    True are the question's right document, and every document that cannot answer it.

    Args:
        batch: n pairs.
        negatives: m pairs, whose documents compete too.
    """
    competing = [*batch, *negatives]
    return [
        [i == j or not may_answer(document_of, pair) for j, document_of in enumerate(competing)]
        for i, pair in enumerate(batch)
    ]


def across_queries(right: Any, negative: Any, *, scale: float) -> Any:
    """Returns the mean logistic loss of every right document against every hard negative, of any question.

    InfoNCE orders only the documents of the same question. This loss makes cosines of different questions
    comparable, as the area under the ROC curve asks (Gao and Zhou 2015: consistent with it).

    Args:
        right: (n,) cosines of questions and their right documents.
        negative: (m,) cosines of questions and their hard negatives.
        scale: cosines are multiplied by it.
    """
    import torch

    return torch.nn.functional.softplus(scale * (negative[:, None] - right)).mean()


def batch_loss(
    model: Any, batch: Sequence[Example], *, max_tokens: int, scale: float, across: float = 0.0
) -> Any:
    """Returns the loss of a batch: InfoNCE plus `across` times `across_queries`.

    Each question is compared with the documents and hard negatives of the whole batch.
    """
    import torch

    pairs = [example.pair for example in batch]
    negatives = [example.negative for example in batch if example.negative]
    with half_precision(model.device.type):
        queries = vectors_of(model, [pair.query for pair in pairs], max_tokens=max_tokens)
        documents = vectors_of(model, [pair.document for pair in [*pairs, *negatives]], max_tokens=max_tokens)
    allowed = torch.tensor(allowed_documents(pairs, negatives), device=model.device)
    loss = info_nce(queries, documents, allowed, scale=scale)
    if across and negatives:
        right = (queries * documents[: len(pairs)]).sum(1)
        with_negative = [example.negative is not None for example in batch]
        negative = (queries[with_negative] * documents[len(pairs) :]).sum(1)
        loss = loss + across * across_queries(right, negative, scale=scale)
    return loss


def batches_of(examples: Sequence[Example], *, size: int, seed: str) -> Iterator[list[Example]]:
    """Yields random batches of up to `size` examples, in which no two share a group or a question.

    A batch of a single example is left out.
    """
    waiting = random.Random(seed).sample(list(examples), len(examples))
    while waiting:
        batch: list[Example] = []
        left: list[Example] = []
        taken: set[tuple[str, str]] = set()
        for example in waiting:
            keys = {("group", example.pair.group), ("query", same_text(example.pair.query))}
            if len(batch) < size and not keys & taken:
                batch.append(example)
                taken |= keys
            else:
                left.append(example)
        if len(batch) > 1:
            yield batch
        waiting = left


def mine_negatives(
    pairs: Sequence[RetrievalPair], queries: Any, documents: Any, *, ranks: tuple[int, int], seed: int
) -> list[RetrievalPair | None]:
    """Returns for each pair a hard negative: a pair whose document is similar to the question, but wrong.

    None where there is none. The document is drawn at random between two ranks of similarity. Documents of
    the same group, text or question are left out, and those that score above `NEGATIVE_AT_MOST` of the right
    document's score.

    Args:
        pairs: of a single source.
        queries: unit vectors (n, width) of their questions.
        documents: unit vectors (n, width) of their documents.
        ranks: first and last rank to draw from; the most similar document has rank 1.
        seed: of the draw.
    """
    import numpy as np

    rng = random.Random(seed)
    firsts = list({same_text(pair.document): i for i, pair in reversed(list(enumerate(pairs)))}.values())
    found: list[RetrievalPair | None] = []
    for i, pair in enumerate(pairs):
        scores = documents[firsts] @ queries[i]
        right = float(documents[i] @ queries[i])
        ranked = np.argsort(-scores, kind="stable")[ranks[0] - 1 : ranks[1]]
        below = [pairs[firsts[j]] for j in ranked if scores[j] < NEGATIVE_AT_MOST * right]
        usable = [candidate for candidate in below if not may_answer(candidate, pair)]
        found.append(rng.choice(usable) if usable else None)
    return found
