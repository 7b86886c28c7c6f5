"""Why a chunk was found: the words that it shares with the question, and the sentence that matched best.

Example: of "Iron tablets treat anaemia. Take them with water." the question "iron for anaemia" matches the
words iron and anaemia, and the first sentence.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pytest_medfaith.english.letters import compatible, folded
from pytest_medfaith.english.sentences import Span, sentence_spans
from pytest_medfaith.english.words import search_words
from pytest_medfaith.records import Chunk, Hit
from pytest_medfaith.retrieval.bm25 import lucene_idf, searchable_text
from pytest_medfaith.retrieval.encoders import Encoder

BY_WORDS = ("bm25", "rank-bm25", "bm25s", "lucene")


@dataclass(frozen=True, kw_only=True)
class Match:
    """What of a hit matched the question.

    Attributes:
        words: of the question, that its text, title or context holds; empty where no retriever by words found
            it.
        sentences: {name of a retriever: span of the sentence that matched best}, in the chunk's text.
    """

    words: tuple[str, ...] = ()
    sentences: Mapping[str, Span] = field(default_factory=dict)

    def to_dict(self, chunk: Chunk) -> dict[str, Any]:
        """Returns the fields that a hit has in JSON beside its own; offsets are characters, half-open."""
        sentences = {
            name: {"start": start, "end": end, "text": chunk.text[start:end]}
            for name, (start, end) in self.sentences.items()
        }
        return {"matched_words": list(self.words), "matched_sentences": sentences}


def find_matches(
    query: str, hits: Sequence[Hit], chunks: Sequence[Chunk], *, encoders: Mapping[str, Encoder]
) -> list[Match]:
    """Returns what matched, a match for each hit.

    For a retriever by words the best sentence has the rarest words of the question, by BM25's inverse
    document frequency. For a dense retriever it has the vector nearest to the question's. Only retrievers
    that ranked the hit have a sentence.

    Args:
        query: the question.
        hits: what was found.
        chunks: the corpus, in which words are counted.
        encoders: {name of a dense retriever: its encoder}.
    """
    words = list(dict.fromkeys(search_words(query)))
    rarity = _rarity(words, chunks) if any(set(hit.ranks) & set(BY_WORDS) for hit in hits) else {}
    nearest = {name: _nearest_sentences(query, hits, name, encoder) for name, encoder in encoders.items()}
    found = []
    for number, hit in enumerate(hits):
        by_words = [name for name in hit.ranks if name in BY_WORDS]
        shared = set(search_words(searchable_text(hit.chunk))) & set(words) if by_words else set()
        best = _sentence_by_words(hit.chunk, rarity) if by_words else None
        sentences = {name: best for name in by_words if best}
        sentences |= {name: spans[number] for name, spans in nearest.items() if number in spans}
        found.append(Match(words=tuple(word for word in words if word in shared), sentences=sentences))
    return found


def _rarity(words: Collection[str], chunks: Sequence[Chunk]) -> dict[str, float]:
    """Returns the inverse document frequency of each word.

    Chunks are searched for the letters of the word, which takes a hundredth of the time of reading their
    words.
    """
    patterns = {word: re.compile(rf"(?<!\w){re.escape(word)}(?!\w)".replace(r"\ ", " ?")) for word in words}
    counts = dict.fromkeys(words, 0)
    for chunk in chunks:
        text = folded(searchable_text(chunk))
        for word, pattern in patterns.items():
            counts[word] += pattern.search(text) is not None
    return {word: lucene_idf(count, size=len(chunks)) for word, count in counts.items()}


def _sentence_by_words(chunk: Chunk, rarity: Mapping[str, float]) -> Span | None:
    """Returns the sentence with the rarest words, the first of several; None where none holds a word."""
    best, most = None, 0.0
    for start, end in sentence_spans(chunk.text):
        held = set(search_words(chunk.text[start:end]))
        weight = sum(rare for word, rare in rarity.items() if word in held)
        if weight > most:
            best, most = (start, end), weight
    return best


def _nearest_sentences(query: str, hits: Sequence[Hit], name: str, encoder: Encoder) -> dict[int, Span]:
    """Returns {number of a hit: its sentence nearest to the question} for hits that the retriever ranked."""
    import numpy as np

    spans = [
        (number, span)
        for number, hit in enumerate(hits)
        if name in hit.ranks
        for span in sentence_spans(hit.chunk.text)
    ]
    if not spans:
        return {}
    texts = [compatible(hits[number].chunk.text[start:end]) for number, (start, end) in spans]
    documents = [("", text) for text in texts] if encoder.reads_heads else texts
    vectors = np.asarray(encoder.encode_documents(documents), dtype=np.float32)
    asked = np.asarray(encoder.encode_queries([compatible(query)]), dtype=np.float32)[0]
    near = -((vectors - asked) ** 2).sum(axis=1) if encoder.metric == "l2" else vectors @ asked
    best: dict[int, int] = {}
    for place, (number, _) in enumerate(spans):
        if number not in best or near[place] > near[best[number]]:
            best[number] = place
    return {number: spans[place][1] for number, place in best.items()}
