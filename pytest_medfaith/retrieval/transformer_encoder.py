"""Vectors of texts from a transformer, which is read as a `KnownEncoder` declares."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from typing import Any

from pytest_medfaith.models.foreign import load_foreign
from pytest_medfaith.models.pace import batch_size
from pytest_medfaith.models.whole import whole
from pytest_medfaith.retrieval.known_encoders import KnownEncoder

_EXPECTED = "a model folder or a Hugging Face model name with safetensors"
# These models number positions from behind the padding's, so 512 of 514 positions are for tokens.
_COUNTED_FROM_PADDING = frozenset(("roberta", "xlm-roberta", "camembert", "mpnet"))


def query_encoder(record: KnownEncoder, model: str, *, what: str) -> Any:
    """Returns a function from n questions to vectors: float32 (n, width). It loads the model at once.

    Args:
        record: how the model is read.
        model: a folder, or a name on Hugging Face.
        what: the encoder in messages, as in "the encoder 'medcpt'".

    Raises:
        MissingExtra: transformers or torch is not installed.
        DataError: the model cannot be loaded, or lacks weights.
    """
    _load(model, what)
    return partial(_encode_queries, record, model, what)


def document_encoder(record: KnownEncoder, model: str, *, what: str) -> Any:
    """Returns a function from n documents to vectors: float32 (n, width).

    A document is a text. For a record that reads titles apart it is a pair (head, text). Arguments and errors
    are those of `query_encoder`.
    """
    _load(model, what)
    return partial(_encode_documents, record, model, what)


def _encode_queries(record: KnownEncoder, model: str, what: str, texts: Sequence[str]) -> Any:
    rows = [(record.query_prefix + text,) for text in texts]
    return _encode(record, _load(model, what), rows, max_tokens=record.query_tokens)


def _encode_documents(
    record: KnownEncoder, model: str, what: str, documents: Sequence[str | tuple[str, str]]
) -> Any:
    loaded = _load(model, what)
    rows = [_document_row(record, document, loaded[1].sep_token) for document in documents]
    return _encode(record, loaded, rows, max_tokens=record.document_tokens)


def _document_row(
    record: KnownEncoder, document: str | tuple[str, str], separator: str | None
) -> tuple[str, ...]:
    """Returns the texts that the tokenizer gets for a document: (text,), or (head, text) for a pair."""
    head, text = ("", document) if isinstance(document, str) else document
    if not head:
        return (record.document_prefix + text,)
    if record.titles == "pair":
        return (record.document_prefix + head, text)
    return (f"{record.document_prefix}{head}{separator or ' '}{text}",)


def _encode(
    record: KnownEncoder, loaded: tuple[Any, Any, Any], rows: Sequence[tuple[str, ...]], *, max_tokens: int
) -> Any:
    """Returns the vectors of rows of one or two texts each: float32 (n, width); longer texts are cut."""
    import numpy as np

    model, tokenizer, torch = loaded
    limit = min(max_tokens, longest_input(model, tokenizer))
    encoded = [tokenizer(*map(whole, row), truncation=True, max_length=limit) for row in rows]
    vectors = np.zeros((len(rows), model.config.hidden_size), dtype=np.float32)
    for batch, inputs in padded_batches(encoded, size=batch_size(), tokenizer=tokenizer, torch=torch):
        with torch.inference_mode():
            tokens = model(**inputs).last_hidden_state
            pooled = _pooled(tokens, inputs["attention_mask"], record, torch)
        vectors[batch] = pooled.numpy()
    return vectors


def padded_batches(
    encoded: Sequence[Any], *, size: int, tokenizer: Any, torch: Any
) -> Iterator[tuple[list[int], dict[str, Any]]]:
    """Yields batches of rows of similar length: (row numbers, {input name: tensor (n, longest)}).

    Args:
        encoded: the tokenizer's output for each row.
        size: rows of a batch, at most.
        tokenizer: knows which token fills up shorter rows.
        torch: the module.
    """
    order = sorted(range(len(encoded)), key=lambda row: len(encoded[row]["input_ids"]))
    for start in range(0, len(order), size):
        rows = order[start : start + size]
        yield rows, _padded([encoded[row] for row in rows], tokenizer.pad_token_id or 0, torch)


def _padded(encoded: Sequence[Any], pad: int, torch: Any) -> dict[str, Any]:
    """Returns {input name: tensor (n, longest)} of a batch; what fills up shorter rows is masked."""
    fill = {"input_ids": pad}
    return {
        key: torch.nn.utils.rnn.pad_sequence(
            [torch.tensor(one[key]) for one in encoded], batch_first=True, padding_value=fill.get(key, 0)
        )
        for key in encoded[0]
    }


def _pooled(tokens: Any, mask: Any, record: KnownEncoder, torch: Any) -> Any:
    """Returns a vector for each row, (n, width), from the vectors of its tokens, (n, longest, width).

    It is the first token's vector or the mean over the tokens that `mask` keeps, as the record says.
    """
    if record.pooling == "cls":
        vectors = tokens[:, 0]
    else:
        held = mask.unsqueeze(-1).to(tokens.dtype)
        vectors = (tokens * held).sum(dim=1) / held.sum(dim=1).clamp(min=1e-9)
    return torch.nn.functional.normalize(vectors, dim=1) if record.normalised else vectors


def longest_input(model: Any, tokenizer: Any) -> int:
    """Returns how many tokens of a text the model can read."""
    config = model.config
    positions = getattr(config, "max_position_embeddings", None) or tokenizer.model_max_length
    if config.model_type in _COUNTED_FROM_PADDING:
        positions -= (config.pad_token_id or 0) + 1
    return int(min(positions, tokenizer.model_max_length))


@lru_cache(maxsize=4)
def _load(name: str, what: str) -> tuple[Any, Any, Any]:
    model, tokenizer, torch = load_foreign(
        name, what, kind="AutoModel", expected=_EXPECTED, gives="its vectors", unused="pooler."
    )
    return model.float(), tokenizer, torch
