"""Cuts a document into chunks and finds what a chunk was cut from."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import Literal

from pytest_medfaith.corpus.documents import documents_of
from pytest_medfaith.corpus.normalise import one_line
from pytest_medfaith.corpus.sections import Document
from pytest_medfaith.corpus.sources import source_files
from pytest_medfaith.corpus.tokens import token_offsets
from pytest_medfaith.corpus.windows import CountTokens, WindowSize, windows
from pytest_medfaith.errors import DataError
from pytest_medfaith.records import Chunk

Prefix = Literal["title"] | Callable[[str, Chunk], str]


def chunk_document(
    document: Document,
    *,
    source: str,
    shape: WindowSize | None = None,
    prefix: Prefix | None = None,
    count_tokens: CountTokens = token_offsets,
) -> list[Chunk]:
    """Returns the chunks of one document, in order; see `chunk_source`."""
    name = document_name(document)
    origin = {
        "document": document.file,
        "digest": _digest(document.text),
        **({"item": document.item} if document.item else {}),
    }
    chunks: list[Chunk] = []
    for section in document.sections:
        spans = (
            [(0, len(section.text))]
            if section.whole
            else windows(section.text, shape=shape, count_tokens=count_tokens)
        )
        for start, end in spans:
            chunk = Chunk(
                id=f"{source}/{name}-{len(chunks) + 1:03d}",
                text=section.text[start:end],
                url=one_line(document.url),
                title=one_line(document.title),
                section_path=section.path,
                source=source,
                year=document.year,
                pmid=document.pmid,
                start=section.start + start,
                end=section.start + end,
                extra=origin,
            )
            chunks.append(
                chunk
                if prefix is None
                else chunk.with_(extra={**origin, "prefix": _prefix(prefix, document.text, chunk)})
            )
    return chunks


def original_span(chunk: Chunk, *, src: Path) -> str:
    """Returns what the chunk was cut from: its document is read again from `src`, and `[start:end]` of its normalised text returned.

    Raises:
        DataError: the chunk does not say where it is from, its document is gone, or it has changed since.
    """
    name, item = chunk.extra.get("document"), chunk.extra.get("item", "")
    if not isinstance(name, str) or chunk.start is None or chunk.end is None:
        raise DataError(
            f"chunk {chunk.id!r} has no document, start and end; only chunks that `medfaith chunk` wrote can be traced"
        )
    for file in source_files(src):
        if file.name != name:
            continue
        for document in documents_of(file):
            if document.item == item:
                if _digest(document.text) != chunk.extra.get("digest"):
                    raise DataError(
                        f"{file.place}: has changed since chunk {chunk.id!r} was cut from it; run `medfaith chunk` again"
                    )
                return document.text[chunk.start : chunk.end]
    raise DataError(
        f"{src}: holds no document {name!r}{f' with item {item!r}' * bool(item)}, from which chunk {chunk.id!r} was cut; give its source"
    )


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def _prefix(prefix: Prefix, text: str, chunk: Chunk) -> str:
    if callable(prefix):
        return prefix(text, chunk)
    path = chunk.section_path
    return " > ".join(path if path[:1] == (chunk.title,) or not chunk.title else (chunk.title, *path))


def document_name(document: Document) -> str:
    """Returns the document's own id, else its path without suffix and its number in a file of many; without white space."""
    stem = str(PurePosixPath(document.file).with_suffix(""))
    return unbroken(
        stem + document.item.replace("#", ".") if document.item[:1] in {"", "#"} else document.item
    )


def unbroken(name: str) -> str:
    """Returns `name` with white space as underscores, since ids stand in columns of files, and without control characters."""
    return "".join(
        sign for sign in re.sub(r"\s", "_", name) if unicodedata.category(sign) not in ("Cc", "Cf", "Cs")
    )
