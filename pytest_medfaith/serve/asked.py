"""What a request asks, and what is told while it is judged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from threading import Event
from typing import Any

from pytest_medfaith.records import Claim, Verdict


class Cancelled(Exception):
    """Nobody waits for the result any more."""


@dataclass(frozen=True)
class Asked:
    """An answer to check.

    Attributes:
        answer: its text.
        contexts: texts or mappings with a text; None lets the retriever of the slice find some.
        question: what was asked.
    """

    answer: str
    contexts: Sequence[Any] | None = None
    question: str = ""


@dataclass
class Told:
    """What is told while an answer is judged; `is_cancelled` ends the check before its next claim."""

    claims: Callable[[Sequence[Claim]], None] = lambda _: None
    verdict: Callable[[Verdict], None] = lambda _: None
    is_cancelled: Event = field(default_factory=Event)

    def on_verdict(self, verdict: Verdict) -> None:
        """Passes a verdict on.

        Raises:
            Cancelled: nobody waits any more.
        """
        if self.is_cancelled.is_set():
            raise Cancelled
        self.verdict(verdict)
