"""A strong model after a small one: the small model reads everything, the strong model what may decide.

Example: ten claims and twenty chunks are two hundred pairs. The small, fast model ("student") reads all of
them. For each claim the strong model then reads `windows` pieces of evidence of about `window_words` words:
those that are likeliest to decide the claim, and those by which the fast model would refute it.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence
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
    """How much a strong model reads of a claim's chunks. The numbers were fitted on held-out data.

    A window is a piece of evidence: a sentence with the sentences around it. The fast student is the small
    model that has read all pairs before.

    Attributes:
        windows: how many windows the strong model reads for each claim. It reads up to as many again by which
            the fast student refutes the claim.
        window_words: the most words in a window. A single long sentence may have more.
        window_slack: a chunk of up to `window_slack * window_words` words is read whole.
        fast_weight: the weight of the fast student's log-probabilities, which are added to the strong model's
            logits; 0 for none.
        least_probability: lower probabilities of the fast student count as this one, since it is surer than
            it is right.
        decision_bonus: what a decided chunk of the fast student adds to the likeness by which windows are
            ranked.
        refuting_sentence_share: above 0, the sentence of a window that contradicts the claim is also read
            alone. The logits are then a mean of both, with this share from the sentence, if that contradicts
            less. With 1 the sentence alone must refute. 0 to 1.
    """

    windows: int = 5
    window_words: int = 100
    window_slack: float = 1.3
    fast_weight: float = 0.0
    least_probability: float = 1e-4
    decision_bonus: float = 0.3
    refuting_sentence_share: float = 0.0

    def __post_init__(self) -> None:
        """Raises ValueError for a cascade that reads nothing, and for numbers out of range."""
        if self.windows < 1 or self.window_words < 1 or not 0 <= self.fast_weight < math.inf:
            raise ValueError(
                f"the cascade has windows {self.windows}, window_words {self.window_words} and fast_weight "
                f"{self.fast_weight}; expected windows and words of 1 or more, and a weight of 0 or more"
            )
        if not 0 < self.least_probability < 1:
            raise ValueError(
                f"least_probability of the cascade is {self.least_probability}; expected a number between 0 "
                "and 1"
            )
        if not 0 <= self.refuting_sentence_share <= 1:
            raise ValueError(
                f"refuting_sentence_share of the cascade is {self.refuting_sentence_share}; expected a "
                "number from 0 to 1"
            )
        if not (math.isfinite(self.window_slack) and math.isfinite(self.decision_bonus)):
            raise ValueError(
                f"the cascade has a window slack of {self.window_slack} and a decision bonus of "
                f"{self.decision_bonus}; expected finite numbers"
            )

    @property
    def signature(self) -> str:
        """The cascade as a text that is part of the checker's signature: "Cascade(windows=5, ...)".

        Numbers that were added to cards later appear only if they differ from the default, so that signatures
        of older baselines stay the same.
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
    """What the strong model makes of a window, a piece of evidence.

    Attributes:
        text: the window and the claim, as the model read them.
        logits: the three logits; None where they are not finite.
        sentence: the span, in the chunk, of the sentence that the window was made around.
        similarity: the similarity of claim and chunk, by that sentence.
    """

    text: Text
    logits: Logits | None
    sentence: Span
    similarity: float


@dataclass(frozen=True)
class _Candidate:
    """A window that the strong model may read.

    Attributes:
        pair: the index of its (claim, chunk) pair.
        window: the piece of evidence.
        sentence: the span of the sentence that it was made around.
        rank: how likely it is to decide the claim; higher is likelier.
        first: True for the window with the chunk's likeliest sentence.
        refuted: True where the fast student refutes the claim by its chunk.
    """

    pair: int
    window: Window
    sentence: Span
    rank: float
    first: bool
    refuted: bool


@dataclass(frozen=True)
class Reader:
    """The strong model, with what it needs to choose and read windows.

    Attributes:
        model: the strong model.
        cascade: how much it reads.
        fast_thresholds: from which probability on the fast student refutes.
        vectors: the vectors of all claims, chunks and sentences.
    """

    model: Model
    cascade: Cascade
    fast_thresholds: Thresholds
    vectors: Vectors


def score_deciding_windows(
    pairs: Sequence[Pair], fast: Sequence[PairScore], reader: Reader
) -> list[PairScore]:
    """Returns the strong model's score of each pair, in the order of `pairs`.

    The score is that of the window with the clearest decision. A chunk that the strong model does not read
    counts as neutral. For `refuting_sentence_share` see `Cascade`.

    Args:
        pairs: the (claim, chunk) pairs.
        fast: the fast student's score of each pair.
        reader: the strong model.
    """
    readings = read_deciding_windows(pairs, fast, reader)
    if reader.cascade.refuting_sentence_share:
        readings = _held_by_sentences(pairs, fast, readings, reader)
    scores: list[PairScore] = []
    for number, (pair, before) in enumerate(zip(pairs, fast, strict=True)):
        if number in readings:
            scores.append(_score(pair, before, readings[number], reader))
        else:  # what the fast student could not read either stays without a score
            unread = [(reader.model.reading.unread_logits, before.span)]
            scores.append(before if before.logits is None else clearest(*pair, unread, temperature=1.0))
    return scores


def _score(pair: Pair, before: PairScore, readings: Sequence[WindowRead], reader: Reader) -> PairScore:
    """Returns the score of a pair by the clearest of its `readings`.

    Args:
        pair: claim and chunk.
        before: the fast student's score, which is added with the weight `Cascade.fast_weight`.
        readings: what the strong model made of each window.
        reader: the strong model.
    """
    cascade = reader.cascade
    said = [cascade.fast_weight * math.log(max(each, cascade.least_probability)) for each in before.probs]
    together: list[tuple[Logits, Span]] = []
    for reading in readings:
        if reading.logits:
            entail, neutral, contradict = (a + b for a, b in zip(reading.logits, said, strict=True))
            neutral += reader.model.similarity.of(reading.similarity)
            together.append(((entail, neutral, contradict), reading.sentence))
    return clearest(*pair, together, reader.model.temperature)


def _held_by_sentences(
    pairs: Sequence[Pair],
    fast: Sequence[PairScore],
    readings: Mapping[int, Sequence[WindowRead]],
    reader: Reader,
) -> dict[int, list[WindowRead]]:
    """Returns `readings`, where those that contradict may be a mean with the reading of their sentence alone.

    Example: the window is "Start at 5 mg. Children under 12 must not take it.", and the strong model finds
    that it contradicts "Treatment starts with 5 mg". The sentence "Start at 5 mg." does not contradict that,
    so the claim is not refuted by it. The mean counts only if it contradicts less than the window.
    """
    scored = {
        (number, reading): _score(pairs[number], fast[number], [reading], reader)
        for number, read in readings.items()
        for reading in read
        if reading.logits
    }
    texts = {}
    for (number, reading), score in scored.items():
        claim, chunk = pairs[number]
        sentence = as_read(claim, chunk, Window(chunk.text[slice(*reading.sentence)], *reading.sentence))
        if score.probs[2] > max(score.probs[:2]) and sentence != reading.text:
            texts[number, reading] = sentence
    known: dict[Text, Any] = {}
    reader.model.read(texts.values(), known, cache=reader.vectors.cache)

    def held(number: int, reading: WindowRead) -> WindowRead:
        """Returns the reading, or its mean with the sentence alone where that contradicts less."""
        alone = finite_logits(known, texts[number, reading]) if (number, reading) in texts else None
        if alone is None or reading.logits is None:
            return reading
        share = reader.cascade.refuting_sentence_share
        entail, neutral, contradict = (
            (1 - share) * a + share * b for a, b in zip(reading.logits, alone, strict=True)
        )
        blend = dataclasses.replace(reading, logits=(entail, neutral, contradict))
        score = _score(pairs[number], fast[number], [blend], reader)
        return blend if score.probs[2] < scored[number, reading].probs[2] else reading

    return {number: [held(number, reading) for reading in read] for number, read in readings.items()}


def read_deciding_windows(
    pairs: Sequence[Pair], fast: Sequence[PairScore], reader: Reader
) -> dict[int, list[WindowRead]]:
    """Returns {index of a pair: the strong model's readings of its windows}, without the pairs it leaves out.

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
        reading = WindowRead(text, finite_logits(known, text), sentence, similarity)
        readings.setdefault(candidate.pair, []).append(reading)
    return readings


def _chosen(
    pairs: Sequence[Pair], fast: Sequence[PairScore], numbers: Sequence[int], reader: Reader
) -> list[_Candidate]:
    """Returns the windows of a claim that the strong model reads, the likeliest to decide it first.

    The fast student's refutations follow, with the first window of each such chunk. `numbers` are the indices
    of the claim's pairs.
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
    """Yields a window around the likeliest sentence of a chunk, and one around the next sentence outside it.

    A short chunk is one window.
    """
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
