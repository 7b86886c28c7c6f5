"""What `make demo` shows: the suite that `medfaith init` writes, run as it is.

An answer of the suite is wrong on purpose. The demo succeeds where the wrong answer fails its test and all
other answers pass.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from pytest_medfaith.cards.run_reading import read_run
from pytest_medfaith.commands.init_project import init_project
from pytest_medfaith.records import Report

WRONG = "paracetamol-dose"
BEFORE = f"""\
Five recorded answers of an assistant are checked, claim by claim, by the passages that they were based on.
The answer {WRONG} says 8 grams where its passage says 4. Its test has to FAIL: that is the point.
"""
AFTER = f"""\
As it should be: the wrong dose was found and four answers passed. In your project the red test and the failed
gate would stop the merge. Here they are the demonstration, so this demo ends in success.

From the top: why {WRONG} failed (claim, evidence, rule), then the card of the whole slice, its gates, and
the claims behind the gates. The demo removes its run folder. Your runs keep theirs, with card.html where the
extra `report` is installed.
Next: `medfaith init` writes the same suite into your project (docs/quickstart.md), and docs/tutorial.md puts
your RAG into it.
"""


def main() -> int:
    """Runs the suite and returns 0 where it shows what it is to show."""
    with tempfile.TemporaryDirectory(prefix="medfaith-demo-") as name:
        folder = Path(name)
        init_project(folder)
        print(BEFORE, flush=True)  # noqa: T201 - a demo prints
        run = subprocess.run(
            [
                sys.executable,
                "-m",
                "pytest",
                "-q",
                "-p",
                "no:cacheprovider",
                "--medfaith-report",
                "medfaith-report",
            ],
            cwd=folder,
            check=False,
        )
        problem = (
            f"pytest ended with status {run.returncode}"
            if run.returncode != 1
            else _unexpected(folder / "medfaith-report")
        )
    if problem:
        print(f"\nThe demo did not show what it should: {problem}.", file=sys.stderr)  # noqa: T201
        return 1
    print(f"\n{AFTER}", end="")  # noqa: T201
    return 0


def _unexpected(folder: Path) -> str:
    """Returns what is not as it should be in the run folder, or nothing."""
    (report,), _ = read_run(folder)
    refuted: Mapping[str, list[str]] = {one.case.id: _refuted(one) for one in report.reports}
    wrong = {case for case, claims in refuted.items() if claims}
    if wrong != {WRONG}:
        return f"claims of {', '.join(sorted(wrong)) or 'no answer'} were refuted, expected {WRONG} alone"
    return (
        ""
        if all("8 grams" in claim for claim in refuted[WRONG])
        else f"{refuted[WRONG]} were refuted, expected the 8 grams alone"
    )


def _refuted(report: Report) -> list[str]:
    return [verdict.claim.text for verdict in report.verdicts if verdict.label == "refuted"]


if __name__ == "__main__":
    sys.exit(main())
