"""Cuts a file of JSON Lines into blocks of rows, which are read by their place and named by their content."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pytest_medfaith.errors import DataError


@dataclass(frozen=True, kw_only=True)
class Block:
    """Neighbouring rows of a file.

    Attributes:
        index: number of the block, from 0.
        offset: where it begins in the file, in bytes.
        length: in bytes.
        line: number of its first line, from 1.
        rows: how many of its lines are not blank.
        digest: hash of its bytes and of `line`, since a row without an id is named by its line.
    """

    index: int
    offset: int
    length: int
    line: int
    rows: int
    digest: str


def cut_blocks(path: Path, rows: int) -> Iterator[Block]:
    """Yields the blocks of a file, each of `rows` rows, the last of fewer; blank lines are no rows.

    A file without rows yields nothing. It is read line by line, so memory does not grow with it.

    Raises:
        DataError: no such file.
    """
    if not path.is_file():
        raise DataError(f"{path}: no such file; check the path, or create it as JSON Lines in UTF-8")
    with path.open("rb") as lines:
        index = offset = length = held = 0
        first, found = 1, hashlib.sha256()
        for number, line in enumerate(lines, start=1):
            found.update(line)
            length += len(line)
            held += bool(line.strip())
            if held == rows:
                yield _block(index, offset, length, first, held, found.digest())
                index, offset, length, held = index + 1, offset + length, 0, 0
                first, found = number + 1, hashlib.sha256()
        if held:
            yield _block(index, offset, length, first, held, found.digest())


def _block(index: int, offset: int, length: int, line: int, rows: int, content: bytes) -> Block:
    """Returns a block.

    Its digest is made of `content`, a hash of its bytes, and of its first line's number.
    """
    digest = hashlib.sha256(b"%d %b" % (line, content)).hexdigest()
    return Block(index=index, offset=offset, length=length, line=line, rows=rows, digest=digest)


def single_rows(path: Path, blocks: Iterable[Block]) -> Iterator[Block]:
    """Yields a block for each row of `blocks`, numbered from 0, so that each row can be judged alone."""
    index = 0
    for block in blocks:
        offset = block.offset
        for number, line in enumerate(read_block(path, block).split(b"\n"), start=block.line):
            if line.strip():
                yield _block(index, offset, len(line), number, 1, hashlib.sha256(line).digest())
                index += 1
            offset += len(line) + 1


def read_block(path: Path, block: Block) -> bytes:
    """Returns the bytes of a block."""
    with path.open("rb") as file:
        file.seek(block.offset)
        return file.read(block.length)


def block_lines(data: bytes, line: int) -> list[tuple[int, bytes]]:
    """Returns (line number, line) for each row in a block's bytes; `line` is the number of its first line."""
    lines = enumerate(data.split(b"\n"), start=line)
    return [(number, one) for number, one in lines if one.strip()]


def require_unchanged(path: Path, block: Block) -> None:
    """Returns nothing where the file still has the bytes that `block` was named by.

    Results are kept under the name of a block, so results of other bytes must not be.

    Raises:
        DataError: the file has changed since it was cut into blocks, or is gone.
    """
    content = hashlib.sha256(read_block(path, block) if path.is_file() else b"").digest()
    if hashlib.sha256(b"%d %b" % (block.line, content)).hexdigest() != block.digest:
        raise DataError(
            f"{path}:{block.line}: the file has changed since the run began; results of the changed rows are "
            "not kept. Run again on a file that nothing writes to"
        )
