"""`medfaith serve` as a process: it listens, answers, and lets open requests end when it is told to stop."""

from __future__ import annotations

import json
import os
import re
import signal
import threading
import urllib.request
from pathlib import Path

import pytest

JUDGE = """
import os, time

def judge(claim, chunks):
    time.sleep(float(os.environ.get("SLOW", "0")) if "slow" in claim.text else 0)
    return "supported" if any(claim.text in chunk.text for chunk in chunks) else "refuted"
"""


@pytest.fixture
def serve(tmp_path, start):
    """Starts a server; gives the run and what it writes, a line at a time."""
    (tmp_path / "judge_module.py").write_text(JUDGE, encoding="utf-8")
    running = []

    def serve(port, **environ):
        ours, theirs = (os.fdopen(end, mode) for end, mode in zip(os.pipe(), "rw", strict=True))
        call = ("serve", "--checker", "judge_module:judge", "--port", str(port))
        told = {"PYTHONPATH": str(Path(__file__).parents[2]), **environ}
        with theirs:
            process = start("medfaith", *call, folder=tmp_path, stdout=theirs, stderr=theirs, **told)
        running.append((process, ours))
        return process, ours

    yield serve
    for process, output in running:
        process.kill()
        process.wait()
        output.close()


@pytest.fixture
def server(serve):
    """Starts a server on a free port; gives the run, its address and what it writes."""

    def started(**environ):
        process, output = serve(0, **environ)
        line = output.readline()
        found = re.search(r"http://127\.0\.0\.1:\d+", line)
        assert found, line + output.read()
        return process, found[0], output

    return started


def post(address, body, **headers):
    request = urllib.request.Request(  # noqa: S310 - loopback
        f"{address}/check",
        json.dumps(body).encode(),
        {"content-type": "application/json", **headers},
    )
    with urllib.request.urlopen(request, timeout=30) as response:  # noqa: S310
        return json.load(response)


def test_a_server_answers_and_lets_an_open_request_end_when_it_is_stopped(server):
    process, address, output = server(SLOW="0.5", MEDFAITH_SERVE_TOKEN="")
    given = {"contexts": ["Ice is cold."]}
    assert [one["label"] for one in post(address, {"answer": "Ice is cold.", **given})["verdicts"]] == [
        "supported"
    ]
    late = {}
    asking = threading.Thread(target=lambda: late.update(post(address, {"answer": "Ice is slow.", **given})))
    asking.start()
    for _ in range(200):
        with urllib.request.urlopen(f"{address}/health", timeout=30) as health:  # noqa: S310
            if json.load(health)["line"]:
                break
    os.kill(process.pid, signal.SIGTERM)
    asking.join(20)
    assert [one["label"] for one in late["verdicts"]] == ["refuted"]
    assert process.wait() in (0, -signal.SIGTERM)  # uvicorn may pass the signal on once it is done
    assert "Ice" not in output.read()


def test_a_port_that_is_taken_ends_with_a_message_and_no_traceback(server, serve):
    _, address, _ = server()
    ended, output = serve(address.rpartition(":")[2])
    said = output.read()
    assert ended.wait() != 0
    assert "address already in use" in said
    assert "Traceback" not in said
