"""Reads rows of cases and responses from JSON Lines, JSON, CSV and Parquet files, and from tables in memory.

A list in a cell of CSV is written as JSON, `["first passage", "second passage"]`, or as Python prints it,
which ragas and pandas do.
"""

from __future__ import annotations

import ast
import codecs
import io
import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pytest_medfaith.answers.foreign import fields_of, rows_of
from pytest_medfaith.answers.given import CONTEXT_KEYS
from pytest_medfaith.errors import DataError, MissingExtra, shown
from pytest_medfaith.jsonl import read_rows, refuse_constant

Rows = Iterator[tuple[str, dict[str, Any]]]
TABLES = (".csv", ".tsv", ".parquet")
# Columns whose cells are lists or objects; in every other column a cell that begins with "[" is a text.
_LISTS = frozenset(
    (
        *CONTEXT_KEYS,
        "gold_claims",
        "references",
        "citations",
        "meta",
        "reference_contexts",
        "history",
        "messages",
    )
)
_NUMBERS = frozenset(("latency_ms",))
# The keys under which a JSON document may have its rows.
_HOLDERS = ("samples", "goldens", "test_cases", "data", "examples", "rows")
_CELL_LIMIT = 10_000_000  # characters; contexts may exceed the 131,072 that the csv module allows


def is_table(source: Any) -> bool:
    """Returns whether rows come from a table, in a file or in memory, rather than from JSON."""
    return not isinstance(source, Path) or source.suffix.lower() in TABLES


def read_row_file(source: Any) -> Rows:
    """Returns an iterator of (place, row) over a file, known by its suffix, a list of mappings, or a table.

    Suffixes are .csv, .tsv, .parquet and .json, in any case; a file with any other suffix is JSON Lines.

    Tables are those of pandas, polars, pyarrow and Hugging Face. Empty cells and nulls of a table are left
    out. The place is "file:line" or "row 3".

    Raises:
        DataError: no such file, a row that is no mapping, bytes that are no text, or a cell that should be a
            list and is not.
        MissingExtra: a Parquet file, and no pyarrow.
    """
    if not isinstance(source, Path):
        return _table_rows(source)
    readers = {".csv": _csv_rows, ".tsv": _csv_rows, ".parquet": _parquet_rows, ".json": _json_rows}
    reader = readers.get(source.suffix.lower(), _json_lines)
    if reader is not _json_lines and not source.is_file():
        raise DataError(f"{source}: no such file; check the path")
    return reader(source)


def _json_lines(path: Path) -> Rows:
    """Returns (place, row) of each line of a JSON Lines file."""
    return ((f"{path}:{number}", row) for number, row in read_rows(path))


def _json_rows(path: Path) -> Rows:
    """Yields the rows of a JSON document that is or has a list; any other file is read as JSON Lines."""
    try:
        document = json.loads(path.read_text(encoding="utf-8-sig"), parse_constant=refuse_constant)
    except (ValueError, RecursionError):
        document = None
    if isinstance(document, Mapping):
        document = next((document[key] for key in _HOLDERS if isinstance(document.get(key), list)), None)
    if not isinstance(document, list):
        yield from _json_lines(path)
        return
    for number, row in enumerate(document, start=1):
        if not isinstance(row, dict):
            raise DataError(f"{path}: row {number} is {shown(row)}, expected an object")
        yield f"{path}: row {number}", row


def _table_rows(table: Any) -> Rows:
    """Yields (place, row) of a table in memory. Raises DataError for a row without fields."""
    for number, row in enumerate(rows_of(table), start=1):
        if isinstance(row, (str, bytes, int, float, list, tuple)) or row is None:
            raise DataError(f"row {number} is {shown(row)}, expected a mapping or an object with fields")
        yield f"row {number}", _cells(fields_of(row), f"row {number}")


def _parquet_rows(path: Path) -> Rows:
    """Yields (place, row) of a Parquet file, batch by batch.

    Raises:
        MissingExtra: pyarrow is not installed.
        DataError: the file cannot be read.
    """
    try:
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile
    except ImportError:
        raise MissingExtra(f"reading {path}", "data") from None
    number = 0
    try:
        with ParquetFile(path) as file:
            for batch in file.iter_batches():
                for row in batch.to_pylist():
                    number += 1
                    yield f"{path}: row {number}", _cells(row, f"{path}: row {number}")
    except (ArrowException, OSError) as error:
        raise DataError(
            f"{path}: cannot be read as Parquet ({str(error).splitlines()[0]}); write the file again"
        ) from None


def _csv_rows(path: Path) -> Rows:
    """Yields (place, row) of a CSV file, with commas, semicolons or tabs; blank lines are left out.

    Raises:
        DataError: a heading with an empty or repeated name, a row of another length, or broken quotes.
    """
    import csv

    csv.field_size_limit(max(csv.field_size_limit(), _CELL_LIMIT))
    text = _decoded(path)
    first = text.partition("\n")[0]
    delimiter = max(",;\t", key=lambda mark: len(next(csv.reader([first], delimiter=mark), [])))
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        heading = [name.strip() for name in next(reader, [])]
        if len(set(heading)) < len(heading) or not any(heading):
            raise DataError(
                f"{path}:1: the heading has {', '.join(map(shown, heading)) or 'nothing'}; expected a name "
                "for each column, each once"
            )
        for cells in reader:
            place = f"{path}:{reader.line_num}"
            if len(cells) > len(heading) or (cells and len(cells) < len(heading)):
                raise DataError(
                    f"{place}: the row has {len(cells)} cells, expected {len(heading)} as in the heading; "
                    "quote texts with commas"
                )
            if any(cell.strip() for cell in cells):
                yield place, _cells(dict(zip(heading, cells, strict=True)), place)
    except csv.Error as error:
        raise DataError(
            f"{path}:{reader.line_num}: not CSV ({error}); expected cells with a comma between them; mend "
            "the row"
        ) from None


def _decoded(path: Path) -> str:
    """Returns a file's text: in UTF-8, or in UTF-16 with a byte order mark, which Excel writes.

    Raises:
        DataError: the bytes are neither; the message names line and byte.
    """
    data = path.read_bytes()
    is_wide = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))  # as Excel writes it
    try:
        return data.decode("utf-16" if is_wide else "utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        found = data[error.start : error.start + 1]
        raise DataError(
            f"{path}:{line}: byte {found!r} is not UTF-8; save the file as UTF-8 (in Excel: CSV UTF-8)"
        ) from None


def _cells(row: Mapping[str, Any], place: str) -> dict[str, Any]:
    """Returns a table's row without its empty cells, with lists and numbers read."""
    filled = {
        str(key): found for key, value in row.items() if (found := _plain(value)) is not None and found != ""
    }
    return {key: _cell(key, value, place) for key, value in filled.items()}


def _plain(value: Any) -> Any:
    """Returns a table's value as JSON has it, without NaN, arrays and dates; None for an empty value."""
    if hasattr(value, "tolist") and not isinstance(value, (str, bytes)):  # numpy
        value = value.tolist()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Mapping):
        return {str(key): found for key, item in value.items() if (found := _plain(item)) is not None}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value if value is None or isinstance(value, (str, bool, int, float)) else str(value)


def _cell(key: str, value: Any, place: str) -> Any:
    """Returns a cell's value: a number or a list in the columns that have these, else the text.

    Raises:
        DataError: the cell is no number, or no list.
    """
    if not isinstance(value, str):
        return value
    if key in _NUMBERS:
        try:
            return float(value)
        except ValueError:
            raise DataError(f"{place}: column {key!r} is {shown(value)}, expected a number") from None
    return _list(key, value, place) if key in _LISTS else value


def _list(key: str, text: str, place: str) -> Any:
    """Returns the list or object that `text` writes, as JSON or as Python prints it.

    DataError for other texts.
    """
    for read in (json.loads, ast.literal_eval):
        try:
            found = read(text)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
        if isinstance(found, (list, dict)):
            return found
    raise DataError(
        f"{place}: column {key!r} is {shown(text)}, "
        'expected a JSON list such as ["first text", "second text"]'
    )
