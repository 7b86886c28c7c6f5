"""A request to an LLM, its answer, and both together as a line of a cassette."""

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
    """What is sent to an LLM.

    Attributes:
        model: its name.
        messages: the conversation.
        parameters: such as {"temperature": 0.0, "seed": 0}.
    """

    model: str
    messages: tuple[Message, ...]
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """Hash of model, messages and parameters, 32 hexadecimal digits; a cassette finds answers by it.

        The endpoint's address and key are not in it.
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
    """Returns a request made of (role, content) pairs.

    Texts that look like the key in the variable `key_env` are taken out of it.
    """
    told = tuple(
        Message(role=role, content=without_keys(whole(content), variable=key_env))
        for role, content in messages
    )
    return Request(model=model, messages=told, parameters=dict(parameters))


@dataclass(frozen=True, kw_only=True)
class Answer(Record):
    """What an LLM replied.

    Attributes:
        text: of the reply.
        finish: why it ended, such as "stop" or "length"; "" where the server does not say.
        model: the server's name for the model that replied.
        tokens_in: tokens of the prompt; None where the server does not say.
        tokens_out: tokens of the reply; None where the server does not say.
    """

    text: str
    finish: str = ""
    model: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None


@dataclass(frozen=True, kw_only=True)
class Exchange(Record):
    """A line of a cassette: a request with its answer.

    Attributes:
        key: of the request, see `Request.key`.
        role: what the request was for, such as "judge".
        request: what was asked.
        answer: what came back.
        seal: a hash by which an edited line is detected.
    """

    key: str
    role: str
    request: Request
    answer: Answer
    seal: str


def sealed(role: str, request: Request, answer: Answer) -> Exchange:
    """Returns the exchange of a request and its answer, with its seal, a hash by which edits show."""
    return Exchange(
        key=request.key, role=role, request=request, answer=answer, seal=_seal(role, request, answer)
    )


def is_whole(exchange: Exchange) -> bool:
    """Returns whether an exchange is as it was recorded; False if anyone edited it."""
    seal = _seal(exchange.role, exchange.request, exchange.answer)
    return exchange.request.key == exchange.key and seal == exchange.seal


def _seal(role: str, request: Request, answer: Answer) -> str:
    """Returns the hash of role, request and answer, 16 hexadecimal digits."""
    text = json.dumps([role, request.key, answer.to_dict()], sort_keys=True, ensure_ascii=True)
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
