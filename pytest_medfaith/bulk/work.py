"""What a worker does with a block: it judges its rows, and a row that it cannot judge stops no other row."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from pytest_medfaith.bulk.blocks import block_lines
from pytest_medfaith.errors import DataError, MedfaithError, shown
from pytest_medfaith.jsonl import parse_row

Row = tuple[int, Mapping[str, Any]]  # number of the line, and what it holds


Judge = Callable[[Sequence[Row]], list[dict[str, Any]]]  # a result for each row, in order


class Work(Protocol):
    """What travels to each worker: plain values that say how to judge, but no model."""

    def begin(self) -> Judge:
        """Returns what judges rows, its model loaded; a result never depends on the other rows.

        Raises:
            MedfaithError: it cannot judge here as the run was started, such as with other weights.
        """

    def poisoned(self, line: int, row: Mapping[str, Any] | None, why: str) -> dict[str, Any]:
        """Returns the result of a row that cannot be judged; `row` is None where the line cannot be read."""


@dataclass
class Judged:
    """The results of a block, and why rows of it could not be judged, as (line, reason)."""

    results: list[dict[str, Any]] = field(default_factory=list)
    poison: list[tuple[int, str]] = field(default_factory=list)

    def to_bytes(self) -> bytes:
        """Returns the block as JSON."""
        told = {"results": self.results, "poison": self.poison}
        return json.dumps(told, ensure_ascii=False, allow_nan=False).encode()

    @classmethod
    def from_bytes(cls, data: bytes) -> Judged:
        """Returns the block that `to_bytes` wrote."""
        told = json.loads(data)
        return cls(told["results"], [(line, why) for line, why in told["poison"]])


def judge_block(work: Work, judge: Judge, data: bytes, *, line: int, name: str) -> Judged:
    """Returns the results of a block; rows that cannot be read or judged are poison, the rest is judged.

    Args:
        work: says what becomes of poison.
        judge: judges the rows.
        data: the bytes of the block.
        line: number of its first line.
        name: of the file, for messages.
    """
    rows: list[tuple[int, Mapping[str, Any] | None, str]] = []
    for number, text in block_lines(data, line):
        try:
            row = parse_row(text, f"{name}:{number}", first=number == 1)
        except DataError as error:  # noqa: PERF203 - each row has its reason
            rows.append((number, None, str(error)))
        else:
            rows += [] if row is None else [(number, row, "")]
    good = [(number, row) for number, row, _ in rows if row is not None]
    found = _judged_rows(judge, good, name)
    judged = Judged()
    for number, held, why in rows:
        given = found.get(number, why)
        if isinstance(given, str):
            judged.poison.append((number, given))
            judged.results.append(work.poisoned(number, held, given))
        else:
            judged.results.append(given)
    return judged


def _judged_rows(judge: Judge, rows: Sequence[Row], name: str) -> dict[int, dict[str, Any] | str]:
    """Returns, by line, each row's result, or why there is none; after a failure rows are judged singly."""
    try:
        results = judge(rows)
    except Exception as error:  # noqa: BLE001 - whatever a row does, the other rows are judged
        if len(rows) == 1:
            return {rows[0][0]: _why(error, f"{name}:{rows[0][0]}")}
        apart = [_judged_rows(judge, [row], name) for row in rows]
        return {line: given for one in apart for line, given in one.items()}
    return {line: result for (line, _), result in zip(rows, results, strict=True)}


def _why(error: Exception, place: str) -> str:
    said = str(error) if isinstance(error, (MedfaithError, ValueError)) else repr(error)
    return said if said.startswith(place) else f"{place}: {said}"


def killing_block(work: Work, data: bytes, *, line: int, name: str) -> Judged:
    """Returns the results of the single row of a block that ended each worker that judged it."""
    ((number, text),) = block_lines(data, line)
    why = f"{name}:{number}: each worker that judged this row died"
    try:
        row = parse_row(text, f"{name}:{number}", first=number == 1)
    except DataError:
        row = None
    return Judged([work.poisoned(number, row, why)], [(number, why)])


def refuse_other(found: Mapping[str, Any], expected: Mapping[str, Any]) -> None:
    """Refuses to judge on a machine that would judge otherwise than the run was started.

    Args:
        found: what decides the results on this machine.
        expected: what decides them where the run was started.

    Raises:
        DataError: they differ; the message names the first key and both values.
    """
    for key in sorted({*found, *expected}):
        here, there = found.get(key), expected.get(key)
        if here != there:
            raise DataError(
                f"node {socket.gethostname()} would judge otherwise than the machine that started the run: "
                f"{key} is {_told(here)} there, and was {_told(there)}; install the same version on each "
                "node, keep the project at the same path, and use processors of one kind"
            )


def _told(value: Any) -> str:
    return shown(value) if isinstance(value, (str, int, float, type(None))) else "a different value"
