"""Chunks as rows of a store, and back; what a corpus is as a hash that no order of its chunks changes."""

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
    """Returns `chunk` with its `vector` as a store holds it."""
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
    """Returns the chunk of a row that was found.

    Raises:
        StoreFault: the row is no chunk, or not the chunk that was written.
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
    """Returns the key of the chunk called `name`: 32 hexadecimal digits."""
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]


def chunk_digest(chunk: Chunk) -> str:
    """Returns 32 hexadecimal digits that change with anything of the chunk."""
    return _digest(_as_json(chunk))


def contents_hash(chunks: Iterable[Chunk]) -> tuple[str, int]:
    """Returns 16 hexadecimal digits that change with anything of any chunk, and how many chunks there are.

    The digests are added up, so the order of the chunks does not count, and none is kept.
    """
    total = count = 0
    for chunk in chunks:
        total += int(chunk_digest(chunk), 16)
        count += 1
    return contents_hash_of(total, count)


def contents_hash_of(total: int, count: int) -> tuple[str, int]:
    """Returns the hash of a corpus, as `contents_hash` does, where the digests are already added up.

    Args:
        total: the sum of the digests of all chunks, each read as a hexadecimal number.
        count: the number of chunks.

    Returns:
        16 hexadecimal digits, and `count`.
    """
    return hashlib.sha256(f"{count} {total}".encode()).hexdigest()[:16], count


def query_words(text: str) -> str:
    """Returns the words of a text as BM25 counts them, separated by spaces: "5_mg iron" of "5 mg of iron"."""
    return " ".join(re.sub(r"\s", "_", word) for word in search_words(text))


def _as_json(chunk: Chunk) -> str:
    return json.dumps(chunk.to_dict(), sort_keys=True)  # in ASCII: halves of characters are escaped


def _digest(held: str) -> str:
    return hashlib.sha256(held.encode()).hexdigest()[:_DIGITS]
