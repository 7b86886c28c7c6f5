"""Counts what a reader left out, and why, so that nothing vanishes without a word."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeVar

from pytest_medfaith.records import Case, Chunk

R = TypeVar("R", Case, Chunk)


@dataclass
class Skips:
    """Reasons why records were left out: how often each occurred, and where first.

    A reader adds to it while its records are taken, so the counts are complete once the reader is exhausted.
    Places name files, lines and ids, never the text of a record.
    """

    counts: Counter[str] = field(default_factory=Counter)
    first: dict[str, str] = field(default_factory=dict)

    def add(self, reason: str, place: str) -> None:
        """Counts a record left out for `reason` at `place`."""
        self.counts[reason] += 1
        self.first.setdefault(reason, place)

    @property
    def total(self) -> int:
        """How many records were left out."""
        return sum(self.counts.values())

    def lines(self) -> list[str]:
        """Returns a line for each reason, commonest first: count, reason, first place."""
        return [
            f"skipped {count:,}: {reason} (first: {self.first[reason]})"
            for reason, count in self.counts.most_common()
        ]


def without_repeats(found: Iterable[tuple[str, R]], skips: Skips) -> Iterator[R]:
    """Yields the record of each (place, record); a record whose id was seen before is skipped and counted.

    Memory grows with the ids, not with the texts.
    """
    seen: set[str] = set()
    for place, record in found:
        if record.id in seen:
            skips.add("id used before", f"{place}, id {record.id!r}")
        else:
            seen.add(record.id)
            yield record
