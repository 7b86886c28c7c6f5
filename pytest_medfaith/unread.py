"""A report that nobody reads is a check that nobody made: it warns when it is thrown away, as a coroutine does that is never awaited."""

from __future__ import annotations

import sys
import warnings
from types import FrameType
from typing import Any

from pytest_medfaith.records import Report

_RESULTS = frozenset(("verdicts", "gold_verdicts", "metrics", "abstained", "entailments", "pairs", "hits"))


class UncheckedReport(UserWarning):
    """A report that no assertion and no other code has read."""


class UnreadReport(Report):
    """A report whose results nobody has read yet. It becomes a plain `Report` when they are first read."""

    def __getattribute__(self, name: str) -> Any:
        if name in _RESULTS:
            read(self)
        return object.__getattribute__(self, name)

    def __eq__(self, other: object) -> bool:
        return read(self) == other

    def __hash__(self) -> int:
        return hash(read(self))

    def __reduce_ex__(self, protocol: Any) -> Any:
        return read(self).__reduce_ex__(protocol)

    def __del__(self) -> None:
        # after an exception the frame is thrown away with the report in it, and there is something better to say
        place = object.__getattribute__(self, "__dict__").get("_place")
        if place is None or sys.is_finalizing() or sys.exc_info()[0] is not None:
            return
        path, line = place
        warnings.warn_explicit(
            "check_answer made a report that nobody read, so nothing was asserted; give it to assert_faithfulness, or read its verdicts",
            UncheckedReport,
            path,
            line,
        )


def unread(report: Report) -> Report:
    """Returns `report` as one that warns where it is thrown away unread, at the line that asked for it."""
    marked = UnreadReport(**{name: value for name, value in vars(report).items()})  # noqa: C416 - vars is a live view
    object.__setattr__(marked, "_place", _asking_line())
    return marked


def read(report: Report) -> Report:
    """Returns `report`, which counts as read from now on."""
    if isinstance(report, UnreadReport):
        object.__setattr__(report, "__class__", Report)
    return report


def _asking_line() -> tuple[str, int]:
    """Returns file and line of the nearest caller outside the package."""
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 - as warnings does
    while frame is not None and frame.f_globals.get("__name__", "").startswith(
        ("pytest_medfaith.", "functools")
    ):
        frame = frame.f_back
    return (frame.f_code.co_filename, frame.f_lineno) if frame else ("unknown", 0)
