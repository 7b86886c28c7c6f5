"""A file of JSON Lines cut into blocks of rows, read by their place in the file, named by their content."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pytest_medfaith.errors import DataError


@dataclass(frozen=True, kw_only=True)
class Block:
    """Some neighbouring rows of a file.

    Attributes:
        index: of the block, from 0.
        offset: where the block begins, in bytes.
        length: of the block, in bytes.
        line: number of its first line, from 1.
        rows: how many lines of it are not blank.
        digest: of its bytes and of `line`, which names a row that has no id.
    """

    index: int
    offset: int
    length: int
    line: int
    rows: int
    digest: str


def cut_blocks(path: Path, rows: int) -> Iterator[Block]:
    """Yields the blocks of `path`, of `rows` rows but the last, in constant memory; blank lines are no rows.

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
    digest = hashlib.sha256(b"%d %b" % (line, content)).hexdigest()
    return Block(index=index, offset=offset, length=length, line=line, rows=rows, digest=digest)


def single_rows(path: Path, blocks: Iterable[Block]) -> Iterator[Block]:
    """Yields a block for each row of `blocks`, so that each row can be judged by itself."""
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
    """Returns (line number, line) for each row of a block whose first line is number `line`."""
    lines = enumerate(data.split(b"\n"), start=line)
    return [(number, one) for number, one in lines if one.strip()]
