"""A run on a Ray cluster, as the options --engine, --address, --workers and --block-rows ask for it."""

from __future__ import annotations

import os
import secrets
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pytest_medfaith import defaults
from pytest_medfaith.commands.parts import say

if TYPE_CHECKING:
    from pytest_medfaith.bulk.engine import Account
    from pytest_medfaith.bulk.ray_bridge import RayBridge
    from pytest_medfaith.bulk.work import Work

EngineOption = Annotated[
    str, typer.Option(metavar="ENGINE", help="process: this one; ray: the workers of a Ray cluster.")
]
AddressOption = Annotated[
    str | None,
    typer.Option(
        metavar="HOST:PORT",
        help="The head of a running Ray cluster, or auto; without it Ray starts on this machine.",
    ),
]
WorkersOption = Annotated[
    int | None, typer.Option(min=1, help="The most workers of Ray; as many as it has cores where not given.")
]
BlockRowsOption = Annotated[
    int | None,
    typer.Option(
        min=1, help="Rows of a block of Ray: what a killed worker loses, and the step of the checkpoint."
    ),
]
FOLDER = "bulk"  # in the cache of the project
_POISON_TOLD = 5
_CHECK_ROWS, _CASE_ROWS = 256, 16  # some seconds of work of the shipped checkers


@dataclass(frozen=True, kw_only=True)
class RayEngine:
    """The options for a Ray cluster.

    Attributes:
        address: of the cluster; `ray_bridge.LOCAL` starts one here.
        workers: how many; None leaves it to Ray.
        block_rows: rows that a worker takes at a time; None for the default.
    """

    address: str
    workers: int | None
    block_rows: int | None

    @property
    def rows_a_block(self) -> int:
        """Rows of a block of `medfaith check`."""
        return self.block_rows or _CHECK_ROWS

    @property
    def cases_a_block(self) -> int:
        """Cases of a block of `medfaith evaluate`."""
        return self.block_rows or _CASE_ROWS


def engine_of(
    engine: str, *, address: str | None, workers: int | None, block_rows: int | None
) -> RayEngine | None:
    """Returns the Ray cluster that the options ask for; None where this process does the work.

    Without --address it is the cluster of RAY_ADDRESS, which Ray sets for its jobs, else one started here.

    Raises:
        ValueError: an unknown engine, or an option of Ray without it.
        MissingExtra: Ray is not installed.
        DataError: Ray is too old, or nobody answers at the address.
    """
    if engine == "process":
        given = {"--address": address, "--workers": workers, "--block-rows": block_rows}
        if named := [name for name, value in given.items() if value is not None]:
            raise ValueError(f"{named[0]} is given without --engine ray; expected both or neither")
        return None
    if engine != "ray":
        raise ValueError(f"--engine is {engine!r}; expected process or ray")
    from pytest_medfaith.bulk.ray_bridge import LOCAL, check_address, check_ray

    if warning := check_ray():
        say(f"WARNING: {warning}", err=True)
    found = address if address is not None else os.environ.get("RAY_ADDRESS") or LOCAL
    check_address(found)
    return RayEngine(address=found, workers=workers, block_rows=block_rows)


def refuse_in_bulk(given: Mapping[str, object], *checkers: str) -> None:
    """Refuses what several workers cannot share: a file of scores, and the cassette of a teacher.

    Args:
        given: values of options by name; None where one was not given.
        checkers: names of checkers.

    Raises:
        ValueError: one of the options is given, or a checker is the teacher.
    """
    from pytest_medfaith.checking.variant import split_linker
    from pytest_medfaith.teacher.settings import TEACHER

    for name, value in given.items():
        if value is not None:
            raise ValueError(
                f"{name} is given with --engine ray, whose workers cannot share it; leave it out"
            )
    if any(split_linker(name)[0] == TEACHER for name in checkers):
        raise ValueError(
            "the teacher has one cassette, which workers of --engine ray cannot share; leave it out"
        )


@contextmanager
def bulk_results(
    engine: RayEngine, path: Path, work: Work, *, cache: Path, key: Mapping[str, Any] | None, **how: Any
) -> Iterator[tuple[Iterator[dict[str, Any]], Account]]:
    """Gives the results of the rows in `path`, in order, and the account of what went wrong.

    Where the block ends with an error, finished parts stay for the next run; else they are removed.

    Args:
        engine: of the run.
        path: the file of rows, JSON Lines.
        work: what workers do.
        cache: the folder of what is kept between runs.
        key: what decides the results beside the rows; None where that is not known, and then no run goes on
            where an earlier run was.
        how: `name` of the file for messages, `unit` of what a row is, `rows_a_block`.

    Raises:
        DataError: another run of the same settings is on.
    """
    from pytest_medfaith.bulk.checkpoint import Checkpoint
    from pytest_medfaith.bulk.engine import Account, Bulk
    from pytest_medfaith.bulk.rate import Rate
    from pytest_medfaith.lock import locked
    from pytest_medfaith.run.sealed import digest

    kept = Checkpoint(cache / FOLDER / (secrets.token_hex(16) if key is None else digest(key)[:32]))
    log, unit = kept.folder.with_suffix(".log"), how.pop("unit")
    rate, account = Rate(sys.stderr, unit), Account()
    bridge = _bridge(engine, work, name=how["name"], log=log)
    bulk = Bulk(path=path, work=work, bridge=bridge, checkpoint=kept, told=rate, **how)
    kept.folder.mkdir(parents=True, exist_ok=True)
    with locked(kept.folder, wait=0):
        yield bulk.results(account), account
        rate.close()
        kept.drop()
        log.unlink(missing_ok=True)


def _bridge(engine: RayEngine, work: Work, *, name: str, log: Path) -> RayBridge:
    from pytest_medfaith.bulk.ray_bridge import RayBridge

    return RayBridge(
        address=engine.address,
        workers=engine.workers,
        work=work,
        name=name,
        log=log,
        say=lambda line: say(line, err=True),
    )


def cache_folder(root: Path) -> Path:
    """Returns the folder of what a project keeps between runs."""
    return root.resolve() / defaults.CACHE


def say_poison(account: Account, unit: str) -> None:
    """Says on standard error which rows could not be judged, the first five by name; nothing without any.

    Raises:
        Exit: with status 1, where there are any: a row that nobody judged is no pass.
    """
    if not account.poison:
        return
    for _, why in account.poison[:_POISON_TOLD]:
        say(why, err=True)
    left = len(account.poison) - _POISON_TOLD
    more = f", {left} more than are named above" if left > 0 else ""
    say(f"{len(account.poison)} of {account.rows} {unit} could not be judged{more}", err=True)
    raise typer.Exit(1)
