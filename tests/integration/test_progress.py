"""The live line of a long run, in a real terminal: between the lines of pytest, never in them."""

import os
import re

import pytest

pty = pytest.importorskip("pty", reason="needs a terminal of a Unix system")

EAGER = """
import pytest_medfaith.run.progress as progress

progress.LEAST_SECONDS, progress.LINES = 0, 10**9
"""


@pytest.fixture
def lines_in_terminal(project, monkeypatch, start):
    """Runs pytest in a terminal of 100 columns and returns the lines it shows, without colours."""
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    (project.path / "conftest.py").write_text(project.CONFTEST + EAGER)

    def run(*arguments):
        ours, theirs = pty.openpty()
        with os.fdopen(theirs, "w") as terminal:
            running = start("pytest", *arguments, folder=project.path, stdout=terminal, stderr=terminal)
        text = b"".join(iter(lambda: _read(ours), b"")).decode()
        running.wait()
        os.close(ours)
        return [
            re.sub(r"\x1b\[[0-9;]*[A-Za-z]|\x1b\][^\x1b]*\x1b\\", "", line).rpartition("\r")[2]
            for line in text.split("\r\n")
        ]

    return run


def _read(terminal):
    try:
        return os.read(terminal, 65536)
    except OSError:  # Linux says so when the other side is closed
        return b""


FIRST = "medfaith: 1 of 3 cases, 2 claims, hallucination 0.000, less than a minute left"
SECOND = "medfaith: 2 of 3 cases, 4 claims, hallucination 0.250, less than a minute left"


def test_between_the_dots(lines_in_terminal):
    lines = lines_in_terminal()
    begin = lines.index("test_suite.py .")
    assert lines[begin : begin + 4] == ["test_suite.py .", FIRST, "test_suite.py F", SECOND]
    assert re.fullmatch(r"test_suite\.py \. +\[100%\]", lines[begin + 4])


def test_between_the_lines_of_v(lines_in_terminal):
    lines = lines_in_terminal("-v")
    place = lines.index(FIRST)
    assert re.fullmatch(r"test_suite\.py::test_faithful\[iron\] PASSED +\[ 33%\]", lines[place - 1])
    assert re.fullmatch(r"test_suite\.py::test_faithful\[asthma\] FAILED +\[ 66%\]", lines[place + 1])


def test_between_the_dots_of_workers(lines_in_terminal):
    lines = lines_in_terminal("-n", "2")
    shown = [line for line in lines if "medfaith:" in line]
    assert shown
    assert all(
        re.fullmatch(
            r"medfaith: [12] of 3 cases, \d claims(, hallucination [0-9.]+)?, less than a minute left", line
        )
        for line in shown
    )
    dots = "".join(line.partition(" ")[0] for line in lines if re.fullmatch(r"[.F]+( +\[ *[0-9]+%\])?", line))
    assert sorted(dots) == [".", ".", "F"]


@pytest.mark.parametrize(
    ("arguments", "variables"), [(("-q",), {}), ((), {"CI": "true"})], ids=["quiet", "ci"]
)
def test_not_where_nobody_watches(lines_in_terminal, monkeypatch, arguments, variables):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert [line for line in lines_in_terminal(*arguments) if "medfaith:" in line] == []


def test_not_without_a_terminal(project):
    (project.path / "conftest.py").write_text(project.CONFTEST + EAGER)
    project.run().stdout.no_fnmatch_line("*medfaith: *")
