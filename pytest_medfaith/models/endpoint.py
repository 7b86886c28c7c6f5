"""A model behind an OpenAI-compatible address: OpenAI, vLLM, Ollama, DeepSeek and others.

This module has the address, the key, the client, and the message for a request that failed. The key goes from
the environment into the client, and never into a message.
"""

from __future__ import annotations

import os
import re
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

from pytest_medfaith.errors import MissingExtra

OPENAI = "https://api.openai.com/v1"
ADDRESS_VARIABLE, KEY_VARIABLE = "OPENAI_BASE_URL", "OPENAI_API_KEY"
RETRIES = 3  # after the first try; the client waits longer each time, with jitter, or as Retry-After asks
SECONDS = 60.0  # the longest time for a request
HIDDEN = "[secret]"
_UNREADABLE = "an unreadable address"
_LONGEST = 300  # characters of a server's message that are shown
_NO_KEY = "none"  # a server of the user's needs no key, and the client needs a text
_SHORTEST_KEY = 6  # characters: a shorter key is a stand-in, such as "none" or "x", and a part of other words
# Texts that look like a key of OpenAI, Anthropic, Hugging Face or Groq, or a header with a key.
_KEYS = re.compile(
    r"\b(?:sk|pk|rk|hf|gsk|xai)[-_][A-Za-z0-9_-]{16,}|\bBearer\s+[\w.~+/=-]{6,}", re.IGNORECASE
)


def endpoint_address(given: str | None) -> str | None:
    """Returns the address to ask: `given`, else OPENAI_BASE_URL of the environment, else OpenAI's.

    It has no slash at its end. None if it is no http or https address.
    """
    address = ((given or "").strip() or os.environ.get(ADDRESS_VARIABLE) or OPENAI).rstrip("/")
    try:
        parts = urlsplit(address)
    except ValueError:
        return None
    return address if parts.scheme in ("http", "https") and parts.hostname else None


def shown_address(address: str) -> str:
    """Returns an http or https address without user, password, query and fragment, for messages.

    "https://me:secret@host:8080/v1?key=abc" is shown as "https://host:8080/v1". An address that cannot be
    read ("http://[", "me:secret@host", a password with a slash) is shown as "an unreadable address": no part
    of it is sure to be no password.
    """
    try:
        parts = urlsplit(address)
    except ValueError:
        return _UNREADABLE
    if parts.scheme not in ("http", "https") or not parts.netloc or "@" in parts.path:
        return _UNREADABLE
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def needs_key(address: str, variable: str = KEY_VARIABLE) -> bool:
    """Returns whether OpenAI is asked and the environment `variable` for the key is not set, or is empty."""
    return address == OPENAI and not os.environ.get(variable)


def check_client(purpose: str) -> None:
    """Checks that OpenAI's client is installed. `purpose` says in the message what needs it.

    Raises:
        MissingExtra: it is not installed.
    """
    try:
        import openai  # noqa: F401 - whether it is there
    except ImportError:
        raise MissingExtra(purpose, "llm") from None


def endpoint_client(
    address: str, *, variable: str = KEY_VARIABLE, retries: int = RETRIES, seconds: float = SECONDS
) -> Any:
    """Returns OpenAI's client for `address`, made once.

    Args:
        address: the address of the server.
        variable: the environment variable with the key.
        retries: how often a failed request is repeated.
        seconds: the longest time for a request.
    """
    return _client(address, os.environ.get(variable) or _NO_KEY, retries, seconds)


@lru_cache(maxsize=4)
def _client(address: str, key: str, retries: int, seconds: float) -> Any:
    """Returns a client; the last four are kept."""
    import openai

    return openai.OpenAI(base_url=address, api_key=key, max_retries=retries, timeout=seconds)


def without_keys(text: str, *, variable: str = KEY_VARIABLE) -> str:
    """Returns `text` with "[secret]" for the key of the environment and all that looks like a key."""
    key = os.environ.get(variable) or ""
    if len(key) >= _SHORTEST_KEY:
        text = text.replace(key, HIDDEN)
    return _KEYS.sub(HIDDEN, text)


def told_failure(
    error: Exception, address: str, *, retries: int = RETRIES, variable: str = KEY_VARIABLE
) -> str:
    """Returns the message on a failed request, in a single line; "" for an unusable answer.

    Example: "http://localhost:11434/v1 answered 404 (model 'x' not found) after 4 tries at most; check the
    model's name, the key and the address".
    """
    import openai

    where, tries = shown_address(address), f"after {retries + 1} tries"
    if isinstance(error, openai.APIStatusError):
        said = without_keys(" ".join(str(error.message).split()), variable=variable)[:_LONGEST]
        return (
            f"{where} answered {error.status_code} ({said}) {tries} at most; check the model's name, the key "
            "and the address"
        )
    if isinstance(error, openai.APIConnectionError):  # timeouts, too
        return (
            f"{where} cannot be reached ({error.message}) {tries}; start the server, or name another address"
        )
    return ""
