"""HealthSearchQA: health questions that people often search for.

There are two layouts. Questions only (JSON Lines with `Question`, or CSV with a column `question`) give cases
without gold claims. JSON Lines with `Free_form_answer`, `Must_have` and `Nice_to_have` are read as those of
K-QA.

The JSON Lines file in circulation was cut out of a CSV with row numbers: most questions begin with digits and
a comma, questions with commas are in quotes, apostrophes have backslashes. The reader takes all of these off.
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

# A question may begin with a number and a comma, "5, 6 or 7 hours"; then a blank follows.
_ROW_NUMBER = re.compile(r"\A\d{0,4},(?=[^\d\s])")


def read_healthsearchqa(path: Path, *, skips: Skips | None = None) -> Iterator[Case]:
    """Yields a case for each question; its id is the number of the row.

    Questions come in a .jsonl or .csv file, or in a folder or archive of such files.

    Raises:
        DataError: nothing to read, a line that is not a JSON object, a CSV without the column, a field of
            another type.
    """
    skips = Skips() if skips is None else skips
    for number, (place, row, cut_out) in enumerate(_rows(path), start=1):
        case = case_of_row(row, place, name=f"healthsearchqa/{number}", dataset="healthsearchqa")
        question = _ROW_NUMBER.sub("", case.question) if cut_out else case.question
        if len(question) > 1 and question[0] == question[-1] == '"':
            question = question[1:-1].replace('""', '"')
        question = question.replace("\\'", "'").strip()
        if question:
            yield case.with_(question=question)
        else:
            skips.add("empty question", place)


def _rows(path: Path) -> Iterator[tuple[str, Mapping[str, Any], bool]]:
    """Yields ("file:line", row, whether the question may begin with the row number of a CSV)."""
    for file in data_files(path, r".*\.(jsonl|csv)(\.gz)?", expected="the questions as .jsonl or .csv"):
        if file.suffix == ".csv":
            for place, cells in read_csv_rows(file, ("question",)):
                yield place, {"Question": cells["question"]}, False
        else:
            yield from ((place, row, True) for place, row in read_rows(file))
