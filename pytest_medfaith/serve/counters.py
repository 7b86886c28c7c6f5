"""Figures of a running server in the text format of Prometheus; they hold no text of requests."""

from __future__ import annotations

from collections.abc import Callable, MutableMapping, Sequence
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from pytest_medfaith.records import Verdict
from pytest_medfaith.serve.edge import App, Message, Receive, Send

_SECONDS = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120)


class Counters:
    """Counts requests by path and status, verdicts by label, seconds of checks, and requests in the line.

    Args:
        line: returns how many requests are judged or wait.
    """

    def __init__(self, line: Callable[[], int]) -> None:
        self.registry = CollectorRegistry()
        self._requests = Counter(
            "medfaith_requests", "Requests by path and status.", ["path", "status"], registry=self.registry
        )
        self._claims = Counter(
            "medfaith_claims", "Claims judged, by label.", ["label"], registry=self.registry
        )
        self.seconds = Histogram(
            "medfaith_check_seconds",
            "Seconds of a check, waiting included.",
            buckets=_SECONDS,
            registry=self.registry,
        )
        Gauge("medfaith_line", "Requests that are judged or wait.", registry=self.registry).set_function(line)

    def count_request(self, path: str, status: int) -> None:
        """Counts a request. `path` is that of the route, never what a client wrote."""
        self._requests.labels(path, str(status)).inc()

    def count_verdicts(self, verdicts: Sequence[Verdict]) -> None:
        """Counts the claims of a checked answer by label."""
        for verdict in verdicts:
            self._claims.labels(verdict.label).inc()

    def text(self) -> bytes:
        """Returns all figures in Prometheus's text format."""
        return generate_latest(self.registry)


class Counted:
    """ASGI middleware that counts each response by the path of its route and its status."""

    def __init__(self, app: App, *, counters: Counters) -> None:
        self._app, self._counters = app, counters

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Passes a request on, and counts the status of its response."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def counted(message: Message) -> None:
            if message["type"] == "http.response.start":
                path = getattr(scope.get("route"), "path", "unknown")
                self._counters.count_request(path, message["status"])
            await send(message)

        await self._app(scope, receive, counted)
