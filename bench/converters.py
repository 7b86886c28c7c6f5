"""Compares the package's converters of records with msgspec's and cattrs': speed, import, error messages.

    pip install msgspec cattrs      # for this script alone
    python bench/converters.py

All three must make equal records: a key that the record does not know is kept in `extra`, null for a field
with a default means the default, and numbers are finite. The script stops if any makes a different record.
Rows are the sample chunks, the recorded responses, and reports on these (by a scripted checker, without a
model). Each figure is the best of several rounds in which the variants take turns.
"""

import dataclasses
import inspect
import math
import re
import subprocess
import sys
import tempfile
import time
import typing
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import cattrs
import msgspec
from cattrs.gen import make_dict_structure_fn, make_dict_unstructure_fn, override

from pytest_medfaith import conversion
from pytest_medfaith.answers.responses import read_responses
from pytest_medfaith.config import load_settings
from pytest_medfaith.conversion import Record, finite
from pytest_medfaith.errors import DataError, shown
from pytest_medfaith.evaluation import evaluate_case
from pytest_medfaith.jsonl import read_chunks
from pytest_medfaith.records import Case, Chunk, MetricValue, PairScore, Report, Response
from pytest_medfaith.testing import containment_checker

ROOT = Path(__file__).parents[1]
ROUNDS = 7
WORDS = {
    "str": "text",
    "int": "a whole number",
    "bool": "true or false",
    "float": "a number",
    "array": "a list",
}
MISTAKES = [
    (Chunk, {"text": "x"}),
    (Chunk, {"id": "a", "text": "x", "year": "2020"}),
    (Chunk, {"id": "a", "text": "x", "authority": "blog"}),
    (Response, {"answer": "x", "contexts": [{"id": "a", "text": "x", "section_path": "Treatment"}]}),
    (PairScore, {"claim_id": "c", "chunk_id": "a", "label": "neutral", "probs": [0.1, "half", 0.4]}),
    (PairScore, {"claim_id": "c", "chunk_id": "a", "label": "neutral", "probs": [0.1, 0.4]}),
    (MetricValue, {"name": "faithfulness", "value": math.nan}),
]


@dataclasses.dataclass(frozen=True)
class Shape:
    """What msgspec and cattrs must know of a kind of record to treat its rows as the package does.

    Attributes:
        known: names of its fields.
        nullable: fields that may be None.
        numbers: fields that hold floats.
        inner: (field, record) of fields that hold a record or a list of records.
    """

    known: frozenset[str]
    nullable: frozenset[str]
    numbers: tuple[str, ...]
    inner: tuple[tuple[str, type[Record]], ...]


@lru_cache
def shape(kind: type[Record]) -> Shape:
    """Returns the shape of a kind of record."""
    hints = {name: hint for name, hint in typing.get_type_hints(kind).items() if name != "extra"}
    inner = []
    for name, hint in hints.items():
        parts = [hint, *(part for part in typing.get_args(hint))]
        inner += [(name, part) for part in parts if inspect.isclass(part) and issubclass(part, Record)]
    return Shape(
        known=frozenset(hints),
        nullable=frozenset(name for name, hint in hints.items() if type(None) in typing.get_args(hint)),
        numbers=tuple(name for name, hint in hints.items() if "float" in str(hint)),
        inner=tuple(inner),
    )


def by_msgspec(kind: type[Record], row: Any) -> Any:
    """Returns the record of `row`, made by msgspec.

    Nulls are taken out before; unknown keys and numbers are handled afterwards.
    """
    try:
        return completed(msgspec.convert(without_nulls(kind, row), kind), row, "")
    except msgspec.ValidationError as error:
        raise told(error, row) from None


def without_nulls(kind: type[Record], row: Any) -> Any:
    """Returns `row` without nulls in fields that cannot be None, in records within it too."""
    if not isinstance(row, Mapping):
        return row
    about = shape(kind)
    kept = {k: v for k, v in row.items() if (v is not None or k in about.nullable) and k != "extra"}
    for name, inner in about.inner:
        value = kept.get(name)
        if isinstance(value, list):
            kept[name] = [without_nulls(inner, item) for item in value]
        elif isinstance(value, Mapping):
            kept[name] = without_nulls(inner, value)
    return kept


def completed(record: Any, row: Any, place: str) -> Any:
    """Returns the new `record` with the unknown keys of its row.

    Raises:
        DataError: a number is not finite.
    """
    if isinstance(row, Record):
        return record
    about = shape(type(record))
    for name in about.numbers:
        refuse_not_finite(getattr(record, name), place + name)
    if unknown := row.keys() - about.known:
        object.__setattr__(record, "extra", {key: value for key, value in row.items() if key in unknown})
    for name, _ in about.inner:
        value = getattr(record, name)
        if isinstance(value, tuple):
            for number, item in enumerate(value):
                completed(item, row[name][number], f"{place}{name}[{number}].")
        elif isinstance(value, Record) and name in row:
            completed(value, row[name], f"{place}{name}.")
    return record


def refuse_not_finite(value: Any, name: str) -> None:
    """Refuses a number that is not finite, in collections too (DataError)."""
    if isinstance(value, float):
        finite(value, name)
    for key, item in value.items() if isinstance(value, Mapping) else ():
        refuse_not_finite(item, f"{name}.{key}")
    for number, item in enumerate(value) if isinstance(value, tuple) else ():
        refuse_not_finite(item, f"{name}[{number}]")


def told(error: Exception, row: Any) -> DataError:
    """Returns msgspec's error in the package's words, with the value at the path that it names."""
    what, _, path = str(error).partition(" - at `$.")
    path, value = path.rstrip("`"), row
    for step in re.findall(r"[^.\[\]]+", path):
        value = value[int(step)] if isinstance(value, (list, tuple)) else value[step]
    if missing := re.match(r"Object missing required field `(.+)`", what):
        return DataError(f"field {missing[1]!r} is missing, {shown(value)}")
    found = re.match(r"Expected `(\w+)", what)
    return DataError(f"field {path!r} is {shown(value)}, {f'expected {WORDS[found[1]]}' if found else what}")


@lru_cache
def converter() -> cattrs.Converter:  # noqa: C901 - a hook a rule
    """Returns a converter of cattrs with the package's rules as hooks."""
    made = cattrs.Converter(detailed_validation=True)

    def of_record(kind: type[Record]) -> Callable[[Any, Any], Any]:
        about, fill = shape(kind), make_dict_structure_fn(kind, made, extra=override(omit=True))

        def structure(row: Any, _: Any) -> Any:
            if isinstance(row, kind):
                return row
            record = fill({k: v for k, v in row.items() if v is not None or k in about.nullable}, kind)
            if unknown := row.keys() - about.known:
                object.__setattr__(record, "extra", {k: v for k, v in row.items() if k in unknown})
            return record

        return structure

    def to_row(kind: type[Record]) -> Callable[[Any], Any]:
        plain = make_dict_unstructure_fn(kind, made, _cattrs_omit_if_default=True, extra=override(omit=True))
        return lambda record: {**plain(record), **record.extra}

    def scalar(kind: type) -> Callable[[Any, Any], Any]:
        def structure(value: Any, _: Any) -> Any:
            takes = (int, float) if kind is float else kind
            if not isinstance(value, takes) or (isinstance(value, bool) and kind is not bool):
                raise DataError(f"is {shown(value)}, expected {WORDS[kind.__name__]}")
            return finite(value, "") if kind is float else value

        return structure

    def listed(kind: Any) -> Callable[[Any, Any], Any]:
        def structure(value: Any, _: Any) -> Any:
            if not isinstance(value, (list, tuple)):  # cattrs takes a text for a list of its letters
                raise DataError(f"is {shown(value)}, expected a list")
            return made._structure_tuple(value, kind)  # noqa: SLF001 - it has no public name

        return structure

    def is_record(kind: Any) -> bool:
        return inspect.isclass(kind) and issubclass(kind, Record)

    for kind in (str, int, float, bool):
        made.register_structure_hook(kind, scalar(kind))
    made.register_structure_hook_factory(lambda kind: typing.get_origin(kind) is tuple, listed)
    made.register_structure_hook_factory(is_record, of_record)
    made.register_unstructure_hook_factory(is_record, to_row)
    return made


def by_cattrs(kind: type[Record], row: Any) -> Any:
    """Returns the record of `row`, made by cattrs.

    The error of cattrs names the path; the hooks name value and expectation.
    """
    try:
        return converter().structure(row, kind)
    except cattrs.BaseValidationError as error:
        what = cattrs.transform_error(error, format_exception=lambda e, _: str(e))
        raise DataError("; ".join(what)) from None


def by_ours(kind: type[Record], row: Any) -> Any:
    """Returns the record of `row`, made by the package."""
    return kind.from_dict(row)


OURS = [
    getattr(conversion, name)
    for name in vars(conversion)
    if name.startswith(("_read_", "_reader", "_Field", "_fields"))
]
READERS: Mapping[str, Callable[[type[Record], Any], Any]] = {
    "ours": by_ours,
    "msgspec": by_msgspec,
    "cattrs": by_cattrs,
    # Takes nulls, unknown keys and NaN as msgspec does.
    "msgspec, bare": lambda kind, row: msgspec.convert(row, kind),
}
WRITERS: Mapping[str, Callable[[Record], Any]] = {
    "ours": lambda record: record.to_dict(),
    "cattrs": lambda record: converter().unstructure(record),
    "msgspec, bare": msgspec.to_builtins,  # writes defaults, and `extra` as a key
}


def reports() -> list[Report]:
    """Returns reports on the recorded responses."""
    checker, path = containment_checker(), ROOT / "fixtures/responses/medquad_nih.jsonl"
    chunks = read_chunks([ROOT / "corpus_samples"])
    return [
        evaluate_case(Case(id=name, question=""), response, checker=checker)
        for name, response in read_responses(path, chunks).items()
    ]


def import_milliseconds(library: str) -> float:
    """Returns the processor milliseconds of importing `library` after the records.

    It is the best of several processes.
    """
    code = (
        "import time, pytest_medfaith.records; t = time.process_time(); "
        f"import {library}; print(time.process_time() - t)"
    )
    runs = [subprocess.check_output([sys.executable, "-c", code], text=True) for _ in range(ROUNDS)]
    return 1000 * min(map(float, runs))


def settings_milliseconds() -> float:
    """Returns the processor milliseconds of reading settings of 20 slices from a file."""
    table = 'corpus = ["corpus"]\nresponses = "responses.jsonl"\nk = 20\ngates = ["faithfulness >= 0.8"]\n'
    with tempfile.TemporaryDirectory() as folder:
        text = "".join(f'[slices.s{n}]\ncases = "gold.jsonl"\n{table}' for n in range(20))
        Path(folder, "medfaith.toml").write_text(text, encoding="utf-8")
        times = []
        for _ in range(ROUNDS):
            start = time.process_time()
            load_settings(Path(folder))
            times.append(time.process_time() - start)
    return 1000 * min(times)


def rates(ways: Mapping[str, Callable[..., Any]], calls: list[tuple[Any, ...]]) -> str:
    """Returns a text: how many calls a second each of `ways` makes."""
    best = dict.fromkeys(ways, math.inf)
    for _ in range(ROUNDS):
        for name, way in ways.items():
            start = time.process_time()
            for call in calls:
                way(*call)
            best[name] = min(best[name], time.process_time() - start)
    return ", ".join(f"{name} {len(calls) / seconds:,.0f}" for name, seconds in best.items())


def lines(*parts: Any) -> int:
    """Returns how many lines of source some functions and classes have."""
    return sum(len(inspect.getsource(part).splitlines()) for part in parts)


def main() -> None:
    """Prints speeds, lines of code, import times and error messages."""
    whole = reports()
    sets: dict[str, list[Record]] = {
        "chunks": [*read_chunks([ROOT / "corpus_samples"])],
        "responses": [report.response for report in whole],
        "reports": [*whole],
    }
    for name, found in sets.items():
        calls = [(type(record), {"reviewer": "B. Karim", **record.to_dict()}) for record in found]
        for reader in ("msgspec", "cattrs"):
            for call in calls:
                made, expected = READERS[reader](*call), by_ours(*call)
                if made != expected or made.to_dict() != expected.to_dict():
                    raise SystemExit(f"{reader} makes another record of {call}")
        print(f"{name} ({len(calls)}), read a second: {rates(READERS, calls)}")
        print(f"{name} ({len(calls)}), written a second: {rates(WRITERS, [(record,) for record in found])}")
    by_library = {
        "msgspec": lines(Shape, shape, by_msgspec, without_nulls, completed, refuse_not_finite, told),
        "cattrs": lines(Shape, shape, converter, by_cattrs),
        "ours": lines(*OURS),
    }
    print("lines: " + ", ".join(f"{name} {count}" for name, count in by_library.items()))
    for library in ("msgspec", "cattrs"):
        print(f"import {library}: {import_milliseconds(library):.1f} ms")
    print(f"settings of 20 slices by ours: {settings_milliseconds():.1f} ms")
    for kind, row in MISTAKES:
        for name in ("ours", "msgspec", "cattrs"):
            try:
                READERS[name](kind, row)
            except DataError as error:  # noqa: PERF203 - to be shown
                print(f"{name}: {error}")


if __name__ == "__main__":
    main()
