"""Vectors from an OpenAI-compatible endpoint for embeddings: OpenAI, vLLM, Ollama and others.

Texts leave the machine for the address that is named here, and nowhere else in this package's retrieval.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any
from urllib.parse import urlsplit

from pytest_medfaith.errors import DataError, MissingExtra, shown
from pytest_medfaith.models.whole import whole

BATCH = 64  # texts of a request
RETRIES = 3  # after the first try, each after a longer pause; the client of OpenAI does both
_SECONDS = 60.0  # of a request
_LONGEST = 300  # characters of a server's message that are shown
_ADDRESS = "https://api.openai.com/v1"


@dataclass(frozen=True)
class _Endpoint:
    """A model behind an address; `dimensions` is None where the vectors are taken whole."""

    model: str
    dimensions: int | None
    address: str


def endpoint_encoder(given: str, *, name: str) -> Any:
    """Returns what turns n texts into vectors of length 1: float32 (n, width).

    The key is that of the environment variable OPENAI_API_KEY. An address that is named needs none.

    Args:
        given: MODEL, MODEL@DIMENSIONS, or either with `,ADDRESS`; the address is otherwise that of the
            environment variable OPENAI_BASE_URL, else OpenAI's.
        name: of the encoder, for messages.

    Raises:
        MissingExtra: the client of OpenAI is not installed.
        DataError: `given` has another form, or there is no key for OpenAI's address.
    """
    endpoint = _parse(given)
    try:
        import openai  # noqa: F401 - whether it is there
    except ImportError:
        raise MissingExtra(f"the encoder {name!r}", "llm") from None
    if not os.environ.get("OPENAI_API_KEY") and endpoint.address == _ADDRESS:
        raise DataError(
            f"the encoder {name!r} asks {_ADDRESS}, and OPENAI_API_KEY is not set; set it, or name the "
            f"address of a server of yours: openai={given},http://localhost:11434/v1"
        )
    return partial(_encode, endpoint, name)


def endpoint_signature(given: str) -> str:
    """Returns what names the vectors of an endpoint: model, dimensions and address, without a password.

    Raises:
        DataError: `given` has another form.
    """
    endpoint = _parse(given)
    address = urlsplit(endpoint.address)
    where = f"{address.scheme}://{address.netloc.rpartition('@')[2]}{address.path}"
    return f"openai|{endpoint.model}|{endpoint.dimensions or 'whole'}|{where}"


def _parse(given: str) -> _Endpoint:
    model, _, address = given.partition(",")
    found = re.fullmatch(r"([^@\s]+)(?:@([1-9]\d*))?", model.strip())
    address = (address.strip() or os.environ.get("OPENAI_BASE_URL") or _ADDRESS).rstrip("/")
    if not found or urlsplit(address).scheme not in ("http", "https") or not urlsplit(address).hostname:
        raise DataError(
            f"the encoder 'openai={given}' has another form; expected openai=MODEL, "
            "openai=MODEL@DIMENSIONS, or either with an address: "
            "openai=nomic-embed-text@256,http://localhost:11434/v1"
        )
    return _Endpoint(found[1], int(found[2]) if found[2] else None, address)


def _encode(endpoint: _Endpoint, name: str, texts: Sequence[str]) -> Any:
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
    """Returns the first dimensions that are asked for, scaled to length 1."""
    import numpy as np

    if endpoint.dimensions and len(vectors):
        if vectors.shape[1] < endpoint.dimensions:
            raise _nonsense(
                endpoint, name, f"{vectors.shape[1]} dimensions where {endpoint.dimensions} were asked for"
            )
        vectors = vectors[:, : endpoint.dimensions]  # a server may not know how to cut them itself
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    if not (lengths > 0).all() or not np.isfinite(lengths).all():
        raise _nonsense(endpoint, name, "a vector of length 0, or a number that is not finite")
    return vectors / lengths


def _embedded(endpoint: _Endpoint, name: str, batch: list[str]) -> list[list[float]]:
    """Returns the vectors of a batch, in order, as the server gives them."""
    import openai

    more = {"dimensions": endpoint.dimensions} if endpoint.dimensions else {}
    try:
        key = os.environ.get("OPENAI_API_KEY") or "none"  # a server of one's own asks for none
        answer = _client(endpoint.address, key).embeddings.create(
            model=endpoint.model, input=batch, encoding_format="float", **more
        )
        rows = sorted((row.index, list(map(float, row.embedding))) for row in answer.data)
    except openai.APIStatusError as error:
        said = " ".join(str(error.message).split())[:_LONGEST]
        raise DataError(
            f"the encoder {name!r}: {endpoint.address} answered {error.status_code} ({said}) after "
            f"{RETRIES + 1} tries at most; check the model's name, the key and the address"
        ) from error
    except openai.APIConnectionError as error:  # timeouts, too
        raise DataError(
            f"the encoder {name!r}: {endpoint.address} cannot be reached ({error.message}) after "
            f"{RETRIES + 1} tries; start the server, or name another address"
        ) from error
    except (openai.OpenAIError, AttributeError, TypeError, ValueError) as error:
        raise _nonsense(endpoint, name, f"no list of vectors ({shown(str(error))})") from error
    if [number for number, _ in rows] != list(range(len(batch))):
        raise _nonsense(endpoint, name, f"{len(rows)} vectors for {len(batch)} texts")
    return [row for _, row in rows]


def _nonsense(endpoint: _Endpoint, name: str, found: str) -> DataError:
    return DataError(
        f"the encoder {name!r}: {endpoint.address} gave {found}; expected a vector for each text, as the "
        "embeddings of OpenAI's API are"
    )


@lru_cache(maxsize=2)
def _client(address: str, key: str) -> Any:
    import openai

    return openai.OpenAI(base_url=address, api_key=key, max_retries=RETRIES, timeout=_SECONDS)
