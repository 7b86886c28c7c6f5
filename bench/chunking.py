"""Measures the chunker on the MedQuAD archive: speed, memory, and how cost grows with the number of pages.

python bench/chunking.py --data DIR [--workers 1,2] [--pages 1000,10000,100000]

DIR holds medquad/medquad_xml.tar.gz. Speed is MB of text a second. Every run is a process of its own. Memory
is the peak resident set of the main process, plus that of its largest worker times the number of workers. To
show growth, short pages of the archive are repeated under new names.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import resource
import subprocess
import sys
import tarfile
import tempfile
import time
from itertools import cycle, islice
from pathlib import Path

ARCHIVE = Path("medquad") / "medquad_xml.tar.gz"
SHORT_PAGE = range(1500, 2500)


def run(src: Path, workers: int) -> dict[str, float]:
    """Chunks `src` in a process of its own, and returns its figures."""
    command = [sys.executable, __file__, "--one", str(src), "--workers", str(workers)]
    figures: dict[str, float] = json.loads(
        subprocess.run(command, check=True, capture_output=True, text=True).stdout
    )
    return figures


def measure(src: Path, workers: int) -> dict[str, float]:
    """Chunks `src` in this process, and returns its figures."""
    from pytest_medfaith.corpus.chunk import chunk_source

    with tempfile.TemporaryDirectory() as out:
        begin = time.perf_counter()
        summary = chunk_source(src, source="bench", out=Path(out), workers=workers)
        wall = time.perf_counter() - begin
    here, below = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return {
        "pages": summary.documents,
        "chunks": summary.chunks,
        "text_mb": summary.characters / 1e6,
        "wall_s": wall,
        "cpu_s": here.ru_utime + here.ru_stime + below.ru_utime + below.ru_stime,
        "peak_mb": (here.ru_maxrss + workers * below.ru_maxrss * (workers > 1)) / 1024,
    }


def write_pages(archive: Path, count: int, folder: Path) -> Path:
    """Writes a tar of `count` short pages of the archive, each under a new name, and returns its path."""
    with tarfile.open(archive) as pages:
        streams = (
            pages.extractfile(member) for member in pages if member.isfile() and member.size in SHORT_PAGE
        )
        contents = (stream.read() for stream in streams if stream is not None)
        short = [page for page in contents if b"<Answer></Answer>" not in page]
    path = folder / f"{count}.tar"
    with tarfile.open(path, "w") as out:
        for number, page in enumerate(islice(cycle(short), count)):
            member = tarfile.TarInfo(f"{number // 1000:03d}/{number:06d}.xml")
            member.size = len(page)
            out.addfile(member, io.BytesIO(page))
    return path


def show(figures: dict[str, float], workers: int) -> None:
    """Prints a row of figures."""
    megabytes, wall, cpu = figures["text_mb"], figures["wall_s"], figures["cpu_s"]
    counts = f"{figures['pages']:,} | {figures['chunks']:,} | {megabytes:.1f} | {workers}"
    speed = f"{wall:.1f} | {cpu:.1f} | {megabytes / wall:.2f} | {megabytes / cpu:.2f}"
    rest = f"{figures['peak_mb']:.0f} | {1000 * cpu / figures['pages']:.2f}"
    print(f"| {counts} | {speed} | {rest} |", flush=True)


def main() -> None:
    """Prints a row for each number of workers, and for each number of pages."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, help="the folder of the public data sets")
    parser.add_argument("--workers", default=f"1,{os.cpu_count()}", help="numbers of processes to try")
    parser.add_argument(
        "--pages", default="1000,10000,100000", help="numbers of pages to try; empty for none"
    )
    parser.add_argument("--one", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    counts = [int(count) for count in options.workers.split(",")]
    if options.one is not None:
        print(json.dumps(measure(options.one, counts[0])))
        return
    size = "pages with text | chunks | text MB | processes"
    print(f"| {size} | wall s | CPU s | MB/s | MB/CPU s | peak MB | CPU ms a page |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for workers in counts:
        show(run(options.data / ARCHIVE, workers), workers)
    for count in filter(None, options.pages.split(",")):
        with tempfile.TemporaryDirectory() as folder:
            show(run(write_pages(options.data / ARCHIVE, int(count), Path(folder)), 1), 1)


if __name__ == "__main__":
    main()
