"""What a request asks for, and how progress is told while it is judged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from threading import Event
from typing import Any

from pytest_medfaith.records import Claim, Verdict


class Cancelled(Exception):
    """Raised in a check when nobody waits for its result any more."""


@dataclass(frozen=True)
class Asked:
    """An answer to check.

    Attributes:
        answer: its text.
        contexts: passages as texts, or mappings with a text; None lets the slice's retriever find some.
        question: that the answer is to; "" where it is not known.
    """

    answer: str
    contexts: Sequence[Any] | None = None
    question: str = ""


@dataclass
class Told:
    """Functions that are called while an answer is judged.

    Attributes:
        claims: called with the claims, before they are judged.
        verdict: called with each verdict.
        is_cancelled: once set, the check ends before its next claim.
    """

    claims: Callable[[Sequence[Claim]], None] = lambda _: None
    verdict: Callable[[Verdict], None] = lambda _: None
    is_cancelled: Event = field(default_factory=Event)

    def on_verdict(self, verdict: Verdict) -> None:
        """Calls `verdict`.

        Raises:
            Cancelled: `is_cancelled` is set.
        """
        if self.is_cancelled.is_set():
            raise Cancelled
        self.verdict(verdict)
