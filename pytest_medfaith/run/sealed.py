"""Rows in a file, each behind a check sum, so that a row that a killed run left half written is noticed."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from pytest_medfaith.errors import CannotWrite


def digest(value: object) -> str:
    """Returns a hash of plain values, as hexadecimal text; equal values have equal hashes."""
    text = json.dumps(value, sort_keys=True, default=str, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def read_sealed(path: Path) -> tuple[dict[str, str], int]:
    """Returns {name: row as JSON} of a file, and how many rows are damaged; ({}, 0) without a file."""
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
    """Adds the line "SHA-256 name row" at the end of a file; after a half-written row it begins a new line.

    The SHA-256 is that of "name row". File and folder are made where they are missing.

    Args:
        path: the file.
        name: of the row, without blanks.
        row: a text without line ends.

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
