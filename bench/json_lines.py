"""Compares reading and writing JSON Lines by the package with the package jsonlines, and with json alone.

python bench/json_lines.py [ROWS]

Times are processor seconds for a whole file of chunks, the best of five in one process. Ratios are to the
package.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import jsonlines

from pytest_medfaith.jsonl import _SURROGATE, atomic_writer, read_rows, refuse_constant, write_records
from pytest_medfaith.plain import plain_json

TEXT = (
    "Iron tablets treat iron deficiency; they are taken once a day, before a meal, with 5 µg of nothing. " * 8
)


def rows(number: int) -> list[dict[str, object]]:
    """Returns `number` chunks as plain values."""
    return [
        {
            "id": f"clinic/{i:06d}",
            "title": "Iron",
            "section_path": ["Iron", "Dose"],
            "text": TEXT,
            "year": 2020,
        }
        for i in range(number)
    ]


def best(call: Callable[[], object]) -> float:
    """Returns the processor seconds of a call, the best of five."""
    times = []
    for _ in range(5):
        begun = time.process_time()
        call()
        times.append(time.process_time() - begun)
    return min(times)


def read_by_jsonlines(path: Path) -> int:
    """Returns how many rows jsonlines reads, without the package's checks."""
    with jsonlines.open(path) as reader:
        return sum(1 for _ in reader.iter(type=dict, skip_empty=True))


def write_by_jsonlines(path: Path, held: list[dict[str, object]]) -> None:
    """Writes the rows by jsonlines, without the package's checks."""
    with jsonlines.open(path, mode="w") as writer:
        writer.write_all(held)


def read_checked_by_jsonlines(path: Path) -> int:
    """Returns how many rows jsonlines reads with the package's checks (NaN, half characters)."""
    with path.open("rb") as lines:
        return sum(1 for _ in jsonlines.Reader(lines, loads=_checked).iter(type=dict, skip_empty=True))


def _checked(text: str) -> object:
    """Returns the row in a line of JSON; refuses NaN and half characters."""
    row = json.loads(text, parse_constant=refuse_constant)
    if _SURROGATE.search(text):
        json.dumps(row, ensure_ascii=False).encode()
    return row


def write_checked_by_jsonlines(path: Path, held: list[dict[str, object]]) -> None:
    """Writes the rows by jsonlines with the package's escapes, into a file that is whole or not there."""
    with atomic_writer(path) as out:
        jsonlines.Writer(out, dumps=_dumped).write_all(held)


def _dumped(row: object) -> str:
    """Returns a row as JSON with the package's escapes."""
    return plain_json(json.dumps(row, ensure_ascii=False, allow_nan=False))


def read_by_json(path: Path) -> int:
    """Returns how many rows the json module reads."""
    with path.open(encoding="utf-8") as lines:
        return sum(1 for line in lines if json.loads(line))


def main() -> None:
    """Prints the times of writing and reading."""
    held = rows(int(sys.argv[1]) if len(sys.argv) > 1 else 20_000)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.jsonl"
        written = best(lambda: write_records(path, held))
        by_jsonlines = best(lambda: write_by_jsonlines(path, held))
        checked = best(lambda: write_checked_by_jsonlines(path, held))
        print(
            f"write {len(held)} rows: package {written:.3f} s, jsonlines with the same checks "
            f"{checked:.3f} s ({checked / written:.2f}), jsonlines alone {by_jsonlines:.3f} s "
            f"({by_jsonlines / written:.2f})"
        )
        read = best(lambda: sum(1 for _ in read_rows(path)))
        checked = best(lambda: read_checked_by_jsonlines(path))
        theirs, plain = best(lambda: read_by_jsonlines(path)), best(lambda: read_by_json(path))
        print(
            f"read: package {read:.3f} s, jsonlines with the same checks {checked:.3f} s "
            f"({checked / read:.2f}), jsonlines alone {theirs:.3f} s ({theirs / read:.2f}), "
            f"json alone {plain:.3f} s ({plain / read:.2f})"
        )


if __name__ == "__main__":
    main()
