"""The server's routes: POST /check, /check/stream, /predict, GET /health, /metrics, /openapi.json.

GET / shows a page on which an answer can be pasted.
"""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, PlainTextResponse, StreamingResponse
from starlette.exceptions import HTTPException

from pytest_medfaith.cards.html import case_view
from pytest_medfaith.cards.json_card import case_row
from pytest_medfaith.errors import MedfaithError, TeacherError
from pytest_medfaith.plain import one_line
from pytest_medfaith.records import Report
from pytest_medfaith.records.answer_risk import RiskSettings
from pytest_medfaith.serve.asked import Asked, Cancelled, Told
from pytest_medfaith.serve.counters import Counted, Counters
from pytest_medfaith.serve.edge import Edge
from pytest_medfaith.serve.page import page
from pytest_medfaith.serve.prediction import prediction
from pytest_medfaith.serve.waiting import LineFull, WaitingLine
from pytest_medfaith.serve.wire import (
    CheckRequest,
    CheckResponse,
    Health,
    PredictRequest,
    PredictResponse,
    Problem,
)

if TYPE_CHECKING:
    from pytest_medfaith.serve.service import Service

_LOG = logging.getLogger("medfaith.serve")
_PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"model": Problem, "description": why}
    for status, why in {
        400: "The body is no text.",
        401: "The bearer token is missing or wrong.",
        408: "The body came too slowly.",
        413: "The body is too large.",
        422: "The request cannot be read or is beyond a limit.",
        429: "The line is full; the header Retry-After says when to try again.",
        500: "A fault of the server, which is in its log under the id.",
        502: "The language model behind the server did not answer.",
        504: "The answer could not be judged in time.",
    }.items()
}

_EVENT = {
    "type": "object",
    "properties": {
        "event": {"enum": ["claims", "verdict", "report", "error"]},
        "data": {"type": "string", "description": "JSON"},
    },
    "required": ["event", "data"],
}


def make_app(service: Service, *, token: str = "", hosts: tuple[str, ...] = ()) -> FastAPI:
    """Returns the web application (ASGI) for a service that is loaded.

    Args:
        service: judges answers.
        token: what requests must send as `Authorization: Bearer`; "" asks for none.
        hosts: names that the Host header may have; () allows any.
    """
    line = WaitingLine(service.limits.waiting)
    desk = Desk(service, line, Counters(lambda: line.length))

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        await asyncio.get_running_loop().run_in_executor(None, line.close)

    app = FastAPI(
        title="pytest-medfaith",
        version=version("pytest-medfaith"),
        summary="Whether medical answers say things their evidence does not say, claim by claim.",
        docs_url=None,  # FastAPI's pages load scripts from other sites
        redoc_url=None,
        lifespan=lifespan,
    )
    _add_handlers(app)
    _add_routes(app, desk)
    app.add_middleware(Edge, limits=service.limits, token=token, hosts=hosts)
    app.add_middleware(Counted, counters=desk.counters)  # wraps Edge, whose refusals count too
    return app


@dataclass(frozen=True)
class Desk:
    """Takes requests, puts them into the line, and gives their results."""

    service: Service
    line: WaitingLine
    counters: Counters

    async def judged(self, asked: Asked, told: Told, *, predicted: bool = False) -> tuple[Report, float]:
        """Returns (the report on an answer, milliseconds that it took, waiting included).

        Args:
            asked: the answer, and its contexts or question.
            told: is told of claims and verdicts as they are made.
            predicted: True lets the reference RAG answer, if there is no answer.

        Raises:
            LineFull: too many requests wait.
            TimeoutError: it was not done in time; the check ends before its next claim.
        """
        begun = time.perf_counter()
        future = asyncio.wrap_future(self.line.join(lambda: self._check(asked, told, predicted)))
        try:
            report = await asyncio.wait_for(asyncio.shield(future), self.service.limits.seconds)
        except (asyncio.TimeoutError, asyncio.CancelledError):
            told.is_cancelled.set()
            future.cancel()
            future.add_done_callback(lambda done: done.cancelled() or done.exception())
            raise
        seconds = time.perf_counter() - begun
        self.counters.seconds.observe(seconds)
        self.counters.count_verdicts(report.verdicts)
        return report, seconds * 1000

    def _check(self, asked: Asked, told: Told, predicted: bool) -> Report:
        """Returns the report on an answer; unforeseen errors become `Fault`, whose message shows no text."""
        try:
            return (self.service.predict if predicted else self.service.check)(asked, told)
        except (MedfaithError, ValueError, Cancelled):
            raise
        except Exception as error:  # noqa: BLE001 - what nothing foresaw
            raise Fault(error) from None  # the server would log the original error, which may hold a text

    def response_of(self, report: Report, latency_ms: float) -> CheckResponse:
        """Returns a report as the response of POST /check."""
        checker = self.service.checker
        return CheckResponse(
            checker=checker.name,
            signature=checker.signature,
            contexts_from=report.response.contexts_from,
            contexts=[chunk.to_dict() for chunk in report.response.contexts],
            report=case_row(report),
            verdicts=[verdict.to_dict() for verdict in report.verdicts],
            latency_ms=latency_ms,
        )

    async def events(self, asked: Asked) -> AsyncIterator[str]:
        """Yields server-sent events: `claims`, a `verdict` for each claim, then `report` or `error`.

        A `verdict` event may still change: safety rules, and the check against the question, read the answer
        as a whole, so their findings are only in the report.
        """
        loop, waiting = asyncio.get_running_loop(), asyncio.Queue[str | None]()

        def tell(name: str, data: Any) -> None:
            loop.call_soon_threadsafe(waiting.put_nowait, event(name, data))

        told = Told(
            claims=lambda claims: tell("claims", [claim.to_dict() for claim in claims]),
            verdict=lambda verdict: tell("verdict", {**verdict.to_dict(), "provisional": True}),
        )

        async def judge() -> None:
            try:
                report, took = await self.judged(asked, told)
                whole = self.response_of(report, took).model_dump()
                tell("report", {**whole, "view": case_view(report)})
            except Exception as error:  # noqa: BLE001 - an event says what a status would
                status, problem, _ = problem_of(error)
                tell("error", {"status": status, **problem})
            finally:
                loop.call_soon_threadsafe(waiting.put_nowait, None)

        task = asyncio.create_task(judge())
        try:
            while (text := await waiting.get()) is not None:
                yield text
        finally:  # also when the client is gone
            told.is_cancelled.set()
            task.cancel()


class Fault(Exception):
    """An unforeseen error, whose kind and place are in the log under `name`.

    The error's message is not logged, since it may hold a text of the request.
    """

    def __init__(self, error: Exception) -> None:
        self.name = secrets.token_hex(4)
        super().__init__(self.name)
        at = error.__traceback__
        while at is not None and at.tb_next is not None:
            at = at.tb_next
        place = f"{at.tb_frame.f_code.co_filename}:{at.tb_lineno}" if at else "an unknown place"
        _LOG.error("request %s: %s at %s", self.name, type(error).__name__, place)


def event(name: str, data: Any) -> str:
    """Returns a server-sent event: "event: verdict", "data: {...}" and a blank line.

    The data are JSON on a single line, since a line end would end them.
    """
    return f"event: {name}\ndata: {json.dumps(data, allow_nan=False)}\n\n"


def problem_of(error: Exception) -> tuple[int, dict[str, Any], dict[str, str]]:
    """Returns (status, body, headers) of the response for an error."""
    if isinstance(error, LineFull):
        return 429, {"error": str(error), "id": None}, {"retry-after": str(error.retry_after)}
    if isinstance(error, (asyncio.TimeoutError, TimeoutError)):
        return 504, {"error": "the answer could not be judged in time", "id": None}, {}
    if isinstance(error, TeacherError):
        return 502, {"error": one_line(str(error)), "id": None}, {}
    if isinstance(error, (MedfaithError, ValueError)):
        return 422, {"error": one_line(str(error)), "id": None}, {}
    fault = error if isinstance(error, Fault) else Fault(error)
    return 500, {"error": "a fault of the server; its log names the place", "id": fault.name}, {}


def _add_handlers(app: FastAPI) -> None:
    """Makes the app answer errors with a JSON body that says what is wrong."""

    async def refuse(_: Request, error: Exception) -> JSONResponse:
        status, body, headers = problem_of(error)
        return JSONResponse(body, status, headers)

    async def refuse_request(_: Request, error: Any) -> JSONResponse:
        """Says which field is wrong and why, without its value."""
        wrong = [
            f"{'.'.join(map(str, found['loc'][1:])) or 'the body'}: {found['msg']}"
            for found in error.errors()
        ]
        return JSONResponse({"error": one_line("; ".join(wrong[:5])), "id": None}, 422)

    async def refuse_address(_: Request, error: Any) -> JSONResponse:
        return JSONResponse({"error": str(error.detail), "id": None}, error.status_code, error.headers)

    app.add_exception_handler(RequestValidationError, refuse_request)
    app.add_exception_handler(HTTPException, refuse_address)
    for kind in (LineFull, asyncio.TimeoutError, MedfaithError, ValueError, Cancelled, Fault):
        app.add_exception_handler(kind, refuse)


def _add_routes(app: FastAPI, desk: Desk) -> None:
    """Adds the routes to the app."""

    @app.post("/check", responses=_PROBLEMS)
    async def check(request: CheckRequest) -> CheckResponse:
        """Judge an answer, claim by claim."""
        report, took = await desk.judged(_asked(request), Told())
        return desk.response_of(report, took)

    @app.post(
        "/check/stream",
        responses={**_PROBLEMS, 200: {"content": {"text/event-stream": {"schema": _EVENT}}}},
        response_class=StreamingResponse,
    )
    async def check_stream(request: CheckRequest) -> StreamingResponse:
        """Judge an answer, and send each verdict as soon as it is made: claims, verdict ..., report."""
        return StreamingResponse(desk.events(_asked(request)), media_type="text/event-stream")

    @app.post("/predict", responses=_PROBLEMS)
    async def predict(request: PredictRequest) -> PredictResponse:
        """Tell the risk of an answer; without one, the reference RAG answers from the slice's corpus."""
        report, took = await desk.judged(_asked(request), Told(), predicted=True)
        settings = desk.service.resources.settings.risk or RiskSettings()
        return PredictResponse(**prediction(report, settings), latency_ms=took)

    @app.get("/health", responses={})
    async def health() -> Health:
        """Say that the server answers, and what it judges with."""
        checker = desk.service.checker
        return Health(
            version=version("pytest-medfaith"),
            checker=checker.name,
            signature=checker.signature,
            slice=desk.service.slice_name,
            line=desk.line.length,
        )

    @app.get("/metrics", response_class=PlainTextResponse, responses={401: _PROBLEMS[401]})
    async def metrics() -> PlainTextResponse:
        """Figures for Prometheus."""
        return PlainTextResponse(desk.counters.text(), media_type="text/plain; version=0.0.4; charset=utf-8")

    @app.get("/", response_class=HTMLResponse, include_in_schema=False)
    async def root() -> HTMLResponse:
        return HTMLResponse(page(slice_name=desk.service.slice_name, checker=desk.service.checker.name))


def _asked(request: CheckRequest | PredictRequest) -> Asked:
    """Returns what a request asks for."""
    contexts = request.contexts
    given = None if contexts is None else [one if isinstance(one, str) else _chunk(one) for one in contexts]
    return Asked(answer=request.answer, contexts=given, question=request.question)


def _chunk(passage: Any) -> dict[str, Any]:
    """Returns a passage as a mapping, without empty fields."""
    return {name: value for name, value in passage.model_dump().items() if value}
