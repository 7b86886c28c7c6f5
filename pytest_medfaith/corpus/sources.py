"""Walks a file, a folder or an archive of pages in a stable order and hands out their bytes."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import re
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Any, cast

from pytest_medfaith.errors import DataError

_OPENERS: dict[str, Any] = {".gz": gzip.open, ".tgz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
_TAR = re.compile(r"\.(?:tar(?:\.(?:gz|bz2|xz))?|tgz)$", re.IGNORECASE)
_COMPRESSED = re.compile(r"\.(?:gz|bz2|xz)$", re.IGNORECASE)
_BROKEN = (EOFError, OSError, zlib.error, lzma.LZMAError, tarfile.TarError, zipfile.BadZipFile, NotImplementedError)
_CHARSET = re.compile(rb"""<meta[^>]{0,200}?charset\s*=\s*["']?([\w-]+)""", re.IGNORECASE)
_AS_BROWSERS_READ = dict.fromkeys(("iso-8859-1", "latin1", "latin-1", "ascii", "us-ascii"), "windows-1252")
HTML_SUFFIXES = frozenset({".html", ".htm", ".xhtml"})


@dataclass(frozen=True)
class SourceFile:
    """A file of a source. `name` is its path below the source; `data` its bytes where it comes out of an archive, else they are at `path`.

    `size` is how much of the source on disk is done once this file is, in bytes.
    """

    name: str
    path: Path
    size: int
    data: bytes | None = None

    @property
    def place(self) -> str:
        """Where it is, for messages."""
        return str(self.path) if self.data is None else f"{self.path}: {self.name}"

    @property
    def suffix(self) -> str:
        """The lower-case suffix that says what it holds, that of a compression aside."""
        return PurePosixPath(_COMPRESSED.sub("", self.name)).suffix.lower()

    @contextmanager
    def open(self) -> Iterator[IO[bytes]]:
        """Opens its bytes, decompressed.

        Raises:
            DataError: it cannot be read, or its compressed data end early or are damaged.
        """
        with _clear_errors(self.place):
            raw = self.path.open("rb") if self.data is None else io.BytesIO(self.data)
            with raw, _decompressed(self.name, raw) as stream:
                yield stream


def _decompressed(name: str, raw: IO[bytes]) -> IO[bytes]:
    opener = _OPENERS.get(PurePosixPath(name).suffix.lower())
    return raw if opener is None else cast("IO[bytes]", opener(raw))


@contextmanager
def _clear_errors(place: str) -> Iterator[None]:
    try:
        yield
    except _BROKEN as error:
        raise DataError(
            f"{place}: cannot be read to its end ({error or type(error).__name__}); it may be cut short or damaged, so fetch it again"
        ) from error


def is_archive(path: Path) -> bool:
    """Returns whether `path` is named like a tar or zip archive."""
    return _TAR.search(path.name) is not None or path.suffix.lower() == ".zip"


def paths_of(src: Path) -> Iterator[Path]:
    """Yields the files of `src` by name, folders searched below; hidden ones, pipes and devices are passed over.

    Links to folders are followed; a folder that has several names is read once, by its own name where it lies in `src`.

    Raises:
        DataError: `src` does not exist, or a folder or link in it cannot be followed.
    """
    if not src.exists():
        raise DataError(f"{src}: no such file or folder; expected pages, a folder of pages, or a .tar.gz or .zip archive of them")
    if not src.is_dir():
        yield src
        return
    root = src.resolve()
    entered = {root}
    for folder, folders, files in os.walk(src, onerror=_refuse, followlinks=True):
        folders[:] = [name for name in sorted(folders) if not name.startswith(".") and _is_new(Path(folder, name), root, entered)]
        for path in (Path(folder, name) for name in sorted(files) if not name.startswith(".")):
            if not path.exists():
                raise DataError(f"{path}: points to '{path.readlink()}', which does not exist; mend or remove the link")
            if path.is_file():
                yield path


def _is_new(folder: Path, root: Path, entered: set[Path]) -> bool:
    """Returns whether to enter `folder`, and notes it; without this a link to a folder above would lead in circles."""
    real = folder.resolve()
    elsewhere = folder.is_symlink() and real.is_relative_to(root) and not _is_hidden(real.relative_to(root).as_posix())
    if elsewhere or real in entered:
        return False
    entered.add(real)
    return True


def _refuse(error: OSError) -> None:
    raise DataError(
        f"{error.filename}: cannot be listed ({error.strerror}); give yourself the right to read it, or leave it out"
    ) from error


def source_files(src: Path) -> Iterator[SourceFile]:
    """Yields every file of `src`, those inside archives too, one at a time.

    Raises:
        DataError: `src` does not exist, or an archive is cut short or damaged.
    """
    for path in paths_of(src):
        name = path.relative_to(src).as_posix() if src.is_dir() else path.name
        if not is_archive(path):
            yield SourceFile(name, path, path.stat().st_size)
            continue
        prefix = f"{name}/" if src.is_dir() else ""
        with _clear_errors(str(path)):
            yield from _zip_members(path, prefix) if path.suffix.lower() == ".zip" else _tar_members(path, prefix)


def _zip_members(path: Path, prefix: str) -> Iterator[SourceFile]:
    with zipfile.ZipFile(path) as archive:
        for member in sorted(archive.infolist(), key=lambda info: info.filename):
            if member.is_dir() or _is_hidden(member.filename):
                continue
            if member.flag_bits & 1:
                raise DataError(f"{path}: {member.filename} is encrypted; unpack the archive with its password first")
            yield SourceFile(prefix + member.filename, path, member.compress_size, archive.read(member))


class _Tail:
    """A stream that remembers the end of what was read of it."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self.end = b""

    def read(self, size: int = -1) -> bytes:
        block = self._stream.read(size)
        self.end = (self.end + block)[-tarfile.BLOCKSIZE :]
        return block


def _tar_members(path: Path, prefix: str) -> Iterator[SourceFile]:
    """Yields the members in the archive's order: it can be read only once, forwards."""
    done = 0
    with path.open("rb") as raw, _decompressed(path.name, raw) as stream:
        tail = _Tail(stream)
        with tarfile.open(fileobj=cast("IO[bytes]", tail), mode="r|") as archive:
            for member in archive:
                content = archive.extractfile(member) if member.isfile() and not _is_hidden(member.name) else None
                if content is not None:
                    name = member.name.removeprefix("./")
                    yield SourceFile(prefix + name, path, raw.tell() - done, content.read())
                    done = raw.tell()
                archive.members = []  # type: ignore[attr-defined]  # tarfile keeps every member it saw, so an archive of millions would fill the memory
        while tail.read(1 << 20):  # the check sum of the compression stands at its end
            pass
    if tail.end.strip(b"\0"):
        raise DataError(f"{path}: the archive ends without its end mark; it is cut short, so fetch it again")


def _is_hidden(name: str) -> bool:
    return any(part.startswith(".") and part != "." for part in PurePosixPath(name).parts)


def read_text(file: SourceFile) -> str:
    """Returns the text of `file`: UTF-8 with or without a byte-order mark, UTF-16 with one, or what an HTML page declares.

    Raises:
        DataError: bytes that are no such text, with file, line and column.
    """
    with file.open() as stream:
        data = stream.read()
    encoding = "utf-16" if data.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        text = _decoded_as_declared(file, data, encoding, error)
    if "\0" in text:
        raise DataError(
            f"{file.place}: holds a NUL character at {text.index(chr(0))}; it is no text file, so give it its own suffix or remove it"
        )
    return text


def _decoded_as_declared(file: SourceFile, data: bytes, encoding: str, error: UnicodeDecodeError) -> str:
    declared = _CHARSET.search(data[:2048]) if file.suffix in HTML_SUFFIXES else None
    if declared is not None:
        name = declared[1].decode("ascii").lower()
        try:
            return data.decode(_AS_BROWSERS_READ.get(name, name))
        except (UnicodeDecodeError, LookupError):
            encoding = name
    before = data[: error.start]
    line, column = before.count(b"\n") + 1, error.start - before.rfind(b"\n")
    found = data[error.start : error.start + 1]
    raise DataError(
        f"{file.place}:{line}:{column}: byte {found!r} is not {encoding.removesuffix('-sig')}; save the file as UTF-8"
    ) from None
