"""`medfaith index` killed at each of its steps and started again, each time in a fork with Python loaded.

python tests/integration/killed_index.py FOLDER KIND

A step is a batch that is encoded, a file that is brought to the disk, renamed or removed. Prints a JSON
object: "steps", how many there are, and "wrong", {step: what is wrong}, which is empty where nothing is.
"""

# ruff: noqa: T201 - a script; its result is read
from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import time
from pathlib import Path

import faiss  # noqa: F401 - loaded once for all forks
import numpy as np

from pytest_medfaith.cli import app, main
from pytest_medfaith.errors import DataError
from pytest_medfaith.retrieval import encoders, index
from pytest_medfaith.retrieval.encoders import Encoder

CHUNKS, SHARD = 10, 4  # three shards
MOST_STEPS = 60


def vectors_of(texts: list[str]) -> np.ndarray:
    numbers = [int(text.split()[1].rstrip(".")) for text in texts]
    return np.array([np.random.default_rng(number).normal(size=8) for number in numbers], dtype=np.float32)


def encoder(folder: Path, step) -> Encoder:
    """An encoder that notes what it read before it gives vectors."""

    def read(texts: list[str]) -> np.ndarray:
        step()
        with (folder / "read.txt").open("a") as out:
            out.writelines(f"{text}\n" for text in texts)
        return vectors_of(texts)

    return Encoder("slow", "slow", vectors_of, read)


def build(folder: Path, kind: str, *, killed_at: int = 0, pause: float = 0.0) -> int:
    """Runs the command in a fork; returns its process. It kills itself before its step `killed_at`."""
    child = os.fork()
    if child:
        return child
    done = 0

    def step() -> None:
        nonlocal done
        done += 1
        time.sleep(pause)
        (folder / "steps.txt").write_text(str(done))
        if done == killed_at:
            os.kill(os.getpid(), signal.SIGKILL)

    def stepped(work):
        def with_step(*given, **named):
            step()
            return work(*given, **named)

        return with_step

    for stream in (1, 2):
        os.dup2(os.open(folder / "said.txt", os.O_WRONLY | os.O_CREAT | os.O_APPEND), stream)
    for place, name in ((os, "replace"), (os, "fsync"), (Path, "unlink")):
        setattr(place, name, stepped(getattr(place, name)))
    encoders.load_encoder = lambda _: encoder(folder, step)
    index.SHARD = SHARD
    try:
        main(
            [
                "index",
                "--corpus",
                str(folder.parent / "corpus.jsonl"),
                "--cache",
                str(folder / "cache"),
                "--dense-index",
                kind,
            ]
        )
        os._exit(0)
    except SystemExit as status:
        os._exit(int(status.code or 0))


def ended(child: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def files(folder: Path) -> dict[str, bytes]:
    """Returns what is on disk after a build, what a killed process left over aside."""
    found = (folder / "cache").rglob("*")
    return {path.name: path.read_bytes() for path in found if path.is_file() and path.suffix != ".part"}


def shards(folder: Path) -> set[int]:
    return {int(path.stem.partition("-")[2]) for path in (folder / "cache").rglob("shard-*.npy")}


def wrong(folder: Path, kind: str, whole: dict[str, bytes]) -> str:
    """Starts the command again in a folder where it was killed; returns what is wrong with that."""
    kept = shards(folder)
    (folder / "read.txt").unlink(missing_ok=True)
    if status := ended(build(folder, kind)):
        return f"exit status {status}: {(folder / 'said.txt').read_text()}"
    read = (folder / "read.txt").read_text().splitlines() if (folder / "read.txt").exists() else []
    wanted = [f"text {i}." for i in range(CHUNKS) if i // SHARD not in kept]
    if read != wanted:
        return f"of the shards, {sorted(kept)} were there, and {read} was encoded"
    found = files(folder)
    return (
        ""
        if found == whole
        else f"the files differ: {[name for name in whole if found.get(name) != whole[name]]}"
    )


def kill_from_outside(folder: Path, kind: str, shard: int) -> None:
    """Kills a slow build as soon as it has written a shard."""
    child, began = build(folder, kind, pause=0.01), time.monotonic()
    while shard not in shards(folder) and time.monotonic() < began + 30:
        time.sleep(0.002)
    os.kill(child, signal.SIGKILL)
    ended(child)


def tries(root: Path, kind: str) -> dict[str, object]:
    rows = [json.dumps({"id": str(i), "text": f"text {i}."}) for i in range(CHUNKS)]
    with contextlib.suppress(DataError):  # what the command loads late is loaded once for all forks
        app(["index", "--corpus", str(root / "none.jsonl")], standalone_mode=False)
    (root / "corpus.jsonl").write_text("\n".join(rows))
    (root / "whole").mkdir()
    found = (
        {}
        if ended(build(root / "whole", kind)) == 0
        else {"whole": (root / "whole" / "said.txt").read_text()}
    )
    whole, steps = files(root / "whole"), int((root / "whole" / "steps.txt").read_text())
    for step in range(1, min(steps, MOST_STEPS) + 1):
        folder = root / str(step)
        folder.mkdir()
        if ended(build(folder, kind, killed_at=step)) != -signal.SIGKILL:
            found[str(step)] = "was not killed"
        elif said := wrong(folder, kind, whole):
            found[str(step)] = said
    for shard in range(2):
        folder = root / f"outside-{shard}"
        folder.mkdir()
        kill_from_outside(folder, kind, shard)
        if said := wrong(folder, kind, whole):
            found[folder.name] = said
    return {"steps": steps, "files": sorted(whole), "wrong": found}


if __name__ == "__main__":
    print(json.dumps(tries(Path(sys.argv[1]), sys.argv[2])))
