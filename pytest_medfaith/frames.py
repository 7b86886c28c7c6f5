"""Hides the frames of this package in pytest's tracebacks, so that a failure ends at the line of the test."""

from __future__ import annotations

from types import FrameType

from pytest_medfaith.errors import MedfaithError

# What the package raises where an answer or a call is wrong.
ON_PURPOSE = (AssertionError, MedfaithError, ValueError)


def hide_frames(error: BaseException) -> None:
    """Marks the package's frames of `error`, and of the errors behind it, so that pytest hides them.

    Only errors that the package raises on purpose lose their frames. A fault of the package keeps all, and so
    does an error in code that the package calls, such as a RAG. With --full-trace pytest shows all frames.
    """
    seen: set[int] = set()
    behind: BaseException | None = error
    while behind is not None and id(behind) not in seen:
        seen.add(id(behind))
        frames = _frames(behind)
        if isinstance(behind, ON_PURPOSE) and frames and _is_of_package(frames[-1]):
            for frame in filter(_is_of_package, frames):
                # A frame keeps names beside its variables, also where locals are a copy.
                frame.f_locals["__tracebackhide__"] = True
        behind = behind.__cause__ or (None if behind.__suppress_context__ else behind.__context__)


def _frames(error: BaseException) -> list[FrameType]:
    frames, traceback = [], error.__traceback__
    while traceback is not None:
        frames.append(traceback.tb_frame)
        traceback = traceback.tb_next
    return frames


def _is_of_package(frame: FrameType) -> bool:
    return str(frame.f_globals.get("__name__", "")).startswith("pytest_medfaith.")
