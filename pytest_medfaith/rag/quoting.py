"""The extractive generator: an answer of quoted sentences of the passages that fit the question best.

It needs only the sentence encoder, and says nothing that a reader could not look up word by word. It cannot
combine two passages, or leave out half a sentence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pytest_medfaith import defaults
from pytest_medfaith.claims.citations import read_citations
from pytest_medfaith.claims.context import stands_alone
from pytest_medfaith.english.grammar import Part
from pytest_medfaith.english.phrases import read_words
from pytest_medfaith.english.sentences import sentences_of
from pytest_medfaith.english.words import content_keys, plain_words, share
from pytest_medfaith.records import Chunk

Embed = Callable[[Sequence[str]], Any]  # n texts -> float (n, width), rows of length 1
LEAST_SIMILARITY = 0.3  # cosine of a quoted sentence and the question; below it the passage is off the topic
_BESIDE_BEST = 0.8  # a sentence is quoted beside the best one from this share of its similarity on
_COMPARED = 24  # the encoder reads so many sentences, those that share the most words with the question
_WORDS = range(4, 61)  # words of a sentence; a shorter text is a heading, a longer text a table


@dataclass(frozen=True)
class Quote:
    """A sentence that may be quoted, with the sentence before it if it cannot be read alone.

    Attributes:
        text: the sentence.
        before: the sentence before it; "" if `text` can be read alone.
        title: of its passage.
        places: passages that say it, counted from 1.
        order: (passage, number of the sentence in it).
    """

    text: str
    before: str
    title: str
    places: tuple[int, ...]
    order: tuple[int, int]

    @property
    def read(self) -> str:
        """What the encoder reads: title, the sentence before, and the sentence."""
        return " ".join(filter(None, [self.title, self.before, self.text]))


def quoted_answer(
    question: str, contexts: Sequence[Chunk], *, embed: Embed, most: int = defaults.RAG_SENTENCES
) -> str:
    """Returns an answer of quoted sentences with citations; "" where no sentence fits the question.

    Example: "Iron tablets are taken once a day [1][3]."

    Args:
        question: of the user.
        contexts: the passages in rank order; citations count them from 1.
        embed: the sentence encoder.
        most: how many sentences are quoted, each perhaps with the sentence before it.
    """
    keys = content_keys(question)
    quotes = sorted(
        _distinct(contexts),
        key=lambda quote: (-share(keys, content_keys(quote.read)), quote.order),
    )[:_COMPARED]
    if not quotes:
        return ""
    vectors = embed([question, *(quote.read for quote in quotes)])
    scored = [(float(vectors[0] @ vector), quote) for vector, quote in zip(vectors[1:], quotes, strict=True)]
    scored.sort(key=lambda row: (-row[0], row[1].order))
    least = max(LEAST_SIMILARITY, _BESIDE_BEST * scored[0][0])
    chosen = [quote for value, quote in scored[:most] if value >= least]
    said: dict[tuple[int, int], str] = {}
    for quote in chosen:
        place, number = quote.order
        said[quote.order] = _cited(quote.text, quote.places)
        if quote.before:
            said.setdefault((place, number - 1), _cited(quote.before, (place,)))
    texts = [said[order] for order in sorted(said)]
    return " ".join(dict.fromkeys(texts))


def _distinct(contexts: Sequence[Chunk]) -> list[Quote]:
    """Returns what may be quoted, the same text only once, with all passages that say it."""
    found: dict[str, Quote] = {}
    for quote in _quotes(contexts):
        known = found.setdefault(plain_words(quote.text), quote)
        if known is not quote:
            places = tuple(dict.fromkeys([*known.places, *quote.places]))
            found[plain_words(quote.text)] = replace(known, places=places)
    return list(found.values())


def _quotes(contexts: Sequence[Chunk]) -> Iterator[Quote]:
    """Yields the sentences of the passages that may be quoted: no questions, no headings, no tables."""
    for place, chunk in enumerate(contexts, start=1):
        before = ""
        for number, sentence in enumerate(sentences_of(chunk.text)):
            # Marks of the passage's own sources would read as citations of passages.
            text = " ".join(read_citations(sentence).text.split()).replace(" .", ".").replace(" ,", ",")
            usable = len(text.split()) in _WORDS and text[-1] not in "?:"
            alone = stands_alone(Part(read_words(text))) if usable else True
            if usable and (alone or before):
                yield Quote(text, "" if alone else before, chunk.title, (place,), (place, number))
            before = text if usable and alone else ""


def _cited(sentence: str, places: Sequence[int]) -> str:
    """Returns a sentence with its citations before its full stop, as assistants write them."""
    marks = "".join(f"[{place}]" for place in places)
    end = sentence[-1] if sentence[-1] in ".!" else "."
    return f"{sentence.rstrip('.!')} {marks}{end}"
