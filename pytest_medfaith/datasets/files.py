"""Opens the files, folders and archives that data sets come in, as streams.

Damage is an error that names the file and the place.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO
from xml.etree.ElementTree import Element  # a type here; corpus.safe_xml parses

from pytest_medfaith.corpus.safe_xml import xml_records
from pytest_medfaith.corpus.sources import SourceFile, is_archive, source_files
from pytest_medfaith.errors import DataError


def data_files(path: Path, pattern: str, *, expected: str) -> Iterator[SourceFile]:
    """Yields `path` itself, or the files of a folder or archive whose name matches; unpacks nothing to disk.

    Args:
        path: file, folder (searched below), .zip or .tar.gz archive.
        pattern: regular expression that the whole file name must match; a `path` that is a file need not
            match.
        expected: what the files are, for the message.

    Raises:
        DataError: no such path, a folder or archive without such a file, or an archive that is damaged or was
            cut short.
    """
    if not path.exists():
        raise DataError(f"{path}: no such file or folder; expected {expected}; check the path")
    alone = path.is_file() and not is_archive(path)
    found = False
    for file in source_files(path):
        if alone or re.fullmatch(pattern, PurePosixPath(file.name).name, re.IGNORECASE):
            found = True
            yield file
    if not found:
        raise DataError(f"{path}: nothing to read in it; expected {expected}")


@contextmanager
def open_text(file: SourceFile, *, newline: str | None = None) -> Iterator[IO[str]]:
    """Opens `file`, decompressed, as UTF-8 text with or without a byte order mark; for `newline` see `open`.

    Raises:
        DataError: bytes that are not UTF-8, with file and line.
    """
    with file.open() as stream, io.TextIOWrapper(stream, encoding="utf-8-sig", newline=newline) as text:
        try:
            yield text
        except UnicodeDecodeError as error:
            found = error.object[error.start : error.start + 1]
            raise DataError(
                f"{file.place}:{_bad_line(file)}: byte {found!r} is not UTF-8 ({error.reason}); save the "
                "file as UTF-8"
            ) from None


def _bad_line(file: SourceFile) -> int:
    """Returns the number of the first line that is not UTF-8; the text is decoded in blocks, not lines."""
    with file.open() as stream:
        lines = enumerate(stream, start=1)
        return next((number for number, line in lines if line.decode(errors="ignore").encode() != line), 0)


def xml_elements(path: Path, tag: str) -> Iterator[tuple[SourceFile, Element]]:
    """Yields (file, element) for each outermost element named `tag` of the XML files at `path`.

    A single element is in memory at a time.

    Raises:
        DataError: see `data_files` and `corpus.safe_xml.xml_records`, which refuses entities.
    """
    expected = "XML files, or a .zip or .tar.gz archive of them"
    for file in data_files(path, r".*\.xml(\.gz)?", expected=expected):
        with file.open() as stream:
            for _, element in xml_records(stream, place=file.place, tags=frozenset({tag})):
                yield file, element
