"""Awaits what an `async def` gives, inside a running event loop or without, so that no coroutine is judged.

Event loops are kept from answer to answer, because a client's connections belong to the loop in which they
were made.
"""

from __future__ import annotations

import asyncio
import atexit
import contextvars
import inspect
import sys
import threading
from collections.abc import Awaitable
from contextlib import suppress
from typing import Any

from pytest_medfaith.errors import DataError

_IDLE: list[asyncio.AbstractEventLoop] = []  # kept loops; the one used last is at the end, and is taken next
_LOCK = threading.Lock()


def awaited(value: Any, what: str = "the answer") -> Any:
    """Returns the result of `value` if it is a coroutine or another awaitable; any other value unchanged.

    Without a running event loop it is awaited in this thread; inside a running loop, in a second thread while
    that loop waits.

    Args:
        value: anything.
        what: its name in messages.

    Raises:
        DataError: it was awaited before, it belongs to the running loop, or it uses something of another
            loop.
    """
    if not inspect.isawaitable(value):
        return value
    if asyncio.isfuture(value):
        return _future_result(value, what)
    if inspect.iscoroutine(value) and inspect.getcoroutinestate(value) != inspect.CORO_CREATED:
        raise DataError(
            f"{what} is a coroutine that was awaited before; a coroutine gives its result once, so keep the "
            "result and use it again"
        )
    try:
        return _run_beside(value) if _is_inside_a_loop() else _run(value)
    except RuntimeError as error:
        if any(
            words in str(error)
            for words in ("different loop", "different event loop", "Event loop is closed")
        ):
            raise DataError(
                f"{what} is {_named(value)} that uses something of another event loop ({error}); in an "
                "async test write await before it, or make the client in the function that is awaited"
            ) from error
        raise


def _future_result(value: asyncio.Future[Any], what: str) -> Any:
    """Returns the result of a task or future, which only the loop that made it can run.

    Raises:
        DataError: that loop is running now, and waits for this call.
    """
    if value.done():
        return value.result()
    if value.get_loop().is_running():
        raise DataError(
            f"{what} is {_named(value)} of the event loop that is running, which cannot go on before this "
            "call ends; write await before it"
        )
    return value.get_loop().run_until_complete(value)


def _named(value: object) -> str:
    """Returns "a coroutine", or "a" with the type's name, for messages."""
    name = "coroutine" if inspect.iscoroutine(value) else type(value).__name__
    return f"a {name}"


def _is_inside_a_loop() -> bool:
    """Returns whether this code runs in an event loop of asyncio, trio, or others that sniffio knows."""
    sniffio = sys.modules.get("sniffio")
    with suppress(RuntimeError):  # sniffio's error is a RuntimeError, too
        return bool(sniffio.current_async_library()) if sniffio else bool(asyncio.get_running_loop())
    return False


def _run(value: Awaitable[Any]) -> Any:
    """Returns the result of `value`, awaited in this thread on a kept loop; an interrupt cancels it."""
    with _LOCK:
        loop = _IDLE.pop() if _IDLE else asyncio.new_event_loop()
    task = loop.create_task(_result_of(value))
    try:
        return loop.run_until_complete(task)
    finally:
        if not task.done():
            task.cancel()
            with suppress(asyncio.CancelledError):
                loop.run_until_complete(task)
        with _LOCK:
            _IDLE.append(loop)


async def _result_of(value: Awaitable[Any]) -> Any:
    """Awaits `value`: a loop makes tasks of coroutines only."""
    return await value


def _run_beside(value: Awaitable[Any]) -> Any:
    """Returns the result of `value`, awaited in a second thread with this thread's context variables."""
    context, outcome = contextvars.copy_context(), _Outcome()

    def run() -> None:
        try:
            outcome.result = context.run(_run, value)
        except BaseException as error:  # noqa: BLE001 - it is raised in the thread that asked
            outcome.error = error

    thread = threading.Thread(target=run, name="medfaith-await", daemon=True)
    thread.start()
    thread.join()
    if outcome.error is not None:
        raise outcome.error
    return outcome.result


class _Outcome:
    """The result or the error of a call in a second thread."""

    result: Any = None
    error: BaseException | None = None


@atexit.register
def _close() -> None:
    """Closes the kept loops with the tasks that are still open on them."""
    while _IDLE:
        loop = _IDLE.pop()
        for task in asyncio.all_tasks(loop):
            task.cancel()
        with suppress(Exception):
            loop.run_until_complete(loop.shutdown_asyncgens())
            loop.run_until_complete(loop.shutdown_default_executor())
        loop.close()
