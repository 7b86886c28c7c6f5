"""BM25 by the package rank-bm25: ranks chunks by the words that they share with the question.

`HER2`, `IL-6`, `1,25-OH` and `5 mg` count as a single word each.
"""

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
    """Returns a chunk as retrieval reads it, in two parts (head, text): ("Iron > Dose", "Once a day.").

    The head is the title and the context; the context is a line that chunking kept in `extra["prefix"]`. A
    title with which the context already begins is left out.
    """
    prefix = chunk.extra.get("prefix")
    context = prefix if isinstance(prefix, str) else ""
    title = "" if context.startswith(chunk.title) else chunk.title
    return ". ".join(filter(None, (title, context))), chunk.text


def searchable_text(chunk: Chunk) -> str:
    """Returns a chunk as retrieval reads it, in a single text: "Iron > Dose. Once a day."."""
    return ". ".join(filter(None, searchable_parts(chunk)))


def bm25_retriever(
    chunks: Sequence[Chunk],
    *,
    k1: float = defaults.K1,
    b: float = defaults.B,
    stop_words: Collection[str] = (),
    name: str = "bm25",
) -> Retriever:
    """Returns a BM25 retriever over `chunks`, computed by rank-bm25; tests hold bm25s to its scores.

    Args:
        chunks: the corpus, at least one chunk.
        k1: > 0; the smaller, the sooner a word that is repeated in a chunk stops adding to the score.
        b: 0 to 1; how much long chunks lose against short ones, 0 is not at all.
        stop_words: words of the question that are ignored; "english" stands for English function words.
        name: the retriever's name in the `ranks` and `scores` of its hits.

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
    """Returns stop words in the form in which questions are split; "english" becomes English function words.

    Negations such as "without" stay out of the English list: "with iron" and "without iron" ask for different
    things.
    """
    words = {word for text in given if text != "english" for word in search_words(text)}
    shipped = FUNCTION_WORDS - _NEGATIONS if "english" in given else frozenset()
    return frozenset(words) | shipped


def query_words(query: str, stop_words: Collection[str]) -> list[str]:
    """Returns the words of a question without its stop words; all words where only stop words are there.

    They keep their order, and repeated words stay; [] for a question without words.
    """
    words = search_words(query)
    return [word for word in words if word not in stop_words] or words


def check_parameters(k1: float, b: float) -> None:
    """Refuses values of BM25's k1 and b that are out of range.

    Raises:
        ValueError: `k1` is not above 0, or `b` not from 0 to 1.
    """
    if k1 <= 0 or not 0 <= b <= 1:
        raise ValueError(f"k1 is {k1} and b is {b}; expected k1 > 0 and 0 <= b <= 1")


def corpus_words(chunks: Sequence[Chunk]) -> list[list[str]]:
    """Returns the list of words of each chunk, in order; [""] for a chunk without words.

    BM25 divides by the average number of words, which must not be 0.
    """
    return [search_words(searchable_text(chunk)) or [""] for chunk in chunks]


def lucene_idf(containing: int, *, size: int) -> float:
    """Returns how much a word counts by Lucene's inverse document frequency, > 0; rare words count more.

    It is log(1 + (size - containing + 0.5) / (containing + 0.5)). rank-bm25's formula, Robertson's, gives 0
    for a word that half of the chunks hold, so in a small corpus good words would count nothing.

    Args:
        containing: number of chunks that hold the word.
        size: number of chunks in the corpus.
    """
    return math.log(1 + (size - containing + 0.5) / (containing + 0.5))


def _search(
    chunks: Sequence[Chunk], index: object, name: str, stop_words: frozenset[str], query: str, *, top_k: int
) -> list[Hit]:
    """Returns the hits of a question, by rank-bm25's scores; see `Retriever`."""
    check_query(query, top_k=top_k, size=len(chunks))
    with timed("search"):
        scores = index.get_scores(query_words(query, stop_words))  # type: ignore[attr-defined]
        positions = best_first(scores, top_k=top_k)  # `to_hits` drops those that share no word with the query
    return to_hits(chunks, positions, [scores[i] for i in positions], name=name)


def _memory(index: object) -> int:
    """Returns the size of the index in memory in bytes: word counts of each chunk, and the words."""
    counts, idf = index.doc_freqs, index.idf  # type: ignore[attr-defined]
    return sum(map(sys.getsizeof, (*counts, idf, *idf)))
