"""Cuts a corpus of chunks into chunks of another size, to compare sizes and overlaps.

Chunks that `medfaith chunk` wrote know their place in their document, so neighbours of a section are joined
before they are cut. A chunk of other origin is cut alone, and never grows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_medfaith.corpus.windows import WindowSize, windows
from pytest_medfaith.defaults import CUT_FROM
from pytest_medfaith.records import Chunk

_LONGEST_GAP = 2  # characters between chunks of a section: white space between two sentences
_Part = tuple[int, int, Chunk]  # the span of a chunk in a joined text, and the chunk


def recut_chunks(chunks: Sequence[Chunk], *, shape: WindowSize) -> list[Chunk]:
    """Returns the corpus in chunks of the size that `shape` says, in order.

    A chunk whose text does not change stays as it is. Any other gets a new id, such as "iron-001~200-50-1",
    and in `extra["cut_from"]` the id of the old chunk from which most of its text is.

    Args:
        chunks: the corpus, neighbours of a document one after another.
        shape: how large a chunk may be.
    """
    cut: list[Chunk] = []
    for text, parts in _sections(chunks):
        same = {(start, end): chunk for start, end, chunk in parts}
        for number, (start, end) in enumerate(windows(text, shape=shape), start=1):
            chunk = same.get((start, end))
            cut.append(chunk or _cut(text, (start, end), parts, shape=shape, number=number))
    return cut


def _sections(chunks: Sequence[Chunk]) -> Iterator[tuple[str, list[_Part]]]:
    """Yields (text, parts): the text of a section joined from its chunks, and where each chunk stands in it.

    Text that neighbouring chunks share is in it once.
    """
    text, parts = "", list[_Part]()
    for chunk in chunks:
        joined = _joined(text, parts, chunk) if parts else None
        if joined is None:
            if parts:
                yield text, parts
            text, parts = chunk.text, [(0, len(chunk.text), chunk)]
        else:
            text, begins = joined
            parts.append((begins, begins + len(chunk.text), chunk))
    if parts:
        yield text, parts


def _joined(text: str, parts: Sequence[_Part], chunk: Chunk) -> tuple[str, int] | None:
    """Returns (text with `chunk` appended, where the chunk begins in it); None if they are no neighbours."""
    begins, _, before = parts[-1]
    if _place(before) != _place(chunk) or before.start is None or chunk.start is None:
        return None
    at = begins + chunk.start - before.start
    gap = at - len(text)
    if at <= begins or gap > _LONGEST_GAP:
        return None
    if gap > 0:
        return text + "\n" * gap + chunk.text, at
    if not chunk.text.startswith(text[at:]):
        return None
    return text[:at] + chunk.text, at


def _place(chunk: Chunk) -> tuple[object, ...]:
    """Returns what chunks of the same section share: document, source, title and section path."""
    document = chunk.extra.get("document"), chunk.extra.get("item"), chunk.extra.get("digest")
    return (*document, chunk.source, chunk.title, chunk.section_path)


def _cut(
    text: str, span: tuple[int, int], parts: Sequence[_Part], *, shape: WindowSize, number: int
) -> Chunk:
    """Returns a new chunk with the text of `span`; the rest is from the old chunk with most of that text."""
    start, end = span
    begins, _, most = max(parts, key=lambda part: min(end, part[1]) - max(start, part[0]))
    first = parts[0][2]
    shift = None if most.start is None else most.start - begins
    return most.with_(
        id=f"{first.id}~{shape.size}-{shape.stride}-{number}",
        text=text[start:end],
        start=None if shift is None else start + shift,
        end=None if shift is None else end + shift,
        extra={**most.extra, CUT_FROM: most.id},
    )
