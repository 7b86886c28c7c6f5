"""Turns chunks into rows of a store and back, and hashes a corpus whatever the order of its chunks."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from typing import Any

from pytest_medfaith.english.words import search_words
from pytest_medfaith.errors import DataError
from pytest_medfaith.records import Chunk
from pytest_medfaith.retrieval.bm25 import searchable_text
from pytest_medfaith.retrieval.stores.base import Found, Row, StoreFault, storable

_DIGITS = 32  # hexadecimal, of 128 bits: no two of a billion chunks share them


def row_of(chunk: Chunk, vector: Any) -> Row:
    """Returns `chunk` and its `vector` as a store holds them."""
    held = _as_json(chunk)
    return Row(
        key=row_key(chunk.id),
        digest=_digest(held),
        chunk=held,
        source=storable(chunk.source),
        year=chunk.year,
        words=storable(query_words(searchable_text(chunk))),
        vector=[float(number) for number in vector],
    )


def chunk_of(found: Found) -> Chunk:
    """Returns the chunk in a row that a search found.

    Raises:
        StoreFault: the row holds no chunk, or was changed since it was written.
    """
    if not isinstance(found.chunk, str) or _digest(found.chunk) != found.digest:
        raise StoreFault(
            "gave a row that is not as it was loaded",
            remedy="something else wrote into it: load the corpus under a new name, by medfaith index "
            "--store",
        )
    try:
        return Chunk.from_dict(json.loads(found.chunk))
    except (ValueError, DataError, RecursionError):
        raise StoreFault("gave a row that is no chunk") from None


def row_key(name: str) -> str:
    """Returns the key of the row of the chunk with the id `name`: 32 hexadecimal digits."""
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]


def chunk_digest(chunk: Chunk) -> str:
    """Returns a hash of all that a chunk holds: 32 hexadecimal digits."""
    return _digest(_as_json(chunk))


def contents_hash(chunks: Iterable[Chunk]) -> tuple[str, int]:
    """Returns (hash of a corpus, number of its chunks). The hash has 16 hexadecimal digits.

    It changes with anything in any chunk, but not with the order of the chunks, since their digests are added
    up. Chunks are read one by one and not kept.
    """
    total = count = 0
    for chunk in chunks:
        total += int(chunk_digest(chunk), 16)
        count += 1
    return contents_hash_of(total, count)


def contents_hash_of(total: int, count: int) -> tuple[str, int]:
    """Returns what `contents_hash` returns, for digests that are already added up.

    Args:
        total: sum of the digests of all chunks, each read as a hexadecimal number.
        count: number of chunks.

    Returns:
        16 hexadecimal digits, and `count`.
    """
    return hashlib.sha256(f"{count} {total}".encode()).hexdigest()[:16], count


def query_words(text: str) -> str:
    """Returns the words of a text as BM25 counts them, joined by spaces.

    Example: "5_mg of iron" for "5 mg of iron"; white space within a word becomes an underscore.
    """
    return " ".join(re.sub(r"\s", "_", word) for word in search_words(text))


def _as_json(chunk: Chunk) -> str:
    return json.dumps(chunk.to_dict(), sort_keys=True)  # in ASCII: halves of characters are escaped


def _digest(held: str) -> str:
    return hashlib.sha256(held.encode()).hexdigest()[:_DIGITS]
