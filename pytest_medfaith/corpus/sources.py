"""Finds the files of a page, a folder or an archive, in a stable order, and reads their bytes."""

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
# Bytes of a page, or of a file in an archive, that may be held at once. XML and JSON Lines outside of
# archives are read in a stream, so they may be larger.
LARGEST = 256 * 1024 * 1024
# Compression makes texts 3 to 30 times smaller, tables of numbers 100 times. A file that grows by more than
# _GROWTH, and to more than _GROWN bytes, was made to fill memory or disk.
_GROWTH = 200
_GROWN = 64 * 1024 * 1024
_BLOCK = 64 * 1024  # bytes
HTML_SUFFIXES = frozenset({".html", ".htm", ".xhtml"})


@dataclass(frozen=True)
class SourceFile:
    """A file of a source, on disk or in an archive.

    Attributes:
        name: its path below the source.
        path: the file on disk, or the archive that holds it.
        size: bytes on disk, compressed in an archive; for progress.
        data: its bytes, if it is in an archive; None for a file on disk.
        too_large: True for a file in an archive that was not read, since it is too large; reading it raises
            DataError.
    """

    name: str
    path: Path
    size: int
    data: bytes | None = None
    too_large: bool = False  # the error is raised only when the file is read, since nobody may need it

    @property
    def place(self) -> str:
        """Where the file is, for messages."""
        return str(self.path) if self.data is None else f"{self.path}: {self.name}"

    @property
    def suffix(self) -> str:
        """The lower-case suffix that says what the file holds: ".html" for "page.HTML.gz"; "" for none."""
        return PurePosixPath(_COMPRESSED.sub("", self.name)).suffix.lower()

    @contextmanager
    def open(self) -> Iterator[IO[bytes]]:
        """Yields a stream of the file's bytes, decompressed.

        Raises:
            DataError: the file cannot be read, its compressed data are cut short or damaged, or it unpacks to
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
            DataError: as `open`, and for more than `LARGEST` bytes.
        """
        with self.open() as stream:
            data = _read_at_most(stream, LARGEST + 1)
        if len(data) > LARGEST:
            raise _too_large(self.place)
        return data


def _read_at_most(stream: IO[bytes], most: int) -> bytes:
    """Returns up to `most` bytes, read in blocks: a buffered stream reserves all memory it is asked for."""
    content = bytearray()
    while len(content) < most and (block := stream.read(min(_BLOCK, most - len(content)))):
        content += block
    return bytes(content)


def _too_large(place: str) -> DataError:
    """Returns the error for a file of more than `LARGEST` bytes."""
    return DataError(
        f"{place}: holds more than {LARGEST >> 20} MiB, too much for a page that is held whole; split it, or "
        "unpack its archive first"
    )


class _Measured(io.RawIOBase):
    """An unpacked stream that raises DataError if it grows absurdly, such as from 1 MB to many GB.

    Args:
        stream: gives the unpacked bytes.
        packed: bytes of the packed file.
        place: the file, for the message.
    """

    def __init__(self, stream: IO[bytes], packed: int, place: str) -> None:
        self._stream = stream
        self._most = max(_GROWN, packed * _GROWTH)
        self._place = place
        self._read = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        """Fills `buffer` and returns how many bytes it got; 0 at the end."""
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
    """Returns `raw` decompressed if `name` ends with .gz, .tgz, .bz2 or .xz, else `raw` itself."""
    opener = _OPENERS.get(PurePosixPath(name).suffix.lower())
    if opener is None:
        return raw
    return cast("IO[bytes]", io.BufferedReader(_Measured(opener(raw), packed, place), _BLOCK))


@contextmanager
def _clear_errors(place: str) -> Iterator[None]:
    """Turns exceptions about damaged files in the block into a DataError that names `place`."""
    try:
        yield
    except _BROKEN as error:
        raise DataError(
            f"{place}: cannot be read to its end ({error or type(error).__name__}); it may be cut short or "
            "damaged, so fetch it again"
        ) from error


def is_archive(path: Path) -> bool:
    """Returns whether the name of `path` is that of a tar or zip archive, such as "pages.tar.gz"."""
    return _TAR.search(path.name) is not None or path.suffix.lower() == ".zip"


def paths_of(src: Path) -> Iterator[Path]:
    """Yields the paths of all files in `src`, in order of name, those in folders too.

    Hidden files, pipes and devices are left out. Links that stay within `src` are followed, and a folder with
    several links to it is read once. A link that leads out of `src` is an error: it would bring in files that
    nobody meant to give.

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
    """Returns whether to enter `folder`, and remembers it if so, since links may lead in circles."""
    _refuse_leaving(folder, root)
    real = folder.resolve()
    within = folder.is_symlink() and real.is_relative_to(root)
    read_elsewhere = within and not _is_hidden(real.relative_to(root).as_posix())
    if read_elsewhere or real in entered:
        return False
    entered.add(real)
    return True


def _refuse_leaving(path: Path, root: Path) -> None:
    """Refuses a link that leads out of the folder `root` (DataError)."""
    if path.is_symlink() and not path.resolve().is_relative_to(root):
        raise DataError(
            f"{path}: leads out of {root}, to '{path.resolve()}'; remove the link, or put a copy in its place"
        )


def _refuse(error: OSError) -> None:
    """Raises DataError for a folder that cannot be listed."""
    raise DataError(
        f"{error.filename}: cannot be listed ({error.strerror}); give yourself the right to read it, or "
        "leave it out"
    ) from error


def source_files(src: Path) -> Iterator[SourceFile]:
    """Yields every file of `src`, those in archives too, each when it is asked for.

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
    """Yields the files in a zip archive by name; `prefix` is put before their names.

    Raises:
        DataError: a file is encrypted, or unpacks to an absurd size.
    """
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
    """Returns a file of an archive with its bytes, or without them and marked `too_large`."""
    data = _read_at_most(stream, LARGEST + 1)
    too_large = len(data) > LARGEST
    return SourceFile(name, path, size, b"" if too_large else data, too_large)


class _Tail:
    """A stream that remembers the last 512 bytes read, where a complete tar archive has only zeros."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self.end = b""

    def read(self, size: int = -1) -> bytes:
        """Returns up to `size` bytes, all for -1, and remembers the last 512."""
        block = self._stream.read(size)
        self.end = (self.end + block)[-tarfile.BLOCKSIZE :]
        return block


def _tar_members(path: Path, prefix: str) -> Iterator[SourceFile]:
    """Yields the files in a tar archive in its order, since it can be read only once and forwards.

    Raises:
        DataError: the archive is cut short.
    """
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
        while tail.read(_BLOCK):  # reading to the end checks the check sum of compressed data
            pass
    if tail.end.strip(b"\0"):
        raise DataError(f"{path}: the archive ends without its end mark; it is cut short, so fetch it again")


def _is_hidden(name: str) -> bool:
    """Returns whether a part of the path begins with a dot."""
    return any(part.startswith(".") and part != "." for part in PurePosixPath(name).parts)


def read_text(file: SourceFile) -> str:
    """Returns the text of `file`.

    It must be UTF-8, UTF-16 with a byte-order mark, or in the encoding that an HTML page declares.

    Raises:
        DataError: other bytes, with file, line and column; or a NUL character, which no text holds.
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
    """Returns text in the encoding that an HTML page declares; DataError for `error` if that fails too."""
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
