"""Locks the training data: keeps the SHA-256 of every file that a shipped recipe reads.

A file that changed is refused before anything is trained on it, so the same data give the same weights.
`recipes/data.lock` holds lines as `sha256sum` writes them, such as `<digest>
{repo}/data/silver/short.jsonl`. `{repo}` is this repository, `{data}` the folder of the public data sets.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pytest_medfaith.errors import DataError
from pytest_medfaith.jsonl import write_text

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

RECIPES = Path(__file__).parent / "recipes"
LOCK = RECIPES / "data.lock"


def read_lock(path: Path = LOCK) -> dict[str, str]:
    """Returns {file name: SHA-256}, with `{repo}` and `{data}` in names as they are in the lock.

    Raises:
        DataError: a line that is not `<digest>  <name>`.
    """
    locked = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        digest, _, name = line.partition("  ")
        if len(digest) != 64 or not name:
            raise DataError(f"{path}:{number}: {line!r} is no line of a lock; expected '<sha256>  <file>'")
        locked[name] = digest
    return locked


def check_recipe(recipe: Path, *, data: Path, repo: Path, lock: Path = LOCK) -> None:
    """Refuses to train by `recipe` if a file that it reads differs from the lock.

    A file that is not in the lock passes: your own recipes may read your own files.

    Args:
        recipe: TOML file; the recipe that its `sources` names is checked too.
        data: folder of the public data sets.
        repo: this repository.
        lock: the file of digests.

    Raises:
        DataError: a file is missing or changed; the message says how to lock it again.
    """
    named = _named_files(recipe)
    for name, digest in read_lock(lock).items():
        if not any(name == part or name.startswith(f"{part}/") for part in named):
            continue
        path = Path(name.format(data=data, repo=repo))
        found = _digest(path) if path.is_file() else ""
        if found != digest:
            what = f"changed: its SHA-256 is {found[:12]}" if found else "missing"
            raise DataError(
                f"{path} is {what}; {lock.name} says {digest[:12]}. Bring the file back, or run "
                "`python -m training lock` to train on what is there"
            )


def lock_data(*, data: Path, repo: Path, recipes: Iterable[Path] | None = None, out: Path = LOCK) -> int:
    """Writes the lock of every file that `recipes` read, and returns how many files it names.

    Args:
        data: folder of the public data sets.
        repo: this repository.
        recipes: TOML files; None takes the shipped recipes.
        out: the lock to write.

    Raises:
        DataError: a file or folder that a recipe names is missing.
    """
    digests: dict[str, str] = {}
    for name in sorted(
        {name for recipe in recipes or RECIPES.glob("*.toml") for name in _named_files(recipe)}
    ):
        path = Path(name.format(data=data, repo=repo))
        if not path.exists():
            raise DataError(f"{path} is not there, and a recipe reads it; give --data and --repo")
        files = (
            sorted(file for file in path.rglob("*") if file.is_file() and file.suffix != ".md")
            if path.is_dir()
            else [path]
        )
        for file in files:
            digests[name + str(file)[len(str(path)) :]] = _digest(file)
    write_text(out, "".join(f"{digest}  {name}\n" for name, digest in sorted(digests.items())))
    return len(digests)


def _named_files(recipe: Path) -> set[str]:
    """Returns the files and folders that a recipe reads, with `{data}` and `{repo}` in their names.

    Those of the recipe that its `sources` names are among them.
    """
    table = tomllib.loads(recipe.read_text(encoding="utf-8"))

    def texts(value: Any) -> Iterable[str]:
        if isinstance(value, str):
            yield value
        parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        for part in parts:
            yield from texts(part)

    named = {text.rstrip("/") for text in texts(table) if text.startswith(("{data}/", "{repo}/"))}
    beside = table["sources"] if isinstance(table.get("sources"), str) else ""
    return named | (_named_files(recipe.with_name(beside)) if beside else set())


def _digest(path: Path) -> str:
    """Returns the SHA-256 of a file in hexadecimal digits."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        for block in iter(lambda: file.read(1 << 20), b""):
            digest.update(block)
    return digest.hexdigest()
