"""Reads the documents of a source: HTML, Markdown, plain text, XML, JSON Lines, PDF and DOCX."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from pytest_medfaith.corpus.html_pages import read_html
from pytest_medfaith.corpus.normalise import one_line
from pytest_medfaith.corpus.pdf_docx import PDF_DOCX_SUFFIXES, read_pdf_or_docx
from pytest_medfaith.corpus.sections import Document, Outline, read_markdown, read_plain_text
from pytest_medfaith.corpus.sources import HTML_SUFFIXES, LARGEST, SourceFile, read_text, source_files
from pytest_medfaith.corpus.xml_pages import read_xml
from pytest_medfaith.errors import DataError, shown

_TEXT_READERS = {
    ".txt": read_plain_text,
    ".text": read_plain_text,
    ".md": read_markdown,
    ".markdown": read_markdown,
}
_TEXT_READERS.update(dict.fromkeys(HTML_SUFFIXES, read_html))
_XML_SUFFIXES = frozenset({".xml", ".nxml"})
SUFFIXES = frozenset({*_TEXT_READERS, *_XML_SUFFIXES, *PDF_DOCX_SUFFIXES, ".jsonl"})


def read_documents(src: Path) -> Iterator[Document]:
    """Yields every document of `src`, each when it is asked for. Files of unknown kinds are skipped.

    `src` is a page, a folder or an archive; a page is a document, and some files hold many.
    """
    for file in source_files(src):
        if file.suffix in SUFFIXES:
            yield from documents_of(file)


def documents_of(file: SourceFile) -> Iterator[Document]:
    """Yields the documents of `file`, each when it is asked for.

    Raises:
        DataError: the file is malformed, cut short, or in another encoding than it declares.
        MissingExtra: a PDF or DOCX without the extra `pdf`.
    """
    for document in _read(file):
        yield replace(document, file=file.name)


def _read(file: SourceFile) -> Iterator[Document]:
    """Yields the documents of `file` by the reader of its suffix."""
    if file.suffix in _XML_SUFFIXES:
        with file.open() as stream:
            yield from read_xml(stream, place=file.place)
    elif file.suffix == ".jsonl":
        yield from _read_rows(file)
    elif file.suffix in PDF_DOCX_SUFFIXES:
        yield read_pdf_or_docx(file)
    else:
        yield _TEXT_READERS[file.suffix](read_text(file))


def _read_rows(file: SourceFile) -> Iterator[Document]:
    """Yields a document for each line of a JSON Lines file.

    Read are `title`, `url`, `year`, an id (`id`, `doc_id` or `pmid`), `abstract` and `text`. The abstract
    comes first and stays a single chunk.

    Raises:
        DataError: a line that is too long, no JSON, or without abstract and text.
    """
    with file.open() as stream:
        for number, line in enumerate(iter(partial(stream.readline, LARGEST), b""), start=1):
            if len(line) == LARGEST:
                raise DataError(
                    f"{file.place}:{number}: a line of {LARGEST >> 20} MiB or more; expected one JSON object "
                    "a line"
                )
            if line.strip():
                yield _row_document(line, number=number, place=f"{file.place}:{number}")


def _row_document(line: bytes, *, number: int, place: str) -> Document:
    """Returns the document of a line; `number` is its line and `place` its file and line, for messages."""
    try:
        row = json.loads(line.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise DataError(f"{place}: not JSON in UTF-8 ({error}); expected one JSON object a line") from None
    if not isinstance(row, dict) or not any(
        isinstance(row.get(key), (str, list)) for key in ("abstract", "text")
    ):
        raise DataError(f"{place}: got {shown(row)}, expected an object with a text in 'abstract' or 'text'")
    title, url, pmid = (one_line(str(row.get(key) or "")) for key in ("title", "url", "pmid"))
    identifier = str(row.get("id") or row.get("doc_id") or pmid or f"#{number}")
    abstract, document = one_line(_joined(row.get("abstract"))), read_plain_text(_joined(row.get("text")))
    document = _below_abstract(abstract, document) if abstract else document
    year = row.get("year")
    return replace(
        document,
        title=title or document.title,
        url=url or (f"https://pubmed.ncbi.nlm.nih.gov/{pmid}/" if pmid else ""),
        year=year if type(year) is int else None,
        pmid=pmid or None,
        item=identifier,
        line=number,
    )


def _joined(text: Any) -> str:
    """Returns a text, or a list of texts joined by line ends; "" for anything else."""
    if isinstance(text, str):
        return text
    return "\n".join(map(str, text)) if isinstance(text, list) else ""


def _below_abstract(abstract: str, document: Document) -> Document:
    """Returns `document` with a section named Abstract before its sections."""
    outline = Outline()
    outline.head(1, "Abstract", shown="Abstract\n")
    outline.write(abstract)
    text, sections = outline.finish()
    if not document.text:
        return Document(text, sections)
    text += "\n\n"
    moved = (
        replace(section, start=section.start + len(text), end=section.end + len(text))
        for section in document.sections
    )
    return replace(document, text=text + document.text, sections=(*sections, *moved))
