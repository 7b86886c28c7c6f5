"""Reads a table row as one statement."""

from __future__ import annotations

from pytest_medfaith.english.phrases import Phrase, carried, inserted, read_words


def read_cells(text: str, start: int, end: int) -> tuple[Phrase, ...]:
    """Returns the words of each cell of the row `text[start:end]`, the empty cells of its borders left out."""
    borders = [index for index in range(start, end) if text[index] == "|"]
    spans = zip([start, *(border + 1 for border in borders)], [*borders, end], strict=True)
    cells = [read_words(text, first, last) for first, last in spans]
    return tuple(cells[0 if cells[0] else 1 : len(cells) if cells[-1] else -1])


def row_statement(header: tuple[Phrase, ...], cells: tuple[Phrase, ...]) -> Phrase:
    """Returns "Drug: metformin; Dose: 500 mg" of a header (drug, dose) and cells; a cell beyond the header stands alone."""
    statement: Phrase = ()
    for place, cell in enumerate(cells):
        title = (
            (*carried(header[place]), *inserted(":", spaced=False))
            if place < len(header) and header[place]
            else ()
        )
        if cell:
            statement = (*statement, *(inserted(";", spaced=False) if statement else ()), *title, *cell)
    return statement
