"""Vectors from an OpenAI-compatible embeddings endpoint, such as OpenAI, vLLM or Ollama.

Texts leave the machine for the address in the encoder's name, or else in OPENAI_BASE_URL. Nothing else in
retrieval sends texts away, unless the user names a store or an LLM reranker.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from pytest_medfaith.errors import DataError, shown
from pytest_medfaith.models.endpoint import (
    RETRIES,
    check_client,
    endpoint_address,
    endpoint_client,
    needs_key,
    shown_address,
    told_failure,
)
from pytest_medfaith.models.whole import whole

BATCH = 64  # texts sent in one request


@dataclass(frozen=True)
class _Endpoint:
    """A model behind an address.

    Attributes:
        model: its name on the server.
        dimensions: how many numbers of a vector are kept; None keeps all.
        address: of the server, as in "http://localhost:11434/v1".
    """

    model: str
    dimensions: int | None
    address: str


def endpoint_encoder(given: str, *, name: str) -> Any:
    """Returns a function from n texts to vectors of length 1: float32 (n, width).

    The key is read from the environment variable OPENAI_API_KEY. A server whose address is named needs none.

    Args:
        given: MODEL, MODEL@DIMENSIONS, or either with `,ADDRESS` behind it. Without an address the
            environment variable OPENAI_BASE_URL holds it, else it is OpenAI's.
        name: of the encoder, for messages.

    Raises:
        MissingExtra: the package openai is not installed.
        DataError: `given` has another form, or there is no key for OpenAI's address.
    """
    endpoint = _parse(given)
    check_client(f"the encoder {name!r}")
    if needs_key(endpoint.address):
        raise DataError(
            f"the encoder {name!r} asks {endpoint.address}, and OPENAI_API_KEY is not set; set it, or name "
            f"the address of a server of yours: openai={given},http://localhost:11434/v1"
        )
    return partial(_encode, endpoint, name)


def endpoint_signature(given: str) -> str:
    """Returns what decides an endpoint's vectors: "openai|MODEL|256|ADDRESS".

    The address is shown without a password; "whole" stands for vectors that are not cut.

    Raises:
        DataError: `given` has another form.
    """
    endpoint = _parse(given)
    where = shown_address(endpoint.address)
    return f"openai|{endpoint.model}|{endpoint.dimensions or 'whole'}|{where}"


def _parse(given: str) -> _Endpoint:
    """Returns model, dimensions and address from "MODEL@256,ADDRESS"; DataError for another form."""
    model, _, named = given.partition(",")
    found, address = re.fullmatch(r"([^@\s]+)(?:@([1-9]\d*))?", model.strip()), endpoint_address(named)
    if not found or not address:
        raise DataError(
            f"the encoder 'openai={given}' has another form; expected openai=MODEL, "
            "openai=MODEL@DIMENSIONS, or either with an address: "
            "openai=nomic-embed-text@256,http://localhost:11434/v1"
        )
    return _Endpoint(found[1], int(found[2]) if found[2] else None, address)


def _encode(endpoint: _Endpoint, name: str, texts: Sequence[str]) -> Any:
    """Returns the vectors of n texts, float32 (n, width); DataError where the answers are not vectors."""
    import numpy as np

    rows: list[list[float]] = []
    for start in range(0, len(texts), BATCH):
        batch = [whole(text) for text in texts[start : start + BATCH]]
        rows += _embedded(endpoint, name, batch)
    widths = sorted({len(row) for row in rows})
    if len(widths) > 1:
        raise _nonsense(endpoint, name, f"vectors of {' and '.join(map(str, widths))} numbers")
    return _scaled(np.asarray(rows, dtype=np.float32), endpoint, name)


def _scaled(vectors: Any, endpoint: _Endpoint, name: str) -> Any:
    """Returns the vectors cut to the asked number of dimensions, and scaled to length 1.

    Raises:
        DataError: the server gave fewer dimensions, a vector of length 0, or a number that is not finite.
    """
    import numpy as np

    if endpoint.dimensions and len(vectors):
        if vectors.shape[1] < endpoint.dimensions:
            raise _nonsense(
                endpoint, name, f"{vectors.shape[1]} dimensions where {endpoint.dimensions} were asked for"
            )
        vectors = vectors[:, : endpoint.dimensions]  # a server may ignore the parameter, and give them whole
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    if not (lengths > 0).all() or not np.isfinite(lengths).all():
        raise _nonsense(endpoint, name, "a vector of length 0, or a number that is not finite")
    return vectors / lengths


def _embedded(endpoint: _Endpoint, name: str, batch: list[str]) -> list[list[float]]:
    """Returns the vectors of a batch, in the order of its texts, as the server gives them.

    Raises:
        DataError: the server cannot be reached, or its answer does not hold one vector for each text.
    """
    import openai

    more = {"dimensions": endpoint.dimensions} if endpoint.dimensions else {}
    try:
        answer = endpoint_client(endpoint.address, retries=RETRIES).embeddings.create(
            model=endpoint.model, input=batch, encoding_format="float", **more
        )
        rows = sorted((row.index, list(map(float, row.embedding))) for row in answer.data)
    except (openai.OpenAIError, AttributeError, TypeError, ValueError) as error:
        if why := told_failure(error, endpoint.address, retries=RETRIES):
            raise DataError(f"the encoder {name!r}: {why}") from None  # the original error holds the key
        raise _nonsense(endpoint, name, f"no list of vectors ({shown(str(error))})") from error
    if [number for number, _ in rows] != list(range(len(batch))):
        raise _nonsense(endpoint, name, f"{len(rows)} vectors for {len(batch)} texts")
    return [row for _, row in rows]


def _nonsense(endpoint: _Endpoint, name: str, found: str) -> DataError:
    """Returns the error for an answer that is not what OpenAI's API gives; `found` says what came."""
    return DataError(
        f"the encoder {name!r}: {shown_address(endpoint.address)} gave {found}; expected a vector for each "
        "text, as the embeddings of OpenAI's API are"
    )
