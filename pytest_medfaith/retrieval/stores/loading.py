"""Loads a corpus into a store in batches; a second run writes only what the store lacks."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from pytest_medfaith import defaults
from pytest_medfaith.errors import DataError
from pytest_medfaith.records import Chunk
from pytest_medfaith.retrieval.encoders import Encoder
from pytest_medfaith.retrieval.index import encoded_chunks
from pytest_medfaith.retrieval.stores.base import State
from pytest_medfaith.retrieval.stores.opening import PatientStore
from pytest_medfaith.retrieval.stores.rows import (
    chunk_digest,
    contents_hash,
    contents_hash_of,
    row_key,
    row_of,
)
from pytest_medfaith.retrieval.stores.states import read_state, refuse_another, written

BATCH = 128  # chunks encoded and written at a time; an interruption loses at most this many


@dataclass(frozen=True)
class Loaded:
    """What a load did.

    Attributes:
        state: of the store, now complete.
        written: how many chunks were written; all others were in the store already.
    """

    state: State
    written: int


def load_store(
    store: PatientStore,
    read: Callable[[], Iterable[Chunk]],
    encoder: Encoder,
    *,
    k1: float = defaults.K1,
    b: float = defaults.B,
    progress: Callable[[int, int], None] | None = None,
) -> Loaded:
    """Writes those chunks of a corpus into `store` that it lacks, and marks it complete.

    The corpus is read twice and never held as a whole: once for its hash, once to write it. The store gets
    its state before its first chunk, so an interrupted load can go on where it stopped.

    Args:
        store: the store to fill.
        read: function that yields the chunks of the corpus, from the first on at each call; ids are unique.
        encoder: gives their vectors.
        k1: BM25's k1, for a store that searches words.
        b: BM25's b, likewise.
        progress: called with (chunks done, chunks in all) after each batch.

    Raises:
        DataError: the store holds another corpus, encoder or dimension; it cannot be reached; it ends up with
            more or fewer chunks than the corpus; or the corpus changed between the two readings.
    """
    corpus, size = contents_hash(read())
    found = read_state(store)
    state = State(corpus, size, encoder.signature, _dimension(found, read, encoder), encoder.metric, k1, b)
    if found is not None:
        refuse_another(store, found, state)
    if found is None or not found.complete:
        store.create(written(state), dimension=state.dimension, metric=state.metric)
        found = read_state(store) or state
        refuse_another(store, found, state)
    read_again = _Counted(read())
    missing = _write_missing(store, read_again, encoder, state, progress)
    _check_whole(store, state, read_again)
    if missing or not found.complete:
        state = dataclasses.replace(state, complete=True)
        store.write_state(written(state))
    return Loaded(dataclasses.replace(state, complete=True), missing)


def _dimension(found: State | None, read: Callable[[], Iterable[Chunk]], encoder: Encoder) -> int:
    """Returns the width of the store's vectors, if this encoder gave them, else of a first chunk's."""
    if found and found.encoder == encoder.signature:
        return found.dimension
    first = list(islice(read(), 1))
    return int(encoded_chunks(first, encoder).shape[1])


@dataclass
class _Counted:
    """An iterable of chunks that counts them and adds up their digests while they are read.

    Attributes:
        chunks: what is read.
        total: sum of the digests so far, each read as a hexadecimal number.
        count: chunks so far.
    """

    chunks: Iterable[Chunk]
    total: int = 0
    count: int = 0

    def __iter__(self) -> Iterator[Chunk]:
        for chunk in self.chunks:
            self.total += int(chunk_digest(chunk), 16)
            self.count += 1
            yield chunk


def _write_missing(
    store: PatientStore,
    chunks: Iterable[Chunk],
    encoder: Encoder,
    state: State,
    progress: Callable[[int, int], None] | None,
) -> int:
    """Writes the chunks that the store lacks or holds in another version; returns how many it wrote.

    Raises:
        DataError: the encoder's vectors are not as wide as the store's.
    """
    done = count = 0
    for batch in _batches(chunks):
        there = store.digests([row_key(chunk.id) for chunk in batch])
        missing = [chunk for chunk in batch if there.get(row_key(chunk.id)) != chunk_digest(chunk)]
        if missing:
            vectors = encoded_chunks(missing, encoder)
            if vectors.shape[1] != state.dimension:
                raise DataError(
                    f"the encoder {encoder.name!r} gave vectors of {vectors.shape[1]} numbers, and the store "
                    f"{store.address} holds vectors of {state.dimension}; name another store, or the encoder "
                    "that it was loaded with"
                )
            store.upsert([row_of(chunk, vector) for chunk, vector in zip(missing, vectors, strict=True)])
        count += len(missing)
        done += len(batch)
        if progress:
            progress(min(done, state.chunks), state.chunks)
    return count


def _batches(chunks: Iterable[Chunk]) -> Iterator[list[Chunk]]:
    waiting = iter(chunks)
    while batch := list(islice(waiting, BATCH)):
        yield batch


def _check_whole(store: PatientStore, state: State, read_again: _Counted) -> None:
    """Refuses a store that does not hold, after loading, exactly the corpus that was read (DataError)."""
    if contents_hash_of(read_again.total, read_again.count) != (state.corpus, state.chunks):
        raise DataError(
            f"the corpus changed while it was loaded into the store {store.address}, which is not searched "
            "now; load it again under another name"
        )
    held = store.count()
    if held != state.chunks:
        raise DataError(
            f"the store {store.address} holds {held} chunks after loading, and the corpus {state.chunks}; "
            "something else writes into it, or the corpus changed meanwhile. Load it under another name"
        )
