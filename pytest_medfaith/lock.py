"""A lock beside a file, so that two processes never change the file at the same time."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pytest_medfaith.errors import DataError

WAIT = 60.0  # seconds; to write a baseline takes less than a second
_PAUSE = 0.02


@contextmanager
def locked(path: Path, *, wait: float = WAIT) -> Iterator[None]:
    """Holds the lock of the file `path` while the block runs; no other process can hold it meanwhile.

    Waits up to `wait` seconds for it. The system frees the lock of a process that dies.

    Raises:
        DataError: another process held the lock all the time.
        OSError: the folder cannot be written.
    """
    place = path.with_name(f".{path.name}.lock")
    end = time.monotonic() + wait
    while (handle := _try_lock(place)) is None:
        if time.monotonic() > end:
            raise DataError(
                f"{place} is held by another run that updates {path}; wait for it to end, and run again"
            )
        time.sleep(_PAUSE)
    try:
        yield
    finally:
        place.unlink(missing_ok=True)
        os.close(handle)


def _try_lock(place: Path) -> int | None:
    """Returns an open handle that holds the lock; None where another process has it, or just gave it back."""
    handle = os.open(place, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        if _lock(handle) and os.fstat(handle).st_ino == os.stat(place).st_ino:  # noqa: PTH116 - beside fstat
            return handle
    except FileNotFoundError:
        pass  # its holder removed the file between the two calls; the next try makes a new file
    except BaseException:
        os.close(handle)
        raise
    os.close(handle)
    return None


def _lock(handle: int) -> bool:
    """Returns whether the open file got the lock of the system."""
    try:
        import fcntl
    except ModuleNotFoundError:  # Windows
        import msvcrt

        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined, unused-ignore]
        except OSError:
            return False
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
