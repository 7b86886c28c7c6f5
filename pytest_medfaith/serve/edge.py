"""What a request must pass before the app: token, host name, size of its body, time to arrive."""

from __future__ import annotations

import asyncio
import hmac
import json
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from pytest_medfaith.serve.limits import Limits

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]

OPEN_PATHS = (
    "/",
    "/health",
)  # open to anyone: the page, which asks for the token, and the status for load balancers; both hold no text
# The page needs its script and its style; nothing is loaded from elsewhere, and no other site may frame it.
_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; "
    "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
)
_LENGTH_DIGITS = 20  # of a Content-Length; Python refuses to read numbers of thousands of digits
_HEADERS = {
    "content-security-policy": _POLICY,
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
}


class Edge:
    """ASGI middleware that refuses requests before they reach the app, and adds security headers.

    Args:
        app: receives what is not refused.
        limits: size of a body, and seconds in which it must arrive.
        token: what `Authorization: Bearer` must hold; "" asks for none.
        hosts: names that the Host header may have, without port; () allows all. It stops pages of other sites
            that a browser leads to this address under their own name (DNS rebinding).
    """

    def __init__(self, app: App, *, limits: Limits, token: str = "", hosts: tuple[str, ...] = ()) -> None:
        self._app, self._limits, self._token, self._hosts = app, limits, token.encode(), hosts

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Passes a request to the app, or answers with an error."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = dict(scope["headers"])

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                added = [(name.encode(), value.encode()) for name, value in _HEADERS.items()]
                message["headers"] = [*message.get("headers", []), *added]
            await send(message)

        refused = self._refused(scope["path"], headers)
        body: list[Message] = []
        if refused is None:
            refused, body = await self._read(headers, receive)
        if refused is not None:
            await _answer(send_with_headers, *refused)
            return
        await self._app(scope, _replayed(body, receive), send_with_headers)

    def _refused(self, path: str, headers: MutableMapping[bytes, bytes]) -> tuple[int, str] | None:
        """Returns (status, error) for a wrong host name or token; None for a request that may pass."""
        host = headers.get(b"host", b"").decode("latin-1")
        if self._hosts and _name_of(host) not in self._hosts:
            return 421, f"the host name is not one that this server goes by; expected {self._hosts[0]}"
        if self._token and path not in OPEN_PATHS:
            given = headers.get(b"authorization", b"")
            scheme, _, secret = given.partition(b" ")
            if not (scheme.lower() == b"bearer" and hmac.compare_digest(secret.strip(), self._token)):
                return 401, "the bearer token is missing or wrong; expected Authorization: Bearer TOKEN"
        return None

    async def _read(
        self, headers: MutableMapping[bytes, bytes], receive: Receive
    ) -> tuple[tuple[int, str] | None, list[Message]]:
        """Returns (None, messages of the body) or ((status, error), []); the app sees only whole bodies."""
        most = self._limits.body_bytes
        too_large = 413, f"the body is too large; expected at most {most:,} bytes"
        told = headers.get(b"content-length", b"0")
        if not told.isdigit() or len(told) > _LENGTH_DIGITS or int(told) > most:
            return too_large, []
        try:
            messages = await asyncio.wait_for(_whole_body(receive, most), self._limits.body_seconds)
        except asyncio.TimeoutError:
            return (408, f"the body did not come within {self._limits.body_seconds:g} s"), []
        return (too_large, []) if messages is None else (None, messages)


async def _whole_body(receive: Receive, most: int) -> list[Message] | None:
    """Returns the messages that make up a body; None for more than `most` bytes."""
    messages, size = [], 0
    while True:
        message = await receive()
        messages.append(message)
        size += len(message.get("body", b""))
        if size > most:
            return None
        if message["type"] != "http.request" or not message.get("more_body"):
            return messages


def _name_of(host: str) -> str:
    """Returns the name in a Host header, without port, in lower case: "[::1]" for "[::1]:8765"."""
    if host.startswith("["):
        return host.partition("]")[0].lower() + "]"
    return host.partition(":")[0].lower()


def _replayed(messages: list[Message], receive: Receive) -> Receive:
    """Returns a function that gives `messages` one after another, then what `receive` gives."""
    waiting = list(messages)

    async def next_message() -> Message:
        return waiting.pop(0) if waiting else await receive()

    return next_message


async def _answer(send: Send, status: int, error: str) -> None:
    """Sends a response with an error as JSON."""
    body = json.dumps({"error": error, "id": None}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    headers.append((b"connection", b"close"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
