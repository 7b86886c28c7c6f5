"""What all stores have in common: the methods that they offer, and the records that go in and out.

A store is a database that keeps a row for each chunk of a corpus, and a state that says of which corpus and
encoder the rows are. To add a store, touch three files: its module in this folder, its line in `_OPENERS` of
`opening.py`, and its scheme in `address.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from pytest_medfaith.models.whole import whole
from pytest_medfaith.records import Chunk
from pytest_medfaith.retrieval.known_encoders import Metric

Search = Literal["vector", "words"]


@dataclass(frozen=True)
class Only:
    """A filter of a search: chunks of some sources, and from a year to a year, both included.

    A chunk without a year is left out where a year is asked for.

    Attributes:
        sources: such as ("pubmed",); () stands for all sources.
        from_year: None for no lower bound.
        to_year: None for no upper bound.
    """

    sources: tuple[str, ...] = ()
    from_year: int | None = None
    to_year: int | None = None

    def __bool__(self) -> bool:
        """Returns whether the filter leaves anything out."""
        return bool(self.sources) or self.from_year is not None or self.to_year is not None

    def __str__(self) -> str:
        """Returns the filter in words: "source pubmed or nih, from 2015"; "" where nothing is left out."""
        said = [f"source {' or '.join(self.sources)}"] if self.sources else []
        said += [f"from {self.from_year}"] if self.from_year is not None else []
        said += [f"to {self.to_year}"] if self.to_year is not None else []
        return ", ".join(said)

    def holds(self, chunk: Chunk) -> bool:
        """Returns whether the filter lets `chunk` pass. Servers compute the same in their queries."""
        if self.sources and storable(chunk.source) not in self.sources:
            return False
        if self.from_year is None and self.to_year is None:
            return True
        low, high = self.from_year, self.to_year
        return chunk.year is not None and (low or chunk.year) <= chunk.year <= (high or chunk.year)


ALL = Only()


def storable(text: str) -> str:
    """Returns `text` as every store can take it: without half characters (surrogates) and character 0."""
    return whole(text).replace("\0", " ")


@dataclass(frozen=True)
class State:
    """What the rows of a store are, written into the store before the first row.

    Attributes:
        corpus: hash of all chunks, whatever their order.
        chunks: number of chunks.
        encoder: signature of the encoder that gave the vectors.
        dimension: numbers of a vector.
        metric: how vectors are compared: by inner product (ip), or by Euclidean distance (l2).
        k1: BM25's k1, for a store that searches words.
        b: BM25's b, likewise.
        complete: True once all rows are written.
    """

    corpus: str
    chunks: int
    encoder: str
    dimension: int
    metric: Metric
    k1: float
    b: float
    complete: bool = False

    @property
    def fingerprint(self) -> str:
        """What the rows are, for messages: "corpus 3f... (120 chunks), encoder ..., 384 dimensions, ip"."""
        return (
            f"corpus {self.corpus} ({self.chunks} chunks), encoder {self.encoder}, {self.dimension} "
            f"dimensions, {self.metric}"
        )


@dataclass(frozen=True)
class Row:
    """A chunk as a store holds it.

    Attributes:
        key: hash of the chunk's id, 32 hexadecimal digits.
        digest: hash of all that the chunk holds, 32 hexadecimal digits.
        chunk: the chunk as JSON in ASCII.
        source: of the chunk, for filters.
        year: of the chunk, for filters; None where the chunk has none.
        words: words of title, context and text as BM25 counts them, separated by spaces.
        vector: of the chunk, by the encoder.
    """

    key: str
    digest: str
    chunk: str
    source: str
    year: int | None
    words: str
    vector: Sequence[float]


@dataclass(frozen=True)
class Found:
    """A row that a search found.

    Attributes:
        chunk: the chunk as JSON.
        digest: hash of the chunk as the store keeps it; shows whether the chunk was changed.
        score: inner product, minus the distance (0 or below), or BM25's score: larger is better.
    """

    chunk: str
    digest: str
    score: float


class StoreFault(Exception):
    """An error of a store, before it is put into words for a user.

    Attributes:
        reason: what went wrong, as in "cannot be reached (no answer in time)".
        may_pass: True if trying again may help.
        remedy: what the user can do; "" for the usual advice.
    """

    def __init__(self, reason: str, *, may_pass: bool = False, remedy: str = "") -> None:
        super().__init__(reason)
        self.reason, self.may_pass, self.remedy = reason, may_pass, remedy


class Store(Protocol):
    """The methods of a store. Each makes a request or a few, and raises StoreFault.

    Attributes:
        searches: what the store can compare: ("vector",), or ("vector", "words").
    """

    searches: tuple[Search, ...]

    def state(self) -> Mapping[str, Any] | None:
        """Returns the state as `State` was written; None where no store has this name."""

    def create(self, state: Mapping[str, Any], *, dimension: int, metric: Metric) -> None:
        """Makes an empty store with its state, in a single step. A store that exists is left as it is."""

    def write_state(self, state: Mapping[str, Any]) -> None:
        """Makes all rows visible to searches, then replaces the state."""

    def digests(self, keys: Sequence[str]) -> Mapping[str, str]:
        """Returns {key: digest} for those of `keys` that have a row."""

    def upsert(self, rows: Sequence[Row]) -> None:
        """Writes rows; a row replaces the one with the same key."""

    def count(self, only: Only = ALL) -> int:
        """Returns how many rows pass the filter."""

    def by_vector(
        self, vector: Sequence[float], *, metric: Metric, top_k: int, only: Only = ALL
    ) -> Sequence[Found]:
        """Returns up to `top_k` rows nearest to `vector`, best first; `metric` is that of the state."""

    def by_words(self, words: str, *, top_k: int, only: Only = ALL) -> Sequence[Found]:
        """Returns up to `top_k` rows that are best by BM25, for words separated by spaces.

        Only a store whose `searches` holds "words" is asked this.
        """

    def index_bytes(self) -> int | None:
        """Returns the size of the store on its server in bytes; None where the server does not tell it."""

    def close(self) -> None:
        """Ends the connection."""
