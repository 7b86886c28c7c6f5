"""Scores (claim, chunk) pairs in bulk: windows, deduplication, the cache, the model, and the best window per pair."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_medfaith.checking.cache import Numbers, keep_numbers, pair_key, read_numbers
from pytest_medfaith.checking.nearness import MOVES_NOTHING, Nearness, cosines, cosines_signature
from pytest_medfaith.checking.windows import Window, best_sentence, best_windows, evidence_windows, is_long, lone_sentence
from pytest_medfaith.records import LABELS, Chunk, Claim, PairScore

Logits = tuple[float, float, float]
Text = tuple[str, str]  # evidence, claim
TextScorer = Callable[[Sequence[Text]], Any]  # n texts -> float (n, 3) logits: entail, neutral, contradict
Progress = Callable[[int, int], None]

WINDOWS_PER_PAIR = 2  # of a chunk that may speak of the claim
# How much of a window's logits comes from the best sentence read alone: the sentences around a proof blur it, and some proofs need them. Against
# none: macro-F1 0.574 -> 0.650 on answers (n 390, rules off), elsewhere as docs/training.md tells.
SENTENCE_SHARE = 0.3
# A pair's nearness is the cosine of claim and chunk, or that of claim and best sentence less this much, whichever is more: a sentence is nearer to
# a claim than the text around it, and yet a proof at the end of a text on other matters is no less near for what stands before it.
SENTENCE_NEARER = 0.15
# From which nearness on more of a long chunk is read than its best sentence, and below which nothing is of one that is longer than a window.
# bench/reading.py tells what that saves and costs.
NEAR, FAR = 0.33, 0.05
FAR_LOGITS = (-3.0, 3.0, -3.0)
SURELY_READ = 250  # characters of a claim that no model finds too long; whether it reads a longer one, only the model can tell
BATCH = 256  # pairs between two signs of progress


@dataclass(frozen=True)
class _Reading:
    """One window of a chunk, and what the model reads of it."""

    window: Window
    text: Text


@dataclass(frozen=True)
class _Plan:
    """What is to be read of a pair: the chunk's best sentence alone, and windows; neither where the two are `far` from each other."""

    sentence: list[_Reading]
    windows: list[_Reading]
    nearness: float
    long: bool
    far: bool

    @property
    def texts(self) -> list[Text]:
        """What the model has to read."""
        return [] if self.far else [reading.text for reading in (*self.sentence, *self.windows)]


def score_pairs(
    pairs: Sequence[tuple[Claim, Chunk]],
    score_texts: TextScorer,
    *,
    signature: str,
    temperature: float = 1.0,
    nearness: Nearness = MOVES_NOTHING,
    windows: int = WINDOWS_PER_PAIR,
    cache: Path | None = None,
    progress: Progress | None = None,
) -> list[PairScore]:
    """Returns one score per pair, in the order of `pairs`.

    The sentence that fits a claim best is read alone, and where the chunk is short or near to the claim its best windows too, a chunk of
    some 300 words whole; both give a window's logits together. What gives the clearest decision, for or against, speaks for the chunk, of a
    long one the sentence alone included: a small model that finds a sentence to prove a claim can lose the proof among the sentences around
    it. A chunk of several windows that is far from the claim is neutral, unread. A pair's score never depends on the other pairs.
    Equal (evidence, claim) texts are scored once. A foreign model's logits that are not finite give a uniform neutral
    score with `logits` None, which the caller turns into `unscored`.

    Args:
        pairs: what to score.
        score_texts: the model.
        signature: names the model's weights; part of every cache key.
        temperature: logits are divided by it before the softmax; fitted by calibration.
        nearness: how the encoder's cosine moves the logit of neutral; not at all by default.
        windows: how many windows of such a chunk are read for each claim.
        cache: the SQLite file of kept logits and cosines, or None to keep nothing.
        progress: told (pairs scored, to score).
    """
    known: dict[Text, Numbers] = {}
    compared: dict[Text, Numbers] = {}
    scores: list[PairScore] = []
    for start in range(0, len(pairs), BATCH):
        batch = pairs[start : start + BATCH]
        plans = _plans(batch, compared, windows=windows, cache=cache, all_compared=nearness.weight != 0)
        _score_new([text for plan in plans for text in plan.texts], known, score_texts, signature=signature, cache=cache)
        for (claim, chunk), plan in zip(batch, plans, strict=True):
            read = _read(plan, known, shift=nearness.shift(plan.nearness))
            scores.append(_best_of(claim, chunk, read, temperature))
        if progress:
            progress(len(scores), len(pairs))
    return scores


def _plans(
    pairs: Sequence[tuple[Claim, Chunk]], compared: dict[Text, Numbers], *, windows: int, cache: Path | None, all_compared: bool
) -> list[_Plan]:
    """Returns a plan for each pair; `compared` holds the cosines known so far and gets the new ones. Short chunks are read however near they are."""
    sentences = [_readings(claim, chunk, lone_sentence(claim.text, chunk.text)) for claim, chunk in pairs]
    longs = [is_long(chunk.text) for _, chunk in pairs]
    wanted = [
        [(_opening(chunk) + chunk.text, claim.text), *(reading.text for reading in own)] if all_compared or long else []
        for (claim, chunk), own, long in zip(pairs, sentences, longs, strict=True)
    ]
    if any(wanted):
        _score_new([text for own in wanted for text in own], compared, cosines, signature=cosines_signature(), cache=cache)
    plans = []
    for (claim, chunk), sentence, texts, long in zip(pairs, sentences, wanted, longs, strict=True):
        values = [compared[text][0] for text in texts]
        nearness = max([values[0], *(value - SENTENCE_NEARER for value in values[1:])]) if values else 0.0
        chosen = best_windows(claim.text, chunk.text, most=windows) if nearness >= NEAR or not long else []
        far = nearness < FAR and len(evidence_windows(chunk.text)) > 1 and len(claim.text) <= SURELY_READ
        plans.append(_Plan(sentence, _readings(claim, chunk, chosen), nearness, long, far))
    return plans


def _readings(claim: Claim, chunk: Chunk, windows: Sequence[Window]) -> list[_Reading]:
    """Returns `windows` as the model reads them: those that do not open the chunk get its title, which often names the subject."""
    return [_Reading(window, ((_opening(chunk) if window.start > 0 else "") + window.text, claim.text)) for window in windows]


def _opening(chunk: Chunk) -> str:
    return f"{chunk.title}. " if chunk.title else ""


def _score_new(texts: Iterable[Text], known: dict[Text, Numbers], score_texts: TextScorer, *, signature: str, cache: Path | None) -> None:
    """Adds to `known` what it lacks of `texts`: from the cache, or by the model, which fills the cache."""
    keys = {text: pair_key(signature, *text) for text in texts if text not in known}
    if not keys:
        return
    kept = read_numbers(cache, keys.values())
    known |= {text: kept[key] for text, key in keys.items() if key in kept}
    missing = [text for text in keys if text not in known]
    if missing:
        fresh = {text: tuple(map(float, row)) for text, row in zip(missing, score_texts(missing), strict=True)}
        known |= fresh
        keep_numbers(cache, {keys[text]: row for text, row in fresh.items() if all(map(math.isfinite, row))})


def softmax(logits: Sequence[float], *, temperature: float = 1.0) -> tuple[float, float, float]:
    """Returns probabilities of three logits, rounded to 6 decimals so that reports do not change with the machine's last bit."""
    top = max(logits)
    powers = [math.exp((value - top) / temperature) for value in logits]
    total = sum(powers)
    entail, neutral, contradict = (round(power / total, 6) for power in powers)
    return entail, neutral, contradict


def _read(plan: _Plan, known: Mapping[Text, Numbers], *, shift: float) -> list[tuple[Window, Logits]]:
    """Returns what the model makes of each window read, and in a long chunk of the sentence alone, as far as it is finite; of a far one neutral."""
    if plan.far:
        return [(own.window, FAR_LOGITS) for own in plan.sentence]
    sentence, windows = (
        [(own.window, known[own.text]) for own in readings if all(map(math.isfinite, known[own.text]))]
        for readings in (plan.sentence, plan.windows)
    )
    blended = [(window, _blend(logits, sentence[0][1])) for window, logits in windows] if sentence else windows
    return [
        (window, (entail, neutral + shift, contradict))
        for window, (entail, neutral, contradict) in (sentence if plan.long else []) + blended
    ]


def _blend(window: Numbers, sentence: Numbers) -> Logits:
    entail, neutral, contradict = ((1 - SENTENCE_SHARE) * a + SENTENCE_SHARE * b for a, b in zip(window, sentence, strict=True))
    return entail, neutral, contradict


def _best_of(claim: Claim, chunk: Chunk, readings: Sequence[tuple[Window, Logits]], temperature: float) -> PairScore:
    if not readings:
        return PairScore(claim_id=claim.id, chunk_id=chunk.id, probs=(0.0, 1.0, 0.0), label="neutral")
    scored = [(window, logits, softmax(logits, temperature=temperature)) for window, logits in readings]
    window, logits, probs = max(scored, key=lambda row: max(row[2][0], row[2][2]))
    return PairScore(
        claim_id=claim.id,
        chunk_id=chunk.id,
        probs=probs,
        label=LABELS[probs.index(max(probs))],  # type: ignore[arg-type]
        logits=tuple(round(value, 5) for value in logits),  # type: ignore[arg-type]
        span=best_sentence(claim.text, window, of=chunk.text),
    )
