"""Kinds of vector indexes: short names for FAISS's factory strings, and how far each is searched.

    flat       Flat            exact: every vector is compared
    hnsw       HNSW32          a graph of neighbours; fast, larger than flat
    ivfpq      IVF{n},PQ{m}np  lists of near vectors, each in width / 4 bytes; small
    sq8        SQ8             exact search over vectors of 8-bit numbers; a quarter of flat
    OPQ16,...  unchanged       any factory string of FAISS

The "np" tells FAISS to skip a training that takes minutes and serves a kind of search that is not used here.
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
_LISTS = 4  # lists are so many times the root of the corpus's size, as FAISS advises up to a million vectors
_NUMBERS_A_CODE = 4  # so many numbers of a vector become one byte in ivfpq


@dataclass(frozen=True, kw_only=True)
class IndexChoice:
    """Which vector index dense retrieval searches, and how thoroughly.

    Attributes:
        kind: a short name such as "hnsw", or a factory string of FAISS.
        ef_search: how many neighbours a search of a graph (hnsw) keeps in view; more find more, slower.
        nprobe: how many lists of an index of lists (ivfpq) are searched; more find more, slower.
    """

    kind: str = defaults.INDEX
    ef_search: int = defaults.EF_SEARCH
    nprobe: int = defaults.NPROBE


def factory_string(kind: str, *, size: int, width: int | None = None) -> str:
    """Returns the text from which FAISS makes an index (its factory string): "HNSW32" for "hnsw".

    Fewer than `LEAST_FOR_IVFPQ` vectors are too few to train ivfpq, which is then "Flat".

    Args:
        kind: a short name or a factory string; a factory string is returned as it is.
        size: number of vectors.
        width: numbers of a vector; None, where it is not known yet, writes "(width/4)" in its place.
    """
    if kind != _IVFPQ:
        return _SHORT.get(kind, kind)
    if size < LEAST_FOR_IVFPQ:
        return FLAT
    lists = min(round(_LISTS * math.sqrt(size)), size // _EACH_CENTROID)
    return f"IVF{lists},PQ{_codes(width) if width else f'(width/{_NUMBERS_A_CODE})'}np"


def _codes(width: int) -> int:
    """Returns into how many equal pieces ivfpq cuts a vector: the largest divisor up to `width` / 4."""
    most = max(1, width // _NUMBERS_A_CODE)
    return next(pieces for pieces in range(most, 0, -1) if width % pieces == 0)


def search_parameters(choice: IndexChoice, factory: str) -> dict[str, int]:
    """Returns FAISS's parameters of a search: {"nprobe": 32} for lists, {"efSearch": 256} for a graph.

    Exact search has none: {}.
    """
    if "IVF" in factory:
        return {"nprobe": choice.nprobe}
    if "HNSW" in factory:
        return {"efSearch": choice.ef_search}
    return {}


def index_signature(choice: IndexChoice, *, size: int) -> dict[str, str | int]:
    """Returns what decides the hits of an index: {"factory": "HNSW32", "efSearch": 256}.

    A run's signature holds it. The version of FAISS is not in it.
    """
    factory = factory_string(choice.kind, size=size)
    return {"factory": factory, **search_parameters(choice, factory)}


def index_note(choice: IndexChoice, *, size: int) -> str:
    """Returns a note that the corpus is too small for ivfpq, so search is exact; "" otherwise."""
    if choice.kind != _IVFPQ or size >= LEAST_FOR_IVFPQ:
        return ""
    return (
        f"the index {_IVFPQ!r} is trained on at least {LEAST_FOR_IVFPQ} chunks, and the corpus holds {size}: "
        "its search is exact (flat)"
    )
