"""MedDialog (English) and COVID-Dialogue: dialogues of patients and doctors as text files.

    id=1
    https://...

    Description
    the patient's question in short

    Dialogue
    Patient:
    ...
    Doctor:
    ...

| part | becomes |
|---|---|
| `Description`, else the first turn of the patient | `question` |
| turns of the doctor | `reference_answer`, turns apart by a blank line |
| address | `meta.url` |

Patients wrote these texts: messages and counts name files, lines and ids, and never quote a text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from pytest_medfaith.datasets.cleaning import one_line, plain_text
from pytest_medfaith.datasets.files import data_files, open_text
from pytest_medfaith.datasets.skips import Skips, without_repeats
from pytest_medfaith.errors import DataError
from pytest_medfaith.records import Case

_ID = re.compile(r"id\s*=\s*(\S+)")
# Headings that may follow in each part of a record, and the part they begin; anywhere else the same words are
# text.
_NEXT = {
    "address": {"Description": "description", "Dialogue": "dialogue"},
    "description": {"Dialogue": "dialogue"},
    "dialogue": {"Patient:": "dialogue", "Doctor:": "dialogue"},
}


@dataclass
class _Dialogue:
    """A dialogue while it is read. Patients wrote its texts, so they are left out of its repr."""

    id: str
    place: str
    address: list[str] = field(default_factory=list, repr=False)
    description: list[str] = field(default_factory=list, repr=False)
    turns: list[tuple[str, list[str]]] = field(default_factory=list, repr=False)

    def said_by(self, speaker: str) -> list[str]:
        """Returns the turns of "Patient:" or "Doctor:" that hold text."""
        said = (plain_text("\n".join(lines)) for name, lines in self.turns if name == speaker)
        return [text for text in said if text]


def read_meddialog(path: Path, *, skips: Skips | None = None) -> Iterator[Case]:
    """Yields a case for each dialogue of a text file, or of the .txt files of a folder or archive.

    Dialogues without a question or without a doctor's turn, and ids used before, are skipped and counted.

    Raises:
        DataError: nothing to read, a file without a record, bytes that are not UTF-8.
    """
    skips = Skips() if skips is None else skips
    return without_repeats(_cases(path, skips), skips)


def _cases(path: Path, skips: Skips) -> Iterator[tuple[str, Case]]:
    expected = "dialogues as .txt, each record begun by a line id=NUMBER"
    for file in data_files(path, r".*\.txt(\.gz)?", expected=expected):
        with open_text(file) as stream:
            for dialogue in _dialogues(stream, file.place):
                described = re.sub(r"^Q\.\s+", "", one_line(" ".join(dialogue.description)))
                question = described or one_line(" ".join(dialogue.said_by("Patient:")[:1]))
                answer = "\n\n".join(dialogue.said_by("Doctor:"))
                if question and answer:
                    yield dialogue.place, _case(dialogue, question, answer)
                else:
                    reason = "no question" if not question else "no answer of a doctor"
                    skips.add(reason, f"{dialogue.place}, id {dialogue.id}")


def _dialogues(stream: IO[str], place: str) -> Iterator[_Dialogue]:
    dialogue: _Dialogue | None = None
    part = "address"
    for number, line in enumerate(stream, start=1):
        word = line.strip()
        match = _ID.fullmatch(word)
        if match:
            if dialogue:
                yield dialogue
            dialogue, part = _Dialogue(match[1], f"{place}:{number}"), "address"
        elif dialogue and word in _NEXT[part]:
            part = _NEXT[part][word]
            if word in _NEXT["dialogue"]:
                dialogue.turns.append((word, []))
        elif dialogue:
            _lines_of(dialogue, part).append(word)
    if dialogue is None:
        raise DataError(
            f"{place}: no record in this file; expected records begun by a line id=NUMBER; check that the "
            "file is of this data set"
        )
    yield dialogue


def _lines_of(dialogue: _Dialogue, part: str) -> list[str]:
    """Returns the list that the next line of text in `part` is added to."""
    if part == "dialogue":
        if not dialogue.turns:
            dialogue.turns.append(("", []))
        return dialogue.turns[-1][1]
    return dialogue.address if part == "address" else dialogue.description


def _case(dialogue: _Dialogue, question: str, answer: str) -> Case:
    url = " ".join(dialogue.address).strip()
    meta = {"private": True} | ({"url": url} if url else {})
    return Case(
        id=f"meddialog/{dialogue.id}",
        slice="meddialog",
        question=question,
        reference_answer=answer,
        meta=meta,
    )
