"""Notes for the user about a retriever, such as that bm25 is slow on this corpus.

A note also says where an index kind does not suit the corpus, or a store's filter matches nothing.
"""

from __future__ import annotations

from pytest_medfaith import defaults
from pytest_medfaith.retrieval.build import fused_names, takes_fast_bm25
from pytest_medfaith.retrieval.index_kinds import index_note
from pytest_medfaith.retrieval.settings import RetrievalSettings, patience_of, settled
from pytest_medfaith.retrieval.stores.address import is_store
from pytest_medfaith.retrieval.stores.searching import filter_note


def store_note(name: str, settings: RetrievalSettings) -> str:
    """Returns notes about the stores that a retriever asks, joined by "; "; "" where there is nothing to say.

    Raises:
        DataError: a store cannot be reached.
    """
    stores = filter(is_store, fused_names(*settled(name, settings)))
    return "; ".join(filter(None, (filter_note(store, patience_of(settings)) for store in stores)))


def notes_on(name: str, settings: RetrievalSettings, *, size: int) -> list[str]:
    """Returns all notes about the retriever called `name` over a corpus of `size` chunks; [] for none.

    Raises:
        DataError: a store of the retriever cannot be reached.
    """
    return [*size_notes(name, settings, size=size), *filter(None, [store_note(name, settings)])]


def size_notes(name: str, settings: RetrievalSettings, *, size: int) -> list[str]:
    """Returns the notes that depend on the number of chunks; [] for none.

    They say which package `bm25` uses on a large corpus, or what would be faster, and whether the corpus is
    too small for the index kind "ivfpq".
    """
    name, settings = settled(name, settings)
    names = fused_names(name, settings)
    notes = [_lexical_note(size)] if "bm25" in names and size > defaults.FAST_BM25_FROM else []
    if "dense" in names:
        notes.append(index_note(settings.choice, size=size))
    return list(filter(None, notes))


def _lexical_note(size: int) -> str:
    """Returns which package scores `bm25` over a large corpus, and that bm25s would be faster."""
    if takes_fast_bm25(size):
        return f"bm25 scores the {size} chunks by bm25s, as it does above {defaults.FAST_BM25_FROM}"
    return (
        f"bm25 scores the {size} chunks by rank-bm25, which is slow above {defaults.FAST_BM25_FROM}; bm25s "
        "is faster: pip install 'pytest-medfaith[fast]'"
    )
