"""Takes values of a known type out of rows of foreign files; an error names place, field and value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_medfaith.errors import DataError, shown


def require_row(value: Any, place: str) -> Mapping[str, Any]:
    """Returns `value`, which must be an object.

    Raises:
        DataError: it is something else.
    """
    if not isinstance(value, Mapping):
        raise DataError(
            f"{place}: got {shown(value)}, expected an object with one record; check that the file is of "
            "this data set"
        )
    return value


def require_text(row: Mapping[str, Any], name: str, place: str) -> str:
    """Returns the text in field `name`, which must be there.

    Raises:
        DataError: it is missing or no text.
    """
    if row.get(name) is None:
        raise DataError(
            f"{place}: field {name!r} is missing, the record is {shown(row)}; expected text; check that the "
            "file is of this data set"
        )
    return text_or_empty(row, name, place)


def text_or_empty(row: Mapping[str, Any], name: str, place: str) -> str:
    """Returns the text in field `name`; "" where it is missing or null.

    Raises:
        DataError: it is no text.
    """
    value = row.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise DataError(f"{place}: field {name!r} is {shown(value)}, expected text; mend the record")
    return value


def texts(row: Mapping[str, Any], name: str, place: str) -> list[str]:
    """Returns the texts in field `name`, a list or a single text; [] where it is missing or null.

    Raises:
        DataError: it is something else.
    """
    value = row.get(name)
    items = [] if value is None else [value] if isinstance(value, str) else value
    if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
        raise DataError(
            f"{place}: field {name!r} is {shown(value)}, expected a list of texts; mend the record"
        )
    return items


def rows(row: Mapping[str, Any], name: str, place: str) -> list[Mapping[str, Any]]:
    """Returns the objects in the list of field `name`; [] where it is missing or null.

    Raises:
        DataError: it is something else.
    """
    value = row.get(name)
    items = [] if value is None else value
    if not isinstance(items, list) or not all(isinstance(item, Mapping) for item in items):
        raise DataError(
            f"{place}: field {name!r} is {shown(value)}, expected a list of objects; mend the record"
        )
    return items
