"""The strong model after the fast one: the fast student and the encoder read everything, the strong model the few windows that can decide.

Example: ten claims against twenty chunks are two hundred pairs. The fast student reads all of them. For each claim the strong model
reads `windows` pieces of some `window_words` words, those that are likeliest to decide it, and what the fast student would refute.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_medfaith.checking.cache import content_key, fill
from pytest_medfaith.checking.policy import Thresholds, contradicts
from pytest_medfaith.checking.scoring import (
    FAR_LOGITS,
    Logits,
    Text,
    TextScorer,
    clearest,
    finite_logits,
    opening,
    similarity_of,
)
from pytest_medfaith.checking.similarity import SimilarityShift, Vectors
from pytest_medfaith.checking.windows import COVERED, Window, coverage, evidence_sentences, sentences_around
from pytest_medfaith.records import Chunk, Claim, PairScore

LEAST_PROBABILITY = 1e-4  # of the fast student that counts: it is surer than it is right
LOOK_AGAIN = 0.3  # what the fast student's decision adds to the likeness of a window, when windows are ranked


@dataclass(frozen=True, kw_only=True)
class Cascade:
    """How much the strong model reads of a claim's chunks; fitted on held-out data, kept in its card.

    Attributes:
        windows: pieces of evidence for each claim, at least.
        window_words: words of a piece, at most, where its sentences allow it.
        fast_weight: what the fast student's log-probabilities count beside the strong model's logits.
    """

    windows: int = 5
    window_words: int = 100
    fast_weight: float = 0.0

    def __post_init__(self) -> None:
        """Refuses a cascade that reads nothing."""
        if self.windows < 1 or self.window_words < 1 or not 0 <= self.fast_weight < math.inf:
            raise ValueError(
                f"the cascade reads {self.windows} windows of {self.window_words} words, the fast student counts "
                f"{self.fast_weight}; expected at least 1 of 1, and a weight of 0 or more"
            )


@dataclass(frozen=True)
class _Candidate:
    """A window that the strong model may read for the pair of index `pair`; `rank` is how likely it is to decide."""

    pair: int
    window: Window
    sentence: tuple[int, int]
    rank: float
    first: bool  # whether it holds the chunk's likeliest sentence
    refuted: bool  # whether the fast student refutes the claim by its chunk


@dataclass(frozen=True)
class Reading:
    """What the strong model makes of one window: its logits, the sentence that the window was chosen for, and how near that is to the claim."""

    logits: Logits | None  # None: not finite
    sentence: tuple[int, int]
    similarity: float


def read_deciding_windows(
    pairs: Sequence[tuple[Claim, Chunk]],
    fast: Sequence[PairScore],
    score_texts: TextScorer,
    *,
    cascade: Cascade,
    fast_thresholds: Thresholds,
    signature: str,
    vectors: Vectors,
) -> dict[int, list[Reading]]:
    """Returns the strong model's readings by the index of their pair; a pair whose chunk was not chosen has none.

    A claim's windows are chosen among the chunks that it is paired with in this call, so a score depends on them, never on other claims.

    Args:
        pairs: what to score.
        fast: the fast student's score of each pair.
        score_texts: the strong model.
        cascade: how much it reads.
        fast_thresholds: when the fast student refutes.
        signature: names the strong model's weights; part of every cache key.
        vectors: the encoder's vectors of all claims, chunks and sentences.
    """
    by_claim: dict[tuple[str, str], list[int]] = {}
    for number, (claim, _) in enumerate(pairs):
        by_claim.setdefault((claim.id, claim.text), []).append(number)
    chosen = [
        candidate
        for numbers in by_claim.values()
        for candidate in _chosen(pairs, fast, numbers, cascade, fast_thresholds, vectors)
    ]
    texts = {candidate: _text(pairs[candidate.pair], candidate) for candidate in chosen}
    known: dict[Text, Any] = {}
    fill(
        known,
        texts.values(),
        score_texts,
        key=lambda text: content_key(signature, *text),
        dtype="<f4",
        cache=vectors.cache,
    )
    readings: dict[int, list[Reading]] = {}
    for candidate, text in texts.items():
        near = similarity_of(*pairs[candidate.pair], candidate.sentence, vectors)
        reading = Reading(finite_logits(known, text), candidate.sentence, near)
        readings.setdefault(candidate.pair, []).append(reading)
    return readings


def score_readings(
    pairs: Sequence[tuple[Claim, Chunk]],
    fast: Sequence[PairScore],
    readings: Mapping[int, Sequence[Reading]],
    *,
    temperature: float,
    similarity: SimilarityShift,
    fast_weight: float,
) -> list[PairScore]:
    """Returns the score of each pair, in order: that of its window with the clearest decision; a chunk without a reading is neutral.

    Args:
        pairs: what was read.
        fast: the fast student's score of each pair.
        readings: of the strong model, by the index of the pair.
        temperature: the logits are divided by it before the softmax.
        similarity: how the encoder's cosine moves the logit of neutral.
        fast_weight: what the fast student's log-probabilities count beside the strong model's logits.
    """
    scores: list[PairScore] = []
    for number, (claim, chunk) in enumerate(pairs):
        if number not in readings:
            scores.append(_unread(claim, chunk, fast[number]))
            continue
        says = [fast_weight * math.log(max(each, LEAST_PROBABILITY)) for each in fast[number].probs]
        moved = [
            (_moved(reading.logits, says, similarity.shift(reading.similarity)), reading.sentence)
            for reading in readings[number]
            if reading.logits
        ]
        scores.append(clearest(claim, chunk, moved, temperature))
    return scores


def _moved(logits: Logits, says: Sequence[float], shift: float) -> Logits:
    entail, neutral, contradict = (a + b for a, b in zip(logits, says, strict=True))
    return entail, neutral + shift, contradict


def _unread(claim: Claim, chunk: Chunk, fast: PairScore) -> PairScore:
    """Returns neutral for a chunk that was not chosen; what the fast student could not read stays without a score."""
    return fast if fast.logits is None else clearest(claim, chunk, [(FAR_LOGITS, fast.span)], 1.0)


def _chosen(
    pairs: Sequence[tuple[Claim, Chunk]],
    fast: Sequence[PairScore],
    numbers: Sequence[int],
    cascade: Cascade,
    fast_thresholds: Thresholds,
    vectors: Vectors,
) -> list[_Candidate]:
    """Returns the windows of one claim that the strong model reads: the likeliest, and those by which the fast student refutes."""
    candidates = [
        candidate
        for number in numbers
        for candidate in _candidates(number, *pairs[number], fast[number], cascade, fast_thresholds, vectors)
    ]
    ranked = sorted(
        candidates, key=lambda candidate: (-candidate.rank, candidate.pair, candidate.window.start)
    )
    likeliest, rest = ranked[: cascade.windows], ranked[cascade.windows :]
    refuted = [candidate for candidate in rest if candidate.refuted and candidate.first]
    return likeliest + refuted[: cascade.windows]


def _candidates(
    number: int,
    claim: Claim,
    chunk: Chunk,
    fast: PairScore,
    cascade: Cascade,
    fast_thresholds: Thresholds,
    vectors: Vectors,
) -> Iterator[_Candidate]:
    """Yields one window of a short chunk and up to two of a long one, which do not overlap in their likeliest sentences."""
    decided = LOOK_AGAIN * (1 - fast.probs[1])
    likeness = {
        sentence: vectors.cosine(claim.in_context, sentence.text)
        + COVERED * coverage(claim.text, sentence.text, of=chunk.text)
        for sentence in evidence_sentences(chunk.text)
    }
    taken: list[Window] = []
    for sentence in sorted(likeness, key=lambda each: (-likeness[each], each.start)):
        if any(window.start <= sentence.start and sentence.end <= window.end for window in taken):
            continue
        window = sentences_around(sentence, of=chunk.text, words=cascade.window_words)
        first = not taken
        taken.append(window)
        yield _Candidate(
            pair=number,
            window=window,
            sentence=(sentence.start, sentence.end),
            rank=likeness[sentence] + (decided if first else 0.0),
            first=first,
            refuted=contradicts(fast, fast_thresholds),
        )
        if len(taken) == 2:
            return


def _text(pair: tuple[Claim, Chunk], candidate: _Candidate) -> Text:
    claim, chunk = pair
    return (opening(chunk) if candidate.window.start > 0 else "") + candidate.window.text, claim.in_context
