"""The start of a run that will be written: what an earlier run left in the folder must not pass for this one's result."""

from __future__ import annotations

import contextlib
from datetime import datetime, timezone
from pathlib import Path

from pytest_medfaith.cards.history import write_history
from pytest_medfaith.cards.run_folder import (
    PREVIOUS,
    PREVIOUS_FILES,
    RUN_FILES,
    SIGNATURE,
    check_writable,
    told_history,
)
from pytest_medfaith.config import Settings
from pytest_medfaith.errors import DataError
from pytest_medfaith.jsonl import refuse_overwriting, write_text

_TITLE = "UNFINISHED: no result"
_PAGE = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>medfaith: {title}</title></head>
<body style="font: 16px/1.5 system-ui, sans-serif; max-width: 40em; margin: 2em auto; padding: 0 1em; color-scheme: light dark">
<h1 style="font-size: 22px">medfaith: {title}</h1>
<p>{text}</p>
</body>
</html>
"""


def check_report_folder(folder: Path, settings: Settings, *, baseline: Path) -> None:
    """Refuses a report folder whose files the project reads: the run would write over them.

    Raises:
        DataError: one of them is a file of a slice, a rulebook, a calibration or the baseline.
    """
    files = [*settings.calibration, *settings.safety, baseline]
    for one in settings.slices.values():
        files += [Path(one.cases), *filter(None, [one.responses])]
        files += [
            path for root in one.corpus for path in (root.rglob("*.jsonl") if root.is_dir() else [root])
        ]
    written = {
        f"{folder / name}, of the report,": folder / name for name in RUN_FILES if (folder / name).exists()
    }
    refuse_overwriting(written, {"a file that this project reads": [path for path in files if path.exists()]})


def begin_run(folder: Path) -> None:
    """Marks `folder` as holding no finished run until `write_run` has written one.

    A finished run that lies there moves into the folder `previous` below it, and goes when the new one is
    written whole: a run that dies leaves neither its own half nor an earlier run's result behind, and loses
    nothing.

    Raises:
        DataError: the folder cannot be written, or holds files of something else.
    """
    check_writable(folder)
    try:
        kept = (folder / SIGNATURE).exists()
        if kept:
            write_history(folder, told_history(folder))
            _put_aside(folder)
        _write_notice(folder, kept=kept or (folder / PREVIOUS / SIGNATURE).exists())
    except OSError as error:
        raise DataError(
            f"the report folder {folder} cannot be written ({error.strerror or error}); expected a folder whose files you may change. "
            "Give another one with --medfaith-report DIR"
        ) from error


def _put_aside(folder: Path) -> None:
    """Moves the files of the finished run, its signature last: where this is interrupted, the next start goes on with it."""
    previous = folder / PREVIOUS
    previous.mkdir(exist_ok=True)
    if (previous / SIGNATURE).exists():
        for name in PREVIOUS_FILES:
            (previous / name).unlink(missing_ok=True)
    for name in PREVIOUS_FILES:
        with contextlib.suppress(FileNotFoundError):
            (folder / name).replace(previous / name)


def _write_notice(folder: Path, *, kept: bool) -> None:
    """Writes card.md and card.html that say so; a reader who opens either finds no number of another run."""
    began = datetime.now(tz=timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
    where = f" What the last finished run wrote is in {PREVIOUS}/." if kept else ""
    text = f"A run began at {began} and has not been finished, so there is no result. If it runs no more, run it again.{where}"
    write_text(folder / "card.md", f"### medfaith: {_TITLE}\n\n{text}\n")
    write_text(folder / "card.html", _PAGE.format(title=_TITLE, text=text))
