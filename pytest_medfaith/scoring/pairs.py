"""Scores (claim, chunk) pairs in bulk.

It plans which texts of each pair are read, lets the model read each text once, and takes the clearest result.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from pytest_medfaith.errors import DataError
from pytest_medfaith.models.whole import whole
from pytest_medfaith.records import LABELS, Chunk, Claim, PairScore
from pytest_medfaith.scoring.cache import content_key, fill
from pytest_medfaith.scoring.reading import (
    AS_SHIPPED,
    Logits,
    ReadingSettings,
    Text,
    as_read,
    best_sentence,
    similarity_of,
    texts_compared,
    window_around,
)
from pytest_medfaith.scoring.similarity import MOVES_NOTHING, SimilarityShift, Vectors

TextScorer = Callable[[Sequence[Text]], Any]  # n texts -> float (n, 3) logits: entail, neutral, contradict
Progress = Callable[[int, int], None]
Span = tuple[int, int]

BATCH = 256  # pairs between two signs of progress
# Characters of a claim that every model can read. For a longer claim only the model can tell.
_SURELY_READ = 250


@dataclass(frozen=True)
class Model:
    """A model that reads (evidence, claim) texts, and how its logits become probabilities.

    Attributes:
        name: its name in messages.
        signature: names the weights and everything else that decides a logit; part of every cache key.
        score_texts: the model: n (evidence, claim) texts -> logits (n, 3), order entail, neutral, contradict.
        temperature: the logits are divided by it before the softmax.
        similarity: how the encoder's cosine changes the logit of neutral.
        reading: how much of the evidence the model is given.
    """

    name: str
    signature: str
    score_texts: TextScorer
    temperature: float = 1.0
    similarity: SimilarityShift = MOVES_NOTHING
    reading: ReadingSettings = AS_SHIPPED

    def read(self, texts: Iterable[Text], known: dict[Text, Any], *, cache: Path | None) -> None:
        """Adds the logits of `texts` to `known`, where they are missing; each text is read once.

        Args:
            texts: (evidence, claim) texts.
            known: {text: logits, float32 (3,)}; changed in place.
            cache: the SQLite file that keeps logits; None for none.

        Raises:
            ValueError: the model did not give three logits for each text.
        """
        fill(
            known,
            texts,
            self._logits,
            key=lambda text: content_key(self.signature, *text),
            dtype="<f4",
            cache=cache,
        )

    def _logits(self, texts: Sequence[Text]) -> Any:
        """Returns the model's logits, float32 (n, 3); raises ValueError for any other shape."""
        import numpy as np

        given = self.score_texts([(whole(evidence), whole(claim)) for evidence, claim in texts])
        shape, order = (len(texts), len(LABELS)), f"in the order {', '.join(LABELS)}"
        try:
            logits = np.asarray(given, dtype=np.float32)
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"the checker {self.name!r} gave a {type(given).__name__} that holds no table of numbers for "
                f"{len(texts)} pairs, expected logits of shape {shape}, {order}"
            ) from error
        if logits.shape != shape:
            raise ValueError(
                f"the checker {self.name!r} gave logits of shape {logits.shape} for {len(texts)} pairs, "
                f"expected {shape}: one row a pair, {order}"
            )
        return logits


@dataclass(frozen=True)
class _Plan:
    """Which texts of a pair are read.

    Attributes:
        span: the span of the chunk's best sentence, the likeliest to decide the claim.
        sentence: this sentence and the claim as the model reads them; None where the chunk is not read.
        window: the same for the window, the sentences around it; None where only the sentence is read.
        alone: True if the sentence may decide without the window.
        similarity: the similarity of claim and chunk.
    """

    span: tuple[int, int]
    sentence: Text | None
    window: Text | None
    alone: bool
    similarity: float

    @property
    def texts(self) -> list[Text]:
        """The texts that the model has to read."""
        return [text for text in (self.sentence, self.window) if text]


def score_pairs(
    pairs: Sequence[tuple[Claim, Chunk]],
    model: Model,
    *,
    vectors: Vectors,
    progress: Progress | None = None,
) -> list[PairScore]:
    """Returns a score for each pair, in the order of `pairs`. A score never depends on other pairs.

    Equal texts are read once. A pair whose logits are not finite gets a neutral score without logits; the
    caller then makes its claim `unscored`.

    Args:
        pairs: the (claim, chunk) pairs.
        model: the model.
        vectors: gets the encoder's vectors of the texts that are compared; its cache file also keeps logits.
        progress: is called with (pairs scored, all pairs) after each batch; None for silence.
    """
    known: dict[Text, Any] = {}
    scores: list[PairScore] = []
    for start in range(0, len(pairs), BATCH):
        batch = pairs[start : start + BATCH]
        vectors.add(text for pair in batch for text in texts_compared(*pair))
        plans = [_plan(*pair, vectors, model.reading) for pair in batch]
        model.read([text for plan in plans if plan for text in plan.texts], known, cache=vectors.cache)
        for pair, plan in zip(batch, plans, strict=True):
            readings = [(logits, plan.span) for logits in _readings(plan, known, model)] if plan else []
            scores.append(clearest(*pair, readings, model.temperature))
        if progress:
            progress(len(scores), len(pairs))
    return scores


def _plan(claim: Claim, chunk: Chunk, vectors: Vectors, settings: ReadingSettings) -> _Plan | None:
    """Returns which texts of a pair are read; None for a blank chunk.

    The best sentence is read by itself. If claim and chunk are similar, the window around it is read too. A
    long chunk on another matter is not read; of a short chunk at least the best sentence is.
    """
    cosine = partial(vectors.cosine, claim.in_context)
    sentence = best_sentence(claim.text, chunk.text, cosine=cosine, settings=settings)
    if sentence is None:
        return None
    similarity = similarity_of(claim, chunk, (sentence.start, sentence.end), vectors, settings)
    long = len(chunk.text.split()) > settings.long_words  # the model may miss a proof among so many words
    unread = long and similarity < settings.least_similarity and len(claim.text) <= _SURELY_READ
    window = None
    if similarity >= settings.window_similarity:
        window = window_around(sentence, claim.text, of=chunk.text, settings=settings)
    return _Plan(
        span=(sentence.start, sentence.end),
        sentence=None if unread else as_read(claim, chunk, sentence),
        window=as_read(claim, chunk, window) if window else None,
        alone=long or window is None,
        similarity=similarity,
    )


def _readings(plan: _Plan, known: Mapping[Text, Any], model: Model) -> list[Logits]:
    """Returns the logits that may decide for a chunk: those of its window, of its sentence, or of both.

    The window's logits are a mean with the sentence's. A chunk that is not read is neutral. If a number of
    sentence or window is not finite, the list is empty: the missing reading might have decided.
    """
    if plan.sentence is None:
        return [model.reading.unread_logits]
    sentence = finite_logits(known, plan.sentence)
    window = finite_logits(known, plan.window) if plan.window else None
    if sentence is None or (plan.window and window is None):
        return []
    readings = [sentence] if plan.alone else []
    if window:
        share = model.reading.sentence_share
        entail, neutral, contradict = (
            (1 - share) * a + share * b for a, b in zip(window, sentence, strict=True)
        )
        readings.append((entail, neutral, contradict))
    shift = model.similarity.of(plan.similarity)
    return [(entail, neutral + shift, contradict) for entail, neutral, contradict in readings]


def finite_logits(known: Mapping[Text, Any], text: Text) -> Logits | None:
    """Returns the model's logits of `text`; None if one of them is not finite."""
    entail, neutral, contradict = logits = known[text].tolist()
    return (entail, neutral, contradict) if all(map(math.isfinite, logits)) else None


def clearest(
    claim: Claim, chunk: Chunk, readings: Sequence[tuple[Logits, Span | None]], temperature: float
) -> PairScore:
    """Returns the score of a pair by its clearest reading: the likeliest entailment or contradiction.

    A small model may find a proof in a single sentence and miss it among the sentences around it. So the
    clearest reading decides for the chunk.

    Args:
        claim: the claim of the pair.
        chunk: the chunk of the pair.
        readings: (logits, span of the evidence sentence that they rest on) of each. Without readings the
            score is neutral, and its logits are None.
        temperature: the logits are divided by it before the softmax.
    """
    if not readings:
        return PairScore(claim_id=claim.id, chunk_id=chunk.id, probs=(0.0, 1.0, 0.0), label="neutral")
    scored = [(logits, softmax(logits, temperature=temperature), span) for logits, span in readings]
    logits, probs, span = max(scored, key=lambda row: max(row[1][0], row[1][2]))
    return PairScore(
        claim_id=claim.id,
        chunk_id=chunk.id,
        probs=probs,
        label=LABELS[probs.index(max(probs))],  # type: ignore[arg-type]
        logits=tuple(round(value, 5) for value in logits),  # type: ignore[arg-type]
        span=span,
    )


def no_scores(_pairs: Sequence[tuple[str, str]]) -> Any:
    """Replaces a model in a checker that has none, with a plain callable or the teacher.

    Raises:
        DataError: always, since such a checker gives verdicts and no scores.
    """
    raise DataError(
        "a plain callable and the teacher give verdicts, but no scores of pairs; expected a checker with a "
        "model, such as fast"
    )


def recalibrated(score: PairScore, curves: Callable[[Sequence[float]], Logits]) -> PairScore:
    """Returns `score` with the probabilities that the calibration `curves` give; unchanged without logits."""
    if score.logits is None:
        return score
    probs = curves(score.probs)
    return score.with_(probs=probs, label=LABELS[probs.index(max(probs))])


def softmax(logits: Sequence[float], *, temperature: float = 1.0) -> Logits:
    """Returns the probabilities of three logits, rounded to 6 decimals.

    Rounding keeps reports from changing with the last bit, which differs between machines.
    """
    import numpy as np

    entail, neutral, contradict = softmax_rows(np.asarray(logits, dtype=np.float64) / temperature).tolist()
    return round(entail, 6), round(neutral, 6), round(contradict, 6)


def softmax_rows(logits: Any) -> Any:
    """Returns the probabilities of logits (..., 3), of the same shape; rows sum to 1."""
    import numpy as np

    powers = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)
