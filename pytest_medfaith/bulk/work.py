"""What a worker does with a block of rows: it judges them, and a row that fails does not stop the others.

Rows that cannot be read or judged are called poison.
"""

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
    """How rows are judged, in plain values that can be sent to workers; the model is loaded there."""

    def begin(self) -> Judge:
        """Returns the function that judges rows, after loading its model; rows do not influence each other.

        Raises:
            MedfaithError: this machine would judge differently from the one that started the run, as with
                other weights.
        """

    def poisoned(self, line: int, row: Mapping[str, Any] | None, why: str) -> dict[str, Any]:
        """Returns the result for a row that cannot be judged.

        Args:
            line: number of its line.
            row: what it holds; None where the line cannot be read.
            why: the reason.
        """


@dataclass
class Judged:
    """What became of a block.

    Attributes:
        results: a result for each row, in order.
        poison: (line, reason) of each row that could not be judged.
    """

    results: list[dict[str, Any]] = field(default_factory=list)
    poison: list[tuple[int, str]] = field(default_factory=list)

    def to_bytes(self) -> bytes:
        """Returns both as JSON."""
        told = {"results": self.results, "poison": self.poison}
        return json.dumps(told, ensure_ascii=False, allow_nan=False).encode()

    @classmethod
    def from_bytes(cls, data: bytes) -> Judged:
        """Returns what `to_bytes` wrote."""
        told = json.loads(data)
        return cls(told["results"], [(line, why) for line, why in told["poison"]])


def judge_block(work: Work, judge: Judge, data: bytes, *, line: int, name: str) -> Judged:
    """Returns the results of a block.

    Rows that cannot be read or judged get the result that `work` gives them.

    Args:
        work: gives results for rows that cannot be judged.
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
    """Returns {line: result, or the reason why there is none}.

    If judging all fails, rows are judged singly.
    """
    try:
        results = judge(rows)
    except Exception as error:  # noqa: BLE001 - whatever a row does, the other rows are judged
        if len(rows) == 1:
            return {rows[0][0]: _why(error, f"{name}:{rows[0][0]}")}
        apart = [_judged_rows(judge, [row], name) for row in rows]
        return {line: given for one in apart for line, given in one.items()}
    return {line: result for (line, _), result in zip(rows, results, strict=True)}


def _why(error: Exception, place: str) -> str:
    """Returns an error's message with file and line before it."""
    said = str(error) if isinstance(error, (MedfaithError, ValueError)) else repr(error)
    return said if said.startswith(place) else f"{place}: {said}"


def killing_block(work: Work, data: bytes, *, line: int, name: str) -> Judged:
    """Returns the result for a single row that ended every worker that judged it: it is poison.

    Args:
        work: makes the result; see `Work.poisoned`.
        data: the bytes of the row's line. A line that cannot be read is poison as well.
        line: the number of the line.
        name: of the file, for the reason.
    """
    ((number, text),) = block_lines(data, line)
    why = f"{name}:{number}: each worker that judged this row died"
    try:
        row = parse_row(text, f"{name}:{number}", first=number == 1)
    except DataError:
        row = None
    return Judged([work.poisoned(number, row, why)], [(number, why)])


def refuse_other(found: Mapping[str, Any], expected: Mapping[str, Any]) -> None:
    """Refuses to judge on a machine that would judge differently from the one that started the run.

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
    """Returns a value for a message; long or nested values only as "a different value"."""
    return shown(value) if isinstance(value, (str, int, float, type(None))) else "a different value"
