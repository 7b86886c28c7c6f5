"""Reads large JSON files value by value: a file of any size needs the memory of its largest record only."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import IO, Any

from pytest_medfaith.errors import DataError, shown
from pytest_medfaith.jsonl import refuse_constant

_SPACE = re.compile(r"[ \t\r\n]*")
_BLOCK = 1 << 16
_LONGEST_PIECE = 12  # characters; no literal, escape or end of a number that a block may cut in two is longer


def array_items(stream: IO[str], place: str, key: str) -> Iterator[tuple[str, Any]]:
    """Yields ("place:line", item) for the items of the list `key` of the object that `stream` holds.

    Raises:
        DataError: text that is not JSON, a file that ends early, no such list; the message names file and
            line.
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
        named = ", ".join(map(shown, keys[:8])) or "nothing"
        raise DataError(f"{place}: no field {key!r} in the object, only {named}; expected a list {key!r}")


def object_items(stream: IO[str], place: str) -> Iterator[tuple[str, str, Any]]:
    """Yields ("place:line", key, value) for the entries of the object that `stream` holds, in their order.

    Args:
        stream: a text with an object and nothing else.
        place: the name of the file, for messages and the first part of each place.

    Raises:
        DataError: text that is not JSON, or a file that ends early; the message names file and line.
    """
    scan = _Scanner(stream, place)
    for name in _keys(scan):
        scan.peek()
        yield scan.place(), name, scan.value()
    scan.finish()


def values(stream: IO[str], place: str) -> Iterator[tuple[str, Any]]:
    """Yields ("place:line", value) for the values of JSON Lines, a single object, or the items of a list.

    A blank stream, and an empty list, yield nothing. `place` is the name of the file.

    Raises:
        DataError: text that is not JSON, or a file that ends early; the message names file and line.
    """
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
    """Yields ("place:line", item) for the items of a list."""
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
    """A position in a JSON text that is read from a stream; only the part around it is in memory."""

    def __init__(self, stream: IO[str], place: str) -> None:
        self._stream = stream
        self._place = place
        self._text = ""
        self._at = 0
        self._line = 1  # of the first character of _text
        self._decoder = json.JSONDecoder(parse_constant=refuse_constant)

    def place(self) -> str:
        return f"{self._place}:{self._line + self._text.count(chr(10), 0, self._at)}"

    def wrong(self, expected: str) -> DataError:
        """Returns the error that says what is here in the place of what was expected."""
        found = self._text[self._at : self._at + 1]
        got = f"got {found!r}" if found else "the file ends here"
        return DataError(
            f"{self.place()}: not JSON as expected: {got}, expected {expected}; mend the file or fetch it "
            "again"
        )

    def peek(self) -> str:
        """Moves to the next character that is not white space and returns it, "" at the end of the file."""
        while True:
            # The expression matches even an empty text.
            self._at = _SPACE.match(self._text, self._at).end()  # type: ignore[union-attr]
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
                why = "the file ends early" if short else error.msg
                raise DataError(f"{self.place()}: not JSON: {why}; mend the file or fetch it again") from None
            except ValueError as error:  # NaN, Infinity, a whole number of thousands of digits
                raise DataError(f"{self.place()}: {error}; mend the file") from None
            except RecursionError:
                raise DataError(
                    f"{self.place()}: lists or objects nested too deeply; expected a data set's records"
                ) from None
            length = end - self._at
            may_go_on = len(self._text) - end < _LONGEST_PIECE  # a number, in the next block
            if may_go_on and self._more():
                continue
            self._at += length
            return found

    def finish(self) -> None:
        """Raises DataError where more than white space is left."""
        if self.peek():
            raise self.wrong("the end of the file")

    def _more(self) -> bool:
        # Doubles what is held: a record of n characters, tried anew after each block, costs about 2 n steps
        # in all.
        block = self._stream.read(max(_BLOCK, len(self._text) - self._at))
        self._line += self._text.count("\n", 0, self._at)
        self._text, self._at = self._text[self._at :] + block, 0
        return bool(block)
