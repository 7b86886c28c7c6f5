"""Reads and writes files of JSON Lines, one object a line; errors name file, line, field and value.

Files are written whole or not at all: a reader never sees half a file.
"""

from __future__ import annotations

import errno
import json
import os
import re
import secrets
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, TypeVar

from pytest_medfaith.conversion import Record
from pytest_medfaith.errors import CannotWrite, DataError, shown
from pytest_medfaith.plain import plain_json
from pytest_medfaith.records import Chunk

R = TypeVar("R", bound=Record)
# Errors of a write, which name no file.
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS})
# Characters of a name that the temporary file repeats in its name; a file system allows some 255 bytes.
_LONGEST_STEM = 200
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")  # half of a character as an escape: fine in pairs


def read_rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yields (line number from 1, object) of each line of `path`; blank lines are skipped.

    Lines are read as they are asked for, so that a large file needs little memory.

    Raises:
        DataError: no such file, bytes that are not UTF-8, a line that is not a JSON object.
    """
    if not path.is_file():
        raise DataError(f"{path}: no such file; check the path, or create it as JSON Lines in UTF-8")
    with path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            row = parse_row(line, f"{path}:{number}", first=number == 1)
            if row is not None:
                yield number, row


def parse_row(line: bytes, place: str, *, first: bool) -> dict[str, Any] | None:
    """Returns the object on a line of JSON Lines; None for a blank line.

    Args:
        line: the bytes of the line.
        place: "file:line", for messages.
        first: whether it is the first line of the file, which may begin with a byte order mark.

    Raises:
        DataError: bytes that are not UTF-8, or no JSON object.
    """
    try:
        text = line.decode("utf-8-sig" if first else "utf-8")
    except UnicodeDecodeError as error:
        raise DataError(
            f"{place}: byte {line[error.start : error.start + 1]!r} at column {error.start + 1} is not "
            "UTF-8; save the file as UTF-8"
        ) from None
    if not text.strip():
        return None
    try:
        row = json.loads(text, parse_constant=refuse_constant)
    except (ValueError, RecursionError) as error:
        why = f"{error.msg} at column {error.colno}" if isinstance(error, json.JSONDecodeError) else error
        raise DataError(f"{place}: not JSON ({why}); expected one JSON object a line") from None
    if not isinstance(row, dict):
        raise DataError(f"{place}: got {shown(row)}, expected one JSON object a line")
    if _SURROGATE.search(text):
        try:
            json.dumps(row, ensure_ascii=False).encode()
        except UnicodeEncodeError as error:
            half = f"\\u{ord(error.object[error.start]):04x}"
            raise DataError(
                f"{place}: {half} is half of a character and cannot be written as UTF-8; mend what wrote "
                "the file"
            ) from None
    return row


def refuse_constant(name: str) -> None:
    """Raises ValueError: NaN and Infinity are no JSON, though Python's reader takes them for numbers."""
    raise ValueError(f"{name} is no JSON number")


def read_records(path: Path, kind: type[R]) -> Iterator[R]:
    """Yields the records of class `kind` in the file `path`, as they are asked for.

    Raises:
        DataError: a line that is no such record, or an id that an earlier line has.
    """
    return records_of(((f"{path}:{number}", row) for number, row in read_rows(path)), kind)


def records_of(rows: Iterable[tuple[str, Mapping[str, Any]]], kind: type[R]) -> Iterator[R]:
    """Yields a record of class `kind` for each of `rows`, as it is asked for.

    Args:
        rows: pairs (place, object); the place, "file:line", is for messages.
        kind: the class.

    Raises:
        DataError: a row that is no such record, or an id that an earlier row has.
    """
    first_seen: dict[str, str] = {}
    for place, row in rows:
        try:
            record = kind.from_dict(row)
        except DataError as error:
            raise DataError(f"{place}: {error}") from None
        name = getattr(record, "id", None)
        if name is not None and first_seen.setdefault(name, place) != place:
            earlier = re.sub(r".*:(?=\d+$)", "line ", first_seen[name]).rpartition(": ")[2]
            raise DataError(f"{place}: id {name!r} was used on {earlier} already; ids must be unique")
        yield record


def write_records(path: Path, records: Iterable[Record | Mapping[str, Any]]) -> int:
    """Writes records to `path`, an object a line, whole or not at all. Returns how many."""
    with atomic_writer(path) as out:
        return dump_records(out, records)


def dump_records(out: IO[str], records: Iterable[Record | Mapping[str, Any]]) -> int:
    """Writes records to an open file, an object a line, with what a terminal might obey escaped.

    Returns how many records there were.
    """
    count = 0
    for count, record in enumerate(records, start=1):  # noqa: B007  # counts the records
        row = record.to_dict() if isinstance(record, Record) else record
        out.write(plain_json(json.dumps(row, ensure_ascii=False, allow_nan=False)) + "\n")
    return count


def write_text(path: Path, text: str) -> None:
    """Writes `text` to `path` as UTF-8, whole or not at all."""
    write_pieces(path, [text])


def write_pieces(path: Path, pieces: Iterable[str]) -> None:
    """Writes the pieces of a text to `path`, whole or not at all; only one piece at a time is in memory."""
    with atomic_writer(path) as out:
        out.writelines(pieces)


@contextmanager
def atomic_writer(path: Path) -> Iterator[IO[str]]:
    """Opens a file for text that takes the place of `path` only when the block ends without an error.

    Until then it is a temporary file beside `path`. It gets the rights that the process gives new files
    (umask). A device or a pipe, such as /dev/stdout, is written to directly.

    Raises:
        CannotWrite: a full disk, a missing right, or a folder in the place of the file; `path` is as it was.
    """
    with _whole_or_not_at_all(path, mode="w", encoding="utf-8", newline="\n") as out:
        yield out


@contextmanager
def atomic_binary_writer(path: Path) -> Iterator[IO[bytes]]:
    """Opens a temporary file for bytes, as `atomic_writer` does for text."""
    with _whole_or_not_at_all(path, mode="wb") as out:
        yield out


@contextmanager
def _whole_or_not_at_all(path: Path, **how: Any) -> Iterator[IO[Any]]:
    with _unwritable(path):  # the system refuses a name that is too long here
        is_device = path.exists() and not path.is_file() and not path.is_dir()
    if is_device:
        with _unwritable(path), path.open(**how) as out:
            yield out
        return
    with _unwritable(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        part = path.with_name(f".{path.name[:_LONGEST_STEM]}.{secrets.token_hex(6)}.part")
        handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    try:
        with _unwritable(path):
            with os.fdopen(handle, **how) as out:
                yield out
                out.flush()
                os.fsync(out.fileno())  # a quota or a remote disk may report only now that it is full
            os.replace(part, path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


@contextmanager
def _unwritable(path: Path) -> Iterator[None]:
    """Turns an error of the disk about `path` into CannotWrite; errors about other files stay as they are."""
    try:
        yield
    except DataError:
        raise
    except OSError as error:
        if error.filename is None and error.errno not in _FULL:
            raise
        if error.filename is not None and not _is_about(error.filename, path):
            raise
        raise CannotWrite(path, error) from error


def _is_about(name: object, path: Path) -> bool:
    """Returns whether `name` is `path`, its temporary file, or a folder above it."""
    found = Path(os.fsdecode(name))  # type: ignore[arg-type]  # what the system names is text or bytes
    return found == path or found in path.parents or (found.parent == path.parent and found.suffix == ".part")


def refuse_overwriting(
    targets: Mapping[str, Path | None], sources: Mapping[str, Path | Iterable[Path] | None]
) -> None:
    """Refuses to write over a file that is read, or two results into one file, also through a link.

    Args:
        targets: {option: the file that it writes}; None where the option is not given.
        sources: {words for what is read: its file or files, or None}.

    Raises:
        DataError: a target is a source, or two targets are one file.
    """
    read = [
        (name, path)
        for name, given in sources.items()
        if given is not None
        for path in ([given] if isinstance(given, Path) else given)
    ]
    written: list[tuple[str, Path]] = []
    for option, target in targets.items():
        if target is None or (target.exists() and not target.is_file() and not target.is_dir()):
            continue
        for name, path in read:
            if _is_same(target, path):
                raise DataError(
                    f"{option} is {target}, which is {name} and would be written over; name another"
                )
        for name, path in written:
            if _is_same(target, path):
                raise DataError(f"{option} is {target}, which {name} names too; give each a file of its own")
        written.append((option, target))


def _is_same(target: Path, source: Path) -> bool:
    """Returns whether both paths name the same file, also where it has several names."""
    if target.resolve() == source.resolve():
        return True
    try:
        return target.samefile(source)
    except OSError:  # a file that is not there has no second name
        return False


def check_folder(folder: Path) -> None:
    """Makes `folder` where it is missing, and tries whether a file can be written there.

    Raises:
        OSError: the folder cannot be made, or nothing can be written to it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=folder, prefix=".medfaith-", suffix=".part"):
        pass


def chunk_files(roots: Iterable[Path]) -> list[Path]:
    """Returns the .jsonl files of a corpus: of a folder all files below it, in the order of their names.

    Raises:
        DataError: a folder that holds no .jsonl file.
    """
    files: list[Path] = []
    for root in roots:
        if root.is_dir():
            found = sorted(root.rglob("*.jsonl"))
            if not found:
                raise DataError(
                    f"{root}: the corpus folder holds no .jsonl file; write chunks there, "
                    f"or run `medfaith chunk SRC --source NAME --out {root}`"
                )
            files += found
        else:
            files.append(root)
    return files


def read_chunks(roots: Iterable[Path]) -> list[Chunk]:
    """Returns all chunks of the corpus files and folders `roots`, in file order.

    Raises:
        DataError: an empty corpus, an id that two chunks have, or a chunk without text.
    """
    return list(iter_chunks(roots))


def iter_chunks(roots: Iterable[Path]) -> Iterator[Chunk]:
    """Yields the chunks of the corpus files and folders `roots`, in file order; memory holds only their ids.

    Raises:
        DataError: an empty corpus, an id that two chunks have, or a chunk without text.
    """
    roots = list(roots)
    seen: set[str] = set()
    for path in chunk_files(roots):
        for chunk in read_records(path, Chunk):
            if not chunk.text.strip():
                raise DataError(f"{path}: chunk {chunk.id!r} has no text; give it text or remove the line")
            if chunk.id in seen:
                raise DataError(
                    f"{path}: chunk id {chunk.id!r} is used in another file of this corpus too; ids must be "
                    "unique"
                )
            seen.add(chunk.id)
            yield chunk
    if not seen:
        raise DataError(
            f"the corpus {', '.join(map(str, roots)) or '(none given)'} holds no chunk; "
            "an empty corpus can support nothing"
        )
