"""Sends a request to the endpoint and reads the reply, allowing for small differences between servers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pytest_medfaith.errors import TeacherError, shown
from pytest_medfaith.models.endpoint import (
    check_client,
    endpoint_address,
    endpoint_client,
    needs_key,
    shown_address,
    told_failure,
    without_keys,
)
from pytest_medfaith.models.whole import whole
from pytest_medfaith.teacher.exchange import Answer, Request
from pytest_medfaith.teacher.settings import LlmSettings

# Parameters that a server may refuse: Ollama and older vLLM know no response_format, reasoning models of
# OpenAI take neither a temperature nor max_tokens.
_OPTIONAL = ("response_format", "seed", "temperature", "max_tokens")
_RENAMED = {"max_tokens": "max_completion_tokens"}
_FATAL = (401, 403, 404)  # a wrong key, address or model: the next request would end the same way
_REFUSED = (400, 422)


class Unanswered(Exception):
    """The endpoint did not answer a request; the message says why.

    Attributes:
        is_refusal: True where the endpoint refused this request, such as a text too long for the model; False
            where it failed.
    """

    def __init__(self, why: str, *, is_refusal: bool = False) -> None:
        super().__init__(why)
        self.is_refusal = is_refusal


class Endpoint:
    """The endpoint that the settings name.

    Attributes:
        dropped: parameters that it refused, such as "seed"; they are not sent any more.
    """

    def __init__(self, settings: LlmSettings) -> None:
        """Checks that the endpoint can be asked, without sending anything.

        Raises:
            MissingExtra: the package openai is not installed.
            TeacherError: there is no key for OpenAI's address.
        """
        check_client("asking an LLM")
        self.dropped: set[str] = set()
        self._settings = settings
        self._address = endpoint_address(settings.base_url) or ""
        if needs_key(self._address, settings.key_env):
            raise TeacherError(
                f"the teacher asks {self._address}, and {settings.key_env} is not set; set it, or name the "
                "address of a server of yours in [tool.medfaith.llm], such as base_url = "
                '"http://localhost:11434/v1"'
            )

    def send(self, request: Request) -> Answer:
        """Returns the answer to a request.

        A parameter that the endpoint refuses is left out, and it is sent again.

        Raises:
            Unanswered: it failed after all tries, or the reply is no completion.
            TeacherError: the endpoint refuses the key, or knows no such model.
        """
        import openai

        client = endpoint_client(
            self._address,
            variable=self._settings.key_env,
            retries=self._settings.retries,
            seconds=self._settings.timeout,
        )
        while True:
            sent = self._accepted(request.parameters)
            try:
                raw = client.chat.completions.with_raw_response.create(
                    model=request.model,
                    messages=[{"role": one.role, "content": one.content} for one in request.messages],
                    **sent,
                )
                return _answer(without_keys(raw.text, variable=self._settings.key_env))
            except openai.APIStatusError as error:
                refused = self._refused(error, sent)
                if not refused:
                    raise self._failure(error) from None  # the original error holds the key, in headers
                self.dropped.add(refused)
            except openai.OpenAIError as error:
                raise self._failure(error) from None

    def _accepted(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the parameters without those that the endpoint refused, or under their newer names."""
        kept = {name: value for name, value in parameters.items() if name not in self.dropped}
        renamed = {
            _RENAMED[name]: value
            for name, value in parameters.items()
            if name in self.dropped and name in _RENAMED and _RENAMED[name] not in self.dropped
        }
        return kept | renamed

    def _refused(self, error: Any, sent: Mapping[str, Any]) -> str:
        """Returns the parameter that the endpoint refused; "" where the error is about something else."""
        if error.status_code not in _REFUSED:
            return ""
        said = str(error.message)
        named = next((name for name in (*_OPTIONAL, *_RENAMED.values()) if name in sent and name in said), "")
        return named or ("response_format" if "response_format" in sent else "")

    def _failure(self, error: Exception) -> Exception:
        """Returns the error to raise: TeacherError if every request would fail so, else Unanswered."""
        told = told_failure(
            error, self._address, retries=self._settings.retries, variable=self._settings.key_env
        )
        why = told or f"{shown_address(self._address)} gave no completion ({shown(str(error))})"
        status = getattr(error, "status_code", None)
        if status in _FATAL:
            return TeacherError(f"the teacher: {why}")
        return Unanswered(why, is_refusal=status in _REFUSED)


def _answer(text: str) -> Answer:
    """Returns the answer in the body of a reply.

    Raises:
        Unanswered: the body is no completion: a page of a proxy, an error, or cut short.
    """
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        kind = "a page of HTML" if text.lstrip()[:1] == "<" else "no JSON"
        raise Unanswered(f"the endpoint gave {kind} in place of a completion") from None
    try:
        choice = body["choices"][0]
        message = choice["message"]
    except (KeyError, IndexError, TypeError):
        raise Unanswered(f"the endpoint gave {shown(body)} in place of a completion") from None
    content = message.get("content") if isinstance(message, dict) else None
    usage = body.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    return Answer(
        text=whole(_text(content)),
        finish=whole(str(choice.get("finish_reason") or "")),
        model=whole(str(body.get("model") or "")),
        tokens_in=_count(usage.get("prompt_tokens")),
        tokens_out=_count(usage.get("completion_tokens")),
    )


def _text(content: Any) -> str:
    """Returns the text of a message; "" where it has none, as when all tokens went into reasoning."""
    if isinstance(content, list):  # parts, as some servers give them
        return "".join(str(part.get("text") or "") for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def _count(value: Any) -> int | None:
    """Returns a number of tokens; None where the server gave no whole number of 0 or more."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
