"""The base class of records, which turn into plain dicts and back; each value is checked against its type."""

from __future__ import annotations

import dataclasses
import math
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Literal

from pytest_medfaith.errors import DataError, shown

if TYPE_CHECKING:  # no dependency of the package, and slow to import
    from typing_extensions import Self

_Read = Callable[[Any, str], Any]  # (value, name of the field) -> value, or DataError


@dataclass(frozen=True, kw_only=True)
class Record:
    """A frozen record that can be written as a plain dict and read from it.

    Keys of a dict that the record does not know are kept in `extra`, and written back.
    """

    extra: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def from_dict(cls, row: Mapping[str, Any]) -> Self:
        """Returns the record of `row`. A field with a default has it where it is missing or null.

        A null stays None in a field that may be None. Unknown keys go into `extra`.

        Raises:
            DataError: a field is missing or of another type; the message names the field and the value.
        """
        kind = cls.__name__.lower()
        if not isinstance(row, Mapping):
            raise DataError(f"expected an object for a {kind}, got {shown(row)}")
        fields = _fields(cls)  # type: ignore[arg-type]  # a class is hashable, which mypy does not see
        values: dict[str, Any] = {}
        for name, f in fields.items():
            value = row.get(name)
            if value is not None:
                values[name] = f.read(value, name)
            elif f.may_be_none and name in row:
                values[name] = None
        for name, f in fields.items():
            if f.is_required and name not in values:
                raise DataError(f"field {name!r} is missing from this {kind}, {shown(row)}")
        return cls(**values, extra={key: value for key, value in row.items() if key not in fields})

    def to_dict(self) -> dict[str, Any]:
        """Returns plain lists, dicts, strings and numbers, with the keys in `extra`.

        An optional field that has its default is left out.
        """
        row: dict[str, Any] = {}
        for name, f in _fields(type(self)).items():  # type: ignore[arg-type]
            value = getattr(self, name)
            if f.is_required or value != f.default:
                row[name] = _plain(value)
        return {**row, **self.extra}

    def with_(self, **changes: Any) -> Self:
        """Returns a copy of the record in which the fields named in `changes` have new values."""
        return dataclasses.replace(self, **changes)


@dataclass(frozen=True)
class _Field:
    """A field of a record: how its value is read, and when it may be missing.

    Attributes:
        read: (value, name of the field) -> value, or a DataError.
        may_be_none: whether null is a value of its type.
        is_required: whether it has no default.
        default: its default; None where it is required.
    """

    read: _Read
    may_be_none: bool
    is_required: bool
    default: Any


@lru_cache
def _fields(cls: type[Record]) -> dict[str, _Field]:
    """Returns {name: field} of a class of records, without `extra`."""
    hints = typing.get_type_hints(cls)
    fields = {}
    for f in dataclasses.fields(cls):
        if f.name != "extra":
            made = f.default_factory() if f.default_factory is not dataclasses.MISSING else f.default
            is_required = made is dataclasses.MISSING
            fields[f.name] = _Field(
                read=_reader(hints[f.name]),
                may_be_none=type(None) in typing.get_args(hints[f.name]),
                is_required=is_required,
                default=None if is_required else made,
            )
    return fields


def _wrong(name: str, value: object, expected: str) -> DataError:
    return DataError(f"field {name!r} is {shown(value)}, expected {expected}")


@lru_cache
def _reader(kind: Any) -> _Read:  # noqa: PLR0911 - one return a form of annotation
    """Returns the function that reads a value as the annotated type `kind` and refuses any other."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        return _reader(next(argument for argument in arguments if argument is not type(None)))
    if origin is Literal:
        return partial(_read_choice, arguments)
    if origin is tuple and arguments[1:] == (...,):
        return partial(_read_list, _reader(arguments[0]))
    if origin is tuple:
        return partial(_read_tuple, [_reader(argument) for argument in arguments])
    if origin is Mapping:
        return partial(_read_mapping, _reader(arguments[1]))
    if isinstance(kind, type) and issubclass(kind, Record):
        return partial(_read_record, kind)
    return _SCALARS[kind]


def _read_record(kind: type[Record], value: Any, name: str) -> Record:
    if isinstance(value, kind):
        return value
    try:
        return kind.from_dict(value)
    except DataError as error:
        raise DataError(f"{name}: {error}") from None


def _read_choice(choices: tuple[Any, ...], value: Any, name: str) -> Any:
    if value not in choices:
        raise _wrong(name, value, "one of " + ", ".join(map(str, choices)))
    return value


def _read_list(read: _Read, value: Any, name: str) -> tuple[Any, ...]:
    if not isinstance(value, (list, tuple)):
        raise _wrong(name, value, "a list")
    return tuple([read(item, f"{name}[{i}]") for i, item in enumerate(value)])


def _read_tuple(reads: Sequence[_Read], value: Any, name: str) -> tuple[Any, ...]:
    if not isinstance(value, (list, tuple)):
        raise _wrong(name, value, "a list")
    if len(value) != len(reads):
        raise _wrong(name, value, f"{len(reads)} values")
    return tuple(
        [read(item, f"{name}[{i}]") for i, (read, item) in enumerate(zip(reads, value, strict=True))]
    )


def _read_mapping(read: _Read, value: Any, name: str) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise _wrong(name, value, "an object")
    return {str(key): read(item, f"{name}.{key}") for key, item in value.items()}


def _read_scalar(kind: type, words: str, value: Any, name: str) -> Any:
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise _wrong(name, value, words)
    return value


def finite(value: Any, name: str) -> float:
    """Returns `value` as a float; it must be a number that is neither NaN nor infinite.

    Raises:
        DataError: it is not; the message calls the field `name`.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise _wrong(name, value, "a finite number")
    return float(value)


def _read_float(value: Any, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise _wrong(name, value, "a number")
    return finite(value, name)


_SCALARS: Mapping[Any, _Read] = {
    str: partial(_read_scalar, str, "text"),
    int: partial(_read_scalar, int, "a whole number"),
    bool: partial(_read_scalar, bool, "true or false"),
    float: _read_float,
    Any: lambda value, _: value,
}


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, (str, int, float)):
        return value
    if isinstance(value, Record):
        return value.to_dict()
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return value
