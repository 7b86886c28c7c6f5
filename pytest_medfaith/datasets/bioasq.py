"""BioASQ task B: questions of biomedical experts with ideal answers, exact answers and PubMed snippets.

| field | becomes |
|---|---|
| `body` | `question` |
| `ideal_answer` (a text, or several) | the first is `reference_answer`; `meta.ideal_answers` holds all |
| `exact_answer` | `meta.exact_answer`: "yes" or "no", or a list of answers, each a list of its synonyms |
| `type` (yesno, factoid, list, summary) | `meta.type` |
| `documents`, `snippets` | PMIDs in `references`; `meta.qrels` grades them: 2 with a snippet, 1 without |
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pytest_medfaith.datasets.cleaning import one_line, plain_text
from pytest_medfaith.datasets.fields import require_row, require_text, rows, text_or_empty, texts
from pytest_medfaith.datasets.files import data_files, open_text
from pytest_medfaith.datasets.json_stream import array_items
from pytest_medfaith.datasets.skips import Skips, without_repeats
from pytest_medfaith.errors import DataError, shown
from pytest_medfaith.records import Case, Chunk

_PMID = re.compile(r"(?:/pubmed/|pubmed\.ncbi\.nlm\.nih\.gov/)(\d+)")
# Grades of relevance: a marked snippet answers the question, a listed document belongs to it.
_DECISIVE = 2
_SUPPORTIVE = 1


def read_bioasq(path: Path, *, skips: Skips | None = None) -> Iterator[Case]:
    """Yields a case for each question of a golden or training file, or of a folder or archive of them.

    Files are .json or .json.gz. Questions without an ideal answer, as in test files before their release, are
    skipped and counted.

    Raises:
        DataError: nothing to read, a damaged file, JSON or fields of another shape.
    """
    skips = Skips() if skips is None else skips
    return without_repeats(_cases(path, skips), skips)


def read_bioasq_chunks(path: Path, *, skips: Skips | None = None) -> Iterator[Chunk]:
    """Yields each marked snippet once, with its PMID; `start` and `end` are offsets in its section."""
    seen: set[str] = set()
    for place, question in _questions(path):
        for snippet in rows(question, "snippets", place):
            chunk = _chunk(snippet, place)
            if not chunk.text:
                if skips is not None:
                    skips.add("snippet without text", f"{place}, id {chunk.id!r}")
            elif chunk.id not in seen:  # a snippet may serve many questions, which is no fault to count
                seen.add(chunk.id)
                yield chunk


def _questions(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for file in data_files(path, r".*\.json(\.gz)?", expected="BioASQ task B files, .json or .json.gz"):
        with open_text(file) as stream:
            for place, question in array_items(stream, file.place, "questions"):
                yield place, require_row(question, place)


def _cases(path: Path, skips: Skips) -> Iterator[tuple[str, Case]]:
    for place, question in _questions(path):
        name = require_text(question, "id", place)
        answers = [answer for answer in map(plain_text, texts(question, "ideal_answer", place)) if answer]
        text = one_line(require_text(question, "body", place))
        if not text:
            skips.add("empty question", f"{place}, id {name!r}")
        elif not answers:
            skips.add("no ideal answer", f"{place}, id {name!r}")
        else:
            yield place, _case(name, text, answers, question, place)


def _case(name: str, text: str, answers: list[str], question: Mapping[str, Any], place: str) -> Case:
    grades = _grades(question, place)
    meta: dict[str, Any] = {"type": text_or_empty(question, "type", place)}
    exact = _exact_answer(question, place)
    if exact:
        meta["exact_answer"] = exact
    if len(answers) > 1:
        meta["ideal_answers"] = answers
    if grades:
        meta["qrels"] = grades
    return Case(
        id=f"bioasq/{name}",
        slice="bioasq",
        question=text,
        reference_answer=answers[0],
        references=tuple(grades),
        meta=meta,
    )


def _grades(question: Mapping[str, Any], place: str) -> dict[str, int]:
    """Returns {PMID: grade}, decisive documents first; a document outside PubMed has its URL as key."""
    marked = [text_or_empty(snippet, "document", place) for snippet in rows(question, "snippets", place)]
    grades = {_document_id(url): _DECISIVE for url in marked if url}
    for url in texts(question, "documents", place):
        grades.setdefault(_document_id(url), _SUPPORTIVE)
    return grades


def _document_id(url: str) -> str:
    match = _PMID.search(url)
    return match[1] if match else url


def _exact_answer(question: Mapping[str, Any], place: str) -> str | list[list[str]]:
    """Returns the exact answer, "" where it is missing or blank.

    Files publish a factoid's answer as a text, a list of synonyms or a list of synonym lists, and a list's as
    a list of texts or of synonym lists. All these become a list of synonym lists; yes and no become lower
    case.
    """
    answer = question.get("exact_answer")
    if answer is None or answer == [] or (isinstance(answer, str) and not answer.strip()):
        return ""
    if isinstance(answer, str):
        return answer.strip().lower() if question.get("type") == "yesno" else [[one_line(answer)]]
    if isinstance(answer, list) and all(isinstance(item, str) for item in answer):
        synonyms = [one_line(item) for item in answer]
        return [synonyms] if question.get("type") == "factoid" else [[item] for item in synonyms]
    if isinstance(answer, list) and all(isinstance(item, (str, list)) for item in answer):
        groups = [[item] if isinstance(item, str) else item for item in answer]
        if all(isinstance(item, str) for group in groups for item in group):
            return [[one_line(item) for item in group] for group in groups if group]
    raise DataError(
        f"{place}: field 'exact_answer' is {shown(answer)}, expected a text, a list of texts or of synonym "
        "lists; mend the record"
    )


def _chunk(snippet: Mapping[str, Any], place: str) -> Chunk:
    url = require_text(snippet, "document", place)
    raw = require_text(snippet, "text", place)
    section = text_or_empty(snippet, "beginSection", place)
    start, end = snippet.get("offsetInBeginSection"), snippet.get("offsetInEndSection")
    whole = (
        isinstance(start, int)
        and isinstance(end, int)
        and section == text_or_empty(snippet, "endSection", place)
    )
    name, text = _document_id(url), plain_text(raw)
    without_offsets = f"-{zlib.crc32(raw.encode()):08x}" if start is None or end is None else ""
    return Chunk(
        id=f"bioasq/{name}/{section}/{start}-{end}{without_offsets}",
        text=text,
        url=url,
        section_path=(section,) if section else (),
        source="bioasq",
        pmid=name if name != url else None,
        start=start if whole and text == raw else None,
        end=end if whole and text == raw else None,
    )
