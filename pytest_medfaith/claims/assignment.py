"""Gives a sentence without a citation a neighbour's citation whose passage speaks of the same matter.

Example: in "Iron tablets treat iron deficiency [1]. They are taken on an empty stomach." the second sentence
is given [1] where a sentence of passage 1 is similar to it. What is assigned is a guess of this package and
no word of the answer, so it is always shown as assigned.

The reference RAG uses it on its drafts: it looks at the passage behind a citation, because the reader will
check the sentence by that passage. `attribution.py` reports on finished answers instead: it compares an
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
# Below this cosine a passage is often on another matter. Of 364 cited sentences of the recorded answers whose
# citation was hidden, 210 get it back, 35 get another and 119 none; from 0.4 on it is 227, 66 and 71
# (bench/assignment.py).
LEAST_SIMILARITY = 0.5


@dataclass(frozen=True)
class Assigned:
    """A citation that a sentence without any was given.

    Attributes:
        start: of the sentence in the answer.
        end: of the sentence, half-open.
        marker: of the citation, such as "1".
        similarity: cosine of the sentence and the most similar sentence of the passage, up to 1.
    """

    start: int
    end: int
    marker: str
    similarity: float


def assign_citations(
    answer: str, passages: Mapping[str, str], *, embed: Embed, least: float = LEAST_SIMILARITY
) -> list[Assigned]:
    """Returns a citation for each sentence that has none and whose neighbours' passages speak of its matter.

    The neighbours are the nearest sentences with a citation before and behind it. Of their citations the
    passage with the most similar sentence is taken; of two that are equal, that of the sentence before.
    Headings, questions and lines that introduce a list get none.

    Args:
        answer: with its citation markers.
        passages: the text that each marker points to, {"1": "Iron tablets ..."}. A marker that is absent here
            points nowhere, and is assigned to no sentence.
        embed: the encoder.
        least: the cosine from which a citation is assigned.
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
    """Returns the cosine of each sentence, by its place, and the most similar sentence of each candidate."""
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
    """Returns the markers of the nearest cited sentences before and behind `place` that lead to a passage."""
    before = next((found for found in reversed(markers[:place]) if found), ())
    behind = next((found for found in markers[place + 1 :] if found), ())
    return dict.fromkeys(marker for marker in (*before, *behind) if marker in passages)


def _states(sentence: Sentence, text: str) -> bool:
    """Returns whether a sentence is no heading, no question, and no line that introduces a list."""
    said = _text(sentence, text)
    return sentence.block.kind != "heading" and any(map(str.isalpha, said)) and said[-1:] not in "?:"


def _text(sentence: Sentence, text: str) -> str:
    return " ".join(text[sentence.start : sentence.end].split())
