"""The line that a long run shows from time to time: cases done, claims checked, running hallucination rate, time left."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from pytest_medfaith.run.collected import Ledger, Tally

LEAST_SECONDS = 10.0  # before the first line and between two: a short run needs none
LINES = 20  # about so many over a run, however long it is


@dataclass
class LiveLine:
    """Says when the next line is due and what it says; `clock` gives seconds."""

    clock: Callable[[], float] = time.monotonic
    _began: float = field(init=False)
    _told: float = field(init=False)

    def __post_init__(self) -> None:
        self._began = self._told = self.clock()

    def next(self, ledger: Ledger) -> str | None:
        """Returns the line that is due now, or None."""
        now = self.clock()
        if now - self._told < LEAST_SECONDS:
            return None
        tally = ledger.tally()
        left = _seconds_left(tally, now - self._began)
        if left is None or now - self._told < (now - self._began + left) / LINES:
            return None
        self._told = now
        return line(tally, left)


def _seconds_left(tally: Tally, elapsed: float) -> float | None:
    """Returns how long the rest takes at this pace, None where nothing is known of it yet or nothing is left."""
    return elapsed / tally.done * (tally.cases - tally.done) if 0 < tally.done < tally.cases else None


def line(tally: Tally, seconds_left: float) -> str:
    """Returns the line as it is shown."""
    rate = f", hallucination {tally.refuted / tally.scored:.3f}" if tally.scored else ""
    return (
        f"medfaith: {tally.done} of {tally.cases} cases, {tally.claims} claims{rate}, {_left(seconds_left)}"
    )


def _left(seconds: float) -> str:
    if seconds < 60:
        return "less than a minute left"
    minutes = round(seconds / 60)
    return f"about {minutes} min left" if minutes < 120 else f"about {minutes / 60:.0f} h left"
