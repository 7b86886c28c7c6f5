"""Reads logs of a live system: responses or traces, in a file or in all files of a folder."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from pytest_medfaith.answers.responses import recorded_response
from pytest_medfaith.answers.row_files import is_table, read_row_file
from pytest_medfaith.datasets.traces.adapting import read_spans
from pytest_medfaith.datasets.traces.joining import turns
from pytest_medfaith.errors import DataError
from pytest_medfaith.records import Chunk, Response

_KINDS = (".jsonl", ".json", ".csv", ".tsv", ".parquet", ".gz")
_TIMES = ("at", "time", "timestamp", "created_at", "start_time", "date")
_SECONDS_BELOW = 1e11  # a larger number counts milliseconds: as seconds it would be after the year 5000


@dataclass(frozen=True)
class Logged:
    """An answer of a live system.

    Attributes:
        id: of the row, else a digest of what it holds; an answer goes by it for ever.
        day: when it was given, as "2026-11-30", in UTC; "" where the log does not say.
        response: the answer and its contexts.
        question: what was asked.
    """

    id: str
    day: str
    response: Response
    question: str


def read_log(path: Path, chunks: Sequence[Chunk]) -> list[Logged]:
    """Returns the answers in a file, or in all files of a folder in the order of their names.

    Args:
        path: responses (JSON Lines, JSON, CSV, Parquet) or spans of traces.
        chunks: of the corpus, for contexts that are ids alone.

    Raises:
        DataError: no such file, a folder without logs, a row that cannot be read, or an answer whose id an
            unlike answer has.
    """
    files = [path]
    if path.is_dir():
        files = sorted(file for file in path.iterdir() if file.suffix.lower() in _KINDS)
    if not path.exists() or not files:
        raise DataError(f"{path}: no such log; expected a file, or a folder of {', '.join(_KINDS)} files")
    known: dict[str, Logged] = {}
    for file in files:
        for logged in _of_file(file, chunks):
            before = known.setdefault(logged.id, logged)
            if (before.response.answer, before.question) != (logged.response.answer, logged.question):
                raise DataError(
                    f"{file}: the id {logged.id!r} has another answer in an earlier row; expected an id of "
                    "each answer, such as that of its trace"
                )
    if not known:
        raise DataError(f"{path}: holds no answer, so nothing would be watched")
    return list(known.values())


def _of_file(file: Path, chunks: Sequence[Chunk]) -> Iterator[Logged]:
    by_id = {chunk.id: chunk for chunk in chunks}
    for place, given in _span_rows(file) if _holds_spans(file) else read_row_file(file):
        try:
            response = recorded_response(given, by_id, from_table=is_table(file))
            day = _day_of(given)
        except DataError as error:
            raise DataError(f"{place}: {error}") from None
        asked = response.extra.get("question")
        question = asked if isinstance(asked, str) else ""
        name = response.case_id or str(given.get("id") or given.get("trace_id") or "")
        if not name:
            told = f"{question}\n{response.answer}"
            name = hashlib.sha256(told.encode(errors="surrogatepass")).hexdigest()[:16]
        yield Logged(name, day, response, question)


def _holds_spans(file: Path) -> bool:
    """Returns whether a file seems to hold spans of traces: its first row is no answer."""
    if file.suffix.lower() in (".csv", ".tsv", ".parquet"):
        return False
    if file.suffix.lower() == ".gz":
        return True
    try:
        _, row = next(iter(read_row_file(file)), ("", {}))
    except DataError:
        return True
    return bool(row) and not {"answer", "response", "actual_output", "messages"} & row.keys()


def _span_rows(file: Path) -> list[tuple[str, dict[str, Any]]]:
    return [
        (f"{file}: trace {turn.trace}", turn.to_dict()) for turn in turns(read_spans(file)) if turn.answer
    ]


def _day_of(row: Mapping[str, Any]) -> str:
    """Returns the day of a row in UTC; "" where it has none.

    Raises:
        DataError: a time that cannot be read.
    """
    meta = row.get("meta")
    for name in _TIMES:
        value = row.get(name, meta.get(name) if isinstance(meta, Mapping) else None)
        if value is None or value == "":
            continue
        try:
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                seconds = value if value < _SECONDS_BELOW else value / 1000
                return datetime.fromtimestamp(seconds, tz=timezone.utc).date().isoformat()
            told = datetime.fromisoformat(str(value).strip().replace("Z", "+00:00"))
            return (told if told.tzinfo is None else told.astimezone(timezone.utc)).date().isoformat()
        except (ValueError, OverflowError, OSError):
            raise DataError(
                f"{name} is {value!r}; expected a time such as 2026-11-30T12:00:00Z, or seconds since 1970"
            ) from None
    return ""
