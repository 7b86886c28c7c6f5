"""Results of rows written as they come, to JSON Lines or Parquet; the file is there whole or not at all."""

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
_GROUP = 10_000  # rows of a row group of Parquet, which is in memory whole


def check_results(path: Path) -> None:
    """Finds out whether results can be written to a file of this name.

    Raises:
        MissingExtra: Parquet, and no pyarrow.
    """
    if path.suffix.lower() == PARQUET:
        try:
            import pyarrow.parquet  # noqa: F401 - only asked for
        except ImportError:
            raise MissingExtra(f"writing {path}", "data") from None


def write_results(path: Path, results: Iterable[Mapping[str, Any]]) -> None:
    """Writes results of `medfaith check` in order: as Parquet to names in .parquet, else as JSON Lines.

    In Parquet each column has its type: an id that is no text is written as JSON, and `probs` is a struct.

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
    waiting = iter(results)
    while rows := list(islice(waiting, _GROUP)):
        yield rows


def _columns(row: Mapping[str, Any], columns: Mapping[str, Any]) -> dict[str, Any]:
    if unknown := row.keys() - columns.keys():
        raise DataError(f"a result holds {min(unknown)!r}, for which the table has no column")
    name = row["id"]
    return {**row, "id": name if isinstance(name, str) else json.dumps(name, ensure_ascii=False)}
