"""Keeps what was found of a live system's answers in an SQLite file, so that each is judged once."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from pytest_medfaith.errors import DataError

_TABLE = """
CREATE TABLE IF NOT EXISTS answers (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL, watched TEXT NOT NULL, signature TEXT NOT NULL,
    day TEXT NOT NULL, outcome TEXT NOT NULL, value REAL, UNIQUE (id, watched)
)
"""
_COLUMNS = ["number", "id", "watched", "signature", "day", "outcome", "value"]
LEFT_OUT = "left out"  # the outcome of an answer that the sample did not draw
UNDECIDED = "undecided"  # the outcome of an answer with a claim that is unscored or uncertain


@dataclass(frozen=True)
class Seen:
    """An answer that was looked at.

    Attributes:
        id: of the answer.
        day: when it was given, "2026-11-30"; "" where unknown.
        outcome: "checked", "abstained", "failed", "undecided", or that the sample left it out.
        value: of the watched metric, 0 to 1; None where there is none.
    """

    id: str
    day: str
    outcome: str
    value: float | None


class History:
    """The file of answers of a slice and a metric (`watched`), in the order in which they were looked at.

    Raises:
        DataError: the file is no history.
    """

    def __init__(self, path: Path, *, watched: str, signature: str) -> None:
        self._path, self._watched, self._signature = path, watched, signature
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with closing(self._open()) as base, base:
                base.execute(_TABLE)
                columns = [row[1] for row in base.execute("PRAGMA table_info(answers)")]
        except sqlite3.DatabaseError as error:
            raise DataError(f"{path}: cannot be read as a history ({error}); name another file") from None
        if columns != _COLUMNS:
            raise DataError(f"{path}: is the history of another program or version; name another file")

    def _open(self) -> sqlite3.Connection:
        return sqlite3.connect(self._path, timeout=60)

    def known(self) -> set[str]:
        """Returns the ids of all answers that were looked at."""
        with closing(self._open()) as base:
            rows = base.execute("SELECT id FROM answers WHERE watched = ?", (self._watched,))
            return {name for (name,) in rows}

    def add(self, seen: Iterable[Seen]) -> None:
        """Keeps answers, all or none of them; an answer that is kept already stays as it is."""
        rows = [(one.id, self._watched, self._signature, one.day, one.outcome, one.value) for one in seen]
        with closing(self._open()) as base, base:
            base.executemany(
                "INSERT OR IGNORE INTO answers (id, watched, signature, day, outcome, value) "
                "VALUES (?, ?, ?, ?, ?, ?)",
                rows,
            )

    def of_this_checker(self, *, since: str = "") -> list[Seen]:
        """Returns the answers that the present checker and rules judged, in order, from day `since`."""
        with closing(self._open()) as base:
            rows = base.execute(
                "SELECT id, day, outcome, value FROM answers "
                "WHERE watched = ? AND signature = ? AND day >= ? ORDER BY number",
                (self._watched, self._signature, since),
            )
            return [Seen(*row) for row in rows]

    def of_other_checkers(self) -> int:
        """Returns how many answers an earlier checker or earlier rules judged; they cannot be compared."""
        with closing(self._open()) as base:
            found = base.execute(
                "SELECT COUNT(*) FROM answers WHERE watched = ? AND signature != ? AND outcome != ?",
                (self._watched, self._signature, LEFT_OUT),
            )
            return int(found.fetchone()[0])
