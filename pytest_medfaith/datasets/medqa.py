"""MedQA: questions of medical licensing exams (USMLE and others) with four or five options.

| field | becomes |
|---|---|
| `question` | `question`, and the beginning of a chunk |
| `options` by letter, `answer_idx` | `reference_answer` is the right option; `meta.options`, `meta.answer` |
| `answer` | must be the option of `answer_idx`; a row where it is another is left out and counted |
| `meta_info` | `meta.exam`, such as step1 |

A chunk is a question with its right answer, so that a file of questions is a knowledge base for other
questions. A slice whose cases are of the same file finds each answer under its own question, which measures
little.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from pytest_medfaith.datasets.choices import answered
from pytest_medfaith.datasets.cleaning import one_line, plain_text
from pytest_medfaith.datasets.fields import require_row, require_text, text_or_empty
from pytest_medfaith.datasets.files import data_files, open_text
from pytest_medfaith.datasets.json_stream import values
from pytest_medfaith.datasets.skips import Skips
from pytest_medfaith.errors import DataError, shown
from pytest_medfaith.records import Case, Chunk


def read_medqa(path: Path, *, skips: Skips | None = None) -> Iterator[Case]:
    """Yields a case for each line of train.jsonl, dev.jsonl, test.jsonl or a like file; id: file and line.

    Raises:
        DataError: nothing to read, a line that is not a JSON object, a field that is missing or of another
            type.
    """
    return (case for case, _ in _records(path, Skips() if skips is None else skips))


def read_medqa_chunks(path: Path, *, skips: Skips | None = None) -> Iterator[Chunk]:
    """Yields each question with its right answer as a chunk; the ids are those of the cases."""
    return (chunk for _, chunk in _records(path, Skips() if skips is None else skips))


def _records(path: Path, skips: Skips) -> Iterator[tuple[Case, Chunk]]:
    for file in data_files(path, r".*\.jsonl(\.gz)?", expected="questions as .jsonl, such as dev.jsonl"):
        part = PurePosixPath(file.name).name.split(".")[0]
        with open_text(file) as stream:
            for number, (place, value) in enumerate(values(stream, file.place), start=1):
                found = _read(require_row(value, place), place, f"medqa/{part}-{number}", skips)
                if found:
                    yield found


def _read(row: Mapping[str, Any], place: str, name: str, skips: Skips) -> tuple[Case, Chunk] | None:
    question, options = plain_text(require_text(row, "question", place)), _options(row, place)
    letter, said = (
        require_text(row, "answer_idx", place).strip(),
        one_line(text_or_empty(row, "answer", place)),
    )
    if letter not in options:
        raise DataError(
            f"{place}: field 'answer_idx' is {shown(letter)}, expected one of the options, "
            f"{', '.join(options)}; mend the record"
        )
    right = options[letter]
    if not question or not right:
        skips.add("empty question" if not question else "empty answer", place)
        return None
    if said and said.casefold() != right.casefold():
        skips.add("answer is not the option of answer_idx", place)
        return None
    meta: dict[str, Any] = {"options": options, "answer": letter}
    if exam := one_line(text_or_empty(row, "meta_info", place)):
        meta["exam"] = exam
    case = Case(
        id=name, slice="medqa", question=question, reference_answer=right, references=(name,), meta=meta
    )
    return case, Chunk(id=name, text=answered(question, right), source="medqa")


def _options(row: Mapping[str, Any], place: str) -> dict[str, str]:
    """Returns the options by letter: of an object, or of the list of objects that some exports make of it."""
    given = row.get("options")
    if isinstance(given, list) and all(
        isinstance(one, Mapping) and {"key", "value"} <= one.keys() for one in given
    ):
        given = {one["key"]: one["value"] for one in given}
    if (
        not isinstance(given, Mapping)
        or len(given) < 2
        or not all(isinstance(one, str) for pair in given.items() for one in pair)
    ):
        raise DataError(
            f"{place}: field 'options' is {shown(given)}, expected an object of two or more options by "
            'letter, such as {"A": "Iron", "B": "Zinc"}; check that the file is of this data set'
        )
    return {letter: one_line(text) for letter, text in given.items()}
