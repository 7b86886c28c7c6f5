"""Writes results while they come, as JSON Lines or Parquet; the file appears whole or not at all."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from pytest_medfaith.errors import DataError, MissingExtra
from pytest_medfaith.jsonl import atomic_binary_writer, write_records
from pytest_medfaith.records import LABELS

PARQUET = ".parquet"
_GROUP = 10_000  # rows of a row group of Parquet, which must fit in memory


def check_results(path: Path) -> None:
    """Checks before a run that results can be written to `path`.

    Raises:
        MissingExtra: a name in .parquet, and pyarrow is not installed.
    """
    if path.suffix.lower() == PARQUET:
        try:
            import pyarrow.parquet  # noqa: F401 - only asked for
        except ImportError:
            raise MissingExtra(f"writing {path}", "data") from None


def write_results(path: Path, results: Iterable[Mapping[str, Any]]) -> None:
    """Writes results of `medfaith check` in order: Parquet to a name in .parquet, else JSON Lines.

    In Parquet each column has a type, so an id that is not text is written as JSON; `probs` is a struct.

    Raises:
        CannotWrite: a full disk, or no right to write there.
    """
    if path.suffix.lower() != PARQUET:
        write_records(path, results)
        return
    import pyarrow as pa
    from pyarrow.parquet import ParquetWriter

    columns = {
        "id": pa.string(),
        "label": pa.string(),
        "probs": pa.struct([(name, pa.float64()) for name in LABELS]),
        "span": pa.list_(pa.int64()),
        "evidence_index": pa.int64(),
        "joint": pa.bool_(),
        "rules": pa.list_(pa.string()),
        "reason": pa.string(),
    }
    schema = pa.schema(list(columns.items()))
    with atomic_binary_writer(path) as out, ParquetWriter(out, schema) as writer:
        for rows in _groups(results):
            writer.write_table(pa.Table.from_pylist([_columns(row, columns) for row in rows], schema=schema))


def _groups(results: Iterable[Mapping[str, Any]]) -> Iterator[list[Mapping[str, Any]]]:
    """Yields the results in lists of up to 10,000."""
    waiting = iter(results)
    while rows := list(islice(waiting, _GROUP)):
        yield rows


def _columns(row: Mapping[str, Any], columns: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a result as a row of the table; DataError if it has a key without a column."""
    if unknown := row.keys() - columns.keys():
        raise DataError(f"a result holds {min(unknown)!r}, for which the table has no column")
    name = row["id"]
    return {**row, "id": name if isinstance(name, str) else json.dumps(name, ensure_ascii=False)}
