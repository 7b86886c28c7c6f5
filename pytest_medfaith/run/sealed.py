"""Rows on disk that a killed run may leave half written: each reads back as written, or is damaged."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from pytest_medfaith.errors import CannotWrite


def digest(value: object) -> str:
    """Returns a digest of plain values, by which a row is found."""
    text = json.dumps(value, sort_keys=True, default=str, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def read_sealed(path: Path) -> tuple[dict[str, str], int]:
    """Returns {name: row as JSON}, and how many rows are not as they were written; no file holds no row."""
    rows, damaged = dict[str, str](), 0
    try:
        held = path.read_bytes()
    except FileNotFoundError:
        return rows, damaged
    except OSError as error:
        raise CannotWrite(path, error) from error
    for line in held.splitlines():
        seal, _, row = line.partition(b" ")
        if hashlib.sha256(row).hexdigest().encode() == seal:
            name, _, report = row.decode().partition(" ")
            rows[name] = report
        else:
            damaged += bool(line)
    return rows, damaged


def append_sealed(path: Path, name: str, row: str) -> None:
    """Adds a row behind a check sum of it; a row that a killed run left half written ends with a line break.

    Raises:
        CannotWrite: the file cannot be written.
    """
    named = f"{name} {row}"
    sealed = f"{hashlib.sha256(named.encode()).hexdigest()} {named}\n"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab+") as file:
            is_torn = False
            if file.tell():
                file.seek(-1, 2)
                is_torn = file.read(1) != b"\n"
            file.write(("\n" * is_torn + sealed).encode())
    except OSError as error:
        raise CannotWrite(path, error) from error
