"""Opens a store by its address, and repeats requests that fail: a few tries with pauses, then an error."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from pytest_medfaith import defaults
from pytest_medfaith.errors import DataError, MissingExtra
from pytest_medfaith.retrieval.known_encoders import Metric
from pytest_medfaith.retrieval.stores.address import StoreAddress
from pytest_medfaith.retrieval.stores.base import ALL, Found, Only, Row, Search, Store, StoreFault

Answer = TypeVar("Answer")
_LONGEST = 300  # characters of a library's message that are shown
_DOWN = "start it, or name another address"
_NONSENSE = "check that the address is that of such a store, and not of a proxy or another service"


@dataclass(frozen=True)
class Patience:
    """How long a store is waited for.

    Attributes:
        timeout: seconds that a request may take.
        retries: how often a failed request is tried again.
        pause: seconds before the second try; each further pause is twice as long.
    """

    timeout: float = defaults.STORE_TIMEOUT
    retries: int = defaults.STORE_RETRIES
    pause: float = 0.25  # seconds before the second try; 0.5 before the third


def open_store(address: StoreAddress, patience: Patience | None = None) -> PatientStore:
    """Returns the store at `address`. No request is made before its first method is called.

    Raises:
        MissingExtra: the client of this kind of store is not installed.
        DataError: the client cannot be made for this address.
    """
    patience = patience or Patience()
    try:
        store = _OPENERS[address.kind](address, patience.timeout)
    except ModuleNotFoundError:
        raise MissingExtra(f"the store {address}", address.kind) from None
    except StoreFault as fault:
        raise told(fault, address, tries=1) from None
    return PatientStore(store, address, patience)


def _qdrant(address: StoreAddress, timeout: float) -> Store:
    from pytest_medfaith.retrieval.stores.qdrant import open_qdrant

    return open_qdrant(address, timeout)


def _pgvector(address: StoreAddress, timeout: float) -> Store:
    from pytest_medfaith.retrieval.stores.pgvector import open_pgvector

    return open_pgvector(address, timeout)


def _opensearch(address: StoreAddress, timeout: float) -> Store:
    from pytest_medfaith.retrieval.stores.opensearch import open_opensearch

    return open_opensearch(address, timeout)


_OPENERS: dict[str, Callable[[StoreAddress, float], Store]] = {
    "qdrant": _qdrant,
    "pgvector": _pgvector,
    "opensearch": _opensearch,
}


class PatientStore:
    """A store that repeats requests whose fault may pass. Its methods raise DataError, never StoreFault."""

    def __init__(self, store: Store, address: StoreAddress, patience: Patience) -> None:
        self._store, self.address, self._patience = store, address, patience
        self._retries = patience.retries

    @property
    def searches(self) -> tuple[Search, ...]:
        """What the store can compare: "vector", and for OpenSearch also "words"."""
        return self._store.searches

    def state(self) -> Mapping[str, Any] | None:
        """See `Store.state`."""
        return self._tried(self._store.state)

    def create(self, state: Mapping[str, Any], *, dimension: int, metric: Metric) -> None:
        """See `Store.create`."""
        self._tried(lambda: self._store.create(state, dimension=dimension, metric=metric))

    def write_state(self, state: Mapping[str, Any]) -> None:
        """See `Store.write_state`."""
        self._tried(lambda: self._store.write_state(state))

    def digests(self, keys: Sequence[str]) -> Mapping[str, str]:
        """See `Store.digests`."""
        return self._tried(lambda: self._store.digests(keys))

    def upsert(self, rows: Sequence[Row]) -> None:
        """See `Store.upsert`."""
        self._tried(lambda: self._store.upsert(rows))

    def count(self, only: Only = ALL) -> int:
        """See `Store.count`."""
        return self._tried(lambda: self._store.count(only))

    def by_vector(
        self, vector: Sequence[float], *, metric: Metric, top_k: int, only: Only = ALL
    ) -> Sequence[Found]:
        """See `Store.by_vector`."""
        return self._tried(lambda: self._store.by_vector(vector, metric=metric, top_k=top_k, only=only))

    def by_words(self, words: str, *, top_k: int, only: Only = ALL) -> Sequence[Found]:
        """See `Store.by_words`."""
        return self._tried(lambda: self._store.by_words(words, top_k=top_k, only=only))

    def index_bytes(self) -> int | None:
        """See `Store.index_bytes`."""
        return self._tried(self._store.index_bytes)

    def close(self) -> None:
        """See `Store.close`."""
        self._store.close()

    def _tried(self, ask: Callable[[], Answer]) -> Answer:
        """Returns what `ask` returns, after as many tries as the patience allows.

        After a request has failed for good, the next ones are tried only once, until the store answers again.

        Raises:
            DataError: no try succeeded, or the fault does not pass by trying again.
        """
        number = 1
        while True:
            try:
                answer = ask()
            except StoreFault as fault:
                if not fault.may_pass or number > self._retries:
                    self._retries = 0  # until it answers again, or each case would wait
                    raise told(fault, self.address, tries=number) from None
            else:
                self._retries = self._patience.retries
                return answer
            time.sleep(self._patience.pause * 2 ** (number - 1))
            number += 1


def told(fault: StoreFault, address: StoreAddress, *, tries: int) -> DataError:
    """Returns the error for a user: which store, what happened, after how many tries, and what to do.

    Passwords and keys in a library's message are replaced by ***.
    """
    reason = " ".join(fault.reason.split())
    for secret in address.secrets:
        reason = reason.replace(secret, "***")
    reason = reason if len(reason) <= _LONGEST else reason[: _LONGEST - 1] + "…"
    after = f" after {tries} tries" if tries > 1 else ""
    remedy = fault.remedy or (_DOWN if fault.may_pass else _NONSENSE)
    return DataError(f"the store {address} {reason}{after}; {remedy}")
