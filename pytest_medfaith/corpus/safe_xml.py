"""Reads XML record by record with expat, and refuses dangerous files.

Dangerous are entity declarations, references to outside files, and absurdly deep nesting. docs/deviations.md
says why defusedxml is not used.
"""

from __future__ import annotations

import html.entities
from collections.abc import Iterator
from typing import IO
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from pytest_medfaith.errors import DataError

_BLOCK = 1 << 16
_DEEPEST = 200


def xml_records(stream: IO[bytes], *, place: str, tags: frozenset[str]) -> Iterator[tuple[str, Element]]:
    """Yields (root tag, element) for each element of `stream` whose tag is in `tags`, outermost ones only.

    Memory holds a single element at a time. Name-space prefixes are cut off: "jats:p" becomes "p". A named
    character such as `&alpha;` is read as HTML defines it.

    Args:
        stream: the bytes of the file.
        place: the file, for messages.
        tags: names of the elements to yield.

    Raises:
        DataError: an entity declaration or an outside entity, XML that is cut short or malformed, nesting
            deeper than 200, or no element of `tags`. The message tells file, line and column.
    """
    reader = _Reader(place, tags)
    while block := stream.read(_BLOCK):
        reader.parse(block, last=False)
        yield from reader.take()
    reader.parse(b"", last=True)
    reader.close()
    yield from reader.take()
    if not reader.found:
        wanted = ", ".join(f"<{tag}>" for tag in sorted(tags))
        raise DataError(f"{place}: the root element is <{reader.root}>, which holds none of {wanted}")


class _Reader:
    """Collects elements from an expat parser, and refuses dangerous files.

    Args:
        place: the file, for messages.
        tags: names of the elements to collect.

    Attributes:
        root: tag of the file's root element; "" before it was read.
        found: how many elements `take` has yielded.
    """

    def __init__(self, place: str, tags: frozenset[str]) -> None:
        self.root = ""
        self.found = 0
        self._place = place
        self._tags = tags
        self._depth = 0
        self._record_depth = 0
        self._builder: TreeBuilder | None = None
        self._done: list[Element] = []
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._data
        self._parser.EntityDeclHandler = self._refuse_declaration
        self._parser.ExternalEntityRefHandler = self._refuse_outside
        self._parser.SkippedEntityHandler = self._named_character

    def parse(self, block: bytes, *, last: bool) -> None:
        """Reads a further block of bytes; `last` says that none follows. Raises DataError for bad XML."""
        try:
            self._parser.Parse(block, last)
        except expat.ExpatError as error:
            advice = "Repair it there, or leave the file out"
            if last:
                advice = "The file ends early, so fetch it again"
            place = f"{self._place}:{error.lineno}:{error.offset + 1}"
            problem = expat.ErrorString(error.code)
            raise DataError(f"{place}: not well-formed XML ({problem}). {advice}") from None
        except (LookupError, ValueError) as error:  # ValueError: a multi-byte encoding such as GB2312
            raise DataError(f"{self._here()}: {error}; expected a known encoding, such as UTF-8") from None

    def close(self) -> None:
        """Drops the parser: it and this reader refer to each other, which would keep both in memory."""
        del self._parser

    def take(self) -> Iterator[tuple[str, Element]]:
        """Yields (root tag, element) for the elements that are complete and were not yielded yet."""
        done, self._done = self._done, []
        self.found += len(done)
        for element in done:
            yield self.root, element

    def _here(self) -> str:
        """Returns "file:line:column" of what is read now."""
        return f"{self._place}:{self._parser.CurrentLineNumber}:{self._parser.CurrentColumnNumber + 1}"

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        """Handles the start of an element: begins a record, or adds to the record being read."""
        tag = tag.rpartition(":")[2]
        self.root = self.root or tag
        self._depth += 1
        if self._depth > _DEEPEST:
            raise DataError(
                f"{self._here()}: elements are nested deeper than {_DEEPEST}; no medical page is, so this "
                "file is refused"
            )
        if self._builder is None and tag in self._tags:
            self._builder, self._record_depth = TreeBuilder(), self._depth
        if self._builder is not None:
            self._builder.start(tag, {name.rpartition(":")[2]: value for name, value in attributes.items()})

    def _end(self, tag: str) -> None:
        """Handles the end of an element; a record that ends is kept for `take`."""
        if self._builder is not None:
            self._builder.end(tag.rpartition(":")[2])
            if self._depth == self._record_depth:
                self._done.append(self._builder.close())
                self._builder = None
        self._depth -= 1

    def _data(self, text: str) -> None:
        """Adds text to the record being read."""
        if self._builder is not None:
            self._builder.data(text)

    def _refuse_declaration(self, name: str, *_: object) -> None:
        """Refuses the declaration of an entity (DataError)."""
        raise DataError(
            f"{self._here()}: the file declares the entity {name!r}; entities are refused, because they can "
            "read files or fill the memory"
        )

    def _refuse_outside(
        self, _context: str, _base: str | None, system: str | None, _public: str | None
    ) -> int:
        """Refuses a reference to an outside file (DataError)."""
        raise DataError(
            f"{self._here()}: the file refers to the outside entity {system!r}; nothing outside the file is "
            "read"
        )

    def _named_character(self, name: str, _is_parameter: bool) -> None:
        """Adds a character that is written by its name, such as `&alpha;`; DataError for an unknown name."""
        character = html.entities.html5.get(f"{name};")
        if character is None:
            raise DataError(f"{self._here()}: the entity &{name}; is not known; write the character itself")
        self._data(character)
