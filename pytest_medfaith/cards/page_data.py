"""Data for the script of a page: JSON, spans as browsers count them, and each chunk once."""

from __future__ import annotations

import hashlib
import json
import weakref
from collections.abc import Iterator
from tempfile import SpooledTemporaryFile
from typing import TYPE_CHECKING

from pytest_medfaith.errors import DataError, MissingExtra
from pytest_medfaith.records import Chunk

if TYPE_CHECKING:
    from markupsafe import Markup

_IN_MEMORY = 16_000_000  # bytes of chunks


def markup_of(text: str) -> Markup:
    """Returns `text` marked as safe, so that jinja2 does not escape it: a plot or script JSON.

    Raises:
        MissingExtra: markupsafe is not installed.
    """
    try:
        from markupsafe import Markup
    except ImportError as error:
        raise MissingExtra("The HTML report", "report") from error
    return Markup(text)  # noqa: S704 - no foreign markup is left in either


def script_json(value: object) -> Markup:
    """Returns `value` as JSON inside a script element, without the signs that could end the element.

    Raises:
        DataError: a value that JSON does not have.
    """
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError) as error:
        raise DataError(
            f"a report cannot be written as JSON ({error}); "
            "keep finite numbers, texts, lists and objects in records"
        ) from error
    return markup_of(text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e"))


def chunk_row(chunk: Chunk) -> dict[str, str]:
    """Returns what a page shows of a chunk: id, title, facts such as its year, address, text."""
    pmid = f"PMID {chunk.pmid}" if chunk.pmid else ""
    facts = [" > ".join(chunk.section_path), chunk.source, chunk.authority or "", str(chunk.year or ""), pmid]
    return {
        "id": chunk.id,
        "title": chunk.title,
        "facts": " · ".join(filter(None, facts)),
        "url": chunk.url,
        "text": chunk.text,
    }


class KeptChunks:
    """Texts of chunks as JSON, each kept once under a number from 0; many of them are kept in a file."""

    def __init__(self) -> None:
        self._numbers: dict[bytes, int] = {}
        self._texts = SpooledTemporaryFile(_IN_MEMORY, "w+", encoding="utf-8", newline="\n")  # noqa: SIM115 - open as long as this is
        weakref.finalize(self, self._texts.close)

    def number(self, text: Markup) -> int:
        """Returns the number of a chunk's text, and keeps the text where it is new."""
        known = hashlib.sha256(text.encode()).digest()
        if known not in self._numbers:
            self._numbers[known] = len(self._numbers)
            self._texts.write(text + "\n")
        return self._numbers[known]

    def __iter__(self) -> Iterator[Markup]:
        """Yields the chunks in the order of their numbers."""
        self._texts.seek(0)
        for line in self._texts:
            yield markup_of(line.removesuffix("\n"))


def script_span(text: str, span: tuple[int, int] | None) -> list[int] | None:
    """Returns [start, end] in UTF-16 units, as browsers count; None for no span or a span outside `text`."""
    if span is None or not 0 <= span[0] < span[1] <= len(text):
        return None
    return [len(text[:end].encode("utf-16-le", errors="surrogatepass")) // 2 for end in span]
