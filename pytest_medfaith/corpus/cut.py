"""Cuts a document into chunks, and finds the text that a chunk was cut from."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Callable, Sequence
from pathlib import Path, PurePosixPath
from typing import Literal

from pytest_medfaith.corpus.documents import documents_of
from pytest_medfaith.corpus.normalise import one_line
from pytest_medfaith.corpus.sections import Document, Section
from pytest_medfaith.corpus.sources import source_files
from pytest_medfaith.corpus.tokens import token_offsets
from pytest_medfaith.corpus.windows import CharacterSize, CountTokens, WindowSize, windows
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
    """Returns the chunks of `document`, in order.

    Args:
        document: a page with its sections; a section that is `whole`, such as an abstract, becomes one chunk.
        source: name of the corpus; ids begin with it, as in "statpearls/iron-001".
        shape: how large a chunk may be; None takes the defaults. A `CharacterSize` cuts across sections.
        prefix: what is kept in `extra["prefix"]`, see `chunk_source`; None keeps nothing.
        count_tokens: returns the (start, end) of a text's tokens.
    """
    name = document_name(document)
    origin = {"document": document.file, "digest": _digest(document.text)}
    if document.item:
        origin["item"] = document.item
    chunks: list[Chunk] = []
    for section in _stretches(document, shape):
        spans = [(0, len(section.text))]
        if not section.whole:
            spans = windows(section.text, shape=shape, count_tokens=count_tokens)
        for start, end in spans:
            chunk = Chunk(
                id=f"{source}/{name}-{len(chunks) + 1:03d}",
                text=section.text[start:end],
                url=one_line(document.url),
                title=one_line(document.title),
                section_path=section.path or _path_at(document, start),
                source=source,
                year=document.year,
                pmid=document.pmid,
                start=section.start + start,
                end=section.start + end,
                extra=origin,
            )
            if prefix is not None:
                context = prefix(document.text, chunk) if callable(prefix) else _title_and_path(chunk)
                chunk = chunk.with_(extra={**origin, "prefix": context})
            chunks.append(chunk)
    return chunks


def _title_and_path(chunk: Chunk) -> str:
    """Returns "Iron > Treatment > Dose" from title and section path; "Iron" once, if both begin with it."""
    path = chunk.section_path
    return " > ".join(path if path[:1] == (chunk.title,) or not chunk.title else (chunk.title, *path))


def _stretches(document: Document, shape: WindowSize | None) -> Sequence[Section]:
    """Returns the parts of a document that are cut separately: its sections, or for characters the whole."""
    if isinstance(shape, CharacterSize):
        return [Section((), document.text, 0, len(document.text))]
    return document.sections


def _path_at(document: Document, at: int) -> tuple[str, ...]:
    """Returns the path of the section that holds character `at`; a heading counts to its section.

    The path is () behind the last section.
    """
    return next((section.path for section in document.sections if at < section.end), ())


def original_span(chunk: Chunk, *, src: Path) -> str:
    """Returns the text that the chunk was cut from, read from `src` again.

    It is the part [start:end] of the document's normalised text.

    Raises:
        DataError: the chunk does not say where it is from, its document is missing, or the document was
            changed since.
    """
    name, item = chunk.extra.get("document"), chunk.extra.get("item", "")
    if not isinstance(name, str) or chunk.start is None or chunk.end is None:
        raise DataError(
            f"chunk {chunk.id!r} has no document, start and end; only chunks that `medfaith chunk` wrote can "
            "be traced"
        )
    for file in source_files(src):
        if file.name != name:
            continue
        for document in documents_of(file):
            if document.item == item:
                if _digest(document.text) != chunk.extra.get("digest"):
                    raise DataError(
                        f"{file.place}: has changed since chunk {chunk.id!r} was cut from it; run "
                        "`medfaith chunk` again"
                    )
                return document.text[chunk.start : chunk.end]
    with_item = f" with item {item!r}" if item else ""
    raise DataError(
        f"{src}: holds no document {name!r}{with_item}, from which chunk {chunk.id!r} was cut; give the "
        "source that holds it"
    )


def _digest(text: str) -> str:
    """Returns a hash of a document's text, 16 hexadecimal digits, by which a change shows."""
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def document_name(document: Document) -> str:
    """Returns the name of a document for its chunks' ids, without white space.

    It is the document's own id, such as "PMC123". Without an id it is its path below the source, without
    suffix: "heart/iron". In a file of many documents without ids, ".2" and so on follow.
    """
    stem = str(PurePosixPath(document.file).with_suffix(""))
    return unbroken(
        stem + document.item.replace("#", ".") if document.item[:1] in {"", "#"} else document.item
    )


def unbroken(name: str) -> str:
    """Returns `name` fit for an id: underscores for white space, no control characters. "a b" gives "a_b"."""
    signs = re.sub(r"\s", "_", name)
    return "".join(sign for sign in signs if unicodedata.category(sign) not in ("Cc", "Cf", "Cs"))
