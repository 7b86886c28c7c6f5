"""`medfaith serve` as a process: it listens, answers, and lets open requests end when it is told to stop."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
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
def server(tmp_path):
    """Starts a server on a free port; gives the process and its address, and kills it in the end."""
    (tmp_path / "judge_module.py").write_text(JUDGE, encoding="utf-8")
    running = []

    def start(**environ):
        process = subprocess.Popen(
            [
                sys.executable,
                "-c",
                "from pytest_medfaith.cli import main; main()",
                *("serve", "--checker", "judge_module:judge", "--port", "0"),
            ],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": f"{tmp_path}:{Path(__file__).parents[2]}", **environ},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        running.append(process)
        line = process.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:\d+", line)
        assert found, line + process.stdout.read()
        return process, found[0]

    yield start
    for process in running:
        process.kill()
        process.communicate()


def post(address, body, **headers):
    request = urllib.request.Request(  # noqa: S310 - loopback
        f"{address}/check",
        json.dumps(body).encode(),
        {"content-type": "application/json", **headers},
    )
    with urllib.request.urlopen(request, timeout=30) as response:  # noqa: S310
        return json.load(response)


def test_a_server_answers_and_lets_an_open_request_end_when_it_is_stopped(server):
    process, address = server(SLOW="0.5", MEDFAITH_SERVE_TOKEN="")
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
    process.send_signal(signal.SIGTERM)
    asking.join(20)
    assert [one["label"] for one in late["verdicts"]] == ["refuted"]
    process.wait(20)
    assert "Ice" not in process.stdout.read()


def test_a_port_that_is_taken_ends_with_a_message_and_no_traceback(server, tmp_path):
    _, address = server()
    port = address.rpartition(":")[2]
    ended = subprocess.run(
        [
            sys.executable,
            "-c",
            "from pytest_medfaith.cli import main; main()",
            *("serve", "--checker", "judge_module:judge", "--port", port),
        ],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": f"{tmp_path}:{Path(__file__).parents[2]}"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode != 0
    assert "address already in use" in ended.stderr
    assert "Traceback" not in ended.stderr
