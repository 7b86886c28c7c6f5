"""A cassette: the recorded exchanges with an LLM, a JSON object a line, sorted.

Neither requests nor answers hold secrets: `exchange.request_of` and `client.Endpoint` take them out before
anything else reads them, so that a recording and its replay are the same.

Two workers of a run may record into it at a time: each writes what it has under a lock, beside what is there.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path

from pytest_medfaith.errors import DataError
from pytest_medfaith.jsonl import read_rows, write_records
from pytest_medfaith.lock import locked
from pytest_medfaith.teacher.exchange import Answer, Exchange, Request, is_whole, sealed

_FEWEST = 8  # new exchanges before the file is written again
_SHARE = 10  # and at least a tenth of what it holds, so that long recordings do not write all the time


def read_cassette(path: Path) -> dict[str, Exchange]:
    """Returns the exchanges of a cassette by their keys.

    Raises:
        DataError: no such file, a line that is no exchange or was edited, or a request that has two answers.
    """
    found: dict[str, Exchange] = {}
    for number, row in read_rows(path):
        place = f"{path}:{number}"
        try:
            exchange = Exchange.from_dict(row)
        except DataError as error:
            raise DataError(f"{place}: {error}; {_again(path)}") from None
        if not is_whole(exchange):
            raise DataError(
                f"{place}: the exchange {exchange.key!r} is not as it was recorded, so it was edited; "
                f"{_again(path)}"
            )
        known = found.setdefault(exchange.key, exchange)
        if known.answer != exchange.answer:
            raise DataError(
                f"{place}: the request {exchange.key!r} has another answer on an earlier line; keep one of "
                f"both"
            )
    return found


def _again(path: Path) -> str:
    return f"remove the line, or {path} whole, and record with --medfaith-llm record"


class Cassette:
    """The exchanges of a file, and those that were recorded since; several threads may use it."""

    def __init__(self, path: Path) -> None:
        """Reads nothing yet."""
        self.path = path
        self._held: dict[str, Exchange] | None = None
        self._new: dict[str, Exchange] = {}
        self._guard = threading.Lock()

    def answer(self, request: Request) -> Answer | None:
        """Returns the recorded answer to a request; None where there is none.

        Raises:
            DataError: the file cannot be read.
        """
        with self._guard:
            if self._held is None:
                self._held = read_cassette(self.path) if self.path.is_file() else {}
            found = self._new.get(request.key) or self._held.get(request.key)
        return found.answer if found else None

    def add(self, role: str, request: Request, answer: Answer) -> None:
        """Keeps an exchange; it is in the file after `save`, or when enough came together."""
        kept = sealed(role, request, answer)
        with self._guard:
            self._new[kept.key] = kept
            if len(self._new) >= max(_FEWEST, len(self._held or {}) // _SHARE):
                self._write()

    def save(self) -> None:
        """Writes what is not in the file yet, whole or not at all.

        Raises:
            DataError: the file cannot be read or written, or another process holds its lock for too long.
        """
        with self._guard:
            if self._new:
                self._write()

    def _write(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with locked(self.path):
            there = read_cassette(self.path) if self.path.is_file() else {}
            merged = there | self._new
            write_records(self.path, sorted_exchanges(merged))
        self._held, self._new = merged, {}


def sorted_exchanges(exchanges: Mapping[str, Exchange]) -> list[Exchange]:
    """Returns exchanges in a file's order, by role, then by key: two recordings can be compared."""
    return sorted(exchanges.values(), key=lambda one: (one.role, one.key))
