"""The key of a row of the card."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, Literal

# Whose contexts the claims are judged by: those that came with the answer, what the retriever finds for the
# question, what it finds for each claim; "none" where no answer is judged.
ContextsMode = Literal["recorded", "retrieved", "per-claim", "none"]


@dataclass(frozen=True, kw_only=True, order=True)
class SliceRun:
    """The key of a row of the card: a slice under one retriever, checker, k and contexts mode.

    Runs sort as rows do.
    """

    slice: str
    retriever: str
    checker: str
    k: int
    contexts_mode: ContextsMode = "recorded"

    def __str__(self) -> str:
        said = f"slice {self.slice!r}, retriever {self.retriever!r}, checker {self.checker!r} and k={self.k}"
        return said if self.contexts_mode == "recorded" else f"{said} with contexts {self.contexts_mode!r}"

    def to_dict(self) -> dict[str, Any]:
        """Returns the names as plain values, without a contexts mode of "recorded"."""
        row = dataclasses.asdict(self)
        if self.contexts_mode == "recorded":
            del row["contexts_mode"]
        return row

    def equals_but_for_checker(self, other: SliceRun) -> bool:
        """Returns whether two runs are equal apart from their checker, which a test may replace."""
        return dataclasses.replace(self, checker=other.checker) == other


def run_of(record: Any) -> SliceRun:
    """The key of the slice run that a record is about."""
    return SliceRun(**{field.name: getattr(record, field.name) for field in dataclasses.fields(SliceRun)})
