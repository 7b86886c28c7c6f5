"""A cassette: a file of recorded requests to an LLM and their answers, a JSON object a line, sorted.

Tests replay it, so they need no LLM. It holds no keys or passwords: `exchange.request_of` and
`client.Endpoint` take them out before anything reads them. Two workers may record into it at a time: each
writes what it has under a lock, and keeps what is there.
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
_SHARE = 10  # and new ones of at least a tenth of the file, so that long recordings do not write all the time


def read_cassette(path: Path) -> dict[str, Exchange]:
    """Returns {key of a request: the request with its answer} from a cassette.

    Raises:
        DataError: no such file, a malformed or edited line, or two answers to the same request.
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
                f"{place}: the request {exchange.key!r} has a different answer on an earlier line; keep one "
                "of the two lines"
            )
    return found


def _again(path: Path) -> str:
    """Returns what a user can do about a wrong line, for messages."""
    return f"remove the line, or {path} whole, and record with --medfaith-llm record"


class Cassette:
    """The exchanges of a file, and those recorded since; several threads may use it.

    An exchange is a request to an LLM with its answer.
    """

    def __init__(self, path: Path) -> None:
        """Remembers the path; the file is read when it is first needed, and may be missing."""
        self.path = path
        self._held: dict[str, Exchange] | None = None
        self._new: dict[str, Exchange] = {}
        self._guard = threading.Lock()

    def answer(self, request: Request) -> Answer | None:
        """Returns the recorded answer to a request; None where it was not recorded.

        Raises:
            DataError: the file cannot be read.
        """
        with self._guard:
            if self._held is None:
                self._held = read_cassette(self.path) if self.path.is_file() else {}
            found = self._new.get(request.key) or self._held.get(request.key)
        return found.answer if found else None

    def add(self, role: str, request: Request, answer: Answer) -> None:
        """Records an answer. It is in the file after `save`, or sooner when enough new ones came together.

        Args:
            role: what the request was for, such as "judge".
            request: what was asked.
            answer: what came back.
        """
        kept = sealed(role, request, answer)
        with self._guard:
            self._new[kept.key] = kept
            if len(self._new) >= max(_FEWEST, len(self._held or {}) // _SHARE):
                self._write()

    def save(self) -> None:
        """Writes what is not yet in the file; the file is written whole or not at all.

        Raises:
            DataError: the file cannot be read or written, or another process holds its lock for too long.
        """
        with self._guard:
            if self._new:
                self._write()

    def _write(self) -> None:
        """Writes the file's exchanges and the new ones; the caller holds the guard."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with locked(self.path):
            there = read_cassette(self.path) if self.path.is_file() else {}
            merged = there | self._new
            write_records(self.path, sorted_exchanges(merged))
        self._held, self._new = merged, {}


def sorted_exchanges(exchanges: Mapping[str, Exchange]) -> list[Exchange]:
    """Returns exchanges in a cassette's order, by role, then by key, so that recordings can be compared."""
    return sorted(exchanges.values(), key=lambda one: (one.role, one.key))
