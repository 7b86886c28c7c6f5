"""Contexts of an answer as chunks: from texts, hits, documents of RAG tools, or a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_medfaith.answers.awaiting import awaited
from pytest_medfaith.answers.foreign import document_fields, rows_of
from pytest_medfaith.errors import DataError, shown
from pytest_medfaith.records import Chunk, Hit


def as_chunks(contexts: Any) -> list[Chunk]:
    """Returns `contexts` as chunks, in order; a chunk that is given twice counts once.

    Plain texts get the ids context-1, context-2, ..., by their place. [] for an empty list. An awaitable is
    awaited.

    Args:
        contexts: a list of texts, chunks, hits, mappings with a text, or documents of RAG tools; or a table.

    Raises:
        DataError: `contexts` is None, or no list or table; a context is no chunk, mapping or text, or has no
            text; two different texts have the same id.
    """
    contexts = awaited(contexts, "contexts")
    if isinstance(contexts, (str, Mapping, Chunk)) or (
        not isinstance(contexts, tuple) and document_fields(contexts) is not None
    ):
        raise DataError(f"contexts is {shown(contexts)}; expected a list of texts or chunks")
    try:
        rows = rows_of(contexts)
    except DataError:
        raise DataError(
            f"contexts is {shown(contexts)}; expected a list of texts or chunks, or a table"
        ) from None
    kept: dict[str, Chunk] = {}
    for number, context in enumerate(rows, start=1):
        chunk = _as_chunk(context, number)
        if not chunk.text.strip():
            raise DataError(
                f"context {chunk.id!r} has no text; leave it out, or give the text the answer was based on"
            )
        if kept.setdefault(chunk.id, chunk).text != chunk.text:
            raise DataError(f"two contexts have the id {chunk.id!r}; ids must be unique within a response")
    return list(kept.values())


def _as_chunk(context: Any, number: int) -> Chunk:
    """Returns a context as a chunk; `number` is its place, from 1. Raises DataError where it has no text."""
    if isinstance(context, Hit):
        context = context.chunk
    if isinstance(context, Chunk):
        return context
    has_text = isinstance(context, Mapping) and "text" in context
    fields = context if has_text else document_fields(context)
    if fields is None:
        raise DataError(
            f"context {number} is {shown(context)}; expected a text, a chunk, or a document or mapping with "
            "a text"
        )
    return Chunk.from_dict({"id": f"context-{number}", **fields})
