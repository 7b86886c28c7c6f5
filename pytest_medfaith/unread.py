"""Reports that warn where nobody reads them, as a coroutine warns that is never awaited."""

from __future__ import annotations

import sys
import warnings
from types import FrameType
from typing import Any

from pytest_medfaith.records import Report

_RESULTS = frozenset(("verdicts", "gold_verdicts", "metrics", "abstained", "entailments", "pairs", "hits"))


class UncheckedReport(UserWarning):
    """The warning about a report that no assertion has read, nor any code of the test."""


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
        # After an exception the frame goes with the report in it, and the exception says more.
        place = object.__getattribute__(self, "__dict__").get("_place")
        if place is None or sys.is_finalizing() or sys.exc_info()[0] is not None:
            return
        path, line = place
        warnings.warn_explicit(
            "check_answer made a report that nobody read, so nothing was asserted; "
            "give it to assert_faithfulness, or read its verdicts",
            UncheckedReport,
            path,
            line,
        )


def unread(report: Report) -> Report:
    """Returns `report` so that it warns where it is thrown away unread, at the line that asked for it."""
    fields = {name: value for name, value in vars(report).items()}  # noqa: C416 - vars is a live view
    marked = UnreadReport(**fields)
    object.__setattr__(marked, "_place", _asking_line())
    return marked


def read(report: Report) -> Report:
    """Returns `report` as a plain `Report`: from now on it counts as read."""
    if isinstance(report, UnreadReport):
        object.__setattr__(report, "__class__", Report)
    return report


def _asking_line() -> tuple[str, int]:
    """Returns file and line of the innermost caller outside the package."""
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 - as warnings does
    while frame is not None and frame.f_globals.get("__name__", "").startswith(
        ("pytest_medfaith.", "functools")
    ):
        frame = frame.f_back
    return (frame.f_code.co_filename, frame.f_lineno) if frame else ("unknown", 0)
