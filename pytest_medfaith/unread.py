"""Warns about a report that nobody reads: a test that only makes a report asserts nothing."""

from __future__ import annotations

import sys
import warnings
from types import FrameType
from typing import Any

from pytest_medfaith.records import Report

_RESULTS = frozenset(("verdicts", "gold_verdicts", "metrics", "abstained", "entailments", "pairs", "hits"))


class UncheckedReport(UserWarning):
    """The warning that a report was thrown away before any assertion or code of the test read it."""


class UnreadReport(Report):
    """A report whose results nobody has read yet; the first read makes it a plain `Report`."""

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
    """Returns `report` in a form that warns when it is thrown away unread.

    The warning names the line of the test that asked for the report.
    """
    fields = {name: value for name, value in vars(report).items()}  # noqa: C416 - vars is a live view
    marked = UnreadReport(**fields)
    object.__setattr__(marked, "_place", _asking_line())
    return marked


def read(report: Report) -> Report:
    """Returns `report` as a plain `Report`, which counts as read and does not warn."""
    if isinstance(report, UnreadReport):
        object.__setattr__(report, "__class__", Report)
    return report


def _asking_line() -> tuple[str, int]:
    """Returns (file, line) of the innermost caller outside this package; ("unknown", 0) for none."""
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 - as warnings does
    while frame is not None and frame.f_globals.get("__name__", "").startswith(
        ("pytest_medfaith.", "functools")
    ):
        frame = frame.f_back
    return (frame.f_code.co_filename, frame.f_lineno) if frame else ("unknown", 0)
