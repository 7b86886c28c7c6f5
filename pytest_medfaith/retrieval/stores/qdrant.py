"""Qdrant as a store: a server at an address, or the local mode of its client in a folder.

On a server, full vectors lie on disk and 8-bit copies in memory. A search compares the copies, takes twice as
many candidates as are wanted, and scores these by their full vectors. The local mode compares full vectors.
"""

from __future__ import annotations

import atexit
import math
import os
import uuid
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

from pytest_medfaith.retrieval.known_encoders import Metric
from pytest_medfaith.retrieval.stores.address import StoreAddress
from pytest_medfaith.retrieval.stores.base import ALL, Found, Only, Row, Search, StoreFault

_STATE = "medfaith"  # key of the state in a collection's metadata
_CANDIDATES = 2.0  # candidates by 8-bit vectors for each hit that is wanted, as Qdrant advises for rescoring
_LEAST_EF = 128  # nodes of the graph that a search keeps in view
_PASSING = (408, 429, 500, 502, 503, 504)  # statuses of a server that starts, stops or is overrun
_KEY = "set QDRANT_API_KEY to its key"


def open_qdrant(address: StoreAddress, timeout: float) -> QdrantStore:
    """Returns the store at `address`; `timeout` is in seconds for a request, rounded up.

    A server's key is the password in the address, else the environment variable QDRANT_API_KEY.
    """
    if address.transport == "file":
        return QdrantStore(_local(str(Path(address.place).resolve())), address.name, is_server=False)
    from qdrant_client import QdrantClient

    host = f"[{address.host}]" if ":" in address.host else address.host
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns of a key sent over http; docs/stores.md does so too
        client = QdrantClient(
            url=f"{address.transport}://{host}:{address.port}",
            api_key=address.password or os.environ.get("QDRANT_API_KEY") or None,
            timeout=math.ceil(timeout),
            check_compatibility=False,
        )
    return QdrantStore(client, address.name, is_server=True)


@lru_cache(maxsize=8)
def _local(folder: str) -> Any:
    """Returns the client for a folder, one for all stores in it: a folder can be open only once.

    Raises:
        StoreFault: another process has the folder open.
    """
    from qdrant_client import QdrantClient

    try:
        client = QdrantClient(path=folder)
    except RuntimeError as error:  # the folder's lock is held
        raise StoreFault(
            f"is open in another process ({error})",
            remedy="wait for it to end, or start a server of Qdrant: its local mode serves a single process",
        ) from None
    atexit.register(client.close)  # closing imports modules, which is too late when Python shuts down
    return client


class QdrantStore:
    """A collection of Qdrant; its methods are described in `base.Store`."""

    searches: tuple[Search, ...] = ("vector",)

    def __init__(self, client: Any, name: str, *, is_server: bool) -> None:
        self._client, self._name, self._is_server = client, name, is_server

    def state(self) -> Mapping[str, Any] | None:
        """Returns the state in the collection's metadata; None without a collection, {} without a state."""
        with _faults():
            if not self._client.collection_exists(self._name):
                return None
            found = self._client.get_collection(self._name)
        if str(getattr(found.status, "value", found.status)) == "red":
            raise StoreFault(
                "says of itself that it is broken (status red)", remedy="look into the server's log"
            )
        state: dict[str, Any] = (found.config.metadata or {}).get(_STATE) or {}
        size = getattr(found.config.params.vectors, "size", None)
        if state and size != state.get("dimension"):
            raise StoreFault(
                f"has vectors of {size} numbers, and was loaded with vectors of {state.get('dimension')}",
                remedy="something else made it anew: load the corpus under a new name",
            )
        return state

    def create(self, state: Mapping[str, Any], *, dimension: int, metric: Metric) -> None:
        """Makes the collection with its state, and on a server the indexes for filters by source and year."""
        from qdrant_client import models

        with _faults():
            if not self._client.collection_exists(self._name):
                self._client.create_collection(
                    self._name,
                    vectors_config=models.VectorParams(
                        size=dimension,
                        distance=models.Distance.EUCLID if metric == "l2" else models.Distance.DOT,
                        on_disk=True,
                    ),
                    quantization_config=models.ScalarQuantization(
                        scalar=models.ScalarQuantizationConfig(
                            type=models.ScalarType.INT8, quantile=0.99, always_ram=True
                        )
                    ),
                    metadata={_STATE: dict(state)},
                )
            if self._is_server:
                for field, kind in (("source", "KEYWORD"), ("year", "INTEGER")):
                    schema = models.PayloadSchemaType[kind]
                    self._client.create_payload_index(self._name, field, field_schema=schema, wait=True)
        if not self.state():
            raise StoreFault(
                "keeps no metadata of collections, where medfaith notes what was loaded",
                remedy="use Qdrant 1.16 or newer",
            )

    def write_state(self, state: Mapping[str, Any]) -> None:
        """Replaces the state in the collection's metadata."""
        with _faults():
            self._client.update_collection(self._name, metadata={_STATE: dict(state)})

    def digests(self, keys: Sequence[str]) -> Mapping[str, str]:
        """Returns {key: digest} for those of `keys` that have a point."""
        with _faults():
            found = self._client.retrieve(
                self._name, [str(uuid.UUID(key)) for key in keys], with_payload=["digest"], with_vectors=False
            )
        return {uuid.UUID(str(point.id)).hex: str((point.payload or {}).get("digest")) for point in found}

    def upsert(self, rows: Sequence[Row]) -> None:
        """Writes points, and waits until the server has written them."""
        from qdrant_client import models

        points = [
            models.PointStruct(
                id=str(uuid.UUID(row.key)),
                vector=list(row.vector),
                payload={"digest": row.digest, "chunk": row.chunk, "source": row.source, "year": row.year},
            )
            for row in rows
        ]
        with _faults():
            done = self._client.upsert(self._name, points=points, wait=True)
        if str(getattr(done.status, "value", done.status)) != "completed":
            raise StoreFault(f"did not complete a batch (status {done.status})", may_pass=True)

    def count(self, only: Only = ALL) -> int:
        """Returns exactly how many points pass the filter."""
        with _faults():
            found = self._client.count(self._name, count_filter=_filter(only), exact=True)
        return int(found.count)

    def by_vector(
        self, vector: Sequence[float], *, metric: Metric, top_k: int, only: Only = ALL
    ) -> Sequence[Found]:
        """Returns the points nearest to `vector`, found by 8-bit copies and scored by full vectors."""
        from qdrant_client import models

        parameters = models.SearchParams(
            hnsw_ef=max(_LEAST_EF, 2 * top_k),
            quantization=models.QuantizationSearchParams(rescore=True, oversampling=_CANDIDATES),
        )
        with _faults():
            points = self._client.query_points(
                self._name,
                query=list(vector),
                query_filter=_filter(only),
                search_params=parameters if self._is_server else None,
                limit=top_k,
                with_payload=["chunk", "digest"],
            ).points
        sign = -1 if metric == "l2" else 1  # for the metric l2 a point's score is its distance
        return [_found(point, sign) for point in points]

    def by_words(self, words: str, *, top_k: int, only: Only = ALL) -> Sequence[Found]:
        """Raises NotImplementedError: a store without "words" in `searches` is never asked this."""
        raise NotImplementedError

    def index_bytes(self) -> int | None:
        """Returns None: Qdrant does not tell the size of a collection."""
        return None

    def close(self) -> None:
        """Ends the connection to a server. A folder stays open until the process ends."""
        if self._is_server:
            self._client.close()


def _found(point: Any, sign: int) -> Found:
    """Returns a point as a row, its score times `sign`; StoreFault without a chunk or a finite score."""
    payload, score = point.payload or {}, float(point.score)
    if not math.isfinite(score) or "chunk" not in payload:
        raise StoreFault("gave a point without a chunk, or without a finite score")
    return Found(payload["chunk"], str(payload.get("digest")), sign * score)


def _filter(only: Only) -> Any:
    """Returns a filter of Qdrant; None where `only` leaves nothing out."""
    from qdrant_client import models

    must: list[Any] = []
    if only.sources:
        must.append(models.FieldCondition(key="source", match=models.MatchAny(any=list(only.sources))))
    if only.from_year is not None or only.to_year is not None:
        must.append(
            models.FieldCondition(key="year", range=models.Range(gte=only.from_year, lte=only.to_year))
        )
    return models.Filter(must=must) if must else None


@contextmanager
def _faults() -> Iterator[None]:
    """Turns exceptions of Qdrant's client in the block into StoreFault."""
    from httpx import TransportError
    from qdrant_client.common.client_exceptions import QdrantException
    from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

    try:
        yield
    except ResponseHandlingException as error:
        if isinstance(error.source, TransportError):
            said = str(error.source) or "no answer in time"
            raise StoreFault(f"cannot be reached ({said})", may_pass=True) from None
        raise StoreFault(f"gave an answer that is not Qdrant's ({type(error.source).__name__})") from None
    except UnexpectedResponse as error:
        raise _of_status(error.status_code or 0, error.content) from None
    except QdrantException as error:
        raise StoreFault(f"is overrun ({error})", may_pass=True) from None
    except (AttributeError, TypeError, ValueError, KeyError) as error:
        raise StoreFault(f"gave an answer that is not Qdrant's ({error})") from None


def _of_status(status: int, content: bytes) -> StoreFault:
    """Returns the fault for an HTTP status that is an error."""
    said = content[:200].decode("utf-8", "replace")
    if status in (401, 403):
        return StoreFault(f"refuses the key that it was given, or wants one (status {status})", remedy=_KEY)
    return StoreFault(f"answered with status {status} ({said})", may_pass=status in _PASSING)
