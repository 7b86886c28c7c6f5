"""Lets requests wait in a line of bounded length, and judges them one after another in a single thread.

One check uses every core, so two at a time would each take twice as long. A request that finds the line full
is refused at once, and told after how many seconds to try again.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Lock
from typing import TypeVar

Result = TypeVar("Result")
_REMEMBERED = 20  # durations, for the estimate of how long the line takes


class LineFull(Exception):
    """Raised where too many requests wait.

    Attributes:
        retry_after: whole seconds after which there should be room.
    """

    def __init__(self, retry_after: int) -> None:
        super().__init__(f"too many requests wait; try again in {retry_after} s")
        self.retry_after = retry_after


class WaitingLine:
    """Runs jobs one after another; at most `most` jobs wait while another runs."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._jobs = 0
        self._lock = Lock()
        self._durations: deque[float] = deque(maxlen=_REMEMBERED)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="medfaith-serve")

    @property
    def length(self) -> int:
        """How many jobs run or wait, 0 or more."""
        return self._jobs

    def join(self, job: Callable[[], Result]) -> Future[Result]:
        """Returns a future for the result of `job`, which runs when its turn comes.

        Raises:
            LineFull: as many jobs wait as may.
            RuntimeError: the line is closed.
        """
        with self._lock:
            if self._jobs > self._most:
                raise LineFull(self._retry_after())
            self._jobs += 1
        try:
            future = self._thread.submit(self._timed, job)
        except RuntimeError:  # the line is closed
            self._left(None)
            raise
        future.add_done_callback(self._left)
        return future

    def close(self) -> None:
        """Waits for the job that runs to end, and drops the jobs that wait."""
        self._thread.shutdown(wait=True, cancel_futures=True)

    def _timed(self, job: Callable[[], Result]) -> Result:
        """Returns the result of `job`, and remembers how long it took."""
        begun = time.perf_counter()
        try:
            return job()
        finally:
            with self._lock:
                self._durations.append(time.perf_counter() - begun)

    def _left(self, _: object) -> None:
        """Counts a job as gone, whether it ran or was dropped."""
        with self._lock:
            self._jobs -= 1

    def _retry_after(self) -> int:
        """Returns how many whole seconds the last jobs took on average, at least 1."""
        mean = sum(self._durations) / len(self._durations) if self._durations else 1.0
        return max(1, math.ceil(mean))
