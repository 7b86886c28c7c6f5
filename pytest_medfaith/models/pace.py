"""How many runs of a model go in parallel, and how many texts a model of another maker reads at a time.

The settings of a project set both numbers for the process. Neither changes a shipped model's results.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

from pytest_medfaith import defaults


@dataclass
class _Pace:
    threads: int | None = None
    batch_size: int = defaults.BATCH_SIZE


_pace = _Pace()


def set_pace(*, threads: int | None, batch_size: int) -> None:
    """Sets both numbers for the process.

    Args:
        threads: runs in parallel; None for as many as there are cores.
        batch_size: texts, or pairs of texts, that a model of another maker reads at a time.
    """
    _pace.threads, _pace.batch_size = threads, batch_size


def batch_size() -> int:
    """Returns how many texts or pairs a model of torch reads at a time."""
    return _pace.batch_size


def asked_threads() -> int | None:
    """Returns the number of threads: MEDFAITH_THREADS, else that of `set_pace`; None without either.

    An empty MEDFAITH_THREADS sets nothing.

    Raises:
        ValueError: MEDFAITH_THREADS holds anything but a whole number above 0.
    """
    asked = os.environ.get("MEDFAITH_THREADS", "")
    if not asked:
        return _pace.threads
    threads = int(asked) if asked.isdecimal() else 0
    if threads < 1:
        raise ValueError(f"MEDFAITH_THREADS is {asked!r}; expected a whole number above 0")
    return threads
