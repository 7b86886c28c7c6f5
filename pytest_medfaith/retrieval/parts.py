"""Files of vectors that show damage: each holds vectors, what they belong to, and a check sum over both.

A file is a .npy array, then a line of JSON (its fingerprint), the length of that line, and a SHA-256 of all
before it. So damage is told from a file of another corpus or encoder, and neither is used.
"""

from __future__ import annotations

import hashlib
import io
import json
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_medfaith.jsonl import atomic_binary_writer

_SEAL = 32  # bytes of the check sum at the end of a file
_LENGTH = 8  # bytes before it, which hold the fingerprint's length
_STALE_AFTER = 3600.0  # seconds; a part is written in a few, so nobody is writing a file that is older

Fingerprint = Mapping[str, Any]  # such as {"corpus": ..., "encoder": ..., "metric": ..., "part": 3}


@dataclass(frozen=True)
class Part:
    """What was found in a file of vectors.

    Attributes:
        vectors: float32 (n, width); None if the file is missing, damaged or belongs to something else.
        found: the fingerprint in the file; None if there is no readable one.
    """

    vectors: Any = None
    found: Fingerprint | None = None


def save_part(path: Path, vectors: Any, fingerprint: Fingerprint) -> None:
    """Writes vectors, float32 (n, width), with their fingerprint to `path`: whole or not at all.

    The file is on the disk, not only in a buffer, when this returns.

    Raises:
        CannotWrite: the file cannot be written.
    """
    import numpy as np

    buffer = io.BytesIO()
    np.save(buffer, vectors, allow_pickle=False)
    line = json.dumps({**fingerprint, "dimension": int(vectors.shape[1])}, sort_keys=True).encode()
    body = buffer.getvalue() + line + len(line).to_bytes(_LENGTH, "big")
    with atomic_binary_writer(path) as out:
        out.write(body + hashlib.sha256(body).digest())


def load_part(path: Path, fingerprint: Fingerprint, *, rows: int) -> Part:
    """Returns the vectors in the file at `path`, checked; `Part.vectors` is None where they cannot be used.

    Args:
        path: the file; it may be missing.
        fingerprint: what the vectors must belong to.
        rows: how many vectors there must be.
    """
    import numpy as np

    try:
        held = path.read_bytes()
        body, seal = held[:-_SEAL], held[-_SEAL:]
        if hashlib.sha256(body).digest() != seal:
            return Part()
        end = len(body) - _LENGTH
        begin = end - int.from_bytes(body[end:], "big")
        found = json.loads(body[begin:end])
        vectors = np.load(io.BytesIO(body[:begin]), allow_pickle=False)
    except (OSError, ValueError, RecursionError):  # or a file of an earlier version
        return Part()
    if not isinstance(found, dict):
        return Part()
    if found != {**fingerprint, "dimension": found.get("dimension")}:
        return Part(found=found)
    if vectors.ndim != 2 or vectors.shape != (rows, found["dimension"]):
        return Part()
    return Part(vectors, found)


def in_words(fingerprint: Fingerprint) -> str:
    """Returns a fingerprint for a message: "corpus 0f3a..., encoder 77b1..., metric ip"."""
    return ", ".join(f"{key} {value}" for key, value in fingerprint.items())


def remove_stale(folder: Path) -> None:
    """Deletes temporary files (`.*.part`) that a killed process left in `folder` more than an hour ago.

    A file that cannot be deleted stays. It is no error, and neither is a folder that does not exist.
    """
    for left in folder.glob(".*.part"):
        with suppress(OSError):
            if time.time() - left.stat().st_mtime > _STALE_AFTER:
                left.unlink()
