"""Keeps what models say of pairs by content, so that a second run scores only what changed. One SQLite file, safe between processes."""

from __future__ import annotations

import hashlib
import sqlite3
import struct
from collections.abc import Iterable, Mapping
from contextlib import closing, suppress
from pathlib import Path

Numbers = tuple[float, ...]  # of one pair: three logits, or one cosine
_LAYOUT = "CREATE TABLE IF NOT EXISTS logits (key BLOB PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID"


def pair_key(signature: str, evidence: str, claim: str) -> bytes:
    """Returns the key of a pair under a scorer: 16 bytes that change with the weights, the evidence or the claim."""
    return hashlib.blake2b(f"{signature}\x1f{evidence}\x1f{claim}".encode("utf-8", "surrogatepass"), digest_size=16).digest()


def read_numbers(path: Path | None, keys: Iterable[bytes]) -> dict[bytes, Numbers]:
    """Returns the numbers kept in the file `path` for those of `keys` it knows; nothing without a file or a readable one."""
    if path is None or not path.is_file():
        return {}
    found: dict[bytes, Numbers] = {}
    try:
        with closing(sqlite3.connect(path, timeout=30)) as database:
            for key in keys:
                row = database.execute("SELECT value FROM logits WHERE key = ?", (key,)).fetchone()
                if row is not None:
                    found[key] = struct.unpack(f"<{len(row[0]) // 4}f", row[0])
    except sqlite3.OperationalError:
        return found  # another process is just making it, or holds it
    except sqlite3.DatabaseError:
        path.unlink(missing_ok=True)  # a cache that cannot be read holds nothing that cannot be made again
        return {}
    return found


def keep_numbers(path: Path | None, numbers: Mapping[bytes, Numbers]) -> None:
    """Adds `numbers` to the file `path`; does nothing without a path, or where another process holds the file for too long."""
    if path is None or not numbers:
        return
    with suppress(OSError):  # a folder that cannot be made holds no cache
        path.parent.mkdir(parents=True, exist_ok=True)
    with suppress(sqlite3.OperationalError), closing(sqlite3.connect(path, timeout=30)) as database, database:
        database.execute(_LAYOUT)
        rows = [(key, struct.pack(f"<{len(values)}f", *values)) for key, values in numbers.items()]
        database.executemany("INSERT OR REPLACE INTO logits VALUES (?, ?)", rows)
