"""Reads large JSON files value by value, so that a file of any size needs the memory of its largest record only."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import IO, Any

from pytest_medfaith.errors import DataError, shown

_SPACE = re.compile(r"[ \t\r\n]*")
_BLOCK = 1 << 16
_LONGEST_PIECE = (
    12  # characters: more than any literal, escape or end of a number that a block's end can cut in two
)


def array_items(stream: IO[str], place: str, key: str) -> Iterator[tuple[str, Any]]:
    """Yields ("place:line", item) for the items of the list `key` of the object that `stream` holds.

    Raises:
        DataError: text that is not JSON, a file that ends early, no such list; the message names file and line.
    """
    scan = _Scanner(stream, place)
    keys = []
    for name in _keys(scan):
        keys.append(name)
        if name == key:
            yield from _items(scan)
        else:
            scan.value()
    scan.finish()
    if key not in keys:
        raise DataError(
            f"{place}: no field {key!r} in the object, only {', '.join(map(shown, keys[:8])) or 'nothing'}; expected a list {key!r}"
        )


def object_items(stream: IO[str], place: str) -> Iterator[tuple[str, str, Any]]:
    """Yields ("place:line", key, value) for the entries of the object that `stream` holds; see `array_items` for errors."""
    scan = _Scanner(stream, place)
    for name in _keys(scan):
        scan.peek()
        yield scan.place(), name, scan.value()
    scan.finish()


def values(stream: IO[str], place: str) -> Iterator[tuple[str, Any]]:
    """Yields ("place:line", value) for values that follow each other: one object, JSON Lines, or the items of one list."""
    scan = _Scanner(stream, place)
    if scan.peek() == "[":
        yield from _items(scan)
        scan.finish()
        return
    while scan.peek():
        yield scan.place(), scan.value()


def _keys(scan: _Scanner) -> Iterator[str]:
    """Yields the keys of an object; the caller takes the value of each before it asks for the next."""
    scan.take("{")
    if scan.peek() == "}":
        scan.take("}")
        return
    while True:
        if scan.peek() != '"':
            raise scan.wrong("a field name in double quotes")
        name = scan.value()
        scan.take(":")
        yield name
        if scan.take(",}") == "}":
            return


def _items(scan: _Scanner) -> Iterator[tuple[str, Any]]:
    scan.take("[")
    if scan.peek() == "]":
        scan.take("]")
        return
    while True:
        scan.peek()
        yield scan.place(), scan.value()
        if scan.take(",]") == "]":
            return


class _Scanner:
    """A position in a JSON text of which only the part around the position is held."""

    def __init__(self, stream: IO[str], place: str) -> None:
        self._stream = stream
        self._place = place
        self._text = ""
        self._at = 0
        self._line = 1  # of the first character of _text
        self._decoder = json.JSONDecoder(parse_constant=_refuse_constant)

    def place(self) -> str:
        return f"{self._place}:{self._line + self._text.count(chr(10), 0, self._at)}"

    def wrong(self, expected: str) -> DataError:
        found = self._text[self._at : self._at + 1]
        shown = f"got {found!r}" if found else "the file ends here"
        return DataError(
            f"{self.place()}: not JSON as expected: {shown}, expected {expected}; mend the file or fetch it again"
        )

    def peek(self) -> str:
        """Moves to the next character that is not white space and returns it, "" at the end of the file."""
        while True:
            self._at = _SPACE.match(self._text, self._at).end()  # type: ignore[union-attr]  # matches anything, even nothing
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more():
                return ""

    def take(self, wanted: str) -> str:
        """Moves over the next character, which must be one of `wanted`, and returns it."""
        found = self.peek()
        if not found or found not in wanted:
            raise self.wrong(" or ".join(map(repr, wanted)))
        self._at += 1
        return found

    def value(self) -> Any:
        """Moves over the next JSON value and returns it."""
        self.peek()
        while True:
            try:
                found, end = self._decoder.raw_decode(self._text, self._at)
            except json.JSONDecodeError as error:
                unended = error.msg.startswith("Unterminated string")
                short, ahead = unended or error.pos >= len(self._text), error.pos - self._at
                if (unended or error.pos >= len(self._text) - _LONGEST_PIECE) and self._more():
                    continue
                self._at += ahead
                raise DataError(
                    f"{self.place()}: not JSON: {'the file ends early' if short else error.msg}; mend the file or fetch it again"
                ) from None
            except _NotANumberError as error:
                raise DataError(f"{self.place()}: {error} is no JSON number; mend the file") from None
            except RecursionError:
                raise DataError(
                    f"{self.place()}: lists or objects nested too deeply; expected a data set's records"
                ) from None
            length = end - self._at
            if (
                len(self._text) - end < _LONGEST_PIECE and self._more()
            ):  # a number may go on in the next block
                continue
            self._at += length
            return found

    def finish(self) -> None:
        """Checks that nothing but white space is left."""
        if self.peek():
            raise self.wrong("the end of the file")

    def _more(self) -> bool:
        # As much again as is held, so that a record of n characters is parsed at most twice as often as it is long.
        block = self._stream.read(max(_BLOCK, len(self._text) - self._at))
        self._line += self._text.count("\n", 0, self._at)
        self._text, self._at = self._text[self._at :] + block, 0
        return bool(block)


class _NotANumberError(ValueError):
    """NaN or Infinity, which JSON does not know."""


def _refuse_constant(name: str) -> None:
    raise _NotANumberError(name)
