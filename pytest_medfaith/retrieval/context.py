"""What retrieval reads of a chunk before its text: title, section path, and a line about the chunk.

Example: "Iron > Dose. Once a day." is found for "dose of iron", and "Once a day." alone is not. The chunk
itself does not change: checkers and cards see only its text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import get_args

from pytest_medfaith.defaults import ChunkContext
from pytest_medfaith.dotted import load_dotted
from pytest_medfaith.errors import DataError, shown
from pytest_medfaith.jsonl import read_rows
from pytest_medfaith.records import Chunk, Hit
from pytest_medfaith.retrieval.cost import index_bytes, sized, vector_indexes
from pytest_medfaith.retrieval.ranking import Retriever

CONTEXTS: tuple[ChunkContext, ...] = get_args(ChunkContext)
Lines = str | Mapping[str, str] | None


def contextual_chunks(
    chunks: Sequence[Chunk], context: ChunkContext, *, lines: Lines = None
) -> Sequence[Chunk]:
    """Returns the chunks as retrieval reads them, in order, with the context in `extra["prefix"]`.

    Texts and ids do not change.

    Args:
        chunks: the corpus.
        context: "path" reads title and section path, "title" the title, "none" neither. "path" and "title"
            also read a line that chunking kept in `extra["prefix"]`.
        lines: a line about each chunk, read after these and before the text; see `chunk_lines`.

    Raises:
        DataError: an unknown context, or as `chunk_lines`.
    """
    if context not in CONTEXTS:
        raise DataError(f"chunk_context is {context!r}; expected one of {', '.join(CONTEXTS)}")
    given = chunk_lines(lines, chunks)
    if context == "title" and not given:
        return chunks
    return [_read_as(chunk, context, given.get(chunk.id, "")) for chunk in chunks]


def _read_as(chunk: Chunk, context: ChunkContext, line: str) -> Chunk:
    """Returns `chunk` with the title and the `extra["prefix"]` that `context` asks for, and `line` in it."""
    kept = chunk.extra.get("prefix")
    parts = [kept] if isinstance(kept, str) and context != "none" else []
    if context == "path":
        path = _title_and_path(chunk)
        parts = [path, *(part for part in parts if not path.startswith(part))]
    head = ". ".join(filter(None, [*parts, line]))
    title = chunk.title if context == "title" else ""
    return chunk.with_(title=title, extra={**chunk.extra, "prefix": head})


def _title_and_path(chunk: Chunk) -> str:
    """Returns "Iron > Dose" from title and section path; "Iron" once, even if the path begins with it."""
    path = chunk.section_path
    return " > ".join(path if path[:1] == (chunk.title,) or not chunk.title else (chunk.title, *path))


def given_back(retriever: Retriever, chunks: Sequence[Chunk]) -> Retriever:
    """Returns a retriever with the same hits, holding the corpus's chunks in place of those with context."""
    known = {chunk.id: chunk for chunk in chunks}

    def search(query: str, *, top_k: int) -> list[Hit]:
        return [hit.with_(chunk=known[hit.chunk.id]) for hit in retriever(query, top_k=top_k)]

    return sized(search, partial(index_bytes, retriever), vector_indexes(retriever))


def chunk_lines(given: Lines, chunks: Sequence[Chunk]) -> Mapping[str, str]:
    """Returns {chunk id: a line about the chunk}, which a language model wrote, for chunks that have one.

    Example: {"iron-3": "How adults with anaemia take iron."}.

    Args:
        given: a file of JSON Lines {"id", "line"}, the dotted name of a function `chunk -> line`, or the
            lines by id. None gives {}.
        chunks: the corpus.

    Raises:
        DataError: a file that cannot be read, a line that is not text, or a line for a chunk that is not in
            the corpus.
    """
    if given is None:
        return {}
    if isinstance(given, Mapping):
        return given
    if given.endswith(".jsonl"):
        return _lines_of_file(Path(given), {chunk.id for chunk in chunks})
    write = load_dotted(given, what="chunk_lines, a .jsonl file or a callable,")
    found = {chunk.id: write(chunk) for chunk in chunks}
    for name, line in found.items():
        if not isinstance(line, str):
            raise DataError(f"{given} gave {shown(line)} for the chunk {name!r}; expected a text")
    return found


def _lines_of_file(path: Path, known: set[str]) -> dict[str, str]:
    """Returns {chunk id: line} from a file of JSON Lines.

    Raises:
        DataError: a row of another form, an id that is not in `known`, or two lines for an id.
    """
    found: dict[str, str] = {}
    for number, row in read_rows(path):
        name, line = row.get("id"), row.get("line")
        if not isinstance(name, str) or not isinstance(line, str):
            raise DataError(f'{path}:{number}: got {shown(row)}, expected {{"id": chunk id, "line": text}}')
        if name not in known:
            raise DataError(
                f"{path}:{number}: the corpus holds no chunk {name!r}; expected the id of a chunk"
            )
        if found.setdefault(name, line) != line:
            raise DataError(f"{path}:{number}: the chunk {name!r} has two lines; keep a single line")
    return found
