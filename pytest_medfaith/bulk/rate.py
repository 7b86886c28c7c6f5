"""Shows the progress of a bulk run: rows done, rows a second, seconds to go."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TextIO

from pytest_medfaith.bulk.engine import Account

_LINE_EVERY = 30.0  # seconds between two lines where there is no terminal to write over


@dataclass
class Rate:
    """Writes how far a run is: on a terminal in a line that is overwritten, else as a line every 30 seconds.

    Attributes:
        out: where it writes.
        unit: what is counted, such as "rows".
        clock: returns the time in seconds.
    """

    out: TextIO
    unit: str
    clock: Callable[[], float] = time.monotonic
    _begun: float | None = None
    _told: float = 0.0
    _last: Account = field(default_factory=Account)

    def __call__(self, account: Account) -> None:
        """Writes how far the run is; the first call starts the clock."""
        now, self._last = self.clock(), account
        if self._begun is None:
            self._begun = self._told = now
            if account.kept:
                self.out.write(
                    f"{account.kept:,} of {account.rows:,} {self.unit} are kept of an earlier run\n"
                )
            return
        if self.out.isatty():
            self.out.write(f"\r\x1b[K{rate_line(account, now - self._begun, self.unit)}")
            self.out.flush()
        elif now - self._told >= _LINE_EVERY:
            self._told = now
            self.out.write(rate_line(account, now - self._begun, self.unit) + "\n")
            self.out.flush()

    def close(self) -> None:
        """Writes how many rows this run judged, without those kept of an earlier run, in how many seconds."""
        seconds = 0.0 if self._begun is None else self.clock() - self._begun
        fresh = self._last.done - self._last.kept
        self.out.write("\r\x1b[K" if self.out.isatty() else "")
        self.out.write(
            f"{fresh:,} {self.unit} judged in {seconds:.1f} s"
            + (f", {fresh / seconds:.1f} a second\n" if seconds else "\n")
        )


def rate_line(account: Account, seconds: float, unit: str) -> str:
    """Returns a line of progress: "512 of 2,048 rows, 10.2 a second, 150 s to go".

    Rows kept from an earlier run count as done, but not for the rate. Without new rows the rate is left out.
    """
    line = f"{account.done:,} of {account.rows:,} {unit}"
    fresh = account.done - account.kept
    if not fresh or not seconds:
        return line
    rate = fresh / seconds
    return f"{line}, {rate:.1f} a second, {(account.rows - account.done) / rate:.0f} s to go"
