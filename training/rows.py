"""Rows of data files that know their place, so that errors name file, line and field."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NoReturn

from pytest_medfaith.errors import DataError, shown
from pytest_medfaith.jsonl import read_rows
from pytest_medfaith.records import LABELS

_LABEL_WORDS = {
    "entailment": "entail",
    "neutral": "neutral",
    "contradiction": "contradict",
    "supports": "entail",
    "support": "entail",
    "refutes": "contradict",
    "refute": "contradict",
    "contradict": "contradict",
    "notenoughinfo": "neutral",
    "supported": "entail",
    "partially_supported": "neutral",
    "not_supported": "neutral",
    "irrelevant": "neutral",
    "completely_support": "entail",
}


class Row(dict[str, Any]):
    """A row of a data file: a dict of its fields; a missing field raises DataError with the place.

    Attributes:
        place: "file:line".
    """

    def __init__(self, fields: Mapping[str, Any], place: str) -> None:
        super().__init__(fields)
        self.place = place

    def __missing__(self, key: str) -> NoReturn:
        raise DataError(
            f"{self.place}: field {key!r} is missing; "
            f"the object there holds {', '.join(map(repr, self)) or 'nothing'}"
        )

    def text(self, key: str) -> str:
        """Returns the text in the field `key`.

        Raises:
            DataError: there is no such field, or it holds no text.
        """
        value = self[key]
        if not isinstance(value, str) or not value.strip():
            raise DataError(f"{self.place}: field {key!r} is {shown(value)}, expected text")
        return value

    def label(self, key: str) -> str:
        """Returns the label that the word in the field `key` means: "entail" for "SUPPORTS".

        Raises:
            DataError: there is no such field, or its word is unknown.
        """
        word = label_word(self.text(key))
        if word is None:
            words = ", ".join([*LABELS, *_LABEL_WORDS])
            raise DataError(f"{self.place}: field {key!r} is {shown(self[key])}, expected one of {words}")
        return word


def label_word(text: str) -> str | None:
    """Returns the label that a data set's word means, such as "entail" for "Supported"; None if unknown."""
    word = text.strip().lower()
    return word if word in LABELS else _LABEL_WORDS.get(word)


def json_lines(path: Path) -> Iterator[Row]:
    """Yields each line of a JSON Lines file as a `Row`; objects within it are rows too.

    Raises:
        DataError: no such file, or a line that is not a JSON object.
    """
    for number, row in read_rows(path):
        yield _placed(row, f"{path}:{number}")


def _placed(value: Any, place: str) -> Any:
    """Returns a JSON value in which every object is a `Row` with this place."""
    if isinstance(value, dict):
        return Row({key: _placed(each, place) for key, each in value.items()}, place)
    return [_placed(each, place) for each in value] if isinstance(value, list) else value


def table_rows(path: Path, delimiter: str) -> Iterator[Row]:
    """Yields each line of a delimited table as a `Row`, by the names in its first line."""
    quoting = csv.QUOTE_NONE if delimiter == "\t" else csv.QUOTE_MINIMAL
    with path.open(encoding="utf-8-sig", newline="") as lines:
        rows = csv.DictReader(lines, delimiter=delimiter, quoting=quoting)  # type: ignore[call-overload]
        for row in rows:
            yield Row(row, f"{path}:{rows.line_num}")
