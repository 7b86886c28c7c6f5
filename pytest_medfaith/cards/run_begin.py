"""The start of a run that will be written: earlier results are put aside, so that none passes for its own."""

from __future__ import annotations

import contextlib
from datetime import datetime, timezone
from pathlib import Path

from pytest_medfaith.cards.history import write_history
from pytest_medfaith.cards.run_folder import (
    PREVIOUS,
    PREVIOUS_FILES,
    RUN_FILES,
    check_writable,
    drop_run,
    extra_formats,
    told_history,
)
from pytest_medfaith.cards.run_reading import SIGNATURE, read_extra_files
from pytest_medfaith.config import Settings
from pytest_medfaith.errors import DataError
from pytest_medfaith.jsonl import refuse_overwriting, write_text

_TITLE = "UNFINISHED: no result"
_HEAD = '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
_BODY_STYLE = (
    "font: 16px/1.5 system-ui, sans-serif; max-width: 40em; margin: 2em auto; padding: 0 1em; "
    "color-scheme: light dark"
)
_PAGE = f"""<!doctype html>
<html lang="en">
<head>{_HEAD}<title>medfaith: {{title}}</title></head>
<body style="{_BODY_STYLE}">
<h1 style="font-size: 22px">medfaith: {{title}}</h1>
<p>{{text}}</p>
</body>
</html>
"""


def check_report_folder(folder: Path, settings: Settings, *, baseline: Path) -> None:
    """Raises where the run could not be written to the report folder; called before the run begins.

    Raises:
        DataError: the run would write over a file that the project reads (of a slice, a rulebook, a
            calibration, or the baseline) or that no run wrote; or a format in the settings is none.
    """
    extra = extra_formats(settings.formats)
    read = [*settings.calibration, *settings.safety, *settings.severity, baseline]
    for one in settings.slices.values():
        read += [Path(one.cases), *filter(None, [one.responses])]
        for root in one.corpus:
            read += root.rglob("*.jsonl") if root.is_dir() else [root]
    names = [*RUN_FILES, *(found.file_name for found in extra)]
    written = {
        f"{folder / name}, of the report,": folder / name for name in names if (folder / name).exists()
    }
    refuse_overwriting(written, {"a file that this project reads": [path for path in read if path.exists()]})
    check_writable(folder, extra=extra)


def begin_run(folder: Path) -> None:
    """Marks `folder` as holding no finished run until `write_run` has written one.

    A finished run in it moves to the folder `previous` below, and is removed when the new run is written. So
    a run that dies leaves no half result, no earlier result in its place, and loses nothing.

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
            f"the report folder {folder} cannot be written ({error.strerror or error}); "
            "expected a folder whose files you may change. Give another one with --medfaith-report DIR"
        ) from error


def _put_aside(folder: Path) -> None:
    """Moves a finished run to `previous`, its signature last, so that a killed move can be repeated."""
    previous = folder / PREVIOUS
    if (previous / SIGNATURE).exists():
        drop_run(previous)
    previous.mkdir(exist_ok=True)
    for name in (*read_extra_files(folder), *PREVIOUS_FILES):
        with contextlib.suppress(FileNotFoundError):
            (folder / name).replace(previous / name)


def _write_notice(folder: Path, *, kept: bool) -> None:
    """Writes card.md and card.html that say that the run is unfinished, and where the last run is."""
    began = datetime.now(tz=timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
    where = f" What the last finished run wrote is in {PREVIOUS}/." if kept else ""
    text = (
        f"A run began at {began} and has not been finished, so there is no result. "
        f"If it runs no more, run it again.{where}"
    )
    write_text(folder / "card.md", f"### medfaith: {_TITLE}\n\n{text}\n")
    write_text(folder / "card.html", _PAGE.format(title=_TITLE, text=text))
