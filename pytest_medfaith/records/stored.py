"""Records kept in a file instead of in memory, for a run with more cases than memory holds.

The file has no name: it is gone when nothing refers to it any more, and when the process ends. Each record is
a line of JSON in it; memory holds only where each line begins.
"""

from __future__ import annotations

import json
import os
import tempfile
import weakref
from array import array
from collections.abc import Callable, Iterator, MutableMapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast, overload

from pytest_medfaith.errors import CannotWrite

if TYPE_CHECKING:
    from pytest_medfaith.records import Report

Key = TypeVar("Key")
Value = TypeVar("Value")


@dataclass(frozen=True)
class Form(Generic[Value]):
    """How a value is written to a file and read from it.

    Attributes:
        plain: value -> plain lists, dicts, strings and numbers.
        value: these -> an equal value.
    """

    plain: Callable[[Value], Any]
    value: Callable[[Any], Value]


class _Values(Generic[Value]):
    """Values in a nameless file of `folder`, each at its place: the offset of its line in bytes."""

    def __init__(self, folder: Path, form: Form[Value]) -> None:
        self._folder, self._form = folder, form
        with self._writing():
            folder.mkdir(parents=True, exist_ok=True)
            self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - open as long as this is
        weakref.finalize(self, self._file.close)

    def put(self, value: Value) -> int:
        """Writes a value as a line of JSON at the end of the file, and returns its place: an offset in bytes.

        Raises:
            CannotWrite: a full disk.
        """
        line = json.dumps(self._form.plain(value), separators=(",", ":")).encode() + b"\n"
        with self._writing():
            place = self._file.seek(0, os.SEEK_END)
            self._file.write(line)
        return place

    def get(self, place: int) -> Value:
        """Returns the value at a place that `put` returned.

        Raises:
            CannotWrite: a full disk, where the value was still to be written.
        """
        with self._writing():
            self._file.seek(place)
            line = self._file.readline()
        return self._form.value(json.loads(line))

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise CannotWrite(self._folder / "a file without a name", error) from error


class StoredDict(MutableMapping[Key, Value]):
    """A dict whose values are in a file, and its keys in memory, in the order in which they came.

    The file does not shrink when a value is replaced or deleted.
    """

    def __init__(self, folder: Path, form: Form[Value]) -> None:
        self._values, self._places = _Values(folder, form), dict[Key, int]()

    def __getitem__(self, key: Key) -> Value:
        return self._values.get(self._places[key])

    def __setitem__(self, key: Key, value: Value) -> None:
        self._places[key] = self._values.put(value)

    def __delitem__(self, key: Key) -> None:
        del self._places[key]

    def __contains__(self, key: object) -> bool:
        return key in self._places

    def __iter__(self) -> Iterator[Key]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


class StoredReports(Sequence["Report"]):
    """A sequence of reports in a file; each access reads the report anew, as another object."""

    def __init__(self, folder: Path) -> None:
        from pytest_medfaith.records import Report

        self._values = _Values(folder, Form(Report.to_dict, Report.from_dict))
        self._places, self._ids = array("q"), list[str]()
        self._told: dict[object, Any] = {}

    def append(self, report: Report) -> None:
        """Adds a report at the end.

        Raises:
            CannotWrite: a full disk.
        """
        self._places.append(self._values.put(report))
        self._ids.append(report.case.id)
        self._told.clear()

    def once(self, count: Callable[[Sequence[Report]], Value]) -> Value:
        """Returns `count(self)`, computed the first time only, until a report is added."""
        if count not in self._told:
            self._told[count] = count(self)
        return cast("Value", self._told[count])

    @overload
    def __getitem__(self, index: int) -> Report: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Report]: ...
    def __getitem__(self, index: int | slice) -> Report | Sequence[Report]:
        if isinstance(index, slice):
            return self._picked(range(len(self))[index])
        return self._values.get(self._places[index])

    def __len__(self) -> int:
        return len(self._places)

    @property
    def case_ids(self) -> Sequence[str]:
        """The ids of the cases in order; they are in memory, so no report is read."""
        return self._ids

    def in_case_order(self) -> StoredReports:
        """Returns these reports in the order of the ids of their cases."""
        order = sorted(range(len(self)), key=self._ids.__getitem__)
        return self if order == list(range(len(self))) else self._picked(order)

    def _picked(self, order: Sequence[int]) -> StoredReports:
        picked = object.__new__(StoredReports)
        picked._values, picked._places = self._values, array("q", [self._places[one] for one in order])
        picked._ids, picked._told = [self._ids[one] for one in order], {}
        return picked


@dataclass(frozen=True)
class Store:
    """Where a run keeps its records: in memory, or in files of `folder` where that is given."""

    folder: Path | None = None

    def by_key(self, form: Form[Value]) -> MutableMapping[Any, Value]:
        """Returns an empty mapping for values that are written as `form` says."""
        return {} if self.folder is None else StoredDict(self.folder, form)

    def reports(self) -> list[Report] | StoredReports:
        """Returns an empty list of reports, to which they are appended."""
        return [] if self.folder is None else StoredReports(self.folder)


def once(count: Callable[[Sequence[Report]], Value]) -> Callable[[Sequence[Report]], Value]:
    """Wraps a function of reports so that it is computed once for stored reports, which are slow to read."""

    @wraps(count)
    def counted(reports: Sequence[Report]) -> Value:
        return reports.once(count) if isinstance(reports, StoredReports) else count(reports)

    return counted


def in_case_order(reports: Sequence[Report]) -> Sequence[Report]:
    """Returns `reports` in the order of the ids of their cases; stored reports stay in their file."""
    if isinstance(reports, StoredReports):
        return reports.in_case_order()
    return sorted(reports, key=lambda report: report.case.id)


def case_ids(reports: Sequence[Report]) -> Sequence[str]:
    """Returns the ids of the cases of `reports`, in order."""
    return reports.case_ids if isinstance(reports, StoredReports) else [one.case.id for one in reports]
