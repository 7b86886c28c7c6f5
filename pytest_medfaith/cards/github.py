"""What GitHub Actions shows: the summary of a step, and annotations on the lines of failing tests."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from pytest_medfaith.errors import DataError
from pytest_medfaith.plain import plain_lines

# GitHub drops a larger summary of a step whole, and cuts a longer text of an annotation:
# docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands
SUMMARY_BYTES = 1024 * 1024
_ANNOTATION_CHARACTERS = 4000
_CUT = "\n\n… cut here: GitHub shows at most 1 MiB. The whole card is card.md of the run folder.\n"


def on_actions(environ: Mapping[str, str] = os.environ) -> bool:
    """Returns whether this process is a step of GitHub Actions."""
    return environ.get("GITHUB_ACTIONS") == "true"


def on_ci(environ: Mapping[str, str] = os.environ) -> bool:
    """Returns whether this process runs on a CI service, whose log people open to see what failed."""
    return on_actions(environ) or environ.get("CI", "").lower() not in ("", "0", "false")


def path_in_repository(path: Path, environ: Mapping[str, str] = os.environ) -> str:
    """Returns `path` relative to the checkout, as annotations name it; a path outside stays as it is."""
    try:
        return path.relative_to(environ.get("GITHUB_WORKSPACE") or Path.cwd()).as_posix()
    except ValueError:
        return str(path)


def append_step_summary(markdown: str, environ: Mapping[str, str] = os.environ) -> bool:
    """Appends `markdown` to the summary of a GitHub step; returns False where this is no such step.

    A text that would make the summary too large to be shown is cut, and says so.

    Raises:
        DataError: the file that GITHUB_STEP_SUMMARY names cannot be written.
    """
    name = environ.get("GITHUB_STEP_SUMMARY")
    if not name:
        return False
    path = Path(name)
    try:
        held = path.stat().st_size if path.exists() else 0
        with path.open("a", encoding="utf-8", newline="\n") as out:
            out.write(_fitting(markdown.rstrip("\n") + "\n\n", SUMMARY_BYTES - held))
    except OSError as error:
        raise DataError(
            f"GITHUB_STEP_SUMMARY names {path}, which cannot be written ({error.strerror or error}); "
            "expected a file that the runner made. Unset the variable to do without a summary"
        ) from error
    return True


def _fitting(text: str, room: int) -> str:
    """Returns `text` cut at a line end so that it has at most `room` bytes, with a note that it was cut.

    "" where not even the note fits.
    """
    encoded = text.encode("utf-8")
    if len(encoded) <= room:
        return text
    kept = max(0, room - len(_CUT.encode("utf-8")))
    head = encoded[:kept].decode("utf-8", errors="ignore").rpartition("\n")[0]
    return head + _CUT if kept else ""


def annotation(
    message: str,
    *,
    file: str = "",
    line: int | None = None,
    title: str = "",
    level: Literal["error", "warning", "notice"] = "error",
) -> str:
    """Returns a line to print that makes GitHub show `message` at a place in a file.

    Args:
        message: may have several lines; the first 4,000 characters are shown.
        file: path from the root of the repository; "" for no place.
        line: from 1.
        title: shown above the message.
        level: how it is shown.
    """
    places = {"file": file, "line": "" if line is None else str(line), "title": title}
    properties = ",".join(
        f"{name}={_escaped(plain_lines(value)).replace(':', '%3A').replace(',', '%2C')}"
        for name, value in places.items()
        if value
    )
    message = plain_lines(message)
    shown = message if len(message) <= _ANNOTATION_CHARACTERS else message[: _ANNOTATION_CHARACTERS - 1] + "…"
    return f"::{level}{' ' if properties else ''}{properties}::{_escaped(shown)}"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
