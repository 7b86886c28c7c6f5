"""PubMedQA: questions over PubMed abstracts, answered yes, no or maybe, and by the abstract's conclusion.

| field | becomes |
|---|---|
| key | the PMID, in `id` and `meta` |
| `QUESTION` | `question` |
| `LONG_ANSWER` | `reference_answer` |
| `final_decision` (yes, no, maybe) | `meta.decision`, where the file has it |
| `CONTEXTS`, `LABELS` | a chunk for each context, its label as `section_path`; `references` are their ids |

The question is mostly the article's title. The chunks carry no title, which would give the right chunk away
to any retriever.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pytest_medfaith.datasets.cleaning import one_line, plain_text
from pytest_medfaith.datasets.fields import require_row, require_text, text_or_empty, texts
from pytest_medfaith.datasets.files import data_files, open_text
from pytest_medfaith.datasets.json_stream import object_items
from pytest_medfaith.datasets.skips import Skips, without_repeats
from pytest_medfaith.records import Case, Chunk


def read_pubmedqa(path: Path, *, skips: Skips | None = None) -> Iterator[Case]:
    """Yields a case for each record of ori_pqal.json, ori_pqau.json or ori_pqaa.json, or of a folder of them.

    Raises:
        DataError: nothing to read, a damaged file, JSON or fields of another shape.
    """
    skips = Skips() if skips is None else skips
    return without_repeats(_cases(path, skips), skips)


def read_pubmedqa_chunks(path: Path, *, skips: Skips | None = None) -> Iterator[Chunk]:
    """Yields the contexts of each record, a chunk for each section of the abstract.

    A chunk that comes again is left out. `skips` counts what is left out, where it is given.
    """
    skips = Skips() if skips is None else skips
    found = ((place, chunk) for place, pmid, row in _records(path) for chunk in _chunks(pmid, row, place))
    return without_repeats(found, skips)


def _records(path: Path) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    for file in data_files(path, r"ori_pqa\w*\.json(\.gz)?", expected="ori_pqal.json or its like"):
        with open_text(file) as stream:
            for place, pmid, row in object_items(stream, file.place):
                yield place, pmid, require_row(row, place)


def _cases(path: Path, skips: Skips) -> Iterator[tuple[str, Case]]:
    """Yields (place, case); records without a question or an answer are counted in `skips`."""
    for place, pmid, row in _records(path):
        question = one_line(require_text(row, "QUESTION", place))
        answer = plain_text(require_text(row, "LONG_ANSWER", place))
        if not question or not answer:
            skips.add("empty question" if not question else "empty answer", f"{place}, id {pmid!r}")
            continue
        meta = {
            "pmid": pmid,
            "decision": text_or_empty(row, "final_decision", place),
            "year": text_or_empty(row, "YEAR", place),
        }
        case = Case(
            id=f"pubmedqa/{pmid}",
            slice="pubmedqa",
            question=question,
            reference_answer=answer,
            references=tuple(chunk.id for chunk in _chunks(pmid, row, place)),
            meta={name: value for name, value in meta.items() if value},
        )
        yield place, case


def _chunks(pmid: str, row: Mapping[str, Any], place: str) -> Iterator[Chunk]:
    labels = texts(row, "LABELS", place)
    year = text_or_empty(row, "YEAR", place)
    for number, context in enumerate(texts(row, "CONTEXTS", place)):
        text = plain_text(context)
        if text:
            yield Chunk(
                id=f"pubmedqa/{pmid}/{number}",
                text=text,
                url=f"https://pubmed.ncbi.nlm.nih.gov/{pmid}/",
                section_path=tuple(labels[number : number + 1]),
                source="pubmedqa",
                pmid=pmid,
                year=int(year) if year.isdecimal() else None,
            )
