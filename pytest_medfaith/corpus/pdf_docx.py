"""Reads PDF and DOCX with docling (extra `pdf`), which finds headings, tables and reading order."""

from __future__ import annotations

from functools import lru_cache
from io import BytesIO
from typing import Any

from pytest_medfaith.corpus.sections import Document, read_markdown
from pytest_medfaith.corpus.sources import SourceFile
from pytest_medfaith.errors import DataError, MissingExtra

PDF_DOCX_SUFFIXES = frozenset({".pdf", ".docx"})


def read_pdf_or_docx(file: SourceFile) -> Document:
    """Returns the document of a PDF or DOCX file; docling turns it into Markdown first.

    Raises:
        MissingExtra: docling is not installed, or lacks what this kind of file needs.
        DataError: docling cannot convert the file, or cannot fetch the layout models with which it reads PDF.
    """
    try:
        from docling.datamodel.base_models import DocumentStream
        from docling.exceptions import ConversionError
    except ImportError:
        raise MissingExtra(f"reading {file.place}", "pdf") from None
    content = DocumentStream(name=file.name.rpartition("/")[2], stream=BytesIO(file.read()))
    try:
        converted = _converter().convert(content)
    except ImportError as error:
        raise MissingExtra(f"reading {file.place}", "pdf") from error
    except OSError as error:
        raise DataError(
            f"{file.place}: docling cannot load its layout models ({error}); fetch them with "
            "`docling-tools models download` where there is a network, or give the file's text as .md or .txt"
        ) from error
    except ConversionError as error:
        raise DataError(
            f"{file.place}: cannot be converted ({error}); open it and save it again, or give its text as "
            ".md or .txt"
        ) from error
    return read_markdown(converted.document.export_to_markdown())


@lru_cache(maxsize=1)
def _converter() -> Any:
    """Returns docling's converter, one for all files of a run: it loads the layout models."""
    from docling.document_converter import DocumentConverter

    return DocumentConverter()
