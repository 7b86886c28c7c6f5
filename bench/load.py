"""What the plugin costs a run that does not use it, in processor time, which a busy machine hardly changes.

Measured are the plugin's import; `pytest --collect-only` in an empty folder, where there is nothing else to
pay for; and a run of 300 small tests in ten files.
"""

import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

RUNS = 7
TESTS = """import pytest


@pytest.mark.parametrize('number', range(30))
def test_small(number, tmp_path):
    assert sorted([number, 0]) == [0, number]
"""


def seconds(*arguments: str, folder: str) -> float:
    """Returns the processor seconds of a pytest run."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *arguments], cwd=folder, capture_output=True, check=False
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def import_milliseconds() -> float:
    """Returns the processor milliseconds of importing the plugin in a new process."""
    code = (
        "import pytest, time; t = time.process_time(); import pytest_medfaith.plugin; "
        "print((time.process_time() - t) * 1000)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return float(run.stdout)


def compare(title: str, *arguments: str, folder: str) -> None:
    """Prints the medians of runs without and with the plugin; the two take turns."""
    seconds(*arguments, folder=folder)  # warms the file cache
    rounds = [
        (
            seconds(*arguments, folder=folder),
            seconds("-p", "pytest_medfaith.plugin", *arguments, folder=folder),
        )
        for _ in range(RUNS)
    ]
    without, with_ = (statistics.median(column) for column in zip(*rounds, strict=True))
    times = f"{without:.3f} s without, {with_:.3f} s with, ratio {with_ / without:.3f}"
    print(f"{title}: {times} (medians of {RUNS}, processor time)")


def main() -> None:
    # Further plugins of this environment would hide the difference; only the measured plugin is loaded.
    """Prints the cost of the import and of both runs."""
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # or every run would compile the plugin anew
    median = statistics.median(import_milliseconds() for _ in range(RUNS))
    print(f"plugin import: {median:.2f} ms (median of {RUNS})")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["PYTHONPYCACHEPREFIX"] = folder
        empty, full = Path(folder, "empty"), Path(folder, "full")
        for path in (empty, full):
            path.mkdir()
        for number in range(10):
            (full / f"test_{number}.py").write_text(TESTS, encoding="utf-8")
        compare("pytest --collect-only, empty folder", "--collect-only", folder=str(empty))
        compare("300 small tests", folder=str(full))


if __name__ == "__main__":
    main()
