"""What is kept of texts that were read: each store has a bound that the settings name, and stays below it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest_medfaith
from pytest_medfaith import defaults
from pytest_medfaith.english.words import read_tokens

PACKAGE = Path(pytest_medfaith.__file__).parent
SMALL = 1024  # entries of a store that need not be named
# Stores without a bound of their own: there are as many values as kinds of records, adapters and processors.
WITHOUT_BOUND = {"_fields", "_reader", "_plain_test", "adapters", "processor_kernel", "package_digest"}
# Large stores that no server and no worker of a cluster fills: of words while a corpus is cut, of a teacher.
ELSEWHERE = {"_word_offsets", "_concepts"}
KEPT = {f"defaults.{name}" for name in ("TEXTS_KEPT", "PASSAGES_KEPT", "WORDS_KEPT")}


def stores() -> Iterator[tuple[str, str]]:
    """Yields (function, its bound as the code says it, "" for none) of each store of results."""
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            for one in getattr(node, "decorator_list", ()):
                name, _, bound = ast.unparse(one).partition("(")
                if name.rpartition(".")[2] in ("lru_cache", "cache"):
                    yield node.name, bound.rstrip(")").removeprefix("maxsize=")


def test_every_store_of_texts_is_bounded_by_the_settings():
    found = list(stores())
    assert len(found) > 60  # the search finds them
    too_large = [
        (name, bound)
        for name, bound in found
        if not (
            bound in KEPT
            or name in (WITHOUT_BOUND if not bound else ELSEWHERE)
            or (bound.isdecimal() and int(bound) <= SMALL)
        )
    ]
    assert too_large == []
    assert max(defaults.TEXTS_KEPT, defaults.PASSAGES_KEPT) <= 2048


def test_a_store_stays_below_its_bound():
    for number in range(defaults.TEXTS_KEPT + 300):
        read_tokens(f"text {number}")
    assert read_tokens.cache_info().currsize == defaults.TEXTS_KEPT
