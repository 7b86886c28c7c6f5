"""K-QA: patients' questions, physicians' answers, and the statements that an answer must or may make.

| field | becomes |
|---|---|
| `Question`, `Free_form_answer` | `question`, `reference_answer` |
| `Must_have` | gold claims with `key` true, provenance `human` |
| `Nice_to_have` | gold claims with `key` false, provenance `human` |
| `Sources`, `ICD_10_diag` | `meta.sources` (a list), `meta.icd10`, where given |
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pytest_medfaith.corpus.sources import SourceFile
from pytest_medfaith.datasets.cleaning import one_line, plain_text
from pytest_medfaith.datasets.fields import require_row, require_text, text_or_empty, texts
from pytest_medfaith.datasets.files import data_files, open_text
from pytest_medfaith.datasets.json_stream import values
from pytest_medfaith.datasets.skips import Skips
from pytest_medfaith.records import Case, GoldClaim


def read_kqa(path: Path, *, skips: Skips | None = None) -> Iterator[Case]:
    """Yields a case for each line of questions_w_answers.jsonl; the id is the number of the line.

    A folder or archive of .jsonl files is read as a single file.

    Raises:
        DataError: nothing to read, a line that is not a JSON object, a field of another type.
    """
    skips = Skips() if skips is None else skips
    files = data_files(path, r".*\.jsonl(\.gz)?", expected="questions_w_answers.jsonl")
    rows = (found for file in files for found in read_rows(file))
    for number, (place, row) in enumerate(rows, start=1):
        case = case_of_row(row, place, name=f"kqa/{number}", dataset="kqa")
        if not case.question:
            skips.add("empty question", place)
        elif not case.gold_claims:
            skips.add("no statements", place)
        else:
            yield case


def read_rows(file: SourceFile) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yields ("file:line", row) for each object of a JSON Lines file."""
    with open_text(file) as stream:
        for place, row in values(stream, file.place):
            yield place, require_row(row, place)


def case_of_row(row: Mapping[str, Any], place: str, *, name: str, dataset: str) -> Case:
    """Returns the case of a row in K-QA's layout; the answer and the statements may be missing.

    Its meta has "sources" (a list of addresses) and "icd10", where the row has them.

    Args:
        row: with "Question", and perhaps "Free_form_answer", statements, "Sources" and "ICD_10_diag".
        place: the row's place, for messages.
        name: the id of the case.
        dataset: the slice of the case.

    Raises:
        DataError: no question, or a field of another type.
    """
    meta: dict[str, Any] = {}
    sources = text_or_empty(row, "Sources", place).split()
    if sources:
        meta["sources"] = sources
    diagnosis = text_or_empty(row, "ICD_10_diag", place)
    if diagnosis not in ("", "None"):
        meta["icd10"] = diagnosis
    return Case(
        id=name,
        slice=dataset,
        question=one_line(require_text(row, "Question", place)),
        gold_claims=_statements(row, place),
        reference_answer=plain_text(text_or_empty(row, "Free_form_answer", place)) or None,
        meta=meta,
    )


def _statements(row: Mapping[str, Any], place: str) -> tuple[GoldClaim, ...]:
    """Returns the statements as gold claims, must-have ones first; blank and repeated ones are left out."""
    keys: dict[str, bool] = {}
    for field, key in (("Must_have", True), ("Nice_to_have", False)):
        for text in map(one_line, texts(row, field, place)):
            if text:
                keys.setdefault(text, key)
    return tuple(
        GoldClaim(id=f"g{number}", text=text, key=key, provenance="human")
        for number, (text, key) in enumerate(keys.items(), start=1)
    )
