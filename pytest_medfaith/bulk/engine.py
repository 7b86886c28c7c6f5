"""The rows of a file judged block by block, wherever that happens; results come in the order of rows."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytest_medfaith.bulk.blocks import Block, cut_blocks, read_block, single_rows
from pytest_medfaith.bulk.checkpoint import Checkpoint
from pytest_medfaith.bulk.work import Judged, Work, killing_block
from pytest_medfaith.errors import DataError

# From blocks of a file to (place among them, results), in any order, without blocks whose workers all died.
Bridge = Callable[[Path, Sequence[Block]], Generator[tuple[int, bytes], None, None]]


@dataclass
class Account:
    """How far a run is.

    Attributes:
        rows: of the file.
        kept: rows whose results an earlier run had left.
        done: rows with a result, those that were kept among them.
        poison: (line, reason) of rows that could not be judged.
    """

    rows: int = 0
    kept: int = 0
    done: int = 0
    poison: list[tuple[int, str]] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class Bulk:
    """Rows to judge.

    Attributes:
        path: the file, JSON Lines.
        name: of the file, for messages.
        work: what workers do with a block.
        bridge: lets workers judge blocks.
        checkpoint: keeps finished blocks.
        rows_a_block: how many rows a block has: as many as a killed worker loses.
        told: called with the account whenever a block is done.
    """

    path: Path
    name: str
    work: Work
    bridge: Bridge
    checkpoint: Checkpoint
    rows_a_block: int
    told: Callable[[Account], None] = lambda _: None

    def results(self, account: Account) -> Iterator[dict[str, Any]]:
        """Yields a result for each row, in the order of rows; a block of results at a time is in memory.

        Args:
            account: is kept up to date.

        Raises:
            DataError: the file holds no row, or changed while the run was on; the cluster went away.
            CannotWrite: a finished block cannot be kept.
        """
        blocks = list(cut_blocks(self.path, self.rows_a_block))
        if not blocks:
            raise DataError(f"{self.name}: no rows, so nothing would be judged; expected JSON Lines")
        done = {block.index for block in blocks if self.checkpoint.has(block)}
        account.rows = sum(block.rows for block in blocks)
        account.kept = account.done = sum(blocks[index].rows for index in done)
        self.told(account)
        following = 0
        with closing(self._arriving([block for block in blocks if block.index not in done])) as arriving:
            while following < len(blocks):
                while following not in done:
                    block, results = next(arriving)
                    self.checkpoint.put(block, results)
                    done.add(block.index)
                    account.done += block.rows
                    self.told(account)
                judged = Judged.from_bytes(self.checkpoint.get(blocks[following]))
                account.poison += judged.poison
                yield from judged.results
                following += 1

    def _arriving(self, waiting: Sequence[Block]) -> Generator[tuple[Block, bytes], None, None]:
        """Yields each block of `waiting` with its results, as they come.

        The rows of blocks whose workers all died are judged one by one; those that end a worker again are
        poison.
        """
        lost = {block.index: block for block in waiting}
        if waiting:
            with closing(self.bridge(self.path, waiting)) as judged:
                for place, results in judged:
                    yield lost.pop(waiting[place].index), results
        if not lost:
            return
        rows = list(single_rows(self.path, lost.values()))
        with closing(self.bridge(self.path, rows)) as judged:
            found = dict(judged)
        apart = iter(
            Judged.from_bytes(found[row.index])
            if row.index in found
            else killing_block(self.work, read_block(self.path, row), line=row.line, name=self.name)
            for row in rows
        )
        for block in lost.values():
            whole = Judged()
            for one in (next(apart) for _ in range(block.rows)):
                whole.results += one.results
                whole.poison += one.poison
            yield block, whole.to_bytes()
