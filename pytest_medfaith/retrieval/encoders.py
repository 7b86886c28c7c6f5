"""Sentence encoders: the shipped int8 ONNX student, or any sentence-transformers model by name or folder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from pytest_medfaith import defaults
from pytest_medfaith.errors import MissingExtra
from pytest_medfaith.models.folders import model_signature
from pytest_medfaith.models.foreign import loading, refuse_foreign_modules

Encode = Callable[[Sequence[str]], Any]  # n texts -> float32 (n, width), rows of length 1


@dataclass(frozen=True)
class Encoder:
    """Turns texts into unit vectors.

    Queries and documents may have two models, as MedCPT has, or share a single model. `signature` names the
    weights: an index that was built under another signature is not reused.
    """

    name: str
    signature: str
    encode_queries: Encode
    encode_documents: Encode


# Query and article towers of one model family, by the name a user gives.
TWO_TOWERS = {"medcpt": ("ncbi/MedCPT-Query-Encoder", "ncbi/MedCPT-Article-Encoder")}


def load_encoder(name: str = defaults.ENCODER) -> Encoder:
    """Returns the encoder called `name`: "default" is the shipped model, "medcpt" has two towers.

    Any further name is that of a sentence-transformers model, or of its folder.

    Raises:
        MissingExtra: a model that is not shipped, and sentence-transformers is not installed.
        DataError: no such model, a folder that holds no model, or a model that needs its author's code.
    """
    if name == defaults.ENCODER:
        return _shipped_encoder()
    queries, documents = TWO_TOWERS.get(name, (name, name))
    encode_queries = _sentence_transformer(queries)
    encode_documents = encode_queries if queries == documents else _sentence_transformer(documents)
    return Encoder(name, encoder_signature(name), encode_queries, encode_documents)


def encoder_signature(name: str = defaults.ENCODER) -> str:
    """Returns the `signature` of the encoder called `name` without loading the model.

    For a folder it depends on the files; for a model on a hub it is the name.

    Raises:
        DataError: the shipped model's file is missing.
    """
    if name == defaults.ENCODER:
        return _shipped_encoder().signature
    return "|".join(map(model_signature, TWO_TOWERS.get(name, (name, name))))


@lru_cache(maxsize=1)
def _shipped_encoder() -> Encoder:
    from pytest_medfaith.models.onnx import embed_texts, weights_signature
    from pytest_medfaith.models.shipped import ENCODER

    return Encoder(defaults.ENCODER, weights_signature(ENCODER), embed_texts, embed_texts)


def _sentence_transformer(name: str) -> Encode:
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError:
        raise MissingExtra(f"the encoder {name!r}", "models") from None
    what = f"the encoder {name!r}"
    refuse_foreign_modules(Path(name), what)
    with loading(what, "a model folder or a Hugging Face model name with safetensors"):
        model = SentenceTransformer(
            name, device="cpu", trust_remote_code=False, model_kwargs={"use_safetensors": True}
        )
    return partial(model.encode, normalize_embeddings=True, convert_to_numpy=True, show_progress_bar=False)
