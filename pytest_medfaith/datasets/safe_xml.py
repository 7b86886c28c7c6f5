"""Reads XML as a stream with the standard library; entity declarations are refused, so neither bombs nor other files get in."""

from __future__ import annotations

import html
from collections.abc import Iterator
from typing import IO
from xml.etree import ElementTree as ET
from xml.parsers import expat

from pytest_medfaith.datasets.files import naming
from pytest_medfaith.errors import DataError

_BLOCK = 1 << 16


def elements(stream: IO[bytes], place: str, tag: str) -> Iterator[tuple[str, ET.Element]]:
    """Yields ("place:line", element) for each element named `tag`, whole, in document order.

    Only the element in hand is held in memory: what stands outside of `tag` elements is passed over. Elements of the same name
    inside of it belong to it.

    Raises:
        DataError: XML that is not well-formed or ends early, or a document that declares an entity or refers to an external one.
    """
    reader = _Reader(place, tag)
    with naming(place):
        while True:
            block = stream.read(_BLOCK)
            reader.feed(block)
            yield from reader.taken()
            if not block:
                return


class _Reader:
    """Builds the elements named `tag` out of expat's events."""

    def __init__(self, place: str, tag: str) -> None:
        self._place = place
        self._tag = tag
        self._depth = 0
        self._line = 0
        self._builder = ET.TreeBuilder()
        self._done: list[tuple[str, ET.Element]] = []
        parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._data
        parser.SkippedEntityHandler = self._skipped
        parser.EntityDeclHandler = self._refuse_declaration
        parser.ExternalEntityRefHandler = self._refuse_external
        self._parser = parser

    def feed(self, block: bytes) -> None:
        try:
            self._parser.Parse(block, not block)
        except expat.ExpatError as error:
            words = expat.ErrorString(error.code)
            raise DataError(
                f"{self._place}:{error.lineno}:{error.offset + 1}: not well-formed XML ({words}), expected a complete document; "
                "mend the file or fetch it again"
            ) from None

    def taken(self) -> list[tuple[str, ET.Element]]:
        done, self._done = self._done, []
        return done

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        if not self._depth and tag == self._tag:
            self._builder = ET.TreeBuilder()
            self._line = self._parser.CurrentLineNumber
        if self._depth or tag == self._tag:
            self._depth += 1
            self._builder.start(tag, attributes)

    def _end(self, tag: str) -> None:
        if self._depth:
            self._depth -= 1
            self._builder.end(tag)
            if not self._depth:
                self._done.append((f"{self._place}:{self._line}", self._builder.close()))

    def _data(self, text: str) -> None:
        if self._depth:
            self._builder.data(text)

    def _skipped(self, name: str, is_parameter: bool) -> None:
        """Puts in the character of a named HTML entity that a DTD, which is never fetched, would have declared."""
        if not is_parameter:
            self._data(html.unescape(f"&{name};"))

    def _refuse_declaration(self, name: str, *_: object) -> None:
        raise DataError(
            f"{self._place}:{self._parser.CurrentLineNumber}: the XML declares the entity {name!r}, expected none: entities can read other "
            "files or fill the memory; remove the declaration"
        )

    def _refuse_external(self, _context: str, _base: str | None, system: str | None, _public: str | None) -> int:
        raise DataError(
            f"{self._place}:{self._parser.CurrentLineNumber}: the XML refers to the external entity {system!r}, expected none; "
            "remove the reference"
        )
