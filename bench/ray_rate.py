"""Bulk evaluation on Ray beside a single process: rows a second, and memory of each process.

    python bench/ray_rate.py [--rows 2000] [--checker fast] [--workers 1 2] [--memory 1000 20000 200000]

First `medfaith check` judges `--rows` claims with the `--checker`: in a single process, on Ray with each
number of `--workers`, and in a single process again. Each run is a new process. Its seconds are printed in
all, and without its start: the time of a run of 1 row is subtracted. Ray starts on this machine for each run.

Then Ray judges each of the `--memory` numbers of claims with a judge that reads no model, so that only the
engine is measured. Printed is the peak resident MB of the command, of the process that imports Ray, and of
the largest worker, beside those of the single process.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

CLI = "from pytest_medfaith.cli import main; main()"
JUDGE = """
def judge(claim, chunks):
    return "supported" if chunks and claim.text in chunks[0].text else "unsupported"
"""
DRUGS = ("Metformin", "Letrozole", "Iron", "Allopurinol", "Aspirin")
KINDS = {"command": "pytest_medfaith.cli", "process of Ray": "ray_driver", "largest worker": "ray::MapWorker"}


def write_rows(path: Path, count: int) -> Path:
    """Writes `count` rows, no two alike, so that kept scores do not help; returns `path`."""
    with path.open("w", encoding="utf-8") as out:
        for number in range(count):
            drug = DRUGS[number % len(DRUGS)]
            claim = f"{drug} is started at {number} mg once a day."
            evidence = [
                f"{drug}: {number * (1 + number % 2)} mg once daily, with food.",
                claim[:-1] + " (page 3).",
            ]
            out.write(json.dumps({"id": number, "claim": claim, "evidence": evidence}) + "\n")
    return path


class Watch(threading.Thread):
    """A thread that notes the peak resident MB of a run's processes, by kind.

    Args:
        command: id of the run's process.

    Attributes:
        peaks: {kind: peak resident MB so far}.
    """

    def __init__(self, command: int) -> None:
        super().__init__(daemon=True)
        self.peaks, self._command, self._over = dict.fromkeys(KINDS, 0.0), command, threading.Event()

    def run(self) -> None:
        """Looks at all processes four times a second, until `close`."""
        while not self._over.wait(0.25):
            for folder in Path("/proc").glob("[0-9]*"):
                try:
                    said = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                    pages = int((folder / "statm").read_text().split()[1])
                except (OSError, IndexError, ValueError):  # it just ended
                    continue
                for kind, sign in KINDS.items():
                    if sign in said and (kind != "command" or int(folder.name) == self._command):
                        megabytes = pages * os.sysconf("SC_PAGE_SIZE") / 2**20
                        self.peaks[kind] = max(self.peaks[kind], megabytes)

    def close(self) -> None:
        """Stops looking, and waits for the thread."""
        self._over.set()
        self.join()


def run(rows: Path, *arguments: str) -> tuple[float, dict[str, float]]:
    """Returns (seconds, {kind of process: peak MB}) of a run of `medfaith check` on these rows."""
    begun = time.perf_counter()
    call = [sys.executable, "-c", CLI, "check", rows.name, "--root", ".", "--out", "out.jsonl", *arguments]
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    process = subprocess.Popen(call, cwd=rows.parent, env=environ, stderr=subprocess.PIPE, text=True)
    watch = Watch(process.pid)
    watch.start()
    said = process.communicate()[1]
    watch.close()
    if process.returncode:
        raise SystemExit(said)
    return time.perf_counter() - begun, watch.peaks


def engines(workers: list[int]) -> dict[str, list[str]]:
    """Returns {name of a run: its arguments}."""
    ray = {f"Ray, {n} worker{'s' * (n > 1)}": ["--engine", "ray", "--workers", str(n)] for n in workers}
    return {"single process": [], **ray, "single process, again": []}


def rates(folder: Path, given: argparse.Namespace) -> None:
    """Prints rows a second of each engine."""
    many, one = write_rows(folder / "many.jsonl", given.rows), write_rows(folder / "one.jsonl", 1)
    print(f"| {given.rows:,} rows, {given.checker} | seconds | start | rows a second | load |")
    print("| --- " * 5 + "|", flush=True)
    for name, arguments in engines(given.workers).items():
        start, _ = run(one, "--checker", given.checker, *arguments)
        took, _ = run(many, "--checker", given.checker, *arguments)
        rate = given.rows / max(took - start, 1e-9)
        print(f"| {name} | {took:.1f} | {start:.1f} | {rate:.1f} | {os.getloadavg()[0]:.1f} |", flush=True)


def memory(folder: Path, given: argparse.Namespace) -> None:
    """Prints the peaks of Ray and of the single process, for each number of claims."""
    (folder / "bench_judge.py").write_text(JUDGE, encoding="utf-8")
    print(f"| claims | engine | seconds | {' | '.join(f'{kind} MB' for kind in KINDS)} |")
    print("| --- " * (3 + len(KINDS)) + "|", flush=True)
    for count in given.memory:
        rows = write_rows(folder / "rows.jsonl", count)
        for name, arguments in (
            ("Ray, 2 workers", ["--engine", "ray", "--workers", "2"]),
            ("single process", []),
        ):
            took, peaks = run(rows, "--checker", "bench_judge:judge", *arguments)
            told = " | ".join(f"{peak:.0f}" if peak else "" for peak in peaks.values())
            print(f"| {count:,} | {name} | {took:.1f} | {told} |", flush=True)


def main() -> None:
    """Prints both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--checker", default="fast")
    parser.add_argument("--workers", type=int, nargs="*", default=[1, 2])
    parser.add_argument("--memory", type=int, nargs="*", default=[1000, 20_000, 200_000])
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if given.rows:
            rates(Path(folder), given)
        if given.memory:
            memory(Path(folder), given)


if __name__ == "__main__":
    main()
