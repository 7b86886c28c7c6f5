"""Keeps what models say of texts and pairs, by content, so that a second run reads only what changed.

The cache is a SQLite file, which several processes may use at the same time.
"""

from __future__ import annotations

import hashlib
import sqlite3
import zlib
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, TypeVar

from pytest_medfaith.errors import DataError

_Key = TypeVar("_Key")
_SEAL = 4  # bytes of the check sum after each row
_HEADER = b"SQLite format 3\0"
_TABLES = frozenset({"numbers"})
_LAYOUT = "CREATE TABLE IF NOT EXISTS numbers (key BLOB PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID"


def check_cache(path: Path | None) -> None:
    """Checks that a file is a cache of this package, before anything is written to it.

    None, a missing file and an empty file are fine.

    Raises:
        DataError: a folder, a file that is not SQLite's, or a database of something else.
    """
    if path is None or not path.exists():
        return
    advice = "name a new file, or leave the option out"
    if not path.is_file():
        raise DataError(
            f"the cache {path} is no file; expected a cache that medfaith made, or a new file: {advice}"
        )
    try:
        with path.open("rb") as raw:
            head = raw.read(len(_HEADER))
    except OSError as error:
        raise DataError(f"the cache {path} cannot be read ({error.strerror or error}); {advice}") from error
    if head and head != _HEADER:
        raise DataError(
            f"the cache {path} is not a cache of scores but another file, which would be written over; "
            f"{advice}"
        )
    if foreign := sorted(_tables(path) - _TABLES):
        raise DataError(f"the cache {path} is a database of something else (table {foreign[0]!r}); {advice}")


def _tables(path: Path) -> set[str]:
    """Returns the names of the tables in the file `path`; none if it is damaged or locked."""
    with suppress(sqlite3.Error), closing(sqlite3.connect(path, timeout=30)) as database:
        return {name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    return set()


def content_key(signature: str, *texts: str) -> bytes:
    """Returns the key, 16 bytes, under which the cache keeps what a model says of `texts`.

    The key depends on each text, on the model's `signature`, which changes with its weights, and on the kind
    of processor: last digits differ between kinds, and a cache may move to another machine.
    """
    from pytest_medfaith.models.onnx import processor_kernel

    content = "\x1f".join((processor_kernel(), signature, *texts)).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(content, digest_size=16).digest()


def fill(
    known: dict[_Key, Any],
    wanted: Iterable[_Key],
    make: Callable[[list[_Key]], Any],
    *,
    key: Callable[[_Key], bytes],
    dtype: str,
    cache: Path | None,
) -> None:
    """Adds to `known` the rows of `wanted` that it lacks: from the file `cache`, else from `make`.

    The file then keeps the rows of `make` that are finite; other rows are in `known` alone. A row of the file
    that is damaged counts as missing, and a file that cannot be written is no error.

    Args:
        known: {text or pair: row of numbers}, arrays of `dtype`; changed in place.
        wanted: the texts or pairs that are needed; each is made once.
        make: returns a row for each text or pair that neither `known` nor the file has.
        key: returns the name of a text or pair, for this model, in the file.
        dtype: the type of the rows, as numpy spells it; the file has their bytes.
        cache: the SQLite file; None to keep nothing.
    """
    import numpy as np

    keys = {text: key(text) for text in dict.fromkeys(wanted) if text not in known}
    kept = _read(cache, keys.values())
    known |= {text: np.frombuffer(kept[name], dtype=dtype) for text, name in keys.items() if name in kept}
    missing = [text for text in keys if text not in known]
    if missing:
        fresh = dict(zip(missing, np.asarray(make(missing)).astype(dtype), strict=True))
        known |= fresh
        _keep(cache, {keys[text]: row.tobytes() for text, row in fresh.items() if np.isfinite(row).all()})


def _read(path: Path | None, keys: Iterable[bytes]) -> dict[bytes, bytes]:
    """Returns {key: row} of the rows that the file `path` has; {} without a readable file."""
    if path is None or not path.is_file():
        return {}
    found: dict[bytes, bytes] = {}
    try:
        with closing(sqlite3.connect(path, timeout=30)) as database:
            for key in keys:
                row = database.execute("SELECT value FROM numbers WHERE key = ?", (key,)).fetchone()
                if row is not None and _sealed(key, row[0][:-_SEAL]) == row[0]:
                    found[key] = row[0][:-_SEAL]
    except sqlite3.OperationalError:
        return found  # another process is just making it, or has locked it
    except sqlite3.DatabaseError:
        # It is damaged, or no cache at all. It may belong to somebody, so it is renamed and not removed. The
        # scores are made again.
        with suppress(OSError):
            path.replace(path.with_name(path.name + ".damaged"))
        return {}
    return found


def _keep(path: Path | None, values: Mapping[bytes, bytes]) -> None:
    """Adds `values` to the file `path`; does nothing if another process locks the file for too long."""
    if path is None or not values:
        return
    with suppress(OSError):  # a folder that cannot be made holds no cache
        path.parent.mkdir(parents=True, exist_ok=True)
    with suppress(sqlite3.DatabaseError), closing(sqlite3.connect(path, timeout=30)) as database, database:
        database.execute(_LAYOUT)
        database.executemany(
            "INSERT OR REPLACE INTO numbers VALUES (?, ?)",
            ((key, _sealed(key, row)) for key, row in values.items()),
        )


def _sealed(key: bytes, row: bytes) -> bytes:
    """Returns `row` with a check sum after it.

    SQLite reads the missing end of a damaged file as zeros, which are numbers too.
    """
    return row + zlib.crc32(key + row).to_bytes(_SEAL, "big")
