"""Kinds of vector indexes: short names for FAISS's factory strings, and the parameters of their searches.

    flat       Flat            exact: every vector is compared
    hnsw       HNSW32          a graph of neighbours; fast, larger than flat
    ivfpq      IVF{n},PQ{m}np  lists of near vectors, each in width / 4 bytes; small
    sq8        SQ8             exact search over vectors of 8-bit numbers; a quarter of flat
    OPQ16,...  as it stands    any factory string of FAISS

In "np" FAISS leaves out a training that takes minutes and serves a kind of search that is not used here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from pytest_medfaith import defaults

FLAT = "Flat"
_SHORT = {"flat": FLAT, "hnsw": "HNSW32", "sq8": "SQ8"}
_IVFPQ = "ivfpq"
SHORT_NAMES = (*_SHORT, _IVFPQ)
# FAISS asks for 39 vectors for each centroid that it trains; a code of 8 bits has 256 centroids.
_EACH_CENTROID = 39
LEAST_FOR_IVFPQ = 256 * _EACH_CENTROID
_LISTS = 4  # times the root of the corpus's size: FAISS's guidelines for up to a million vectors
_NUMBERS_A_CODE = 4  # of a vector, that ivfpq keeps in a byte


@dataclass(frozen=True, kw_only=True)
class IndexChoice:
    """Which index is searched, and how far.

    Attributes:
        kind: a short name or a factory string of FAISS.
        ef_search: how many neighbours a search in a graph keeps in sight.
        nprobe: how many lists are searched, of an index of lists.
    """

    kind: str = defaults.INDEX
    ef_search: int = defaults.EF_SEARCH
    nprobe: int = defaults.NPROBE


def factory_string(kind: str, *, size: int, width: int | None = None) -> str:
    """Returns the factory string of an index over `size` vectors; a corpus too small for ivfpq gets Flat.

    Args:
        kind: a short name or a factory string.
        size: number of vectors.
        width: of a vector; where it is not known yet, the string has "(width/4)" in its place.
    """
    if kind != _IVFPQ:
        return _SHORT.get(kind, kind)
    if size < LEAST_FOR_IVFPQ:
        return FLAT
    lists = min(round(_LISTS * math.sqrt(size)), size // _EACH_CENTROID)
    return f"IVF{lists},PQ{_codes(width) if width else f'(width/{_NUMBERS_A_CODE})'}np"


def _codes(width: int) -> int:
    """Returns into how many pieces of the same length a vector is cut, about a quarter of its width."""
    most = max(1, width // _NUMBERS_A_CODE)
    return next(pieces for pieces in range(most, 0, -1) if width % pieces == 0)


def search_parameters(choice: IndexChoice, factory: str) -> dict[str, int]:
    """Returns FAISS's name -> value of the parameters that a search of such an index reads."""
    if "IVF" in factory:
        return {"nprobe": choice.nprobe}
    if "HNSW" in factory:
        return {"efSearch": choice.ef_search}
    return {}


def index_signature(choice: IndexChoice, *, size: int) -> dict[str, str | int]:
    """Returns what of the index decides the hits, as plain values; FAISS's version aside."""
    factory = factory_string(choice.kind, size=size)
    return {"factory": factory, **search_parameters(choice, factory)}


def index_note(choice: IndexChoice, *, size: int) -> str:
    """Returns that a corpus is too small for the index that was asked for, "" where it is not."""
    if choice.kind != _IVFPQ or size >= LEAST_FOR_IVFPQ:
        return ""
    return (
        f"the index {_IVFPQ!r} is trained on at least {LEAST_FOR_IVFPQ} chunks, and the corpus holds {size}: "
        "its search is exact (flat)"
    )
