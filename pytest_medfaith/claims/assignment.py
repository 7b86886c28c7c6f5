"""Gives a sentence without a citation the citation of a neighbour whose passage speaks of the same thing.

Example: in "Iron tablets treat iron deficiency [1]. They are taken on an empty stomach." the second sentence
gets [1] if a sentence of passage 1 is similar to it. Such a citation is a guess of this package, so it is
always shown as assigned.

The reference RAG does this with its drafts. It looks at the passage behind a citation, because the reader
will check the sentence by that passage. `attribution.py` reports on finished answers instead. It compares an
uncited claim with the cited claims beside it and reads no passage, because there the question is which
citation the writer meant.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_medfaith.claims.citations import read_citations
from pytest_medfaith.claims.layout import Sentence, read_layout
from pytest_medfaith.english.sentences import sentences_of

Embed = Callable[[Sequence[str]], Any]  # n texts -> float (n, width), rows of length 1
# Below this cosine a passage is often on another matter. The citations of 364 sentences of the recorded
# answers were hidden: 210 sentences get theirs back, 35 get another and 119 none. With 0.4 these are 227, 66
# and 71 (bench/assignment.py).
LEAST_SIMILARITY = 0.5


@dataclass(frozen=True)
class Assigned:
    """A citation that was given to a sentence without one.

    Attributes:
        start: the first character of the sentence in the answer.
        end: the character after the sentence.
        marker: the marker of the citation, such as "1".
        similarity: the cosine of the sentence and the most similar sentence of the passage, up to 1.
    """

    start: int
    end: int
    marker: str
    similarity: float


def assign_citations(
    answer: str, passages: Mapping[str, str], *, embed: Embed, least: float = LEAST_SIMILARITY
) -> list[Assigned]:
    """Returns a citation for each sentence without one that is similar to the passage of a cited neighbour.

    The neighbours are the nearest sentences with a citation, one before and one after. Among their citations
    the passage with the most similar sentence wins; in a tie, that of the sentence before. Headings,
    questions and lines that introduce a list get none.

    Args:
        answer: the answer with its citation markers.
        passages: {marker: text of its passage}, {"1": "Iron tablets ..."}. Other markers are assigned to no
            sentence.
        embed: the sentence encoder: n texts -> (n, width), rows of length 1.
        least: the least cosine for which a citation is assigned.
    """
    cited = read_citations(answer)
    layout = read_layout(cited.text)
    markers = cited.markers_of(layout.sentences)
    wanted = {
        place: _neighbours(markers, place, passages)
        for place, sentence in enumerate(layout.sentences)
        if not markers[place] and _states(sentence, layout.text)
    }
    wanted = {place: candidates for place, candidates in wanted.items() if candidates}
    if not wanted:
        return []
    texts = {place: _text(layout.sentences[place], layout.text) for place in wanted}
    alike = _similarities(texts, wanted, passages, embed)
    assigned = []
    for place, scores in alike.items():
        best = max(scores, key=scores.__getitem__)
        if scores[best] >= least:
            sentence = layout.sentences[place]
            assigned.append(Assigned(sentence.start, sentence.end, best, scores[best]))
    return assigned


def _similarities(
    texts: Mapping[int, str],
    wanted: Mapping[int, Iterable[str]],
    passages: Mapping[str, str],
    embed: Embed,
) -> dict[int, dict[str, float]]:
    """Returns {sentence: {marker: cosine of the sentence and the most similar sentence of the passage}}.

    Args:
        texts: {place of a sentence: its text}.
        wanted: {place of a sentence: markers to compare}.
        passages: {marker: text of its passage}.
        embed: the sentence encoder.
    """
    pieces = {
        marker: sentences_of(passages[marker]) for candidates in wanted.values() for marker in candidates
    }
    distinct = list(
        dict.fromkeys([*texts.values(), *(piece for found in pieces.values() for piece in found)])
    )
    vectors = dict(zip(distinct, embed(distinct), strict=True))
    return {
        place: {
            marker: max(
                (float(vectors[texts[place]] @ vectors[piece]) for piece in pieces[marker]), default=0.0
            )
            for marker in candidates
        }
        for place, candidates in wanted.items()
    }


def _neighbours(
    markers: Sequence[tuple[str, ...]], place: int, passages: Mapping[str, str]
) -> dict[str, None]:
    """Returns the markers, as keys, of the nearest cited sentences before and after with a passage."""
    before = next((found for found in reversed(markers[:place]) if found), ())
    behind = next((found for found in markers[place + 1 :] if found), ())
    return dict.fromkeys(marker for marker in (*before, *behind) if marker in passages)


def _states(sentence: Sentence, text: str) -> bool:
    """Returns whether a sentence is no heading, no question, and no line that introduces a list."""
    said = _text(sentence, text)
    return sentence.block.kind != "heading" and any(map(str.isalpha, said)) and said[-1:] not in "?:"


def _text(sentence: Sentence, text: str) -> str:
    """Returns the text of a sentence with single blanks."""
    return " ".join(text[sentence.start : sentence.end].split())
