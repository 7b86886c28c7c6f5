"""BM25 over rank-bm25; `HER2`, `IL-6`, `1,25-OH` and `5 mg` are each a single word."""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Collection, Sequence
from functools import cache, partial

from pytest_medfaith import defaults
from pytest_medfaith.english.lexicon import FUNCTION_WORDS
from pytest_medfaith.english.words import search_words
from pytest_medfaith.records import Chunk, Hit
from pytest_medfaith.retrieval.cost import sized, timed
from pytest_medfaith.retrieval.ranking import Retriever, best_first, check_query, to_hits

_NEGATIONS = frozenset({"no", "not", "nor", "neither", "without"})


def searchable_parts(chunk: Chunk) -> tuple[str, str]:
    """Returns what retrieval reads of a chunk as head and text: ("Iron > Dose", "Once a day.").

    The head is the title and the context, the line that chunking kept in `extra["prefix"]`. A title that the
    context begins with is not repeated.
    """
    prefix = chunk.extra.get("prefix")
    context = prefix if isinstance(prefix, str) else ""
    title = "" if context.startswith(chunk.title) else chunk.title
    return ". ".join(filter(None, (title, context))), chunk.text


def searchable_text(chunk: Chunk) -> str:
    """Returns what retrieval reads of a chunk as a single text: "Iron > Dose. Once a day."."""
    return ". ".join(filter(None, searchable_parts(chunk)))


def bm25_retriever(
    chunks: Sequence[Chunk],
    *,
    k1: float = defaults.K1,
    b: float = defaults.B,
    stop_words: Collection[str] = (),
    name: str = "bm25",
) -> Retriever:
    """Returns a BM25 retriever over `chunks`, by rank-bm25: the reference, which the others are held to.

    Args:
        chunks: the corpus, at least one chunk.
        k1: how soon a repeated word stops counting, > 0.
        b: how much a long chunk is held back, 0 to 1.
        stop_words: words that a query does not ask for, see `query_words`.
        name: under which its hits note their rank and score.

    Raises:
        ValueError: `k1` or `b` is out of its range.
    """
    from rank_bm25 import BM25Okapi

    check_parameters(k1, b)
    index = BM25Okapi(corpus_words(chunks), k1=k1, b=b)
    containing = Counter(word for counts in index.doc_freqs for word in counts)
    index.idf = {word: lucene_idf(count, size=len(chunks)) for word, count in containing.items()}
    search = partial(_search, chunks, index, name, as_stop_words(stop_words))
    return sized(search, cache(partial(_memory, index)))


def as_stop_words(given: Collection[str]) -> frozenset[str]:
    """Returns stop words as queries hold them; "english" stands for the function words of English.

    Negations are kept, since "with" and "without iron" ask for different things.
    """
    words = {word for text in given if text != "english" for word in search_words(text)}
    shipped = FUNCTION_WORDS - _NEGATIONS if "english" in given else frozenset()
    return frozenset(words) | shipped


def query_words(query: str, stop_words: Collection[str]) -> list[str]:
    """Returns the words of a query less the stop words; all of them where nothing else is left."""
    words = search_words(query)
    return [word for word in words if word not in stop_words] or words


def check_parameters(k1: float, b: float) -> None:
    """Refuses parameters of BM25 that are out of range.

    Raises:
        ValueError: `k1` is not above 0, or `b` not from 0 to 1.
    """
    if k1 <= 0 or not 0 <= b <= 1:
        raise ValueError(f"k1 is {k1} and b is {b}; expected k1 > 0 and 0 <= b <= 1")


def corpus_words(chunks: Sequence[Chunk]) -> list[list[str]]:
    """Returns the words of each chunk; one empty word for a chunk without words.

    BM25 divides by the average length: that of a corpus where no chunk has a word must not be 0.
    """
    return [search_words(searchable_text(chunk)) or [""] for chunk in chunks]


def lucene_idf(containing: int, *, size: int) -> float:
    """Returns Lucene's inverse document frequency of a word; always above 0.

    It is log(1 + (size - containing + 0.5) / (containing + 0.5)). rank-bm25 uses Robertson's formula, which
    is 0 for a word in half of the chunks: in a small corpus good words would count nothing.

    Args:
        containing: number of chunks that hold the word.
        size: number of chunks in the corpus.
    """
    return math.log(1 + (size - containing + 0.5) / (containing + 0.5))


def _search(
    chunks: Sequence[Chunk], index: object, name: str, stop_words: frozenset[str], query: str, *, top_k: int
) -> list[Hit]:
    check_query(query, top_k=top_k, size=len(chunks))
    with timed("search"):
        scores = index.get_scores(query_words(query, stop_words))  # type: ignore[attr-defined]
        positions = best_first(scores, top_k=top_k)  # `to_hits` drops those that share no word with the query
    return to_hits(chunks, positions, [scores[i] for i in positions], name=name)


def _memory(index: object) -> int:
    """Returns the bytes of the index: the counts of words of each chunk, and the words."""
    counts, idf = index.doc_freqs, index.idf  # type: ignore[attr-defined]
    return sum(map(sys.getsizeof, (*counts, idf, *idf)))
