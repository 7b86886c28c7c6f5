"""What the plugin costs a run that does not use it: import time, and `pytest --collect-only` in an empty folder with and without it."""

import os
import statistics
import subprocess
import sys
import tempfile
import time

RUNS = 5


def seconds(*arguments: str, folder: str) -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, "-m", "pytest", "--collect-only", "-q", *arguments], cwd=folder, capture_output=True, check=False)
    return time.perf_counter() - began


def import_milliseconds() -> float:
    code = "import pytest, time; t = time.perf_counter(); import pytest_medfaith.plugin; print((time.perf_counter() - t) * 1000)"
    return float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)


def main() -> None:
    # Other plugins of this environment would hide the difference; only the one measured is loaded.
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    with tempfile.TemporaryDirectory() as folder:
        seconds(folder=folder)  # warms the file cache
        rounds = [(seconds(folder=folder), seconds("-p", "pytest_medfaith.plugin", folder=folder)) for _ in range(RUNS)]
    without, with_ = (statistics.median(column) for column in zip(*rounds, strict=True))
    own = statistics.median(import_milliseconds() for _ in range(RUNS))
    print(f"plugin import: {own:.2f} ms (median of {RUNS})")
    print(
        f"pytest --collect-only, empty folder: {without:.3f} s without, {with_:.3f} s with, ratio {with_ / without:.3f} (medians of {RUNS})"
    )


if __name__ == "__main__":
    main()
