"""Sentence encoders: the shipped int8 ONNX student, or any sentence-transformers model by name or folder."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from pytest_medfaith.errors import DataError, MissingExtra

MODELS = Path(__file__).parent.parent / "models"
MAX_TOKENS = 256  # what all-MiniLM-L6-v2 was trained to read

Encode = Callable[[Sequence[str]], Any]  # n texts -> float32 (n, width), rows of length 1


@dataclass(frozen=True)
class Encoder:
    """Turns texts into unit vectors; queries and documents may have towers of their own (MedCPT has).

    `signature` names the weights: an index built under another signature is not reused.
    """

    name: str
    signature: str
    encode_queries: Encode
    encode_documents: Encode


# Query and article towers of one model family, by the name a user gives.
TWO_TOWERS = {"medcpt": ("ncbi/MedCPT-Query-Encoder", "ncbi/MedCPT-Article-Encoder")}


def load_encoder(name: str = "default") -> Encoder:
    """Returns the shipped encoder for "default", a two-tower pair for "medcpt", else the model of that name or folder.

    Raises:
        MissingExtra: a model other than the shipped one, and sentence-transformers is not installed.
        DataError: no such model, or a folder that holds none.
    """
    if name == "default":
        return _shipped_encoder(MODELS / "encoder" / "model.onnx")
    queries, documents = TWO_TOWERS.get(name, (name, name))
    encode_queries = _sentence_transformer(queries)
    encode_documents = encode_queries if queries == documents else _sentence_transformer(documents)
    return Encoder(name, f"{queries}|{documents}", encode_queries, encode_documents)


@lru_cache(maxsize=2)
def _shipped_encoder(path: Path) -> Encoder:
    from pytest_medfaith.models.onnx import load_session, load_tokenizer

    session = load_session(path)
    encode = partial(_encode_each, session, load_tokenizer(max_tokens=MAX_TOKENS))
    signature = hashlib.sha256(path.read_bytes()).hexdigest()[:16]
    return Encoder("default", signature, encode, encode)


def _encode_each(session: Any, tokenizer: Any, texts: Sequence[str]) -> Any:
    """Encodes text by text: no padding, so a text's vector never depends on its neighbours in a batch."""
    import numpy as np

    from pytest_medfaith.models.onnx import run_rows, worker_count

    if not texts:
        return np.zeros((0, 384), dtype=np.float32)
    rows = [(encoding.ids, encoding.type_ids) for encoding in tokenizer.encode_batch(list(texts))]
    with ThreadPoolExecutor(worker_count()) as workers:
        return np.vstack(list(workers.map(partial(run_rows, session), rows))).astype(np.float32)


def _sentence_transformer(name: str) -> Encode:
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError:
        raise MissingExtra(f"the encoder {name!r}", "models") from None
    try:
        model = SentenceTransformer(name, device="cpu", model_kwargs={"use_safetensors": True})
    except (OSError, ValueError) as error:
        raise DataError(f"the encoder {name!r} cannot be loaded ({error}); expected a model folder or a Hugging Face model name with safetensors") from error
    return partial(model.encode, normalize_embeddings=True, convert_to_numpy=True, show_progress_bar=False)
