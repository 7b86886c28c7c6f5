"""MedQuAD: question-answer pairs from websites of the National Institutes of Health, an XML file a page.

| field | becomes |
|---|---|
| `Question` | `question`; its `qid` and `qtype` stay in `meta` |
| `Answer` | `reference_answer`, and the text of a chunk; empty answers are skipped and counted |
| `Focus`, `source`, `url` | `meta`, and the chunk's `title` and `url` |

Ids are made of the source, the file's name and the pair's number, since some published files share a document
id.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from xml.etree.ElementTree import Element

from pytest_medfaith.datasets.cleaning import one_line, plain_text
from pytest_medfaith.datasets.files import xml_elements
from pytest_medfaith.datasets.skips import Skips, without_repeats
from pytest_medfaith.records import Case, Chunk

# The pages lost their markup. A list item left two or more blanks and a dash, a paragraph or a cell three or
# more blanks.
_ITEM = re.compile(r"(?<!\s)\s{2,}-\s+(?=\S)")
_PARAGRAPH = re.compile(r"(?<=\S)[^\S\n]{3,}(?=\S)")


def read_medquad(path: Path, *, skips: Skips | None = None) -> Iterator[Case]:
    """Yields a case for each answered pair of a folder (searched below), an archive, or an XML file.

    Raises:
        DataError: nothing to read, a damaged archive, XML that is not well-formed, ends early or declares
            entities.
    """
    skips = Skips() if skips is None else skips
    return without_repeats(((place, case) for place, case, _ in _pairs(path, skips)), skips)


def read_medquad_chunks(path: Path, *, skips: Skips | None = None) -> Iterator[Chunk]:
    """Yields a chunk for each answered pair: the whole answer, with the topic and the url of its web page.

    The chunk has the id of the case that `read_medquad` makes of the same pair.

    Args:
        path: a folder (searched below), a .zip or .tar.gz archive, or an XML file.
        skips: counts the pairs that are left out: without a question, without an answer, or with an id that
            was used before. With None they are not reported.

    Raises:
        DataError: as of `read_medquad`.
    """
    skips = Skips() if skips is None else skips
    return without_repeats(((place, chunk) for place, _, chunk in _pairs(path, skips)), skips)


def _pairs(path: Path, skips: Skips) -> Iterator[tuple[str, Case, Chunk]]:
    for file, document in xml_elements(path, "Document"):
        inside = PurePosixPath(file.name)
        page = f"{document.get('source') or inside.parent.name or file.path.parent.name}/{inside.stem}"
        for number, pair in enumerate(document.iter("QAPair"), start=1):
            place = f"{file.place}, pair {number}"
            asked = pair.find("Question")
            question = one_line(_inner_text(asked))
            answer = plain_text(_PARAGRAPH.sub("\n\n", _ITEM.sub("\n- ", _inner_text(pair.find("Answer")))))
            if asked is None or not question:
                skips.add("empty question", place)
            elif not answer:
                skips.add("empty answer", place)
            else:
                name = f"medquad/{page}-{pair.get('pid') or number}"
                yield place, *_records(name, question, answer, asked, document)


def _records(name: str, question: str, answer: str, asked: Element, document: Element) -> tuple[Case, Chunk]:
    focus = one_line(document.findtext("Focus", ""))
    url, kind = document.get("url", ""), asked.get("qtype", "")
    meta = {
        "qid": asked.get("qid", ""),
        "type": kind,
        "focus": focus,
        "source": document.get("source", ""),
        "url": url,
    }
    case = Case(
        id=name, slice="medquad", question=question, reference_answer=answer, references=(name,), meta=meta
    )
    return case, Chunk(
        id=name, text=answer, url=url, title=focus, section_path=(kind,) if kind else (), source="medquad"
    )


def _inner_text(element: Element | None) -> str:
    """Returns the text of `element` and of all elements in it; "" where there is no element."""
    return "" if element is None else "".join(element.itertext())
