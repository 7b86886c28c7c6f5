"""Drops near-duplicates: chunks with nearly the text of an earlier chunk."""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pytest_medfaith import defaults
from pytest_medfaith.english.words import SHINGLED
from pytest_medfaith.errors import MissingExtra
from pytest_medfaith.records import Chunk

Embed = Callable[[Sequence[str]], "NDArray[np.float32]"]
Method = Literal["minhash"] | Embed

_SHINGLE = 3
_PERMUTATIONS = 128  # standard error of an estimated similarity near 0.9: 0.03
_BATCH = 64
_DECISIVE = re.compile(
    r"\d+(?:[.,]\d+)*|\b(?:no|not|nor|never|none|without|cannot|avoid|contraindicated)\b|n['\u2019]t\b"
    r"|[<>\u2264\u2265]|(?<=\d)\s*(?:[kmn\u00b5\u03bc]?g|mc?g|m?l|units?|iu|%)(?!\w)"
)


@dataclass(frozen=True)
class Dropped:
    """A chunk that was dropped as a near-duplicate.

    Attributes:
        id: of the dropped chunk.
        kept: id of the earlier chunk with nearly the same text.
        similarity: of the two texts, 0 to 1.
        method: "minhash" or "cosine".
    """

    id: str
    kept: str
    similarity: float  # 0 to 1
    method: str


def drop_near_duplicates(
    chunks: Iterable[Chunk],
    *,
    method: Method = "minhash",
    threshold: float | None = None,
    on_drop: Callable[[Dropped], object],
) -> Iterator[Chunk]:
    """Yields the chunks that are not near-duplicates of an earlier chunk, in order.

    "5 mg" and "50 mg" must not be taken for the same, nor pages about two diseases written to one pattern. So
    two chunks are never duplicates if they differ in numbers, units, signs such as <, the count of negations,
    or the words of their titles that their texts hold.

    Memory grows with the chunks kept: about 6 kB each for MinHash, 4 d bytes for embeddings, whose time grows
    with the square of the corpus.

    Args:
        chunks: the corpus, in order.
        method: "minhash" (Jaccard similarity of runs of three words; Broder 1997), or a function that embeds
            a list of texts as float rows (n, d), compared by cosine similarity.
        threshold: MinHash drops from this similarity on, cosine above it; None takes 0.9 for MinHash and 0.95
            for cosine.
        on_drop: called with each dropped chunk.

    Raises:
        MissingExtra: "minhash" without datasketch.
        ValueError: a threshold outside (0, 1].
    """
    default = defaults.MINHASH_SIMILARITY if method == "minhash" else defaults.COSINE_SIMILARITY
    limit = default if threshold is None else threshold
    if not 0 < limit <= 1:
        raise ValueError(
            f"threshold is {limit}, expected a similarity above 0 and at most 1, such as {default}"
        )
    finder: _MinHashFinder | _CosineFinder
    finder = _MinHashFinder(limit) if method == "minhash" else _CosineFinder(limit, method)
    rest = iter(chunks)
    while batch := list(islice(rest, _BATCH)):
        for chunk, dropped in zip(batch, finder.find(batch), strict=True):
            if dropped is None:
                yield chunk
            else:
                on_drop(dropped)


def _marks(chunk: Chunk) -> int:
    """Returns a hash of what near-duplicates must share.

    That is numbers, units, signs such as <, negations, and the words of the title that are in the text.
    """
    text = chunk.text.lower()
    marks = Counter(_DECISIVE.findall(text))
    marks.update(set(SHINGLED.findall(chunk.title.lower())) & set(SHINGLED.findall(text)))
    return hash(frozenset(marks.items()))


class _MinHashFinder:
    """Remembers a MinHash of each chunk, and finds an earlier chunk whose similarity reaches the threshold.

    A MinHash is 128 numbers from which the share of equal word triples of two texts is estimated.
    """

    def __init__(self, threshold: float) -> None:
        try:
            from datasketch import MinHash, MinHashLSH
        except ImportError:
            raise MissingExtra("dropping near-duplicates by MinHash", "dedup") from None
        self._threshold = threshold
        self._empty = MinHash(num_perm=_PERMUTATIONS, hashfunc=zlib.crc32)
        # A lower threshold gives more candidates, so that no similar chunk is missed; `_match` compares each
        # of them.
        self._index = MinHashLSH(threshold=max(0.1, threshold - 0.1), num_perm=_PERMUTATIONS)
        self._kept: dict[int, tuple[str, int, NDArray[np.uint32]]] = {}

    def find(self, batch: list[Chunk]) -> Iterator[Dropped | None]:
        """Yields for each chunk how it was dropped; None for a chunk that is kept."""
        for chunk in batch:
            words = SHINGLED.findall(chunk.text.lower())
            starts = range(max(1, len(words) - _SHINGLE + 1))
            minhash = self._empty.copy()
            minhash.update_batch([" ".join(words[i : i + _SHINGLE]).encode() for i in starts])
            yield self._match(chunk, minhash)

    def _match(self, chunk: Chunk, minhash: Any) -> Dropped | None:
        """Returns which earlier chunk this one repeats; None if it repeats none, after remembering it."""
        signature, marks = minhash.hashvalues.astype(np.uint32), _marks(chunk)
        for number in sorted(self._index.query(minhash)):
            kept, kept_marks, kept_signature = self._kept[number]
            similarity = float(np.mean(signature == kept_signature))
            if similarity >= self._threshold and marks == kept_marks:
                return Dropped(chunk.id, kept, round(similarity, 3), "minhash")
        number = len(self._kept)
        self._index.insert(number, minhash, check_duplication=False)
        self._kept[number] = (chunk.id, marks, signature)
        return None


class _CosineFinder:
    """Remembers the vector of each chunk.

    Finds an earlier chunk with a cosine similarity above the threshold.
    """

    def __init__(self, threshold: float, embed: Embed) -> None:
        self._threshold = threshold
        self._embed = embed
        self._kept: list[tuple[str, int]] = []
        self._vectors: NDArray[np.float32] | None = None

    def find(self, batch: list[Chunk]) -> Iterator[Dropped | None]:
        """Yields for each chunk how it was dropped; None for a chunk that is kept."""
        embedded = np.asarray(self._embed([chunk.text for chunk in batch]), dtype=np.float32)
        vectors = _unit_rows(embedded, rows=len(batch))
        for chunk, vector in zip(batch, vectors, strict=True):
            yield self._match(chunk, vector)

    def _match(self, chunk: Chunk, vector: NDArray[np.float32]) -> Dropped | None:
        """Returns which earlier chunk this one repeats; None if it repeats none, after remembering it."""
        if self._vectors is None:
            self._vectors = np.empty((_BATCH, len(vector)), dtype=np.float32)
        marks = _marks(chunk)
        cosines = self._vectors[: len(self._kept)] @ vector
        for number in np.flatnonzero(cosines > self._threshold):
            kept, kept_marks = self._kept[number]
            if marks == kept_marks:
                return Dropped(chunk.id, kept, round(float(cosines[number]), 3), "cosine")
        if len(self._kept) == len(self._vectors):
            self._vectors = np.concatenate([self._vectors, np.empty_like(self._vectors)])
        self._vectors[len(self._kept)] = vector
        self._kept.append((chunk.id, marks))
        return None


def _unit_rows(vectors: NDArray[np.float32], *, rows: int) -> NDArray[np.float32]:
    """Returns `vectors` with each row scaled to length 1; a row of zeros stays.

    Raises:
        ValueError: not `rows` rows, or a number that is not finite.
    """
    if vectors.shape[:-1] != (rows,) or not np.isfinite(vectors).all():
        raise ValueError(
            f"the embedding of {rows} texts has shape {vectors.shape}, expected ({rows}, d) of finite "
            "numbers; check the encoder"
        )
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: NDArray[np.float32] = np.divide(vectors, norms, out=np.zeros_like(vectors), where=norms > 0)
    return unit
