"""Tests the plugin under every Python from 3.10 to 3.13 on this machine, each with pytest 8 and 9.

`python bench/matrix.py` takes all, `python bench/matrix.py 3.12/8 3.13/9` only these two. Each pair has an
environment of its own, with packages from the package index. What runs is what a user meets: the integration
tests, and the test that an unused plugin imports nothing.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

REPO = Path(__file__).parents[1]
PYTHONS = ("3.10", "3.11", "3.12", "3.13")
PYTESTS = ("8", "9")
TESTS = ("tests/integration", "tests/unit/test_load.py")


def interpreters() -> Iterator[tuple[str, str]]:
    """Yields (version, path) of each wanted Python that is on the PATH or installed by pyenv."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    for version in PYTHONS:
        candidates = [
            *map(str, sorted(pyenv.glob(f"{version}.*/bin/python"))),
            shutil.which(f"python{version}") or "",
        ]
        found = next((path for path in candidates if path and _version(path) == version), None)
        if found:
            yield version, found


def _version(path: str) -> str:
    """Returns the version of a Python interpreter, such as "3.12"; "" if it does not run."""
    code = "import sys; print('%d.%d' % sys.version_info[:2])"
    return subprocess.run([path, "-c", code], capture_output=True, text=True, check=False).stdout.strip()


def environment(version: str, interpreter: str, pytest: str) -> Path:
    """Returns the interpreter of an environment with the package, this pytest, and plugins for the tests.

    The environment is made if it is missing.
    """
    folder = REPO / f".venv-matrix-{version}-pytest{pytest}"
    python = folder / "bin" / "python"
    if not python.is_file():
        subprocess.run([interpreter, "-m", "venv", str(folder)], check=True)
    wanted = [
        f"pytest=={pytest}.*",
        "pytest-asyncio",
        "pytest-xdist",
        "pytest-randomly",
        "pytest-rerunfailures",
        "pyyaml",
        "-e",
        f"{REPO}[report]",
    ]
    subprocess.run([str(python), "-m", "pip", "install", "-q", *wanted], check=True)
    return python


def main() -> None:
    """Prints the result for each pair; the exit status is 1 if any failed."""
    failed = False
    for version, interpreter in interpreters():
        for pytest in PYTESTS:
            if sys.argv[1:] and f"{version}/{pytest}" not in sys.argv[1:]:
                continue
            python = environment(version, interpreter, pytest)
            command = [str(python), "-m", "pytest", "-q", "-n", "2", "-p", "no:cacheprovider", *TESTS]
            result = subprocess.run(command, cwd=REPO, capture_output=True, text=True, check=False)
            tally = re.findall(r"^.*\d+ (?:passed|failed|error).*$", result.stdout, re.MULTILINE)
            said = tally[-1].strip("= ") if tally else f"exit status {result.returncode}"
            print(f"Python {version}, pytest {pytest}: {said}", flush=True)
            if result.returncode:
                failed = True
                print(result.stdout[-4000:], result.stderr[-2000:])
    sys.exit(failed)


if __name__ == "__main__":
    main()
