"""Filters of retrieval: only chunks of some sources, journals or years are found.

Example: ["source=pubmed", "year=2015-"] finds chunks of PubMed from 2015 on. Two values of a field are
alternatives. A chunk in which the field is missing is never found.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial

from pytest_medfaith.errors import DataError
from pytest_medfaith.records import Chunk, Hit
from pytest_medfaith.retrieval.cost import index_bytes, sized, vector_indexes
from pytest_medfaith.retrieval.ranking import Retriever

_FIELDS: dict[str, Callable[[Chunk], object]] = {
    "source": lambda chunk: chunk.source,
    "journal": lambda chunk: chunk.extra.get("journal"),
    "year": lambda chunk: chunk.year,
}
_YEARS = re.compile(r"(?P<first>\d{4})?(?P<to>-)?(?P<last>\d{4})?")
_MORE = 4  # each round asks for so many times as many candidates
_SHOWN = 5


def filtered_retriever(retriever: Retriever, chunks: Sequence[Chunk], filters: Sequence[str]) -> Retriever:
    """Returns a retriever that gives only hits of `retriever` that pass `filters`, in the same order.

    It asks `retriever` for more and more hits until `top_k` pass, or none are left. Without filters it is
    `retriever` itself.

    Args:
        retriever: over the whole corpus.
        chunks: the corpus.
        filters: such as "source=pubmed", "journal=Lancet", "year=2015", "year=2015-2020", "year=2015-".

    Raises:
        DataError: a filter of another form, or no chunk passes them.
    """
    if not filters:
        return retriever
    passing = passing_ids(chunks, filters)

    def search(query: str, *, top_k: int) -> list[Hit]:
        asked = top_k
        while True:
            asked = min(len(chunks), asked * _MORE)
            hits = retriever(query, top_k=asked)
            kept = [hit for hit in hits if hit.chunk.id in passing]
            if len(kept) >= top_k or asked == len(chunks) or len(hits) < asked:
                return [_ranked(hit, rank) for rank, hit in enumerate(kept[:top_k], start=1)]

    return sized(search, partial(index_bytes, retriever), vector_indexes(retriever))


def _ranked(hit: Hit, rank: int) -> Hit:
    """Returns `hit` with its rank among the hits that pass.

    If a single retriever found it, that retriever's rank changes too; ranks of fused retrievers stay.
    """
    ranks = dict.fromkeys(hit.ranks, rank) if len(hit.ranks) == 1 else hit.ranks
    return hit.with_(rank=rank, ranks=ranks)


def passing_ids(chunks: Sequence[Chunk], filters: Sequence[str]) -> set[str]:
    """Returns the ids of the chunks that pass `filters`.

    Raises:
        DataError: a filter of another form, or no chunk passes; the message says which values the corpus has.
    """
    wanted: dict[str, list[Callable[[object], bool]]] = {}
    for text in filters:
        field, passes = _parsed(text)
        wanted.setdefault(field, []).append(passes)
    passing = {
        chunk.id
        for chunk in chunks
        if all(any(passes(_FIELDS[field](chunk)) for passes in tests) for field, tests in wanted.items())
    }
    if not passing:
        held = "; ".join(f"{field} is {_held(chunks, field)}" for field in wanted)
        raise DataError(f"no chunk of the corpus passes {', '.join(filters)}; in the corpus {held}")
    return passing


def _held(chunks: Sequence[Chunk], field: str) -> str:
    """Returns up to five values of a field in the corpus, for a message: "2015, 2016 and ..."."""
    values = sorted({str(value) for chunk in chunks if (value := _FIELDS[field](chunk)) not in (None, "")})
    more = [f"and {len(values) - _SHOWN} more"] * (len(values) > _SHOWN)
    return ", ".join([*values[:_SHOWN], *more]) or "said of no chunk"


def _parsed(text: str) -> tuple[str, Callable[[object], bool]]:
    """Returns (field, test of a chunk's value) of a filter such as "year=2015-2020"; or DataError."""
    field, equals, value = text.partition("=")
    if field not in _FIELDS or not equals or not value.strip():
        raise DataError(
            f"the filter {text!r} has another form; expected {', '.join(_FIELDS)}, an equals sign and a "
            "value, as in source=pubmed or year=2015-2020"
        )
    if field != "year":
        return field, lambda found: isinstance(found, str) and found.casefold() == value.strip().casefold()
    years = _YEARS.fullmatch(value.strip())
    if years is None or not (years["first"] or years["last"]) or (years["last"] and not years["to"]):
        raise DataError(
            f"the filter {text!r} has another form; expected year=2015, 2015-, -2020 or 2015-2020"
        )
    first = int(years["first"] or 0)
    last = int(years["last"]) if years["last"] else 9999 if years["to"] else first
    if first > last:
        raise DataError(f"the filter {text!r} ends before it begins; expected the earlier year first")
    return field, lambda found: isinstance(found, int) and first <= found <= last
