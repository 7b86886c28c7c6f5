"""Sentence encoders by name: models that turn a text into a vector.

What a name may be, with an example of each:

    default                            the shipped int8 ONNX student
    medcpt, e5-base, ...               a known family, from Hugging Face; see `known_encoders`
    intfloat/e5-base-v2, models/mine   a model or folder, read as it declares in its modules.json
    e5-base=models/e5                  a folder, read as the family is
    medcpt=models/query,models/article the same for a family with two models, for questions and documents
    cls=models/bert, mean=models/bert  a plain model, with this pooling
    openai=text-embedding-3-small@256  an OpenAI-compatible endpoint; @256 takes the first 256 dimensions
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from pytest_medfaith import defaults
from pytest_medfaith.errors import DataError, MissingExtra
from pytest_medfaith.models.folders import model_origin, model_signature
from pytest_medfaith.models.foreign import loading, refuse_foreign_modules
from pytest_medfaith.retrieval.known_encoders import (
    KNOWN_ENCODERS,
    KnownEncoder,
    Metric,
    check_towers,
    known_as,
)

Document = str | tuple[str, str]  # a text, or its head and its text for an encoder that `reads_heads`
Encode = Callable[[Sequence[Any]], Any]  # n texts or documents -> float32 (n, width)

_ENDPOINT = "openai"
_EXPECTED = "a model folder or a Hugging Face model name with safetensors"


@dataclass(frozen=True)
class Encoder:
    """A model that turns texts into vectors.

    Questions and documents may have different models, as in MedCPT, or share the same.

    Attributes:
        name: what the user called it.
        signature: text that names the weights and how they are read. An index made under another signature is
            not reused.
        encode_queries: function from n questions to float32 (n, width).
        encode_documents: function from n documents to float32 (n, width).
        metric: how vectors are compared: by inner product (ip), or by Euclidean distance (l2).
        reads_heads: True if a document is a pair of its head (title and context) and its text, False for a
            single text.
        reading: how the weights are read, in words, such as "cls pooling, cosine, 512 tokens"; "" if there is
            nothing to say.
    """

    name: str
    signature: str
    encode_queries: Encode
    encode_documents: Encode
    metric: Metric = "ip"
    reads_heads: bool = False
    reading: str = ""


@dataclass(frozen=True)
class _Asked:
    """What an encoder's name asks for.

    Attributes:
        record: how to read the model; None if the model's own files declare it.
        models: names or folders: of one model, or of the model for questions and the model for documents.
    """

    record: KnownEncoder | None
    models: tuple[str, ...]


def load_encoder(name: str = defaults.ENCODER) -> Encoder:
    """Returns the encoder called `name`; the module lists what names there are.

    A model that does not declare its pooling is read by the mean of its last layer, with a warning.

    Raises:
        MissingExtra: the model is not shipped and the extra `models` is not installed; or it is an endpoint
            and the extra `llm` is not installed.
        DataError: no such model, a folder without a model, a model that needs its author's code, an unknown
            family, or one of two models given in the place of the other.
    """
    if name == defaults.ENCODER:
        return _shipped_encoder()
    if _is_endpoint(name):
        from pytest_medfaith.retrieval.endpoint_encoder import endpoint_encoder

        endpoint, signature = endpoint_encoder(name.partition("=")[2], name=name), encoder_signature(name)
        return Encoder(name, signature, endpoint, endpoint, reading="vectors of length 1, cosine")
    asked = _parse(name)
    if asked.record is None:
        return _as_declared(name, asked.models[0])
    return _by_record(name, asked.record, asked.models)


def encoder_signature(name: str = defaults.ENCODER) -> str:
    """Returns the `signature` of the encoder called `name`, without loading the model.

    It depends on the files of a folder. For a model on a hub or behind an endpoint it depends on the name
    only.

    Raises:
        DataError: the shipped model's file is missing; or the name is wrong, as in `load_encoder`.
    """
    if name == defaults.ENCODER:
        return _shipped_encoder().signature
    if _is_endpoint(name):
        from pytest_medfaith.retrieval.endpoint_encoder import endpoint_signature

        return endpoint_signature(name.partition("=")[2])
    asked = _parse(name)
    reading = asked.record.reading if asked.record else "as the model declares"
    return "|".join([*map(model_signature, asked.models), reading])


def _is_endpoint(name: str) -> bool:
    """Returns whether `name` asks for an endpoint, as "openai=MODEL" does, and names no folder."""
    return name.startswith(f"{_ENDPOINT}=") and not Path(name).is_dir()


def _parse(name: str) -> _Asked:
    """Returns what an encoder's name asks for.

    Raises:
        DataError: an unknown family, a family without a model, or a model in the place of the other.
    """
    family, equals, given = name.partition("=")
    if Path(name).is_dir() or not equals:
        record = None if Path(name).is_dir() else known_as(name)
        models = record.models if record else (name,)
    elif family in KNOWN_ENCODERS:
        record, models = KNOWN_ENCODERS[family], tuple(part.strip() for part in given.split(","))
    else:
        raise DataError(
            f"the encoder {name!r} asks for the family {family!r}, which is not known; expected one of "
            f"{', '.join([*KNOWN_ENCODERS, _ENDPOINT])} before the ="
        )
    if not all(models) or not models:
        raise DataError(f"the encoder {name!r} names no model; expected {family}=FOLDER, or {family}=MODEL")
    check_towers(record or KNOWN_ENCODERS["mean"], models, origins=tuple(map(model_origin, models)))
    return _Asked(record, models)


@lru_cache(maxsize=1)
def _shipped_encoder() -> Encoder:
    from pytest_medfaith.models.onnx import embed_texts, weights_signature
    from pytest_medfaith.models.shipped import ENCODER

    return Encoder(defaults.ENCODER, weights_signature(ENCODER), embed_texts, embed_texts)


def _by_record(name: str, record: KnownEncoder, models: Sequence[str]) -> Encoder:
    """Returns an encoder whose model, or two models, are read as `record` says."""
    from pytest_medfaith.retrieval.transformer_encoder import document_encoder, query_encoder

    queries = query_encoder(record, models[0], what=f"the encoder {name!r}")
    documents = document_encoder(record, models[-1], what=f"the encoder {name!r}")
    return Encoder(
        name,
        encoder_signature(name),
        queries,
        documents,
        metric=record.metric,
        reads_heads=record.titles != "text",
        reading=record.reading,
    )


def _as_declared(name: str, model: str) -> Encoder:
    """Returns an encoder that is read as its own files declare.

    Without a declaration, as in a plain BERT, it takes the mean of the last layer, and warns.
    """
    try:
        from sentence_transformers import util
    except ImportError:
        raise MissingExtra(f"the encoder {name!r}", "models") from None
    what = f"the encoder {name!r}"
    refuse_foreign_modules(Path(model), what)
    with loading(what, _EXPECTED):
        declares = util.is_sentence_transformer_model(model)
    if declares:
        return _sentence_transformer(name, model)
    encoder = _by_record(name, KNOWN_ENCODERS["mean"], [model])
    warnings.warn(
        f"{what} does not declare its pooling, so the mean of its last layer is taken; write mean={name} to "
        f"say so, cls={name} for the vector of its first token, or the family, as in e5-base={name}",
        stacklevel=3,
    )
    return encoder


def _sentence_transformer(name: str, folder: str) -> Encoder:
    """Returns a sentence-transformers model, with the prompts and the similarity that it declares.

    Raises:
        DataError: it cannot be loaded, or declares a similarity that is not cosine, dot or euclidean.
    """
    from sentence_transformers import SentenceTransformer

    what = f"the encoder {name!r}"
    with loading(what, _EXPECTED):
        model = SentenceTransformer(
            folder, device="cpu", trust_remote_code=False, model_kwargs={"use_safetensors": True}
        )
    similarity = str(model.similarity_fn_name or "cosine")
    if similarity not in _SIMILARITIES:
        raise DataError(
            f"{what} compares vectors by {similarity!r}; expected one of {', '.join(_SIMILARITIES)}"
        )
    options = {
        "normalize_embeddings": similarity == "cosine",
        "convert_to_numpy": True,
        "show_progress_bar": False,
    }
    prompts = model.prompts or {}
    document = next((prompts[key] for key in ("document", "passage", "corpus") if prompts.get(key)), None)
    return Encoder(
        name,
        encoder_signature(name),
        partial(model.encode, prompt=prompts.get("query") or None, **options),
        partial(model.encode, prompt=document, **options),
        metric=_SIMILARITIES[similarity],
        reading=f"as the model declares, {similarity}",
    )


_SIMILARITIES: dict[str, Metric] = {"cosine": "ip", "dot": "ip", "euclidean": "l2"}
