"""Reads a TOML table as a record of settings: every key is known, every value of its type and in its range.

Example: `samples = 0` under `[tool.medfaith.llm]` is refused with the words
"pyproject.toml: [tool.medfaith.llm] samples is 0, expected a number from 1 to 25".
"""

from __future__ import annotations

import dataclasses
import json
import math
import re
import sys
import types
import typing
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal

from pytest_medfaith.errors import DataError, nearest
from pytest_medfaith.teacher.settings import RANGES as LLM_RANGES

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

# Inclusive ends of numbers; a threshold of 0 would let every pair pass.
_RANGES = {
    "k": (1, math.inf),
    "limit": (1, math.inf),
    "k1": (0.0, math.inf),
    "b": (0.0, 1.0),
    "rrf_k": (1, math.inf),
    "pool": (1, math.inf),
    "rerank_pool": (1, math.inf),
    "store_timeout": (0.1, 3600.0),
    "store_retries": (0, 20),
    "ef_search": (1, math.inf),
    "nprobe": (1, math.inf),
    "claim_min_words": (0, 50),
    "max_claims": (1, math.inf),
    "threads": (1, 1024),
    "batch_size": (1, 4096),
    "entail_threshold": (0.01, 0.99),
    "contradict_threshold": (0.01, 0.99),
    "contradict_odds": (0.1, 10.0),
    "threshold": (0.0, 1.0),
    "sentences": (1, 50),
    "consistency": (0, 20),
    **LLM_RANGES,
}
_KINDS = {
    str: "text",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    Path: "a path, written as text",
}
_BARE = re.compile(r"[A-Za-z0-9_-]+")  # a key that TOML writes without quotes

nearest_setting = partial(nearest, after=";")


@dataclass(frozen=True)
class Place:
    """Where a setting is written, so that a message names the table that has to be edited.

    Attributes:
        source: the path of the file, or "command line".
        keys: from the top of the file down to the setting, such as ("tool", "medfaith", "llm", "samples").
        homes: {a known key: the words for the table that it belongs to}, for a key in the wrong table.
    """

    source: str
    keys: tuple[str, ...] = ()
    homes: Mapping[str, str] = field(default_factory=dict)

    def within(self, *keys: str) -> Place:
        """Returns the place of a key of this table, or of a key further down."""
        return dataclasses.replace(self, keys=(*self.keys, *keys))

    def item(self, number: int) -> Place:
        """Returns the place of an item of a list, "corpus[0]" for the first of "corpus"."""
        return dataclasses.replace(self, keys=(*self.keys[:-1], f"{self.keys[-1]}[{number}]"))

    @property
    def head(self) -> str:
        """The head of the table as TOML writes it, "[tool.medfaith.llm]"; "" at the top of the file."""
        names = (key if _BARE.fullmatch(key) else json.dumps(key, ensure_ascii=False) for key in self.keys)
        return f"[{'.'.join(names)}]" if self.keys else ""

    def table(self) -> str:
        """Returns the file and the table: "pyproject.toml: [tool.medfaith.llm]"."""
        return f"{self.source}: {self.head}" if self.keys else self.source

    def __str__(self) -> str:
        """Returns file, table and key: "pyproject.toml: [tool.medfaith.llm] samples"."""
        if not self.keys:
            return self.source
        return " ".join(filter(None, (f"{self.source}:", Place("", self.keys[:-1]).head, self.keys[-1])))


def read_table(root: Path) -> tuple[Path, tuple[str, ...], Mapping[str, Any]]:
    """Returns the settings file of the project at `root`, the keys of its table there, and the table.

    The table is all of medfaith.toml, with the keys (), or `[tool.medfaith]` of pyproject.toml, with the keys
    ("tool", "medfaith"). A file with nothing for this package is passed over. Where neither file has
    anything, the table is empty, and the file is pyproject.toml, whether it exists or not.

    Raises:
        DataError: a file that is no TOML, or a value in the place of the table.
    """
    found = (root / "medfaith.toml", ()), (root / "pyproject.toml", ("tool", "medfaith"))
    for path, keys in found:
        if not path.is_file():
            continue
        try:
            table: Any = tomllib.loads(path.read_text(encoding="utf-8-sig"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise DataError(f"{path}: not TOML ({error}); mend the file") from error
        for depth, key in enumerate(keys, start=1):
            table = as_table(table.get(key, {}), Place(str(path), keys[:depth]))
        if table:
            return path, keys, table
    return *found[-1], {}


def as_table(value: object, place: Place) -> Mapping[str, Any]:
    """Returns `value`, which has to be a table.

    Raises:
        DataError: it is something else.
    """
    if not isinstance(value, Mapping):
        raise DataError(f"{place} is {value!r}, expected a table")
    return value


def fill(
    kind: type[Any], row: Mapping[str, Any], place: Place, *, given: Mapping[str, Any] | None = None
) -> Any:
    """Returns the settings `kind` of a table, each value checked against its annotation.

    Args:
        kind: the dataclass of the settings.
        row: key -> value, as TOML gives them.
        place: of the table.
        given: fields that the table does not say, such as the name of a slice; as keys they are unknown.

    Raises:
        DataError: an unknown key, a missing key, a value of the wrong type or out of its range.
    """
    given = given or {}
    hints = {key: hint for key, hint in typing.get_type_hints(kind).items() if key not in given}
    for key in row:
        if key not in hints:
            home = place.homes.get(key)
            hint = f" here: it is a key of {home}" if home else nearest_setting(key, hints)
            raise DataError(f"{place.table()}: key {key!r} is unknown{hint}; known keys: {', '.join(hints)}")
    missing = [
        f.name
        for f in dataclasses.fields(kind)
        if f.default is f.default_factory is dataclasses.MISSING and f.name in hints.keys() - row.keys()
    ]
    if missing:
        raise DataError(
            f"{place.table()}: key {missing[0]!r} is missing; expected for example {missing[0]} = "
            '"gold/cases.jsonl"'
        )
    values = {key: read_value(value, hints[key], place.within(key)) for key, value in row.items()}
    return kind(**given, **values)


def read_value(value: Any, kind: Any, place: Place) -> Any:
    """Returns a value of TOML as the annotated type `kind`: a list as a tuple, a text as a path.

    A text in the place of a list counts as a list of one. For an optional type the value is read as the type.

    Args:
        value: what the file holds.
        kind: the type, as annotated on a setting.
        place: where the value is, for messages.

    Raises:
        DataError: a value of the wrong type or out of the range of its key.
    """
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if kind is Any:  # what a project hands to code of the project
        return value
    if origin in (typing.Union, types.UnionType):
        return read_value(value, next(a for a in arguments if a is not type(None)), place)
    if origin is tuple:
        items = [value] if isinstance(value, str) else value
        if not isinstance(items, (list, tuple)):
            raise DataError(f"{place} is {value!r}, expected a list")
        return tuple(read_value(item, arguments[0], place.item(i)) for i, item in enumerate(items))
    if origin is Literal:
        if value not in arguments:
            raise DataError(f"{place} is {value!r}, expected one of {', '.join(arguments)}")
        return value
    if origin is Mapping:
        return {
            key: read_value(item, arguments[1], place.within(key))
            for key, item in as_table(value, place).items()
        }
    is_table = dataclasses.is_dataclass(kind)
    return fill(kind, as_table(value, place), place) if is_table else _scalar(value, kind, place)


def _scalar(value: Any, kind: Any, place: Place) -> Any:
    if kind is Path and isinstance(value, (str, Path)):
        return Path(value)
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if kind is float and number:
        value = float(value)
    if not isinstance(value, kind) or (kind is int and not number):
        raise DataError(f"{place} is {value!r}, expected {_KINDS[kind]}")
    if number:
        _check_range(value, place)
    return value


def _check_range(value: float, place: Place) -> None:
    low, high = _RANGES.get(place.keys[-1], (-math.inf, math.inf))
    if not (math.isfinite(value) and low <= value <= high):
        ends = (
            f"from {low:g} to {high:g}"
            if math.isfinite(high)
            else f"of {low:g} or more"
            if math.isfinite(low)
            else "that is finite"
        )
        raise DataError(f"{place} is {value!r}, expected a number {ends}")
