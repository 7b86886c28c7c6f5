"""Runs a bulk evaluation: cuts a file into blocks, has workers judge them, and yields results in order."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytest_medfaith.bulk.blocks import Block, cut_blocks, read_block, require_unchanged, single_rows
from pytest_medfaith.bulk.checkpoint import Checkpoint
from pytest_medfaith.bulk.work import Judged, Work, killing_block
from pytest_medfaith.errors import DataError

# Has blocks of a file judged. Yields (place of a block among them, its results) in any order; a block whose
# workers all died is left out.
Bridge = Callable[[Path, Sequence[Block]], Generator[tuple[int, bytes], None, None]]


@dataclass
class Account:
    """How far a run is.

    Attributes:
        rows: rows of the file.
        kept: rows whose results were left by an earlier run.
        done: rows with a result, kept ones included.
        poison: (line, reason) of each row that could not be judged.
    """

    rows: int = 0
    kept: int = 0
    done: int = 0
    poison: list[tuple[int, str]] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class Bulk:
    """A bulk run over the rows of a file.

    Attributes:
        path: the file, JSON Lines.
        name: of the file, for messages.
        work: how workers judge rows.
        bridge: has workers judge blocks, here or on a cluster.
        checkpoint: keeps finished blocks on disk.
        rows_a_block: rows of a block; a worker that is killed loses as many.
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
        """Yields a result for each row, in order; memory holds the results of one block.

        Args:
            account: is updated as blocks are done.

        Raises:
            DataError: the file holds no row, has changed during the run, or the cluster went away.
            CannotWrite: a finished block cannot be kept on disk.
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
                    require_unchanged(self.path, block)
                    self.checkpoint.put(block, results)
                    done.add(block.index)
                    account.done += block.rows
                    self.told(account)
                judged = Judged.from_bytes(self.checkpoint.get(blocks[following]))
                account.poison += judged.poison
                yield from judged.results
                following += 1

    def _arriving(self, waiting: Sequence[Block]) -> Generator[tuple[Block, bytes], None, None]:
        """Yields each block of `waiting` with its results, in the order in which they are done.

        If all workers of a block died, its rows are judged one by one; a row that ends a worker again is
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
