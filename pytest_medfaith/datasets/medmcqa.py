"""MedMCQA: questions of Indian medical entrance exams with four options, many with an explanation.

| field | becomes |
|---|---|
| `id`, `question` | `id`, `question`, and the beginning of a chunk |
| `opa` to `opd`, `cop` | the right option begins `reference_answer`; `meta.options`, `meta.answer` |
| `exp` | the rest of `reference_answer`, of which gold claims are made, and of the chunk |
| `subject_name`, `topic_name`, `choice_type` | `meta`; subject and topic are the chunk's `section_path` |

The authors' files count `cop` from 1, exports of Hugging Face from 0. A file tells which by its first 4 or 0;
a file without either is refused, since each answer could be its neighbour. Questions of the test split have
no answer, and are left out and counted.

A chunk is a question with its right answer and explanation, so that a file of questions is a knowledge base
for other questions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pytest_medfaith.corpus.sources import SourceFile
from pytest_medfaith.datasets.choices import answered
from pytest_medfaith.datasets.cleaning import one_line, plain_text
from pytest_medfaith.datasets.fields import require_row, require_text, text_or_empty
from pytest_medfaith.datasets.files import data_files, open_text
from pytest_medfaith.datasets.json_stream import values
from pytest_medfaith.datasets.skips import Skips, without_repeats
from pytest_medfaith.errors import DataError, shown
from pytest_medfaith.records import Case, Chunk

_OPTIONS = ("opa", "opb", "opc", "opd")
_LETTERS = ("A", "B", "C", "D")
_NO_ANSWER = -1  # what exports write for the test split
# "Ans. is 'a' i.e., Iron": letters of a list that the reader of a chunk does not see.
_LETTER = re.compile(
    r"\s*(?:the\s+)?(?:correct\s+)?ans(?:wer)?\b[\s.:\-]*(?:is\b)?[\s:\-]*[\"'(]*[a-d][\"')]*(?=[\s.,:;]|$)"
    r"[\s.,:;\-]*(?:i\.?\s?e\.?\b[\s.,:\-]*)?",
    re.IGNORECASE,
)


def read_medmcqa(path: Path, *, skips: Skips | None = None) -> Iterator[Case]:
    """Yields a case for each question of train.json, dev.json or their like, each a JSON object a line.

    Raises:
        DataError: nothing to read, a line that is not a JSON object, a field that is missing or of another
            type, or a file that does not tell whether `cop` counts from 0 or from 1.
    """
    skips = Skips() if skips is None else skips
    return without_repeats(((place, case) for place, case, _ in _records(path, skips)), skips)


def read_medmcqa_chunks(path: Path, *, skips: Skips | None = None) -> Iterator[Chunk]:
    """Yields each question with its right answer and explanation as a chunk, with the id of its case."""
    skips = Skips() if skips is None else skips
    return without_repeats(((place, chunk) for place, _, chunk in _records(path, skips)), skips)


def _records(path: Path, skips: Skips) -> Iterator[tuple[str, Case, Chunk]]:
    for file in data_files(path, r".*\.jsonl?(\.gz)?", expected="questions as JSON Lines, such as dev.json"):
        first = _first_number(file)
        for place, row in _rows(file):
            right = _right(row, place, first)
            question, options = plain_text(require_text(row, "question", place)), _read_options(row, place)
            answer = "" if right is None else options[_LETTERS[right]]
            if right is None or not question or not answer:
                skips.add(
                    "no answer" if right is None else "empty question" if not question else "empty answer",
                    place,
                )
                continue
            name = f"medmcqa/{require_text(row, 'id', place)}"
            yield place, *_case_and_chunk(name, question, answer, row, place, options, _LETTERS[right])


def _case_and_chunk(
    name: str,
    question: str,
    answer: str,
    row: Mapping[str, Any],
    place: str,
    options: Mapping[str, str],
    letter: str,
) -> tuple[Case, Chunk]:
    why = _LETTER.sub("", plain_text(text_or_empty(row, "exp", place)), count=1)
    subject, topic, kind = (
        one_line(text_or_empty(row, field, place)) for field in ("subject_name", "topic_name", "choice_type")
    )
    meta = {"options": options, "answer": letter, "subject": subject, "topic": topic, "kind": kind}
    case = Case(
        id=name,
        slice="medmcqa",
        question=question,
        reference_answer="\n".join(filter(None, [answer if answer.endswith(".") else f"{answer}.", why])),
        references=(name,),
        meta={key: value for key, value in meta.items() if value},
    )
    path = tuple(filter(None, [subject, topic]))
    return case, Chunk(id=name, text=answered(question, answer, why), section_path=path, source="medmcqa")


def _rows(file: SourceFile) -> Iterator[tuple[str, Mapping[str, Any]]]:
    with open_text(file) as stream:
        for place, value in values(stream, file.place):
            yield place, require_row(value, place)


def _read_options(row: Mapping[str, Any], place: str) -> dict[str, str]:
    return {
        letter: one_line(require_text(row, field, place))
        for letter, field in zip(_LETTERS, _OPTIONS, strict=True)
    }


def _first_number(file: SourceFile) -> int:
    """Returns from which number `cop` counts in a file, 0 or 1; 1 where no row has an answer.

    Raises:
        DataError: no row tells, or `cop` is no number.
    """
    some = ""
    for place, row in _rows(file):
        number = _number(row, place)
        if number in (0, len(_OPTIONS)):
            return int(number == len(_OPTIONS))
        some = some or ("" if number is None else place)
    if some:
        raise DataError(
            f"{some}: field 'cop' is from 1 to 3 in all rows of the file, so nothing tells whether it counts "
            "from 1, as in the authors' files, or from 0, as in exports of Hugging Face; give a file with a "
            "row of the first or the last option"
        )
    return 1


def _number(row: Mapping[str, Any], place: str) -> int | None:
    """Returns the number of the right option as written, None where there is none."""
    number = row.get("cop")
    if number is None or number == _NO_ANSWER:
        return None
    if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number <= len(_OPTIONS):
        raise DataError(
            f"{place}: field 'cop' is {shown(number)}, expected a number from 1 to 4, the right option; "
            "check that the file is of this data set"
        )
    return number


def _right(row: Mapping[str, Any], place: str, first: int) -> int | None:
    """Returns the index of the right option from 0, None where the row tells none."""
    number = _number(row, place)
    if number is not None and not first <= number < first + len(_OPTIONS):
        raise DataError(
            f"{place}: field 'cop' is {number}, and the file counts from {first} in rows before; mend the "
            f"record"
        )
    return None if number is None else number - first
