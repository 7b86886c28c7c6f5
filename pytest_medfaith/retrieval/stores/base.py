"""The shape that all stores have, and what they hold.

A store holds a row for each chunk, and a state that says what the rows are: of which corpus, by which
encoder. To add a store, touch three files: its module in this folder, its line in `_OPENERS` of `opening.py`,
and its scheme in `address.py`.
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
    """Which chunks a search is about: those of some sources, from a year to a year, both included.

    No source stands for all of them, None for no bound. A chunk without a year is in no span of years.
    """

    sources: tuple[str, ...] = ()
    from_year: int | None = None
    to_year: int | None = None

    def __bool__(self) -> bool:
        """Whether anything is left out."""
        return bool(self.sources) or self.from_year is not None or self.to_year is not None

    def __str__(self) -> str:
        said = [f"source {' or '.join(self.sources)}"] if self.sources else []
        said += [f"from {self.from_year}"] if self.from_year is not None else []
        said += [f"to {self.to_year}"] if self.to_year is not None else []
        return ", ".join(said)

    def holds(self, chunk: Chunk) -> bool:
        """Returns whether a search finds `chunk`; what stores do, said in Python."""
        if self.sources and storable(chunk.source) not in self.sources:
            return False
        if self.from_year is None and self.to_year is None:
            return True
        low, high = self.from_year, self.to_year
        return chunk.year is not None and (low or chunk.year) <= chunk.year <= (high or chunk.year)


ALL = Only()


def storable(text: str) -> str:
    """Returns `text` as every store takes it: without halves of characters, and without the character 0."""
    return whole(text).replace("\0", " ")


@dataclass(frozen=True)
class State:
    """What the rows of a store are, as written before the first of them.

    Attributes:
        corpus: hash of all chunks, whatever their order.
        chunks: how many there are.
        encoder: signature of what gave the vectors.
        dimension: numbers of a vector.
        metric: how vectors are compared, ip or l2.
        k1: of BM25, where the store searches words.
        b: of BM25.
        complete: whether all rows were written.
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
        """What the rows are, in words, for messages."""
        return (
            f"corpus {self.corpus} ({self.chunks} chunks), encoder {self.encoder}, {self.dimension} "
            f"dimensions, {self.metric}"
        )


@dataclass(frozen=True)
class Row:
    """A chunk as a store holds it.

    Attributes:
        key: 32 hexadecimal digits, made of the chunk's id.
        digest: 32 hexadecimal digits that change with anything of the chunk.
        chunk: the chunk as JSON in ASCII.
        source: of the chunk, for filters.
        year: of the chunk, for filters.
        words: of title, context and text, as BM25 counts them, separated by spaces.
        vector: of the encoder.
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
    """A row that a search found. Its score is an inner product, minus a distance, or of BM25."""

    chunk: str
    digest: str
    score: float


class StoreFault(Exception):
    """What went wrong in a store, before it is told to a user.

    A fault that may pass is tried again. `remedy` says what to do, "" where the usual advice holds.
    """

    def __init__(self, reason: str, *, may_pass: bool = False, remedy: str = "") -> None:
        super().__init__(reason)
        self.reason, self.may_pass, self.remedy = reason, may_pass, remedy


class Store(Protocol):
    """A store of rows. Each method is a request or a few, and raises StoreFault."""

    searches: tuple[Search, ...]

    def state(self) -> Mapping[str, Any] | None:
        """Returns the state as it was written, None where there is no store of this name."""

    def create(self, state: Mapping[str, Any], *, dimension: int, metric: Metric) -> None:
        """Makes an empty store with its state, in a single step; leaves a store that is there as it is."""

    def write_state(self, state: Mapping[str, Any]) -> None:
        """Writes the state, after all rows were made visible to searches."""

    def digests(self, keys: Sequence[str]) -> Mapping[str, str]:
        """Returns key -> digest of the rows that are there among `keys`."""

    def upsert(self, rows: Sequence[Row]) -> None:
        """Writes rows; a row whose key is there is replaced."""

    def count(self, only: Only = ALL) -> int:
        """Returns how many rows there are."""

    def by_vector(
        self, vector: Sequence[float], *, metric: Metric, top_k: int, only: Only = ALL
    ) -> Sequence[Found]:
        """Returns the rows nearest to `vector`, best first. `metric` is that of the state."""

    def by_words(self, words: str, *, top_k: int, only: Only = ALL) -> Sequence[Found]:
        """Returns the best rows by BM25; only of a store whose `searches` names words."""

    def index_bytes(self) -> int | None:
        """Returns the size of the store on its server, None where it does not tell it."""

    def close(self) -> None:
        """Ends the connection."""
