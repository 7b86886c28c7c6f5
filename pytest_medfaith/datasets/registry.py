"""The data sets by name, and cases by a spec such as "medquad:path/to/folder" or a gold file's path.

To add a data set, write two files: a module `NAME.py` in this folder with a function `read_NAME`, and a table
`[NAME]` in sources.toml. An adapter is imported when it is used, so importing `pytest_medfaith.datasets`
imports no adapter.
"""

from __future__ import annotations

import difflib
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import Any, Protocol, cast

from pytest_medfaith import defaults
from pytest_medfaith.answers.awaiting import awaited
from pytest_medfaith.datasets.gold import Style, read_gold_file, with_gold_claims
from pytest_medfaith.datasets.sampling import sample
from pytest_medfaith.datasets.skips import Skips
from pytest_medfaith.errors import DataError
from pytest_medfaith.records import Case, Chunk

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PYTHON = "python:"  # begins the spec of a function that gives cases


class CaseReader(Protocol):
    """Reads a data set's cases; what it leaves out it counts in `skips`."""

    def __call__(self, path: Path, *, skips: Skips | None = None) -> Iterator[Case]:
        """Yields the cases at `path`."""


class ChunkReader(Protocol):
    """Reads a data set's documents; what it leaves out it counts in `skips`."""

    def __call__(self, path: Path, *, skips: Skips | None = None) -> Iterator[Chunk]:
        """Yields the chunks at `path`."""


@dataclass(frozen=True, kw_only=True)
class Adapter:
    """A data set that can be read: a table of sources.toml, whose head explains each field.

    `gold` says how gold claims are made of its answers, `chunked` whether it has documents, too.
    """

    name: str
    title: str
    url: str
    licence: str
    citation: str
    splits: str
    reads: str
    gold: Style
    chunked: bool = False

    @property
    def read(self) -> CaseReader:
        """The function `read_<name>` of the module of that name."""
        return cast("CaseReader", getattr(self._module(), f"read_{self.name}"))

    @property
    def read_chunks(self) -> ChunkReader:
        """The function `read_<name>_chunks`; only `chunked` adapters have it."""
        return cast("ChunkReader", getattr(self._module(), f"read_{self.name}_chunks"))

    def _module(self) -> object:
        return import_module(f"pytest_medfaith.datasets.{self.name}")

    def read_with_gold(
        self,
        path: Path,
        *,
        limit: int | None = None,
        seed: int | None = None,
        skips: Skips | None = None,
        cap: int = defaults.GOLD_CLAIMS,
    ) -> Iterator[Case]:
        """Returns the cases at `path`; reference answers without gold claims get at most `cap` of them.

        Args:
            path: the files of the data set.
            limit: at most so many cases; None takes all.
            seed: of a random part of `limit` cases; None takes the first.
            skips: counts what is left out, where it is given.
            cap: at least 1.
        """
        cases = sample(self.read(path, skips=skips), limit=limit, seed=seed)
        return (with_gold_claims(case, style=self.gold, cap=cap) for case in cases)


@lru_cache
def adapters() -> Mapping[str, Adapter]:
    """Returns {name: adapter} of every data set, in the order of sources.toml."""
    text = files(__package__).joinpath("sources.toml").read_text(encoding="utf-8")
    return {name: Adapter(name=name, **facts) for name, facts in tomllib.loads(text).items()}


def find_adapter(name: str) -> Adapter:
    """Returns the adapter of `name`.

    Raises:
        DataError: no such adapter; the message lists all adapters.
    """
    known = adapters()
    if name not in known:
        near = difflib.get_close_matches(name, known, n=1)
        hint = f"did you mean {near[0]!r}?" if near else "check the spelling"
        raise DataError(f"no data set is called {name!r}; expected one of {', '.join(known)}; {hint}")
    return known[name]


def read_cases(
    spec: str,
    *,
    limit: int | None = None,
    seed: int | None = None,
    root: Path | None = None,
    skips: Skips | None = None,
    cap: int = defaults.GOLD_CLAIMS,
) -> Iterator[Case]:
    """Returns the cases of `spec`, lazily; a data set of long answers gets gold claims by the extractor.

    Args:
        spec: "NAME:PATH" with the name of a data set, the path of a file of cases (JSON Lines, JSON, CSV,
            Parquet), or "python:package.module:function" for a function that gives rows: a list of mappings
            or a table.
        limit: how many cases to take; None takes all.
        seed: with a limit, takes a random part instead of the first cases.
        root: folder that a relative path is looked up in; None is the current folder.
        skips: filled with what the reader left out, as far as it was read.
        cap: most gold claims extracted from an answer.

    Raises:
        DataError: an unknown data set, nothing at the path, or a file that is damaged or of another shape.
        ValueError: `limit` or `cap` is below 1.
    """
    if spec.startswith(PYTHON):
        return sample(read_gold_file(_called(spec.removeprefix(PYTHON))), limit=limit, seed=seed)
    name, path = _split_spec(spec, root or Path())
    if not name:
        return sample(read_gold_file(path), limit=limit, seed=seed)
    return find_adapter(name).read_with_gold(path, limit=limit, seed=seed, skips=skips, cap=cap)


def _called(dotted: str) -> Any:
    """Returns what the project's function returns that "module:function" names, awaited where it is async.

    Raises:
        DataError: no such function.
    """
    module, _, name = dotted.partition(":")
    try:
        function = getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise DataError(
            f"the cases {PYTHON + dotted!r} cannot be imported ({error}); expected "
            f"{PYTHON}package.module:function"
        ) from None
    return awaited(function(), "what the function of the cases gives")


def _split_spec(spec: str, root: Path) -> tuple[str, Path]:
    """Returns (data set, path); the data set is "" for a gold file, also for "C:/gold.jsonl"."""
    match = re.fullmatch(r"([A-Za-z]\w+):(.*)", spec, re.DOTALL)
    if match is None or (match[1] not in adapters() and (root / spec).exists()):
        return "", root / spec
    if not match[2].strip():
        raise DataError(
            f"the spec {spec!r} names no path; expected NAME:PATH, for example {match[1]}:path/to/files"
        )
    return match[1], root / match[2]
