"""A store as a retriever, with the hits that the built-in retrievers give."""

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
    """What a store must fit, and how long it is waited for.

    Attributes:
        encoders: names of encoders; the store must be loaded with one of them.
        k1: BM25's k1, which a search by words must have been loaded with.
        b: BM25's b, likewise.
        patience: seconds and retries of a request.
    """

    encoders: Sequence[str]
    k1: float
    b: float
    patience: Patience


def store_retriever(name: str, chunks: Sequence[Chunk], settings: StoreSettings) -> Retriever:
    """Returns a retriever that searches a store, which `medfaith index --store` has loaded.

    Scores are those of `dense_retriever`, or of BM25 where words are searched. A filter in the address may
    leave no chunk; then there are no hits.

    Args:
        name: such as "store:qdrant+http://localhost:6333/guidelines"; also its name in the `ranks` of its
            hits.
        chunks: the corpus on this machine, which must be the store's; [] where only the store has it.
        settings: what the store must fit.

    Raises:
        ValueError: the name holds a password.
        MissingExtra: the client of the store is not installed.
        DataError: the store cannot be reached, was not loaded to its end, holds another corpus or encoder, or
            cannot search words.
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
    """Returns the bytes of a store; None where it does not tell them, as to a user who may only search."""
    try:
        return store.index_bytes()
    except DataError:
        return None


def store_fingerprint(name: str, patience: Patience) -> str:
    """Returns what a store holds, in words, for the signature of a run; see `State.fingerprint`.

    Raises:
        DataError: see `store_retriever`.
    """
    return _whole_state(open_store(parse_address(name), patience)).fingerprint


def filter_note(name: str, patience: Patience) -> str:
    """Returns a note that the filter in a store's address matches no chunk; "" if it does, or has none.

    Raises:
        DataError: see `store_retriever`.
    """
    address = parse_address(name)
    if not address.only or open_store(address, patience).count(address.only):
        return ""
    return f"no chunk of the store {address} is of {address.only}, so no question has a hit there"


def _whole_state(store: PatientStore) -> State:
    """Returns the state of a store, after checking that all its chunks are there.

    Raises:
        DataError: there is no such store, or its load was interrupted, or rows are missing.
    """
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
    """Refuses a store whose corpus is not the one on this machine (DataError)."""
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
    """Returns a function (question, top_k) -> rows nearest to the question's vector, best first."""
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
    """Returns the vector of a question, `width` numbers; DataError if the encoder gives another width."""
    vectors = encoder.encode_queries([compatible(query)])
    return [float(one) for one in checked_vectors(vectors, rows=1, encoder=encoder.name, width=width)[0]]


def _encoder_of(store: PatientStore, state: State, names: Sequence[str]) -> Encoder:
    """Returns the encoder among `names` that the store was loaded with; DataError if it is none of them."""
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
    """Returns a function (question, top_k) -> rows that are best by BM25, best first.

    Raises:
        DataError: the store was loaded with another k1 or b than the settings have.
    """
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
    """Returns what was found as hits, without scores of 0 or below.

    Raises:
        StoreFault: a row was changed since it was loaded, or came twice.
    """
    kept = [(chunk_of(one), float(one.score)) for one in found if one.score > 0]
    if len({chunk.id for chunk, _ in kept}) < len(kept):
        raise StoreFault("gave a chunk twice")
    return [
        Hit(chunk=chunk, rank=rank, score=score, ranks={name: rank}, scores={name: score})
        for rank, (chunk, score) in enumerate(kept, start=1)
    ]
