"""Reads the published texts on which claims were written, as (id, text) with single spaces."""

from __future__ import annotations

import json
import re
import tarfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from pytest_medfaith.datasets.medquad import read_medquad_chunks
from training.rows import json_lines

# In the files of Evidence Inference a heading is a whole line.
_HEADING = re.compile(r"(?:TITLE|ABSTRACT|BODY)\b[.:].*")


def _pubmedqa(path: Path) -> Iterator[tuple[str, str]]:
    """Yields each abstract with its conclusion, by its PubMed number."""
    for pmid, row in json.loads(path.read_text(encoding="utf-8")).items():
        yield pmid, _spaced(" ".join([*row["CONTEXTS"], row["LONG_ANSWER"]]))


def _scifact(path: Path) -> Iterator[tuple[str, str]]:
    """Yields each abstract, by its id."""
    for row in json_lines(path):
        yield str(row["doc_id"]), _spaced(" ".join(row["abstract"]))


def _check_covid(path: Path) -> Iterator[tuple[str, str]]:
    """Yields each abstract, by its id."""
    for row in json_lines(path):
        yield row["cord_id"], _spaced(" ".join(row["abstract"]))


def _evidence_inference(path: Path) -> Iterator[tuple[str, str]]:
    """Yields each article's abstract without its headings, by the article's id."""
    for name, text in _articles(path):
        sections = re.findall(r"^ABSTRACT[^\n]*\n(.*?)(?=\n\n\n|\Z)", text, re.DOTALL | re.MULTILINE)
        yield name, _spaced(re.sub(r"\bABSTRACT\.(?:[A-Z/&, -]+[.:]+)?", " ", " ".join(sections)))


def _article_passages(path: Path) -> Iterator[tuple[str, str]]:
    """Yields the paragraphs of each article's body, then its abstract as a single text.

    Their ids are ARTICLE/NUMBER and ARTICLE/abstract.
    """
    for name, text in _articles(path):
        abstract, heading, number = [], "", 0
        for line in text.split("\n"):
            if _HEADING.fullmatch(line):
                heading = line
            elif heading.startswith("ABSTRACT"):
                abstract.append(line)
            elif heading.startswith("BODY") and line.strip():
                for paragraph in re.split(r"\s{2,}", line.strip()):
                    number += 1
                    yield f"{name}/{number}", _spaced(paragraph)
        yield f"{name}/abstract", _spaced(" ".join(abstract))


def _articles(path: Path) -> Iterator[tuple[str, str]]:
    """Yields (article's id, text) for each file of an archive."""
    with tarfile.open(path) as archive:
        for member in archive:
            file = archive.extractfile(member)
            if file is not None:
                yield Path(member.name).stem, file.read().decode("utf-8")


def _medquad(path: Path) -> Iterator[tuple[str, str]]:
    """Yields each answer, by its id."""
    for chunk in read_medquad_chunks(path):
        yield chunk.id, _spaced(chunk.text)


def _spaced(text: str) -> str:
    """Returns `text` with single spaces in place of all white space."""
    return " ".join(text.split())


# The reader of each data set: the file or folder of its texts -> (id, text).
TEXTS: dict[str, Callable[[Path], Iterable[tuple[str, str]]]] = {
    "check_covid": _check_covid,
    "evidence_inference": _evidence_inference,
    "evidence_inference_articles": _article_passages,
    "medquad": _medquad,
    "pubmedqa": _pubmedqa,
    "scifact": _scifact,
}
