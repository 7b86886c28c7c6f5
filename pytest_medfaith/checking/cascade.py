"""A strong model after a fast one: the fast student reads everything, the strong model what can decide.

Example: ten claims against twenty chunks are two hundred pairs. The fast student reads all of them. For each
claim the strong model reads `windows` pieces of some `window_words` words: those that are likeliest to decide
the claim, and those by which the fast student would refute it.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from pytest_medfaith.checking.policy import Thresholds, contradicts
from pytest_medfaith.records import Chunk, Claim, PairScore
from pytest_medfaith.scoring.pairs import Model, Span, clearest, finite_logits
from pytest_medfaith.scoring.reading import Logits, Text, as_read, likeness_of, similarity_of
from pytest_medfaith.scoring.similarity import Vectors
from pytest_medfaith.scoring.windows import Window, evidence_sentences, sentences_around

Pair = tuple[Claim, Chunk]


@dataclass(frozen=True, kw_only=True)
class Cascade:
    """How much the strong model reads of a claim's chunks; fitted on held-out data, kept in its card.

    Attributes:
        windows: pieces of evidence for each claim, at least.
        window_words: words of a piece, at most, where its sentences allow it.
        window_slack: a chunk of up to `window_slack * window_words` words is read whole.
        fast_weight: what the fast student's log-probabilities count beside the strong model's logits.
        least_probability: the least probability of the fast student that counts: it is surer than it is
            right.
        decision_bonus: what the fast student's decision adds to the likeness of a window, where windows are
            ranked.
    """

    windows: int = 5
    window_words: int = 100
    window_slack: float = 1.3
    fast_weight: float = 0.0
    least_probability: float = 1e-4
    decision_bonus: float = 0.3

    def __post_init__(self) -> None:
        """Refuses a cascade that reads nothing, and numbers without sense."""
        if self.windows < 1 or self.window_words < 1 or not 0 <= self.fast_weight < math.inf:
            raise ValueError(
                f"the cascade reads {self.windows} windows of {self.window_words} words, the fast student "
                f"counts {self.fast_weight}; expected at least 1 of 1, and a weight of 0 or more"
            )
        if not 0 < self.least_probability < 1:
            raise ValueError(
                f"the least probability of the fast student is {self.least_probability}; expected a number "
                "between 0 and 1"
            )
        if not (math.isfinite(self.window_slack) and math.isfinite(self.decision_bonus)):
            raise ValueError(
                f"the cascade has a window slack of {self.window_slack} and a decision bonus of "
                f"{self.decision_bonus}; expected finite numbers"
            )

    @property
    def signature(self) -> str:
        """Names the cascade in a checker's signature.

        Numbers that joined the cards later appear only where they differ from the defaults.
        """
        named = ("windows", "window_words", "fast_weight")
        told = [
            f"{each.name}={getattr(self, each.name)!r}"
            for each in sorted(dataclasses.fields(self), key=lambda each: each.name not in named)
            if each.name in named or getattr(self, each.name) != each.default
        ]
        return f"Cascade({', '.join(told)})"


@dataclass(frozen=True)
class WindowRead:
    """What the strong model makes of a window.

    Attributes:
        logits: None where they are not finite.
        sentence: span of the sentence that the window was chosen for.
        similarity: of claim and chunk, by that sentence.
    """

    logits: Logits | None
    sentence: Span
    similarity: float


@dataclass(frozen=True)
class _Candidate:
    """A window that the strong model may read.

    Attributes:
        pair: index of its pair.
        window: the piece of evidence.
        sentence: span of the sentence that it was made around.
        rank: how likely it is to decide the claim.
        first: whether it holds the chunk's likeliest sentence.
        refuted: whether the fast student refutes the claim by its chunk.
    """

    pair: int
    window: Window
    sentence: Span
    rank: float
    first: bool
    refuted: bool


@dataclass(frozen=True)
class Reader:
    """The strong model with what it goes by.

    Attributes:
        model: the strong model.
        cascade: how much it reads.
        fast_thresholds: when the fast student refutes.
        vectors: of all claims, chunks and sentences.
    """

    model: Model
    cascade: Cascade
    fast_thresholds: Thresholds
    vectors: Vectors


def score_deciding_windows(
    pairs: Sequence[Pair], fast: Sequence[PairScore], reader: Reader
) -> list[PairScore]:
    """Returns the score of each pair by its window with the clearest decision, in the order of `pairs`.

    A chunk that the strong model does not read is neutral.

    Args:
        pairs: what to score.
        fast: the fast student's score of each pair.
        reader: the strong model.
    """
    model, cascade = reader.model, reader.cascade
    readings = read_deciding_windows(pairs, fast, reader)
    scores: list[PairScore] = []
    for number, (pair, before) in enumerate(zip(pairs, fast, strict=True)):
        if number not in readings:  # what the fast student could not read either stays without a score
            unread = [(model.reading.unread_logits, before.span)]
            scores.append(before if before.logits is None else clearest(*pair, unread, temperature=1.0))
            continue
        said = [cascade.fast_weight * math.log(max(each, cascade.least_probability)) for each in before.probs]
        together: list[tuple[Logits, Span]] = []
        for reading in readings[number]:
            if reading.logits:
                entail, neutral, contradict = (a + b for a, b in zip(reading.logits, said, strict=True))
                neutral += model.similarity.of(reading.similarity)
                together.append(((entail, neutral, contradict), reading.sentence))
        scores.append(clearest(*pair, together, model.temperature))
    return scores


def read_deciding_windows(
    pairs: Sequence[Pair], fast: Sequence[PairScore], reader: Reader
) -> dict[int, list[WindowRead]]:
    """Returns the strong model's readings by the index of their pair, of the pairs whose chunk was chosen.

    A claim's windows are chosen among the chunks that it is paired with in this call. So a score depends on
    those chunks, never on other claims. Arguments as in `score_deciding_windows`.
    """
    by_claim: dict[tuple[str, str], list[int]] = {}
    for number, (claim, _) in enumerate(pairs):
        by_claim.setdefault((claim.id, claim.text), []).append(number)
    chosen = [
        candidate for numbers in by_claim.values() for candidate in _chosen(pairs, fast, numbers, reader)
    ]
    texts = {candidate: as_read(*pairs[candidate.pair], candidate.window) for candidate in chosen}
    known: dict[Text, Any] = {}
    reader.model.read(texts.values(), known, cache=reader.vectors.cache)
    readings: dict[int, list[WindowRead]] = {}
    for candidate, text in texts.items():
        pair, sentence = pairs[candidate.pair], candidate.sentence
        similarity = similarity_of(*pair, sentence, reader.vectors, reader.model.reading)
        reading = WindowRead(finite_logits(known, text), sentence, similarity)
        readings.setdefault(candidate.pair, []).append(reading)
    return readings


def _chosen(
    pairs: Sequence[Pair], fast: Sequence[PairScore], numbers: Sequence[int], reader: Reader
) -> list[_Candidate]:
    """Returns the windows of a claim that the strong model reads.

    They are the likeliest to decide it, and those by which the fast student refutes it. `numbers` are the
    indices of the claim's pairs.
    """
    candidates = [
        candidate
        for number in numbers
        for candidate in _candidates(number, pairs[number], fast[number], reader)
    ]
    ranked = sorted(
        candidates, key=lambda candidate: (-candidate.rank, candidate.pair, candidate.window.start)
    )
    windows = reader.cascade.windows
    refuted = [candidate for candidate in ranked[windows:] if candidate.refuted and candidate.first]
    return ranked[:windows] + refuted[:windows]


def _candidates(number: int, pair: Pair, fast: PairScore, reader: Reader) -> Iterator[_Candidate]:
    """Yields one window of a short chunk, up to two of a long chunk; each has another likeliest sentence."""
    (claim, chunk), cascade = pair, reader.cascade
    cosine = partial(reader.vectors.cosine, claim.in_context)
    likeness = {
        sentence: likeness_of(
            sentence, claim=claim.text, of=chunk.text, cosine=cosine, settings=reader.model.reading
        )
        for sentence in evidence_sentences(chunk.text)
    }
    taken: list[Window] = []
    for sentence in sorted(likeness, key=lambda each: (-likeness[each], each.start)):
        if any(window.holds(sentence.start, sentence.end) for window in taken):
            continue
        window = sentences_around(
            sentence, of=chunk.text, words=cascade.window_words, slack=cascade.window_slack
        )
        bonus = 0.0 if taken else cascade.decision_bonus * (1 - fast.probs[1])
        yield _Candidate(
            pair=number,
            window=window,
            sentence=(sentence.start, sentence.end),
            rank=likeness[sentence] + bonus,
            first=not taken,
            refuted=contradicts(fast.probs, reader.fast_thresholds),
        )
        taken.append(window)
        if len(taken) == 2:
            return
