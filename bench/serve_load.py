"""A served checker under load, beside the same checks in process: checks a second, p95, losses, memory.

    python bench/serve_load.py [--checker fast] [--each 100] [--memory 2000] [--clients 1 8 64]

`medfaith serve` runs as another process on this machine. 1, 8 and 64 clients ask it at once, `--each`
requests for each number of clients; a client that is refused with 429 asks again. Before and after,
`check_answer` judges the same answers in this process. Then 8 clients send `--memory` requests, no two of
which share a passage, to show whether the server's memory grows: resident MB after every 250.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import numpy as np

from pytest_medfaith.asserts import check_answer
from pytest_medfaith.checking.loading import load_checker

CONTEXTS = ["Letrozole: 2.5 mg once daily on days 3 to 7.", "Letrozole must not be taken in pregnancy."]
_STEP = 250  # requests between two looks at the memory


def request_body(number: int, *, new_passages: bool = False) -> dict[str, object]:
    """Returns a request whose answer of two claims no other number has, so that kept scores do not help.

    With `new_passages` no other number has its passages either.
    """
    answer = f"Letrozole is started at {number} mg once a day. Tablet {number} is not for use in pregnancy."
    of_number = [
        f"Letrozole: {number} mg once daily on days 3 to 7. Patient {number} read it on page {number + 1}.",
        f"Letrozole must not be taken in pregnancy, says leaflet {number}. Tell a doctor {number} things.",
    ]
    return {"answer": answer, "contexts": of_number if new_passages else CONTEXTS}


@contextlib.contextmanager
def server(checker: str, folder: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Yields (process, address) of a running server, and stops it at the end."""
    command = "from pytest_medfaith.cli import main; main()"
    arguments = ["serve", "--checker", checker, "--port", "0", "--root", str(folder)]
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen(
        [sys.executable, "-c", command, *arguments], stdout=subprocess.PIPE, text=True, env=environ
    )
    try:
        found = re.search(r"http://\S+?:\d+", process.stdout.readline() if process.stdout else "")
        if not found:
            raise SystemExit("the server did not start")
        yield process, found[0]
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


async def ask(
    address: str, *, first: int, count: int, clients: int, new_passages: bool = False
) -> tuple[float, list[float], int, int]:
    """Returns (seconds, latencies in ms, how often 429 came, how many requests had no result).

    Args:
        address: of the server.
        first: number of the first request.
        count: of requests.
        clients: how many ask at once.
        new_passages: see `request_body`.
    """
    numbers, latencies, refused, lost = iter(range(first, first + count)), [], 0, 0
    async with httpx.AsyncClient(
        base_url=address, timeout=600, limits=httpx.Limits(max_connections=None)
    ) as client:

        async def one_client() -> None:
            nonlocal refused, lost
            for number in numbers:
                begun = time.perf_counter()
                body = request_body(number, new_passages=new_passages)
                while True:
                    response = await client.post("/check", json=body)
                    if response.status_code != httpx.codes.TOO_MANY_REQUESTS:
                        break
                    refused += 1
                    await asyncio.sleep(0.1)
                judged = response.status_code == httpx.codes.OK and len(response.json()["verdicts"]) == 2
                lost += not judged
                latencies.append((time.perf_counter() - begun) * 1000)

        begun = time.perf_counter()
        await asyncio.gather(*(one_client() for _ in range(clients)))
        return time.perf_counter() - begun, latencies, refused, lost


def in_process(checker: str, count: int) -> float:
    """Returns the seconds that `count` checks take without a server."""
    loaded = load_checker(checker)
    check_answer("Ice is cold.", CONTEXTS, checker=loaded).faithfulness  # noqa: B018 - warm
    begun = time.perf_counter()
    for number in range(count):
        body = request_body(number)
        check_answer(str(body["answer"]), CONTEXTS, checker=loaded).faithfulness  # noqa: B018 - read
    return time.perf_counter() - begun


def resident_mb(process: int) -> float:
    """Returns the resident memory of a process, in MB."""
    status = Path(f"/proc/{process}/status").read_text(encoding="utf-8")
    return int(re.findall(r"VmRSS:\s+(\d+)", status)[0]) / 1024


def main() -> None:
    """Prints a row for each number of clients, and the server's memory."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--checker", default="fast")
    parser.add_argument("--each", type=int, default=100)
    parser.add_argument("--memory", type=int, default=2000)
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 8, 64])
    given = parser.parse_args()
    alone = given.each / in_process(given.checker, given.each)
    print(f"in process: {alone:.1f} checks a second (load {os.getloadavg()[0]:.1f})")
    print("| clients | checks a second | of in process | ms p50 / p95 | refused with 429 | lost |")
    print("| --- " * 6 + "|", flush=True)
    with tempfile.TemporaryDirectory() as folder, server(given.checker, Path(folder)) as (process, address):
        first = given.each
        for clients in given.clients:
            took, latencies, refused, lost = asyncio.run(
                ask(address, first=first, count=given.each, clients=clients)
            )
            first += given.each
            rate = given.each / took
            half, most = np.percentile(latencies, [50, 95])
            print(
                f"| {clients} | {rate:.1f} | {rate / alone:.2f} | {half:.0f} / {most:.0f} | "
                f"{refused} | {lost} |",
                flush=True,
            )
        print(f"| requests of new passages | lost | server MB |\n{'| --- ' * 3}|", flush=True)
        for done in range(0, given.memory + 1, _STEP):
            print(f"| {done:,} | {lost} | {resident_mb(process.pid):.0f} |", flush=True)
            new = {"first": first + done, "count": _STEP, "clients": 8, "new_passages": True}
            *_, lost = asyncio.run(ask(address, **new)) if done < given.memory else (lost,)
    again = given.each / in_process(given.checker, given.each)
    print(f"in process, again: {again:.1f} checks a second (load {os.getloadavg()[0]:.1f})")


if __name__ == "__main__":
    main()
