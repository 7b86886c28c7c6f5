"""Reads CSV files row by row, by column name."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence

from pytest_medfaith.corpus.sources import SourceFile
from pytest_medfaith.datasets.files import open_text
from pytest_medfaith.errors import DataError, shown

_CELL_LIMIT = 10_000_000  # characters; a long text in a cell may exceed the csv module's limit of 131,072


def read_csv_rows(file: SourceFile, columns: Sequence[str]) -> Iterator[tuple[str, dict[str, str]]]:
    """Yields (place, {column: cell}) for `columns` of a comma-separated file with a heading.

    The place is "file:line" of the row's last line. Column names are compared without regard to case and
    surrounding blanks. Blank lines are passed over.

    Raises:
        DataError: no heading, a missing column, a row with fewer cells than the heading or text beyond it, or
            a quote that never ends.
    """
    csv.field_size_limit(max(csv.field_size_limit(), _CELL_LIMIT))
    with open_text(file, newline="") as stream:
        reader = csv.reader(stream, strict=True)
        try:
            heading = next(reader, [])
            positions = _positions(heading, columns, file.place)
            fewest = max(positions.values()) + 1
            for cells in reader:
                if not cells:
                    continue
                if len(cells) < fewest or any(cell.strip() for cell in cells[len(heading) :]):
                    short = len(cells) < fewest
                    expected = f"{fewest} or more" if short else f"{len(heading)} as in the heading"
                    raise DataError(
                        f"{file.place}:{reader.line_num}: the row has {len(cells)} cells, expected "
                        f"{expected}; put a comma between cells and double quotes around texts with commas"
                    )
                yield f"{file.place}:{reader.line_num}", {name: cells[at] for name, at in positions.items()}
        except csv.Error as error:
            raise DataError(
                f"{file.place}:{reader.line_num}: not CSV ({error}); expected comma-separated cells; mend "
                "the row or fetch the file again"
            ) from None


def _positions(heading: Sequence[str], columns: Sequence[str], place: str) -> dict[str, int]:
    found = {name.strip().lower(): at for at, name in enumerate(heading)}
    for name in columns:
        if name.lower() not in found:
            raise DataError(
                f"{place}:1: column {name!r} is missing, the heading has "
                f"{', '.join(map(shown, heading)) or 'nothing'}; expected {', '.join(map(repr, columns))}; "
                "check that the file is of this data set"
            )
    return {name: found[name.lower()] for name in columns}
