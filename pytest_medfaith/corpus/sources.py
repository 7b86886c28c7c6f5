"""Walks a file, a folder or an archive of pages in a stable order, and reads their bytes."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import re
import stat
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
_BROKEN = (
    EOFError,
    OSError,
    zlib.error,
    lzma.LZMAError,
    tarfile.TarError,
    zipfile.BadZipFile,
    NotImplementedError,
)
_CHARSET = re.compile(rb"""<meta[^>]{0,200}?charset\s*=\s*["']?([\w-]+)""", re.IGNORECASE)
_AS_BROWSERS_READ = dict.fromkeys(("iso-8859-1", "latin1", "latin-1", "ascii", "us-ascii"), "windows-1252")
# Bytes of a page, or of a member of an archive, that are held at once; XML and JSON Lines outside of archives
# are read in a stream.
LARGEST = 256 * 1024 * 1024
# Compression makes texts 3 to 30 times smaller, tables of numbers 100 times. A file that grows by more than
# _GROWTH, and to more than _GROWN bytes, was made to fill memory or disk.
_GROWTH = 200
_GROWN = 64 * 1024 * 1024
_BLOCK = 64 * 1024  # bytes
HTML_SUFFIXES = frozenset({".html", ".htm", ".xhtml"})


@dataclass(frozen=True)
class SourceFile:
    """A file of a source.

    `name` is its path below the source. `data` holds its bytes where it is a member of an archive; else the
    bytes are at `path`. `size` is its share of the source on disk, in bytes.
    """

    name: str
    path: Path
    size: int
    data: bytes | None = None
    too_large: bool = False  # a member of an archive that was not read: perhaps nobody asks for it

    @property
    def place(self) -> str:
        """Where the file is, for messages."""
        return str(self.path) if self.data is None else f"{self.path}: {self.name}"

    @property
    def suffix(self) -> str:
        """The lower-case suffix that says what the file holds; of "page.html.gz" it is ".html"."""
        return PurePosixPath(_COMPRESSED.sub("", self.name)).suffix.lower()

    @contextmanager
    def open(self) -> Iterator[IO[bytes]]:
        """Opens the bytes of the file, decompressed.

        Raises:
            DataError: the file cannot be read, its compressed data end early or are damaged, or it unpacks to
                an absurd size.
        """
        if self.too_large:
            raise _too_large(self.place)
        with _clear_errors(self.place):
            raw = self.path.open("rb") if self.data is None else io.BytesIO(self.data)
            packed = self.path.stat().st_size if self.data is None else len(self.data)
            with raw, _decompressed(self.name, raw, packed, self.place) as stream:
                yield stream

    def read(self) -> bytes:
        """Returns the bytes of the file, decompressed.

        Raises:
            DataError: as `open`, and where the bytes are more than a page may hold.
        """
        with self.open() as stream:
            data = _read_at_most(stream, LARGEST + 1)
        if len(data) > LARGEST:
            raise _too_large(self.place)
        return data


def _read_at_most(stream: IO[bytes], most: int) -> bytes:
    """Returns up to `most` bytes; reads blocks, since a buffered stream takes all memory it is asked for."""
    content = bytearray()
    while len(content) < most and (block := stream.read(min(_BLOCK, most - len(content)))):
        content += block
    return bytes(content)


def _too_large(place: str) -> DataError:
    return DataError(
        f"{place}: holds more than {LARGEST >> 20} MiB, too much for a page that is held whole; split it, or "
        "unpack its archive first"
    )


class _Measured(io.RawIOBase):
    """An unpacked stream that raises DataError where it grows absurdly, such as from 1 MB to many GB."""

    def __init__(self, stream: IO[bytes], packed: int, place: str) -> None:
        self._stream = stream
        self._most = max(_GROWN, packed * _GROWTH)
        self._place = place
        self._read = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._stream.read(len(buffer))
        self._read += len(data)
        if self._read > self._most:
            raise DataError(
                f"{self._place}: unpacks to more than {_GROWTH} times its size, as no text does; it was made "
                "to fill memory, or is damaged. Unpack it yourself if you trust it"
            )
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._stream.close()
        super().close()


def _decompressed(name: str, raw: IO[bytes], packed: int, place: str) -> IO[bytes]:
    """Returns `raw`, or what it unpacks to where `name` says that it is compressed."""
    opener = _OPENERS.get(PurePosixPath(name).suffix.lower())
    if opener is None:
        return raw
    return cast("IO[bytes]", io.BufferedReader(_Measured(opener(raw), packed, place), _BLOCK))


@contextmanager
def _clear_errors(place: str) -> Iterator[None]:
    """Turns the errors of damaged files into a DataError that names `place`."""
    try:
        yield
    except _BROKEN as error:
        raise DataError(
            f"{place}: cannot be read to its end ({error or type(error).__name__}); it may be cut short or "
            "damaged, so fetch it again"
        ) from error


def is_archive(path: Path) -> bool:
    """Returns whether `path` is named like a tar or zip archive."""
    return _TAR.search(path.name) is not None or path.suffix.lower() == ".zip"


def paths_of(src: Path) -> Iterator[Path]:
    """Yields the files of `src` by name, folders searched below, without hidden files, pipes and devices.

    Links within `src` are followed. A folder that several links lead to is read once, under its real name. A
    link that leads out of `src` is an error: it would bring in files that nobody meant to give.

    Raises:
        DataError: `src` does not exist, or a folder or link in it cannot be followed, or leads out.
    """
    if not src.exists():
        raise DataError(
            f"{src}: no such file or folder; expected pages, a folder of pages, or a .tar.gz or .zip archive "
            "of them"
        )
    if not src.is_dir():
        yield src
        return
    root = src.resolve()
    entered = {root}
    for folder, folders, files in os.walk(src, onerror=_refuse, followlinks=True):
        visible = [name for name in sorted(folders) if not name.startswith(".")]
        folders[:] = [name for name in visible if _is_new(Path(folder, name), root, entered)]
        for path in (Path(folder, name) for name in sorted(files) if not name.startswith(".")):
            if not path.exists():
                raise DataError(
                    f"{path}: points to '{path.readlink()}', which does not exist; mend or remove the link"
                )
            _refuse_leaving(path, root)
            if path.is_file():
                yield path


def _is_new(folder: Path, root: Path, entered: set[Path]) -> bool:
    """Returns whether to enter `folder`, and notes it: a link to a folder above must not lead in circles."""
    _refuse_leaving(folder, root)
    real = folder.resolve()
    within = folder.is_symlink() and real.is_relative_to(root)
    read_elsewhere = within and not _is_hidden(real.relative_to(root).as_posix())
    if read_elsewhere or real in entered:
        return False
    entered.add(real)
    return True


def _refuse_leaving(path: Path, root: Path) -> None:
    if path.is_symlink() and not path.resolve().is_relative_to(root):
        raise DataError(
            f"{path}: leads out of {root}, to '{path.resolve()}'; remove the link, or put a copy in its place"
        )


def _refuse(error: OSError) -> None:
    raise DataError(
        f"{error.filename}: cannot be listed ({error.strerror}); give yourself the right to read it, or "
        "leave it out"
    ) from error


def source_files(src: Path) -> Iterator[SourceFile]:
    """Yields every file of `src`, also the members of archives, each when it is asked for.

    Raises:
        DataError: `src` does not exist, or an archive is cut short or damaged.
    """
    for path in paths_of(src):
        name = path.relative_to(src).as_posix() if src.is_dir() else path.name
        if not is_archive(path):
            yield SourceFile(name, path, path.stat().st_size)
            continue
        prefix = f"{name}/" if src.is_dir() else ""
        members = _zip_members if path.suffix.lower() == ".zip" else _tar_members
        with _clear_errors(str(path)):
            yield from members(path, prefix)


def _zip_members(path: Path, prefix: str) -> Iterator[SourceFile]:
    with zipfile.ZipFile(path) as archive:
        for member in sorted(archive.infolist(), key=lambda info: info.filename):
            if member.is_dir() or _is_hidden(member.filename) or stat.S_ISLNK(member.external_attr >> 16):
                continue
            if member.flag_bits & 1:
                raise DataError(
                    f"{path}: {member.filename} is encrypted; unpack the archive with its password first"
                )
            if member.file_size > max(_GROWN, member.compress_size * _GROWTH):
                raise DataError(
                    f"{path}: {member.filename}: unpacks to {member.file_size >> 20} MiB, more than "
                    f"{_GROWTH} times its size, as no text does; unpack it yourself if you trust it"
                )
            with archive.open(member) as stream:
                yield _member(prefix + member.filename, path, member.compress_size, stream)


def _member(name: str, path: Path, size: int, stream: IO[bytes]) -> SourceFile:
    """Returns a member of an archive with its bytes; without them, and marked, where they are too many."""
    data = _read_at_most(stream, LARGEST + 1)
    too_large = len(data) > LARGEST
    return SourceFile(name, path, size, b"" if too_large else data, too_large)


class _Tail:
    """A stream that remembers the last 512 bytes that were read."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self.end = b""

    def read(self, size: int = -1) -> bytes:
        block = self._stream.read(size)
        self.end = (self.end + block)[-tarfile.BLOCKSIZE :]
        return block


def _tar_members(path: Path, prefix: str) -> Iterator[SourceFile]:
    """Yields the members in the order of the archive, which can be read only once, forwards."""
    done = 0
    with path.open("rb") as raw, _decompressed(path.name, raw, path.stat().st_size, str(path)) as stream:
        tail = _Tail(stream)
        with tarfile.open(fileobj=cast("IO[bytes]", tail), mode="r|") as archive:
            for member in archive:
                wanted = member.isfile() and not _is_hidden(member.name)
                content = archive.extractfile(member) if wanted else None
                if content is not None:
                    name = member.name.removeprefix("./")
                    yield _member(prefix + name, path, raw.tell() - done, content)
                    done = raw.tell()
                # tarfile keeps every member it saw; an archive of millions would fill the memory.
                archive.members = []  # type: ignore[attr-defined]
        while tail.read(_BLOCK):  # compressed data end with a check sum
            pass
    if tail.end.strip(b"\0"):
        raise DataError(f"{path}: the archive ends without its end mark; it is cut short, so fetch it again")


def _is_hidden(name: str) -> bool:
    return any(part.startswith(".") and part != "." for part in PurePosixPath(name).parts)


def read_text(file: SourceFile) -> str:
    """Returns the text of `file`.

    It is UTF-8 with or without a byte-order mark, UTF-16 with a byte-order mark, or in the encoding that an
    HTML page declares.

    Raises:
        DataError: bytes that are no such text, with file, line and column.
    """
    data = file.read()
    encoding = "utf-16" if data.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        text = _decoded_as_declared(file, data, encoding, error)
    if "\0" in text:
        raise DataError(
            f"{file.place}: holds a NUL character at {text.index(chr(0))}; it is no text file, so give it "
            "the suffix of its kind or remove it"
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
        f"{file.place}:{line}:{column}: byte {found!r} is not {encoding.removesuffix('-sig')}; save the file "
        "as UTF-8"
    ) from None
