"""How many functions an answer passes on its way to verdicts, and the end of a run on its way to exit status.

    python bench/walks.py [--show]      # with Python 3.11 or newer

Pytest runs a small project: two cases, each with an answer of one sentence and a context, a scripted checker
and one gate. A trace (`sys.setprofile`) notes each function of this package that is entered between the two
ends of a way. A function counts once. Comprehensions, lambdas, class bodies, properties, methods of records
and libraries are left out. The second answer is counted, since the first loads word lists and rules.

Three counts are printed. "Line": the functions that are open when the way ends, each called by the one before
it. "Stops": the functions of the packages that steer the way (`Way.steering`), and the first function of any
other package that these call, without what that one calls. "All": every function.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import importlib
import io
import json
import os
import sys
import tempfile
from collections import Counter
from functools import cached_property
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest

import pytest_medfaith

PACKAGE = Path(pytest_medfaith.__file__).parent
TEXTS = {"a": "Allopurinol treats gout.", "b": "Iron tablets treat iron deficiency."}
FILES = {
    "gold.jsonl": [{"id": name, "question": f"Is it true? {text}"} for name, text in TEXTS.items()],
    "responses.jsonl": [
        {"case_id": name, "answer": text, "contexts": [{"id": name, "text": text}]}
        for name, text in TEXTS.items()
    ],
}
PROJECT = '[tool.medfaith.slices.mini]\ncases = "gold.jsonl"\nresponses = "responses.jsonl"\n'
CONFTEST = """
import pytest
from pytest_medfaith.testing import containment_checker

@pytest.fixture
def medfaith_checker():
    return containment_checker()
"""
TEST = """
import pytest

@pytest.mark.medfaith("mini", gates=["hallucination <= 0.5"])
def test_answer(medfaith_report):
    assert medfaith_report.verdicts
"""
BASIC = {"records", "conversion", "plain", "errors", "jsonl"}  # packages whose functions do not count


@dataclasses.dataclass
class Way:
    """A way between two functions, and what was entered on it.

    Attributes:
        title: what goes this way.
        bar: how many stops and files it should have at most.
        start: file and name of the function with which it begins.
        end: name of the function with whose return it ends.
        deepest: name of the function at the end of its line.
        steering: packages whose functions all count as stops; of any other package only the first function
            entered does.
        top: frame of the first function, while the way is being walked; None outside.
        stops: (file, name) of the stops.
        entered: (file, name) of all functions.
        line: (file, name) of the functions that are open at `deepest`, outermost first.
    """

    title: str
    bar: str
    start: tuple[str, str]
    end: str
    deepest: str
    steering: set[str]
    top: FrameType | None = None
    stops: set[tuple[str, str]] = dataclasses.field(default_factory=set)
    entered: set[tuple[str, str]] = dataclasses.field(default_factory=set)
    line: list[tuple[str, str]] = dataclasses.field(default_factory=list)

    def begin(self, frame: FrameType) -> None:
        """Starts counting anew at `frame`, so that only the last such way of a run counts."""
        self.top, self.stops, self.entered, self.line = frame, set(), set(), []

    def enter(self, frame: FrameType) -> None:
        """Counts the function of `frame`, as a stop if it was reached through steering packages only."""
        open_frames = [frame]
        while open_frames[-1] is not self.top and open_frames[-1].f_back:
            open_frames.append(open_frames[-1].f_back)
        reached = [place_of(one.f_code) for one in reversed(open_frames) if is_ours(one.f_code)]
        if is_stop(frame.f_code):
            self.entered.add(reached[-1])
            if all(room_of(place) in self.steering for place in reached[:-1]):
                self.stops.add(reached[-1])
        if not self.line and frame.f_code.co_qualname == self.deepest:
            codes = [one.f_code for one in reversed(open_frames) if is_ours(one.f_code)]
            self.line = [place_of(code) for code in codes if is_stop(code)]


WAYS = [
    Way(
        "an answer, from `medfaith_report` to its verdicts",
        "20",
        ("plugin.py", "medfaith_report"),
        "_judged_report",
        "decide",
        {"plugin", "run", "evaluation", "evidence", "checking"},
    ),
    Way(
        "the end of a run, from results to exit status",
        "25 in 10 files",
        ("run/hooks.py", "RunHooks.pytest_sessionfinish"),
        "RunHooks.pytest_sessionfinish",
        "run_status",
        {"run"},
    ),
]


def place_of(code: CodeType) -> tuple[str, str]:
    """Returns (file within the package, qualified name) of a function."""
    return str(Path(code.co_filename).relative_to(PACKAGE)), code.co_qualname


def is_ours(code: CodeType) -> bool:
    """Returns whether code belongs to the package."""
    return code.co_filename.startswith(f"{PACKAGE}{os.sep}")


def room_of(place: tuple[str, str]) -> str:
    """Returns the package of a function: "run" for "run/hooks.py", "plugin" for "plugin.py"."""
    return place[0].split("/")[0].removesuffix(".py")


def is_stop(code: CodeType) -> bool:
    """Returns whether code is a function that counts: no lambda, property or method of a basic package."""
    file, name = place_of(code)
    is_function = bool(code.co_flags & 1) and not any(
        part.startswith("<") and part != "<locals>" for part in name.split(".")
    )
    return is_function and room_of((file, name)) not in BASIC and not is_property(file, name)


def is_property(file: str, name: str) -> bool:
    """Returns whether a name in a file is a property of a class, or a special method such as `__init__`."""
    module = file.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
    owner: Any = importlib.import_module(f"pytest_medfaith.{module}")
    *classes, last = name.split(".")
    for part in classes:
        owner = vars(owner).get(part) if hasattr(owner, "__dict__") else None
    found = vars(owner).get(last) if hasattr(owner, "__dict__") else None
    return isinstance(found, (property, cached_property)) or last.startswith("__")


def trace(frame: FrameType, event: str, _: Any) -> None:
    """Counts calls of the package's functions; it is the function that `sys.setprofile` is given."""
    if event not in ("call", "return") or not is_ours(frame.f_code):
        return
    place = place_of(frame.f_code)
    for way in WAYS:
        if event == "call" and place == way.start:
            way.begin(frame)
        if event == "call" and way.top:
            way.enter(frame)
        elif way.top and (frame is way.top or place[1] == way.end):
            way.top = None


def run_project(folder: Path) -> str:
    """Runs pytest on the small project in `folder` under the trace; returns what it printed."""
    for name, rows in FILES.items():
        (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    for name, text in {"pyproject.toml": PROJECT, "conftest.py": CONFTEST, "test_answers.py": TEST}.items():
        (folder / name).write_text(text)
    os.environ.pop("GITHUB_STEP_SUMMARY", None)
    os.chdir(folder)
    with contextlib.redirect_stdout(io.StringIO()) as said:
        sys.setprofile(trace)
        status = pytest.main(["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:randomly"])
        sys.setprofile(None)
    if status != pytest.ExitCode.OK or not all(way.line for way in WAYS):
        raise SystemExit(f"the run ended with {status}, or a way was not walked:\n{said.getvalue()}")
    return said.getvalue()


def main() -> None:
    """Prints a row for each way; with --show also its functions."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--show", action="store_true", help="list the functions")
    show = parser.parse_args().show
    with tempfile.TemporaryDirectory() as folder:
        run_project(Path(folder))
        os.chdir("/")
    print("| way | bar | line | stops | all |\n| --- | --- | --- | --- | --- |")
    for way in WAYS:
        parts = (way.line, way.stops, way.entered)
        counts = (f"{len(part)} in {len({file for file, _ in part})} files" for part in parts)
        print(f"| {way.title} | {way.bar} | {' | '.join(counts)} |")
    for way in WAYS if show else ():
        print(f"\n{way.title}: all by room {Counter(map(room_of, way.entered)).most_common()}")
        print(*(f"  line {file} {name}" for file, name in way.line), sep="\n")
        print(*(f"  stop {file} {name}" for file, name in sorted(way.stops)), sep="\n")


if __name__ == "__main__":
    main()
