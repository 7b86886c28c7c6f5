"""OpenSearch as a store: searches vectors, and words by BM25, which it counts as the retriever bm25 does."""

from __future__ import annotations

import logging
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from pytest_medfaith.retrieval.known_encoders import Metric
from pytest_medfaith.retrieval.stores.address import StoreAddress
from pytest_medfaith.retrieval.stores.base import ALL, Found, Only, Row, Search, StoreFault

_STATE = "medfaith"  # key of the state in the mapping's _meta
_SPACES = {"ip": "innerproduct", "l2": "l2"}
_LEAST_K = 100  # nearest vectors that each shard looks for, at least; fewer miss more, more cost time
_MOST_WORDS = 1000  # words of a question; by default OpenSearch refuses more than 1,024 clauses
_PASSING = (408, 429, 500, 502, 503, 504)
_KEY = "name the user in the address, and set OPENSEARCH_PASSWORD"


def open_opensearch(address: StoreAddress, timeout: float) -> OpenSearchStore:
    """Returns the store at `address`; `timeout` is in seconds, for a request.

    The password is that of the address, else the environment variable OPENSEARCH_PASSWORD.
    """
    from opensearchpy import OpenSearch

    logging.getLogger("opensearch").addHandler(logging.NullHandler())  # what it logs, an error here tells
    password = address.password or os.environ.get("OPENSEARCH_PASSWORD", "")
    client = OpenSearch(
        hosts=[{"host": address.host, "port": address.port}],
        use_ssl=address.transport == "https",
        http_auth=(address.user, password) if address.user else None,
        timeout=timeout,
        max_retries=0,
        retry_on_timeout=False,
    )
    return OpenSearchStore(client, address.name)


class OpenSearchStore:
    """An index of OpenSearch; its methods are described in `base.Store`."""

    searches: tuple[Search, ...] = ("vector", "words")

    def __init__(self, client: Any, name: str) -> None:
        self._client, self._name = client, name
        self._has_unseen = False  # rows that were written and that no search sees yet

    def state(self) -> Mapping[str, Any] | None:
        """Returns the state in the index's mapping; None without an index, {} without a state."""
        from opensearchpy.exceptions import NotFoundError

        with _faults():
            try:
                found = self._client.indices.get_mapping(index=self._name)
            except NotFoundError as error:
                if error.error != "index_not_found_exception":
                    raise
                return None
            (mapping,) = found.values()  # an alias has another name than its index
            state: dict[str, Any] = mapping["mappings"].get("_meta", {}).get(_STATE) or {}
            size = mapping["mappings"].get("properties", {}).get("vector", {}).get("dimension")
        if state and size != state.get("dimension"):
            raise StoreFault(
                f"has vectors of {size} numbers, and was loaded with vectors of {state.get('dimension')}",
                remedy="something else made it anew: load the corpus under a new name",
            )
        return state

    def create(self, state: Mapping[str, Any], *, dimension: int, metric: Metric) -> None:
        """Makes the index, with the state in its mapping."""
        from opensearchpy.exceptions import RequestError

        kept = {"type": "keyword", "index": False, "doc_values": False}
        method = {"name": "hnsw", "engine": "faiss", "space_type": _SPACES[metric]}
        similarity = {"default": {"type": "BM25", "k1": state["k1"], "b": state["b"]}}
        body = {
            "settings": {"index": {"knn": True, "similarity": similarity}},
            "mappings": {
                "_meta": {_STATE: dict(state)},
                "dynamic": False,
                "properties": {
                    "digest": kept,
                    "chunk": kept,
                    "source": {"type": "keyword"},
                    "year": {"type": "integer"},
                    "words": {"type": "text", "analyzer": "whitespace"},
                    "vector": {"type": "knn_vector", "dimension": dimension, "method": method},
                },
            },
        }
        with _faults():
            try:
                self._client.indices.create(index=self._name, body=body)
            except RequestError as error:
                if error.error != "resource_already_exists_exception":
                    raise

    def write_state(self, state: Mapping[str, Any]) -> None:
        """Makes all rows visible to searches, then replaces the state."""
        with _faults():
            self._client.indices.refresh(index=self._name)
            self._client.indices.put_mapping(index=self._name, body={"_meta": {_STATE: dict(state)}})

    def digests(self, keys: Sequence[str]) -> Mapping[str, str]:
        """Returns {key: digest} for those of `keys` that have a document, even one written just now."""
        with _faults():
            found = self._client.mget(index=self._name, body={"ids": list(keys)}, _source=["digest"])
            failed = [row for row in found["docs"] if "error" in row]
            if failed:
                raise StoreFault(f"could not read a row ({failed[0]['error']})", may_pass=True)
            return {row["_id"]: row["_source"]["digest"] for row in found["docs"] if row["found"]}

    def upsert(self, rows: Sequence[Row]) -> None:
        """Writes documents; StoreFault where any was refused, and then the whole batch is written again."""
        lines: list[Any] = []
        for row in rows:
            lines.append({"index": {"_id": row.key}})
            lines.append(
                {
                    "digest": row.digest,
                    "chunk": row.chunk,
                    "source": row.source,
                    "year": row.year,
                    "words": row.words,
                    "vector": list(row.vector),
                }
            )
        self._has_unseen = True
        with _faults():
            done = self._client.bulk(index=self._name, body=lines)
            failed = [one["index"] for one in done["items"] if one["index"]["status"] >= 300]
            if len(done["items"]) != len(rows):
                raise StoreFault(f"took {len(done['items'])} rows of {len(rows)}")
        if failed:
            why, status = failed[0].get("error"), failed[0]["status"]
            raise StoreFault(f"did not take {len(failed)} rows ({why})", may_pass=status in _PASSING)

    def count(self, only: Only = ALL) -> int:
        """Returns how many documents pass the filter, even those written just now."""
        with _faults():
            if self._has_unseen:
                self._client.indices.refresh(index=self._name)
                self._has_unseen = False
            found = self._client.count(index=self._name, body={"query": {"bool": {"filter": _filter(only)}}})
            _check_shards(found)
            return int(found["count"])

    def by_vector(
        self, vector: Sequence[float], *, metric: Metric, top_k: int, only: Only = ALL
    ) -> Sequence[Found]:
        """Returns the documents nearest to `vector`; a score is the inner product, or minus the distance."""
        near: dict[str, Any] = {"vector": list(vector), "k": max(top_k, _LEAST_K)}
        if only:
            near["filter"] = {"bool": {"filter": _filter(only)}}
        rows = self._searched({"knn": {"vector": near}}, top_k=top_k)
        measured = _inner_product if metric == "ip" else _minus_distance
        return [Found(chunk, digest, measured(score)) for chunk, digest, score in rows]

    def by_words(self, words: str, *, top_k: int, only: Only = ALL) -> Sequence[Found]:
        """Returns the best documents by BM25; how rare a word is, is counted over all shards together."""
        asked = " ".join(words.split(" ")[:_MOST_WORDS])
        query = {"bool": {"must": [{"match": {"words": {"query": asked}}}], "filter": _filter(only)}}
        return [Found(*row) for row in self._searched(query, top_k=top_k, search_type="dfs_query_then_fetch")]

    def _searched(self, query: Mapping[str, Any], *, top_k: int, **more: str) -> list[tuple[str, str, float]]:
        """Returns (chunk, digest, score) of each document found; StoreFault if a shard did not answer."""
        body = {"size": top_k, "query": query, "_source": ["chunk", "digest"]}
        with _faults():
            found = self._client.search(index=self._name, body=body, **more)
            _check_shards(found)
            rows = [
                (hit["_source"]["chunk"], hit["_source"]["digest"], float(hit["_score"]))
                for hit in found["hits"]["hits"]
            ]
        if not all(math.isfinite(score) for _, _, score in rows):
            raise StoreFault("gave a row without a finite score")
        return rows

    def index_bytes(self) -> int | None:
        """Returns the bytes of the index, without the copies of its shards."""
        with _faults():
            found = self._client.indices.stats(index=self._name, metric="store")
            return int(found["_all"]["primaries"]["store"]["size_in_bytes"])

    def close(self) -> None:
        """Ends the connection."""
        self._client.close()


def _inner_product(score: float) -> float:
    """Returns the inner product behind a score of OpenSearch.

    OpenSearch gives 1 + ip for an inner product of 0 or more, and 1 / (1 - ip) below.
    """
    return score - 1 if score >= 1 else 1 - 1 / score


def _minus_distance(score: float) -> float:
    """Returns minus the Euclidean distance d behind a score of OpenSearch, which is 1 / (1 + d * d)."""
    return -math.sqrt(max(0.0, 1 / score - 1))


def _filter(only: Only) -> list[dict[str, Any]]:
    """Returns the filter as OpenSearch's clauses; [] where nothing is left out."""
    found: list[dict[str, Any]] = []
    if only.sources:
        found.append({"terms": {"source": list(only.sources)}})
    if only.from_year is not None or only.to_year is not None:
        bounds = {"gte": only.from_year, "lte": only.to_year}
        found.append({"range": {"year": {key: value for key, value in bounds.items() if value is not None}}})
    return found


def _check_shards(found: Mapping[str, Any]) -> None:
    """Refuses an answer that lacks some shards: it would look as if there were fewer hits (StoreFault)."""
    shards = found["_shards"]
    if shards["failed"] or shards["successful"] < shards["total"] or found.get("timed_out"):
        held = f"{shards['successful']} of its {shards['total']} shards"
        raise StoreFault(f"answered in part, by {held}", may_pass=True, remedy="look into the server's log")


@contextmanager
def _faults() -> Iterator[None]:
    """Turns exceptions of OpenSearch's client in the block, and nonsense answers, into StoreFault."""
    from opensearchpy.exceptions import ConnectionError as NoConnection
    from opensearchpy.exceptions import OpenSearchException, TransportError

    try:
        yield
    except NoConnection as error:  # timeouts are among these
        raise StoreFault(f"cannot be reached ({error.error})", may_pass=True) from None
    except TransportError as error:
        raise _of_status(error) from None
    except (OpenSearchException, AttributeError, TypeError, ValueError, KeyError, ZeroDivisionError) as error:
        raise StoreFault(f"gave an answer that is not OpenSearch's ({type(error).__name__})") from None


def _of_status(error: Any) -> StoreFault:
    """Returns the fault for an HTTP status that is an error."""
    status, said = error.status_code, str(error.error)
    if status in (401, 403):
        return StoreFault(f"refuses the user or the password (status {status})", remedy=_KEY)
    return StoreFault(f"answered with status {status} ({said})", may_pass=status in _PASSING)
