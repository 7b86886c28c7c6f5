"""Cuts a corpus of chunks anew, into chunks of another size, for an ablation over chunk size and stride.

Chunks that `medfaith chunk` wrote say where in their document they stand, so neighbours of a section are
joined before they are cut. A chunk of another origin is cut by itself, and never grows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_medfaith.corpus.windows import WindowSize, windows
from pytest_medfaith.defaults import CUT_FROM
from pytest_medfaith.records import Chunk

_LONGEST_GAP = 2  # characters between chunks of a section: white space between two sentences
_Part = tuple[int, int, Chunk]  # the span of a chunk in a joined text, and the chunk


def recut_chunks(chunks: Sequence[Chunk], *, shape: WindowSize) -> list[Chunk]:
    """Returns the corpus in chunks of `shape`, in order.

    A new chunk whose text is that of an old chunk is that chunk. Any other has a new id, and in
    `extra["cut_from"]` the id of the old chunk with which it shares the most text.

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
    """Yields joined texts of neighbouring chunks of a section, without overlap, and the parts of each."""
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
    """Returns `text` with `chunk` behind it, and where the chunk begins; None for no neighbours."""
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
    document = chunk.extra.get("document"), chunk.extra.get("item"), chunk.extra.get("digest")
    return (*document, chunk.source, chunk.title, chunk.section_path)


def _cut(
    text: str, span: tuple[int, int], parts: Sequence[_Part], *, shape: WindowSize, number: int
) -> Chunk:
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
