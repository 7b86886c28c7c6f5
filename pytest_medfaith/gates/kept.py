"""Kept baselines: a numbered copy for each time the file was written, with date and commit in its name.

The copies of `medfaith-baseline.json` are in `medfaith-baselines/`. For example
`0007_20261129-0842_57d7bbd.json` is the seventh copy, of 29 November 2026 at 08:42 UTC, measured at commit
57d7bbd.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

from pytest_medfaith.errors import DataError, MissingBaseline
from pytest_medfaith.jsonl import write_text
from pytest_medfaith.lock import locked

_NAME = re.compile(r"(?P<number>\d{4,})_(?P<date>\d{8}-\d{4})(?:_(?P<commit>[0-9a-f]{7}))?\.json")
_DATE = "%Y%m%d-%H%M"
_NUMBERS_SHOWN = 10


@dataclass(frozen=True, kw_only=True)
class Kept:
    """A kept copy of a baseline.

    Attributes:
        number: from 1.
        date: when it was measured, UTC.
        commit: the first seven digits, "" where none was known.
        path: of the copy.
    """

    number: int
    date: datetime
    commit: str
    path: Path


def kept_folder(path: Path) -> Path:
    """Returns where the copies of the baseline file `path` are kept: "baselines" beside "baseline.json".

    The folder may not exist yet.
    """
    return path.with_name(f"{path.stem}s")


def kept_baselines(path: Path) -> list[Kept]:
    """Returns the kept copies of the baseline file `path`, by number; other files of the folder do not count.

    The list is empty where nothing was kept. Two copies may have one number, as after a merge of two
    branches.

    Raises:
        DataError: a copy whose name holds no date.
    """
    folder = kept_folder(path)
    files = folder.iterdir() if folder.is_dir() else ()
    found = [_kept(file, name) for file in files if (name := _NAME.fullmatch(file.name))]
    return sorted(found, key=lambda copy: (copy.number, copy.path.name))


def _kept(file: Path, name: re.Match[str]) -> Kept:
    try:
        date = datetime.strptime(name["date"], _DATE).replace(tzinfo=timezone.utc)
    except ValueError:
        raise DataError(
            f"{file}: {name['date']!r} in its name is no date; "
            f"expected {_DATE}, as in 0007_20261129-0842.json"
        ) from None
    return Kept(number=int(name["number"]), date=date, commit=name["commit"] or "", path=file)


def kept_baseline(path: Path, number: int) -> Path:
    """Returns the kept copy `number` of the baseline file `path`.

    Raises:
        MissingBaseline: no copy has the number; the message says which numbers there are.
        DataError: two copies have it, as after a merge of two branches.
    """
    known = kept_baselines(path)
    found = [copy.path for copy in known if copy.number == number]
    if not found:
        last = ", ".join(f"{copy.number:04}" for copy in known[-_NUMBERS_SHOWN:])
        raise MissingBaseline(
            f"no kept baseline has the number {number:04}; {kept_folder(path)} holds {last or 'none'}. "
            "Run medfaith baseline list, or give a file with --medfaith-baseline FILE"
        )
    if len(found) > 1:
        raise DataError(
            f"{found[0]} and {found[1].name} have one number; "
            "give the file with --medfaith-baseline FILE, or remove one of them"
        )
    return found[0]


def keep_baseline(path: Path, *, now: datetime, commit: str = "") -> Path:
    """Copies the baseline file `path` under the next number, whole or not at all, and returns the copy.

    Where the last copy holds the same bytes already, nothing is written, and the last copy is returned. The
    caller holds the lock of the file.
    """
    known, text = kept_baselines(path), path.read_text(encoding="utf-8")
    if known and known[-1].path.read_text(encoding="utf-8", errors="replace") == text:
        return known[-1].path
    number = known[-1].number + 1 if known else 1
    date = now.astimezone(timezone.utc).strftime(_DATE)
    name = "_".join(filter(None, [f"{number:04}", date, commit[:7]]))
    copy = kept_folder(path) / f"{name}.json"
    write_text(copy, text)
    return copy


def prune_baselines(path: Path, *, keep: int) -> list[Path]:
    """Removes the kept copies of the baseline file `path` but for the last `keep`, and returns the removed.

    Their paths come oldest first; [] where no more than `keep` are there.

    Raises:
        ValueError: `keep` is below 1.
        DataError: another process holds the file's lock, or a copy cannot be removed.
    """
    if keep < 1:
        raise ValueError(
            f"keep is {keep}, expected 1 or more: the last copy says under which number the next one is kept"
        )
    if not kept_folder(path).is_dir():
        return []
    with locked(path):
        old = [copy.path for copy in kept_baselines(path)[:-keep]]
        try:
            for copy in old:
                copy.unlink()
        except OSError as error:
            raise DataError(
                f"{copy}: cannot be removed ({error.strerror or error}); "
                "expected the right to change its folder"
            ) from error
    return old
