"""The line that a long run shows now and then: cases done, claims, hallucination, time left."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pytest

    from pytest_medfaith.run.collected import Collected, Progress

LEAST_SECONDS = 10.0  # before the first line and between two lines: a short run needs none
LINES = 20  # about as many over a run, however long it is


@dataclass
class ProgressLine:
    """Decides when a progress line is due and what it says; `clock` gives seconds."""

    clock: Callable[[], float] = time.monotonic
    _began: float = field(init=False)
    _shown: float = field(init=False)

    def __post_init__(self) -> None:
        self._began = self._shown = self.clock()

    def next(self, collected: Collected) -> str | None:
        """Returns the line that is due now, or None.

        None before the first case, after the last, within 10 seconds of the last line or the beginning, and
        more often than about 20 times a run.
        """
        now = self.clock()
        if now - self._shown < LEAST_SECONDS:
            return None
        progress, elapsed = collected.progress(), now - self._began
        if not 0 < progress.done < progress.cases:
            return None
        left = elapsed / progress.done * (progress.cases - progress.done)
        if now - self._shown < (elapsed + left) / LINES:
            return None
        self._shown = now
        return progress_text(progress, left)


def progress_text(progress: Progress, seconds_left: float) -> str:
    """Returns "medfaith: 12 of 40 cases, 31 claims, hallucination 0.032, about 2 min left".

    The rate is of scored claims, and left out before there are any. The time is in hours from two hours on,
    and "less than a minute left" below a minute.
    """
    rate = f", hallucination {progress.refuted / progress.scored:.3f}" if progress.scored else ""
    done = f"{progress.done} of {progress.cases} cases, {progress.claims} claims"
    minutes = round(seconds_left / 60)
    if seconds_left < 60:
        left = "less than a minute left"
    elif minutes < 120:
        left = f"about {minutes} min left"
    else:
        left = f"about {minutes / 60:.0f} h left"
    return f"medfaith: {done}{rate}, {left}"


def write_between(config: pytest.Config, text: str) -> None:
    """Writes `text` on a line of its own among the dots or lines that pytest writes for tests."""
    terminal: Any = config.pluginmanager.get_plugin("terminalreporter")
    writer = config.get_terminal_writer()
    terminal.ensure_newline()  # and pytest begins a new line for the next test, except for those of workers
    if writer.width_of_current_line:
        writer.line()
    writer.write(text + "\n" * config.pluginmanager.hasplugin("dsession"), flush=True, cyan=True)
