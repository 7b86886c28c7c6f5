"""A store as a retriever: the same hits as the built-in retrievers give."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

from pytest_medfaith.english.letters import compatible
from pytest_medfaith.errors import DataError
from pytest_medfaith.records import Chunk, Hit
from pytest_medfaith.retrieval.cost import sized, timed
from pytest_medfaith.retrieval.encoders import Encoder, encoder_signature, load_encoder
from pytest_medfaith.retrieval.index import checked_vectors
from pytest_medfaith.retrieval.ranking import Retriever, check_query
from pytest_medfaith.retrieval.stores.address import parse_address, refuse_password
from pytest_medfaith.retrieval.stores.base import Found, State, StoreFault, storable
from pytest_medfaith.retrieval.stores.opening import Patience, PatientStore, open_store, told
from pytest_medfaith.retrieval.stores.rows import chunk_of, contents_hash, query_words
from pytest_medfaith.retrieval.stores.states import read_state


@dataclass(frozen=True)
class StoreSettings:
    """What a retriever of a store is held to: encoders by name, BM25's parameters, and patience."""

    encoders: Sequence[str]
    k1: float
    b: float
    patience: Patience


def store_retriever(name: str, chunks: Sequence[Chunk], settings: StoreSettings) -> Retriever:
    """Returns the retriever of a store that `medfaith index --store` loaded.

    Scores are those of `dense_retriever`, or BM25's where words are searched. A filter leaves out what it
    does not name; where nothing is left, there are no hits.

    Args:
        name: such as "store:qdrant+http://localhost:6333/guidelines"; hits note rank and score under it.
        chunks: the corpus on this machine, which the store must hold; [] where the store alone has it.
        settings: what the store must fit.

    Raises:
        ValueError: the name holds a password.
        MissingExtra: the client of the store is not installed.
        DataError: the store cannot be asked, was not loaded to its end, or holds another corpus or encoder.
    """
    refuse_password(name)
    address = parse_address(name)
    store = open_store(address, settings.patience)
    state = _whole_state(store)
    if chunks:
        _check_corpus(store, state, chunks)
    if address.search not in store.searches:
        raise DataError(
            f"the store {address} does not search words by BM25; OpenSearch does. Leave search=words out, "
            "and fuse the store with bm25 or such a store"
        )
    ask = (
        _by_words(store, state, settings) if address.search == "words" else _by_vector(store, state, settings)
    )

    def search(query: str, *, top_k: int) -> list[Hit]:
        check_query(query, top_k=top_k, size=max(top_k, state.chunks))
        found = ask(query, min(top_k, state.chunks))
        try:
            return _hits(found[:top_k], name)
        except StoreFault as fault:
            raise told(fault, address, tries=1) from None

    return sized(search, cache(partial(_size, store)))


def _size(store: PatientStore) -> int | None:
    """Returns the bytes of a store; None where it does not tell them to a user who may search."""
    try:
        return store.index_bytes()
    except DataError:
        return None


def store_fingerprint(name: str, patience: Patience) -> str:
    """Returns what a store holds, for the signature of a run.

    Raises:
        DataError: see `store_retriever`.
    """
    return _whole_state(open_store(parse_address(name), patience)).fingerprint


def filter_note(name: str, patience: Patience) -> str:
    """Returns a note where a store's filter matches no chunk; "" where it matches some, or for no filter.

    Raises:
        DataError: see `store_retriever`.
    """
    address = parse_address(name)
    if not address.only or open_store(address, patience).count(address.only):
        return ""
    return f"no chunk of the store {address} is of {address.only}, so no question has a hit there"


def _whole_state(store: PatientStore) -> State:
    state = read_state(store)
    if state is None:
        raise DataError(
            f"there is no store {store.address}; load it: medfaith index --corpus CORPUS --store ADDRESS"
        )
    if not state.complete:
        raise DataError(
            f"the store {store.address} was not loaded to its end; run medfaith index --store again, which "
            "goes on where it stopped"
        )
    held = store.count()
    if held != state.chunks:
        raise DataError(
            f"the store {store.address} was loaded with {state.chunks} chunks and holds {held} now; run "
            "medfaith index --store again, or mend the server"
        )
    return state


def _check_corpus(store: PatientStore, state: State, chunks: Sequence[Chunk]) -> None:
    corpus, size = contents_hash(chunks)
    if corpus != state.corpus:
        raise DataError(
            f"the store {store.address} holds the corpus {state.corpus} ({state.chunks} chunks), and the "
            f"corpus here is {corpus} ({size} chunks); load this corpus under another name, or leave corpus "
            "out of the slice to search what the store has"
        )


def _by_vector(
    store: PatientStore, state: State, settings: StoreSettings
) -> Callable[[str, int], Sequence[Found]]:
    encoder = _encoder_of(store, state, settings.encoders)
    only = store.address.only

    def ask(query: str, top_k: int) -> Sequence[Found]:
        with timed("encode"):
            vector = _query_vector(encoder, query, width=state.dimension)
        with timed("search"):
            found = store.by_vector(vector, metric=state.metric, top_k=top_k, only=only)
        if encoder.metric == "l2":
            found = [Found(one.chunk, one.digest, 1 / (1 - one.score)) for one in found]
        return sorted(found, key=lambda one: (-one.score, one.digest))

    return ask


def _query_vector(encoder: Encoder, query: str, *, width: int) -> Any:
    vectors = encoder.encode_queries([compatible(query)])
    return [float(one) for one in checked_vectors(vectors, rows=1, encoder=encoder.name, width=width)[0]]


def _encoder_of(store: PatientStore, state: State, names: Sequence[str]) -> Encoder:
    """Returns the encoder among `names` that the store was loaded with."""
    signatures = {name: encoder_signature(name) for name in names}
    for name, signature in signatures.items():
        if signature == state.encoder:
            return load_encoder(name)
    given = " and ".join(f"{name!r} ({signature})" for name, signature in signatures.items())
    raise DataError(
        f"the store {store.address} was loaded with the encoder {state.encoder}, and the settings name "
        f"{given}; set encoders to the encoder of the store, or load the corpus under another name"
    )


def _by_words(
    store: PatientStore, state: State, settings: StoreSettings
) -> Callable[[str, int], Sequence[Found]]:
    if (state.k1, state.b) != (settings.k1, settings.b):
        raise DataError(
            f"the store {store.address} was loaded for BM25 with k1 {state.k1:g} and b {state.b:g}, and the "
            f"settings say {settings.k1:g} and {settings.b:g}; load the corpus under another name, or set k1 "
            f"and b to these"
        )
    only = store.address.only

    def ask(query: str, top_k: int) -> Sequence[Found]:
        words = storable(query_words(query))
        if not words:
            return []
        with timed("search"):
            found = store.by_words(words, top_k=top_k, only=only)
        return sorted(found, key=lambda one: (-one.score, one.digest))

    return ask


def _hits(found: Sequence[Found], name: str) -> list[Hit]:
    """Returns hits of what was found; a score that is not above 0 is no hit, as in `to_hits`."""
    kept = [(chunk_of(one), float(one.score)) for one in found if one.score > 0]
    if len({chunk.id for chunk, _ in kept}) < len(kept):
        raise StoreFault("gave a chunk twice")
    return [
        Hit(chunk=chunk, rank=rank, score=score, ranks={name: rank}, scores={name: score})
        for rank, (chunk, score) in enumerate(kept, start=1)
    ]
