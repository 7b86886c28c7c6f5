"""Keeps finished blocks on disk, so that a run that was killed goes on where it stopped.

A block's file is named by its content, and lies in a folder for the settings that decide its results. It is
written beside its place and renamed, so it is never there in part.
"""

from __future__ import annotations

import contextlib
import hashlib
from dataclasses import dataclass
from pathlib import Path

from pytest_medfaith.bulk.blocks import Block
from pytest_medfaith.errors import CannotWrite
from pytest_medfaith.jsonl import atomic_binary_writer

_SEAL = 32  # bytes of the check sum before the results
SUFFIX = ".block"


@dataclass(frozen=True)
class Checkpoint:
    """The finished blocks of a run, one file each in `folder`, named by a hash of its lines and place.

    A file begins with the SHA-256 of its results. A damaged file counts as missing.
    """

    folder: Path

    def _path(self, block: Block) -> Path:
        """Returns the file for the results of a block."""
        return self.folder / f"{block.digest[:40]}{SUFFIX}"

    def has(self, block: Block) -> bool:
        """Returns whether the results of a block are there and undamaged."""
        return self._read(block) is not None

    def get(self, block: Block) -> bytes:
        """Returns the results of a block that `has` found.

        Raises:
            CannotWrite: the file was removed or changed while the run was on.
        """
        held = self._read(block)
        if held is None:
            path = self._path(block)
            raise CannotWrite(path, OSError("the file of a finished block went away or was changed"))
        return held

    def put(self, block: Block, results: bytes) -> None:
        """Keeps the results of a block.

        Raises:
            CannotWrite: a full disk, or no right to write there.
        """
        with atomic_binary_writer(self._path(block)) as out:
            out.write(hashlib.sha256(results).digest() + results)

    def _read(self, block: Block) -> bytes | None:
        """Returns the results of a block; None where they are missing or damaged."""
        try:
            held = self._path(block).read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise CannotWrite(self._path(block), error) from error
        seal, results = held[:_SEAL], held[_SEAL:]
        return results if hashlib.sha256(results).digest() == seal else None

    def drop(self) -> None:
        """Removes the files of all blocks, once the run is finished, and the folder if nothing else is in it.

        A folder that does not exist is no error.
        """
        for path in self.folder.glob(f"*{SUFFIX}"):
            path.unlink(missing_ok=True)
        with contextlib.suppress(OSError):  # a file that this run did not write stays, and the folder with it
            self.folder.rmdir()
