"""Runs of a small suite that are cut short at random moments, each in a fork that has the package loaded.

python tests/attack/interrupted.py FOLDER SEED TIMES

Prints a JSON object {try: what is wrong, "" where nothing is}. A suite has six cases, a checker that follows
a script, a report folder and a baseline to write; a whole run of it is green.
"""

# ruff: noqa: T201 - a script; its result is read
from __future__ import annotations

import contextlib
import gc
import json
import os
import random
import shutil
import signal
import sys
import time
from pathlib import Path

import pytest

from pytest_medfaith.answers.responses import read_responses
from pytest_medfaith.cards.run_reading import read_run
from pytest_medfaith.errors import DataError, MissingBaseline
from pytest_medfaith.gates.baseline import read_baseline

CASES = 6
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)
SLICE = """
[tool.pytest.ini_options]
# What is not loaded here is not loaded anew by each run.
addopts = "-q -p no:cacheprovider -p no:randomly -p no:xdist -p no:rerunfailures -p no:hypothesispytest \
-p no:anyio -p no:asyncio"

[tool.medfaith.slices.mini]
cases = "rows.jsonl"
responses = "rows.jsonl"
gates = ["hallucination <= 0.1"]
"""
CONFTEST = """
import time
import pytest
from pytest_medfaith.testing import containment_checker

@pytest.fixture
def medfaith_checker():
    time.sleep(0.02)
    return containment_checker()
"""
TEST = """
import pytest

@pytest.mark.medfaith("mini")
def test_mini(medfaith_report):
    pass
"""
COMMAND = ["--medfaith-report", "out", "--medfaith-update-baseline"]


def warm() -> None:
    """Loads in this process what a run loads, so that its forks need not."""
    import pytest_medfaith.run.collection
    import pytest_medfaith.run.finish
    import pytest_medfaith.run.terminal  # noqa: F401
    from pytest_medfaith import assert_faithfulness
    from pytest_medfaith.safety.rulebook import load_rulebook
    from pytest_medfaith.severity.rules import load_severity
    from pytest_medfaith.testing import containment_checker

    load_rulebook(())
    load_severity(())
    text = "Iron tablets treat iron deficiency."
    assert_faithfulness(text, contexts=[text], checker=containment_checker())
    gc.collect()
    gc.freeze()  # a fork that collects garbage would copy each page


def make_project(folder: Path) -> None:
    """Writes the suite into `folder`."""
    text = "Iron tablets treat iron deficiency."
    rows = [
        {
            "id": f"c{i}",
            "case_id": f"c{i}",
            "question": "?",
            "answer": text,
            "contexts": [{"id": "a", "text": text}],
        }
        for i in range(CASES)
    ]
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "pyproject.toml").write_text(SLICE)
    (folder / "conftest.py").write_text(CONFTEST)
    (folder / "test_mini.py").write_text(TEST)


def run(folder: Path, *, number: int | None = None, after: float = 0.0) -> int:
    """Returns the exit status of a run, negative where a signal ended it.

    The run gets the signal `number` after `after` seconds.
    """
    child = os.fork()
    if child == 0:
        os.chdir(folder)
        for stream in (1, 2):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
        os._exit(int(pytest.main(COMMAND)))
    if number is not None:
        time.sleep(after)
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, number)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def wrong(folder: Path, status: int) -> str:
    """Returns what is wrong after a run that ended with `status`, "" where nothing is.

    Wrong is a green of less than everything, or a file that is half written.
    """
    changed = "" if len(read_responses(folder / "rows.jsonl", [])) == CASES else "the responses changed"
    return _wrong_report(folder / "out", status) or _wrong_baseline(folder) or changed


def _wrong_report(out: Path, status: int) -> str:
    try:
        reports, _ = read_run(out)
    except DataError as error:
        reports = []
        if "holds no finished run" not in str(error):
            return f"the report folder is broken: {error}"
    whole = len(reports) == 1 and len(reports[0].reports) == CASES
    if status == 0 and not whole:
        return "exit status 0 without a whole report"
    if reports and not whole and any(gate.outcome == "pass" for gate in reports[0].gates):
        return f"a gate passes over {len(reports[0].reports)} of {CASES} cases"
    return ""


def _wrong_baseline(folder: Path) -> str:
    for path in folder.glob("medfaith-baseline.json"):
        try:
            cases = [entry.cases for entry in read_baseline(path).slices]
        except (DataError, MissingBaseline) as error:
            return f"the baseline is broken: {error}"
        if any(len(known) != CASES for known in cases):
            return "the baseline holds a part of the cases"
    return ""


def main() -> None:
    """Makes every try and prints the results."""
    folder, seed, times = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    chance = random.Random(seed)
    make_project(folder)
    warm()
    run(folder)
    began = time.monotonic()
    status = run(folder)
    lasts = time.monotonic() - began
    results = {"whole": wrong(folder, status) or ("" if status == 0 else f"exit status {status}")}
    for number in SIGNALS:
        for i in range(times):
            if i % 2:  # half of the tries find no earlier run
                shutil.rmtree(folder / "out", ignore_errors=True)
            status = run(folder, number=number, after=chance.uniform(0, lasts))
            results[f"{number.name} {i}"] = wrong(folder, status)
    status = run(folder)
    results["again"] = wrong(folder, status) or (
        "" if status == 0 else f"exit status {status} after the interruptions"
    )
    print(json.dumps(results))


if __name__ == "__main__":
    main()
