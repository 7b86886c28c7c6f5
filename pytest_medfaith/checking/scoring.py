"""Scores (claim, chunk) pairs in bulk: what of a chunk is read, deduplication, the cache, the model, and the clearest reading of each pair."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from pytest_medfaith.checking.cache import content_key, fill
from pytest_medfaith.checking.similarity import MOVES_NOTHING, SimilarityShift, Vectors
from pytest_medfaith.checking.windows import Window, best_sentence, evidence_sentences, is_long, window_around
from pytest_medfaith.records import LABELS, Chunk, Claim, PairScore

Logits = tuple[float, float, float]
Text = tuple[str, str]  # evidence, claim
TextScorer = Callable[[Sequence[Text]], Any]  # n texts -> float (n, 3) logits: entail, neutral, contradict
Progress = Callable[[int, int], None]

# How much of a window's logits comes from the best sentence read alone: the sentences around a proof blur it, and some proofs need them. Against
# none: macro-F1 0.574 -> 0.650 on answers (n 390, rules off), elsewhere as docs/training.md tells.
SENTENCE_SHARE = 0.3
# A pair's similarity is the cosine of claim and chunk, or that of claim and best sentence less this much, whichever is more: a sentence is nearer to
# a claim than the text around it, and yet a proof at the end of a text on other matters is no less near for what stands before it.
SENTENCE_NEARER = 0.15
# From which similarity on more of a chunk is read than its best sentence, and below which nothing is of a long one. bench/reading.py tells what that
# saves and costs.
NEAR, FAR = 0.33, 0.15
FAR_LOGITS = (-3.0, 3.0, -3.0)
SURELY_READ = 250  # characters of a claim that no model finds too long; whether it reads a longer one, only the model can tell
BATCH = 256  # pairs between two signs of progress


@dataclass(frozen=True)
class _Plan:
    """What is to be read of a pair: the chunk's best `sentence`, and the `window` around it; neither where the two are far from each other."""

    span: tuple[int, int]  # of the best sentence
    sentence: Text | None
    window: Text | None
    alone: bool  # whether the sentence may speak for the chunk alone
    similarity: float

    @property
    def texts(self) -> list[Text]:
        """What the model has to read."""
        return [text for text in (self.sentence, self.window) if text]


def score_pairs(
    pairs: Sequence[tuple[Claim, Chunk]],
    score_texts: TextScorer,
    *,
    signature: str,
    temperature: float = 1.0,
    similarity: SimilarityShift = MOVES_NOTHING,
    cache: Path | None = None,
    vectors: Vectors | None = None,
    progress: Progress | None = None,
) -> list[PairScore]:
    """Returns one score per pair, in the order of `pairs`.

    The sentence that is nearest to a claim, by the encoder and by words, is read alone, and where the chunk is near to the claim the window
    around it too, a chunk of up to some 300 words whole; both give the window's logits together. What gives the clearer decision, for
    or against, speaks for the chunk, of a long one the sentence alone included: a small model that finds a sentence to prove a claim can lose
    the proof among the sentences around it. A long chunk that is far from the claim is neutral, unread. A pair's score never depends on the
    other pairs.
    Equal (evidence, claim) texts are scored once. A foreign model's logits that are not finite give a uniform neutral
    score with `logits` None, which the caller turns into `unscored`.

    Args:
        pairs: what to score.
        score_texts: the model.
        signature: names the model's weights; part of every cache key.
        temperature: logits are divided by it before the softmax; fitted by calibration.
        similarity: how the encoder's cosine moves the logit of neutral; not at all by default.
        cache: the SQLite file of kept logits and vectors, or None to keep nothing.
        vectors: receives the encoder's vectors of what is compared, for a caller that needs them too.
        progress: told (pairs scored, to score).
    """
    known: dict[Text, Any] = {}
    vectors = vectors or Vectors(cache)
    scores: list[PairScore] = []
    for start in range(0, len(pairs), BATCH):
        batch = pairs[start : start + BATCH]
        vectors.add(text for pair in batch for text in _compared(*pair))
        plans = [_plan(claim, chunk, vectors) for claim, chunk in batch]
        fill(
            known,
            [text for plan in plans if plan for text in plan.texts],
            score_texts,
            key=lambda text: content_key(signature, *text),
            dtype="<f4",
            cache=cache,
        )
        for (claim, chunk), plan in zip(batch, plans, strict=True):
            read = _read(plan, known, shift=similarity.shift(plan.similarity)) if plan else []
            scores.append(
                clearest(claim, chunk, [(logits, plan.span) for logits in read] if plan else [], temperature)
            )
        if progress:
            progress(len(scores), len(pairs))
    return scores


def _compared(claim: Claim, chunk: Chunk) -> Iterator[str]:
    """Yields what the encoder reads of a pair: the claim, the chunk, and each of its sentences."""
    yield claim.in_context
    yield opening(chunk) + chunk.text
    for sentence in evidence_sentences(chunk.text):
        yield sentence.text


def _plan(claim: Claim, chunk: Chunk, vectors: Vectors) -> _Plan | None:
    """Returns what is to be read of a pair; nothing of a blank chunk. Of a short chunk at least the sentence is read, however far it is."""
    sentence = best_sentence(claim.text, chunk.text, cosine=partial(vectors.cosine, claim.in_context))
    if sentence is None:
        return None
    similarity, long = (
        similarity_of(claim, chunk, (sentence.start, sentence.end), vectors),
        is_long(chunk.text),
    )
    far = long and similarity < FAR and len(claim.text) <= SURELY_READ
    window = window_around(sentence, claim.text, of=chunk.text) if similarity >= NEAR else None
    return _Plan(
        span=(sentence.start, sentence.end),
        sentence=None if far else _reading(claim, chunk, sentence),
        window=_reading(claim, chunk, window) if window else None,
        alone=long or window is None,
        similarity=similarity,
    )


def similarity_of(claim: Claim, chunk: Chunk, sentence: tuple[int, int], vectors: Vectors) -> float:
    """Returns how near `chunk` is to `claim` under the encoder, as a whole or by the sentence of that span: a cosine."""
    start, end = sentence
    whole, best = (
        vectors.cosine(claim.in_context, text)
        for text in (opening(chunk) + chunk.text, chunk.text[start:end])
    )
    return max(whole, best - SENTENCE_NEARER)


def _reading(claim: Claim, chunk: Chunk, window: Window) -> Text:
    """Returns `window` as the model reads it: one that does not open the chunk gets its title, which often names the subject."""
    return (opening(chunk) if window.start > 0 else "") + window.text, claim.in_context


def opening(chunk: Chunk) -> str:
    """Returns the title of `chunk` as a sentence before its text, or nothing."""
    return f"{chunk.title}. " if chunk.title else ""


def softmax(logits: Sequence[float], *, temperature: float = 1.0) -> tuple[float, float, float]:
    """Returns probabilities of three logits, rounded to 6 decimals so that reports do not change with the machine's last bit."""
    top = max(logits)
    powers = [math.exp((value - top) / temperature) for value in logits]
    total = sum(powers)
    entail, neutral, contradict = (round(power / total, 6) for power in powers)
    return entail, neutral, contradict


def _read(plan: _Plan, known: Mapping[Text, Any], *, shift: float) -> list[Logits]:
    """Returns what the model makes of the window, and of the sentence where it may speak alone; of a far chunk neutral.

    Nothing where a number of either is not finite: what was not scored may be what decides.
    """
    if not all(math.isfinite(number) for text in plan.texts for number in known[text].tolist()):
        return []
    if plan.sentence is None:
        return [FAR_LOGITS]
    sentence, window = (finite_logits(known, text) for text in (plan.sentence, plan.window))
    read = [sentence] if plan.alone else []
    read.append(_blend(window, sentence) if window and sentence else window)
    return [(entail, neutral + shift, contradict) for entail, neutral, contradict in filter(None, read)]


def finite_logits(known: Mapping[Text, Any], text: Text | None) -> Logits | None:
    """Returns the model's logits of `text`, or None where it was not read or one of them is not finite."""
    logits = tuple(known[text].tolist()) if text else ()
    return logits if logits and all(map(math.isfinite, logits)) else None


def _blend(window: Logits, sentence: Logits) -> Logits:
    entail, neutral, contradict = (
        (1 - SENTENCE_SHARE) * a + SENTENCE_SHARE * b for a, b in zip(window, sentence, strict=True)
    )
    return entail, neutral, contradict


def clearest(
    claim: Claim, chunk: Chunk, readings: Sequence[tuple[Logits, tuple[int, int] | None]], temperature: float
) -> PairScore:
    """Returns the score of a pair by its reading with the clearest decision, for or against; neutral without logits where there is none.

    Args:
        claim: of the pair.
        chunk: of the pair.
        readings: logits, and the span of the evidence sentence that they rest on.
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
