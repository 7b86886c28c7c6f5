"""Why a chunk was found: the words that it shares with the question, and its best sentence.

Example: in "Iron tablets treat anaemia. Take them with water." the question "iron for anaemia" matches the
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
    """Why a hit was found.

    Attributes:
        words: words of the question that the chunk's text, title or context holds; () where no retriever by
            words found it.
        sentences: {name of a retriever: (start, end) of the sentence that matched best}, characters of the
            chunk's text.
    """

    words: tuple[str, ...] = ()
    sentences: Mapping[str, Span] = field(default_factory=dict)

    def to_dict(self, chunk: Chunk) -> dict[str, Any]:
        """Returns {"matched_words": [...], "matched_sentences": {retriever: {"start", "end", "text"}}}.

        These fields are added to those of the hit in JSON. Offsets are characters, half-open.
        """
        sentences = {
            name: {"start": start, "end": end, "text": chunk.text[start:end]}
            for name, (start, end) in self.sentences.items()
        }
        return {"matched_words": list(self.words), "matched_sentences": sentences}


def find_matches(
    query: str, hits: Sequence[Hit], chunks: Sequence[Chunk], *, encoders: Mapping[str, Encoder]
) -> list[Match]:
    """Returns why each hit was found: a `Match` for each, in order.

    For a retriever by words, such as bm25, the best sentence holds the most and rarest words of the question.
    For a dense retriever its vector is nearest to the question's. A retriever has a sentence only in hits
    that it ranked. Words shared with the question are told for hits of a retriever by words alone.

    Args:
        query: the question.
        hits: what was found.
        chunks: the corpus; how rare a word is, is counted in it.
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
    """Returns word -> how rare it is in the corpus, as BM25's inverse document frequency; above 0.

    Chunks are searched for the word's letters, which takes a hundredth of the time of splitting them into
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
    """Returns (start, end) of the sentence whose words have the largest sum of `rarity`; None if it is 0."""
    best, most = None, 0.0
    for start, end in sentence_spans(chunk.text):
        held = set(search_words(chunk.text[start:end]))
        weight = sum(rare for word, rare in rarity.items() if word in held)
        if weight > most:
            best, most = (start, end), weight
    return best


def _nearest_sentences(query: str, hits: Sequence[Hit], name: str, encoder: Encoder) -> dict[int, Span]:
    """Returns {place of a hit: (start, end) of its sentence nearest to the question}.

    Only hits that the retriever called `name` ranked are in it.
    """
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
