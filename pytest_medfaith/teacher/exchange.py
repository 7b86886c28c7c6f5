"""A request to an LLM, its answer, and the key under which a cassette keeps both."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pytest_medfaith.conversion import Record
from pytest_medfaith.models.endpoint import without_keys
from pytest_medfaith.models.whole import whole


@dataclass(frozen=True, kw_only=True)
class Message(Record):
    """A message of a conversation; `role` is system, user or assistant."""

    role: str
    content: str


@dataclass(frozen=True, kw_only=True)
class Request(Record):
    """What is sent: the model, the messages and the parameters, such as {"temperature": 0.0, "seed": 0}."""

    model: str
    messages: tuple[Message, ...]
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """The hash of model, messages and parameters, 32 hexadecimal digits.

        Neither the address nor the key of the endpoint is in it.
        """
        row = {
            "model": self.model,
            "messages": [[message.role, message.content] for message in self.messages],
            "parameters": dict(self.parameters),
        }
        text = json.dumps(row, sort_keys=True, ensure_ascii=True)
        return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def request_of(
    model: str, messages: tuple[tuple[str, str], ...], parameters: Mapping[str, Any], *, key_env: str
) -> Request:
    """Returns the request of (role, content) pairs; what looks like a key is not sent either."""
    told = tuple(
        Message(role=role, content=without_keys(whole(content), variable=key_env))
        for role, content in messages
    )
    return Request(model=model, messages=told, parameters=dict(parameters))


@dataclass(frozen=True, kw_only=True)
class Answer(Record):
    """What came back: the text, why it ended ("stop", "length"), and what it took.

    `tokens_in`, `tokens_out` are None where the server does not say. `model` is the server's name of what
    answered.
    """

    text: str
    finish: str = ""
    model: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None


@dataclass(frozen=True, kw_only=True)
class Exchange(Record):
    """A line of a cassette; `role` says what the request was for, such as "judge"."""

    key: str
    role: str
    request: Request
    answer: Answer
    seal: str


def sealed(role: str, request: Request, answer: Answer) -> Exchange:
    """Returns the exchange with a digest over role, key and answer, by which an edited line is known."""
    return Exchange(
        key=request.key, role=role, request=request, answer=answer, seal=_seal(role, request, answer)
    )


def is_whole(exchange: Exchange) -> bool:
    """Returns whether an exchange is as it was recorded."""
    seal = _seal(exchange.role, exchange.request, exchange.answer)
    return exchange.request.key == exchange.key and seal == exchange.seal


def _seal(role: str, request: Request, answer: Answer) -> str:
    text = json.dumps([role, request.key, answer.to_dict()], sort_keys=True, ensure_ascii=True)
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
