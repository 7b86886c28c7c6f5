"""What a test measured, in a form that can travel from a worker to the process that sums up."""

from __future__ import annotations

import dataclasses
import json
import math
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from pytest_medfaith.conversion import Record
from pytest_medfaith.errors import DataError
from pytest_medfaith.records import Report, SliceRun


@dataclass(frozen=True, kw_only=True)
class Result:
    """What a test measured of its case.

    Attributes:
        run: the row of the card.
        report: on the case.
        gates: that the test brings.
        checker: signature of a checker that the test put in place of the configured one; None for none.
    """

    run: SliceRun
    report: Report
    gates: tuple[str, ...] = ()
    checker: Mapping[str, Any] | None = None

    @property
    def case_key(self) -> tuple[SliceRun, str]:
        """The row of the card, named by the checker that judged, and the id of the case."""
        return dataclasses.replace(self.run, checker=self.report.checker), self.report.case.id

    def to_row(self) -> dict[str, Any]:
        """Returns the result as plain lists, dicts, strings and numbers, which can leave a worker."""
        return {
            "run": self.run.to_dict(),
            "report": self.report.to_dict(),
            "gates": list(self.gates),
            "checker": self.checker,
        }

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Result:
        """Returns the result that `to_row` wrote."""
        return cls(
            run=SliceRun(**row["run"]),
            report=Report.from_dict(row["report"]),
            gates=tuple(row["gates"]),
            checker=row["checker"],
        )


def plain_report(report: Report) -> Report:
    """Returns `report` with plain values only, as its file would give them when read.

    A RAG, retriever, checker or extractor may put anything into a record: a number of numpy, a list for a
    tuple. A report that is plain already comes back as it is.

    Raises:
        DataError: a value has no plain form, such as an object, NaN, or half of a surrogate pair.
    """
    if _plain_test(Report)(report):
        return report
    try:
        text = json.dumps(report.to_dict(), default=_plain_number, allow_nan=False, ensure_ascii=False)
        text.encode()  # half of a surrogate pair ends here
        return Report.from_dict(json.loads(text))
    except (TypeError, ValueError, DataError) as error:
        raise DataError(
            f"case {report.case.id!r} cannot be summed up: {error}; give plain texts, finite numbers, lists "
            "and objects"
        ) from error


def _plain_number(value: Any) -> Any:
    if hasattr(value, "item"):  # a scalar of numpy or torch
        return value.item()
    raise TypeError(f"it holds a {type(value).__name__}")


@cache
def _plain_test(kind: Any) -> Callable[[Any], bool]:  # noqa: PLR0911 - one return a kind of annotation
    """Returns a function that says whether a value is exactly what its JSON, read as `kind`, would give."""
    if kind is Any:
        return _is_plain_json
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        (given,) = (_plain_test(argument) for argument in arguments if argument is not types.NoneType)
        return lambda value: value is None or given(value)
    if origin is typing.Literal:
        return lambda value: type(value) is str and value in arguments
    if origin is tuple and arguments[1:] == (...,):
        item = _plain_test(arguments[0])
        return lambda value: type(value) is tuple and all(map(item, value))
    if origin is tuple:
        items = [_plain_test(argument) for argument in arguments]
        return lambda value: (
            type(value) is tuple
            and len(value) == len(items)
            and all(item(part) for item, part in zip(items, value, strict=True))
        )
    if origin is not None:  # a mapping from names
        item = _plain_test(arguments[1])
        return lambda value: (
            type(value) is dict and all(map(_is_text, value)) and all(map(item, value.values()))
        )
    if issubclass(kind, Record):
        fields = [(name, _plain_test(of)) for name, of in typing.get_type_hints(kind).items()]
        return lambda value: type(value) is kind and all(test(getattr(value, name)) for name, test in fields)
    return lambda value: type(value) is kind and _is_plain_json(value)


def _is_plain_json(value: Any) -> bool:
    """Returns whether `value` could be the result of `json.loads`, with finite numbers."""
    kind = type(value)
    if kind is float:
        return math.isfinite(value)
    if kind is list:
        return all(map(_is_plain_json, value))
    if kind is dict:
        return all(map(_is_text, value)) and all(map(_is_plain_json, value.values()))
    return kind in (int, bool, types.NoneType) or _is_text(value)


def _is_text(value: Any) -> bool:
    """Returns whether `value` is a text that can be written as UTF-8."""
    return type(value) is str and (value.isascii() or not any("\ud800" <= sign <= "\udfff" for sign in value))
