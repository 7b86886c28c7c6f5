"""Opens the files, folders and archives that data sets come in, as streams; damage is an error that names the file and the place."""

from __future__ import annotations

import gzip
import io
import os
import re
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from pytest_medfaith.errors import DataError


@contextmanager
def naming(place: str) -> Iterator[None]:
    """Turns what a damaged file raises inside the block into a DataError that begins with `place`."""
    try:
        yield
    except UnicodeDecodeError as error:
        found = error.object[error.start : error.start + 1]
        raise DataError(f"{place}: byte {found!r} is not UTF-8 ({error.reason}); save the file as UTF-8") from None
    except (EOFError, zlib.error, gzip.BadGzipFile, tarfile.TarError, zipfile.BadZipFile) as error:
        raise DataError(f"{place}: the compressed file is damaged or was cut short ({error}); fetch it again") from None
    except OSError as error:
        raise DataError(f"{place}: cannot be read ({error.strerror or error}); check the path and its permissions") from None


@contextmanager
def open_bytes(path: Path) -> Iterator[IO[bytes]]:
    """Opens `path` for reading; a name that ends in .gz or .tgz is decompressed as it is read."""
    with naming(str(path)), path.open("rb") as file:
        yield cast("IO[bytes]", gzip.GzipFile(fileobj=file)) if path.suffix in (".gz", ".tgz") else file


@contextmanager
def open_text(path: Path, *, newline: str | None = None) -> Iterator[IO[str]]:
    """Opens `path` as UTF-8 text, with or without a byte order mark; see `open_bytes` and, for `newline`, `open`."""
    with open_bytes(path) as stream, io.TextIOWrapper(stream, encoding="utf-8-sig", newline=newline) as text:
        yield text


def source_files(path: Path, pattern: str, *, expected: str) -> Iterator[Path]:
    """Yields `path` itself if it is a file, else the files below it whose name matches the regular expression, in name order.

    Args:
        path: file or folder.
        pattern: regular expression that the whole file name must match; not asked of a file given by itself.
        expected: what the files are, for the message.

    Raises:
        DataError: no such path, or a folder without such a file.
    """
    if path.is_file():
        yield path
        return
    if not path.is_dir():
        raise DataError(f"{path}: no such file or folder; expected {expected}")
    found = False
    for folder, folders, names in os.walk(path):
        folders.sort()
        for name in sorted(names):
            if re.fullmatch(pattern, name, re.IGNORECASE) and not name.startswith("."):
                found = True
                yield Path(folder, name)
    if not found:
        raise DataError(f"{path}: the folder holds nothing to read; expected {expected}")


def documents(path: Path, suffix: str) -> Iterator[tuple[str, IO[bytes]]]:
    """Yields (place, open stream) for each file that ends in `suffix`: in a folder, a .zip, .tar.gz or .tgz archive, or `path` itself.

    Nothing is unpacked to disk. A stream is closed when the next one is asked for. Folders come in name order, archives in
    their own.

    Raises:
        DataError: nothing there to read, or an archive that is damaged or was cut short.
    """
    if path.is_file() and path.name.lower().endswith((".tar.gz", ".tgz")):
        yield from _some(_tar_members(path, suffix), path, suffix)
    elif path.is_file() and path.suffix.lower() == ".zip":
        yield from _some(_zip_members(path, suffix), path, suffix)
    else:
        for file in source_files(path, rf".*{re.escape(suffix)}", expected=f"{suffix} files, or a .zip or .tar.gz archive of them"):
            with open_bytes(file) as stream:
                yield str(file), stream


def _some(members: Iterator[tuple[str, IO[bytes]]], path: Path, suffix: str) -> Iterator[tuple[str, IO[bytes]]]:
    found = False
    for member in members:
        found = True
        yield member
    if not found:
        raise DataError(f"{path}: the archive holds no {suffix} file; expected an archive of {suffix} files")


def _tar_members(path: Path, suffix: str) -> Iterator[tuple[str, IO[bytes]]]:
    """Yields the members of a gzipped tar in one pass; the checksum at its very end is read too, so a cut file never passes."""
    with open_bytes(path) as stream:
        with tarfile.open(fileobj=stream, mode="r|") as archive:
            for member in archive:
                content = archive.extractfile(member) if member.isfile() and _wanted(member.name, suffix) else None
                if content is not None:
                    yield f"{path}/{member.name}", content
        while stream.read(1 << 20):
            pass


def _zip_members(path: Path, suffix: str) -> Iterator[tuple[str, IO[bytes]]]:
    with naming(str(path)), zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            if not member.is_dir() and _wanted(member.filename, suffix):
                with archive.open(member) as content:
                    yield f"{path}/{member.filename}", content


def _wanted(name: str, suffix: str) -> bool:
    base = name.rsplit("/", 1)[-1]
    return base.lower().endswith(suffix) and not base.startswith(".")
