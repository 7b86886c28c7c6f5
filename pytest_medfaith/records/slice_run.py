"""The key of a row of the card: what was measured, and with what."""

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

    Runs sort in the order in which the card shows its rows.
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
        """Returns the fields as plain values; a contexts mode of "recorded" is left out."""
        row = dataclasses.asdict(self)
        if self.contexts_mode == "recorded":
            del row["contexts_mode"]
        return row

    def equals_but_for_checker(self, other: SliceRun) -> bool:
        """Returns whether two runs are equal apart from their checker, which a test may have replaced."""
        return dataclasses.replace(self, checker=other.checker) == other


def run_of(record: Any) -> SliceRun:
    """Returns the key of the row that a record, such as a slice report, is about."""
    return SliceRun(**{field.name: getattr(record, field.name) for field in dataclasses.fields(SliceRun)})
