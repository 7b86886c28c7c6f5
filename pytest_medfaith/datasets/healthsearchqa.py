"""HealthSearchQA: health questions that people often search for.

Two layouts: questions only (JSON Lines with `Question`, or CSV with a column `question`), which give cases without gold claims; and
the JSON Lines form with `Free_form_answer`, `Must_have` and `Nice_to_have`, which is K-QA's.

The JSON Lines file in circulation was cut out of a CSV with row numbers: digits and a comma stand before most questions, quotes
around those with commas, backslashes before apostrophes. All that is taken off.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pytest_medfaith.datasets.csv_rows import read_csv_rows
from pytest_medfaith.datasets.files import data_files
from pytest_medfaith.datasets.kqa import case_of_row, read_rows
from pytest_medfaith.datasets.skips import Skips
from pytest_medfaith.records import Case

# A question that itself begins with a number and a comma, "5, 6 or 7 hours", goes on with a blank.
_ROW_NUMBER = re.compile(r"\A\d{0,4},(?=[^\d\s])")


def read_healthsearchqa(path: Path, *, skips: Skips | None = None) -> Iterator[Case]:
    """Yields a case for each question of a .jsonl or .csv file, or of a folder or archive of them; ids number the rows.

    Raises:
        DataError: nothing to read, a line that is not a JSON object, a CSV without the column, a field of another type.
    """
    skips = Skips() if skips is None else skips
    for number, (place, row, cut_out) in enumerate(_rows(path), start=1):
        case = case_of_row(row, place, name=f"healthsearchqa/{number}", dataset="healthsearchqa")
        case = case.with_(
            question=_clean_question(_ROW_NUMBER.sub("", case.question) if cut_out else case.question)
        )
        if case.question:
            yield case
        else:
            skips.add("empty question", place)


def _rows(path: Path) -> Iterator[tuple[str, Mapping[str, Any], bool]]:
    """Yields ("file:line", row, whether what a CSV has before a question may still stand there)."""
    for file in data_files(path, r".*\.(jsonl|csv)(\.gz)?", expected="the questions as .jsonl or .csv"):
        if file.suffix == ".csv":
            yield from (
                (place, {"Question": cells["question"]}, False)
                for place, cells in read_csv_rows(file, ("question",))
            )
        else:
            yield from ((place, row, True) for place, row in read_rows(file))


def _clean_question(text: str) -> str:
    """Returns the question without what the CSV left around it."""
    if len(text) > 1 and text[0] == text[-1] == '"':
        text = text[1:-1].replace('""', '"')
    return text.replace("\\'", "'").strip()
