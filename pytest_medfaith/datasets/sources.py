"""Reads `sources.toml`: where each data set comes from, under which licence, how to cite it, which splits it has."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


@dataclass(frozen=True, kw_only=True)
class Source:
    """The facts of one data set, as its authors publish them."""

    name: str
    title: str
    url: str
    licence: str
    citation: str
    splits: str


@lru_cache
def read_sources() -> dict[str, Source]:
    """Returns {adapter name: its source}, in the order of the file."""
    text = files(__package__).joinpath("sources.toml").read_text(encoding="utf-8")
    return {name: Source(name=name, **facts) for name, facts in tomllib.loads(text).items()}
