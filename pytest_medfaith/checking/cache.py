"""Keeps what models say of texts and pairs by content, so that a second run reads only what changed. One SQLite file, safe between processes."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, TypeVar

_Key = TypeVar("_Key")
_LAYOUT = "CREATE TABLE IF NOT EXISTS numbers (key BLOB PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID"


def content_key(signature: str, *texts: str) -> bytes:
    """Returns the key of texts under a model: 16 bytes that change with the weights and with each text."""
    return hashlib.blake2b("\x1f".join((signature, *texts)).encode("utf-8", "surrogatepass"), digest_size=16).digest()


def fill(
    known: dict[_Key, Any],
    wanted: Iterable[_Key],
    make: Callable[[list[_Key]], Any],
    *,
    key: Callable[[_Key], bytes],
    dtype: str,
    cache: Path | None,
) -> None:
    """Adds to `known` the numbers that it lacks of `wanted`: from the file `cache`, or by `make`, whose finite rows the file then keeps.

    Args:
        known: one row of numbers for each thing asked before, each an array of `dtype`.
        wanted: what is asked now; what is asked twice is made once.
        make: gives one row for each of those that neither `known` nor the file has.
        key: names a thing, and the model, in the file.
        dtype: of the rows, as numpy spells it; the file holds their bytes.
        cache: the SQLite file, or None to keep nothing.
    """
    import numpy as np

    keys = {one: key(one) for one in dict.fromkeys(wanted) if one not in known}
    kept = _read(cache, keys.values())
    known |= {one: np.frombuffer(kept[name], dtype=dtype) for one, name in keys.items() if name in kept}
    missing = [one for one in keys if one not in known]
    if missing:
        fresh = dict(zip(missing, np.asarray(make(missing)).astype(dtype), strict=True))
        known |= fresh
        _keep(cache, {keys[one]: row.tobytes() for one, row in fresh.items() if np.isfinite(row).all()})


def _read(path: Path | None, keys: Iterable[bytes]) -> dict[bytes, bytes]:
    """Returns what the file `path` keeps for those of `keys` that it knows; nothing without a file or a readable one."""
    if path is None or not path.is_file():
        return {}
    found: dict[bytes, bytes] = {}
    try:
        with closing(sqlite3.connect(path, timeout=30)) as database:
            for key in keys:
                row = database.execute("SELECT value FROM numbers WHERE key = ?", (key,)).fetchone()
                if row is not None:
                    found[key] = row[0]
    except sqlite3.OperationalError:
        return found  # another process is just making it, or holds it
    except sqlite3.DatabaseError:
        path.unlink(missing_ok=True)  # a cache that cannot be read holds nothing that cannot be made again
        return {}
    return found


def _keep(path: Path | None, values: Mapping[bytes, bytes]) -> None:
    """Adds `values` to the file `path`; does nothing without a path, or where another process holds the file for too long."""
    if path is None or not values:
        return
    with suppress(OSError):  # a folder that cannot be made holds no cache
        path.parent.mkdir(parents=True, exist_ok=True)
    with suppress(sqlite3.OperationalError), closing(sqlite3.connect(path, timeout=30)) as database, database:
        database.execute(_LAYOUT)
        database.executemany("INSERT OR REPLACE INTO numbers VALUES (?, ?)", values.items())
