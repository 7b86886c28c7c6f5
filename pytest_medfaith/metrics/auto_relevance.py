"""Grades of passages by the keywords of their question, where nobody has labelled them.

A case whose `meta` holds `"relevance_keywords": {"decisive": ["her2"], "supportive": ["receptor",
"response"]}` grades each passage by its title and text: 2 where they hold a decisive keyword, else 1 where
they hold at least two supportive ones, else 0. The method and its figures are those of the published
evaluation of a breast cancer RAG system, whose report calls it `auto_relevance`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from pytest_medfaith.errors import DataError, shown

if TYPE_CHECKING:
    from pytest_medfaith.records import Case, Chunk

KEY = "relevance_keywords"  # of a case's meta
KINDS = ("decisive", "supportive")
LEAST_SUPPORTIVE = 2  # one supportive word, such as "breast cancer", is in nearly every passage of its field


def auto_relevance(text: str, *, decisive: Sequence[str], supportive: Sequence[str]) -> int:
    """Returns 2 where `text` holds a decisive keyword, 1 where it holds two supportive ones, else 0.

    Keywords are found anywhere, as parts of words too, whatever their case.
    """
    low = text.lower()
    if any(word.lower() in low for word in decisive):
        return 2
    return int(sum(word.lower() in low for word in supportive) >= LEAST_SUPPORTIVE)


def keyword_grades(case: Case, chunks: Sequence[Chunk]) -> dict[str, float]:
    """Returns {chunk id: grade} of `chunks` by the keywords of `case`; empty where it has none.

    Raises:
        DataError: `meta["relevance_keywords"]` is not an object of two lists of words.
    """
    given = case.meta.get(KEY)
    if given is None:
        return {}
    if not isinstance(given, Mapping) or set(given) != set(KINDS) or not all(map(_are_words, given.values())):
        raise DataError(
            f"case {case.id!r}: meta.{KEY} is {shown(given)}, expected "
            f'{{"decisive": [words], "supportive": [words]}}; mend the case, or remove meta.{KEY}'
        )
    return {chunk.id: float(auto_relevance(f"{chunk.title} {chunk.text}", **given)) for chunk in chunks}


def _are_words(value: object) -> bool:
    return isinstance(value, (list, tuple)) and all(isinstance(word, str) and word.strip() for word in value)
