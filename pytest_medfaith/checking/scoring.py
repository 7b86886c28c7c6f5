"""Scores (claim, chunk) pairs in bulk: windows, deduplication, the cache, the model, and the best window per pair."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_medfaith.checking.cache import Logits, keep_logits, pair_key, read_logits
from pytest_medfaith.checking.rules.text import content_keys, share
from pytest_medfaith.checking.windows import Window, best_sentence, best_windows, is_long, lone_sentence
from pytest_medfaith.records import LABELS, Chunk, Claim, PairScore

TextScorer = Callable[[Sequence[tuple[str, str]]], Any]  # n (evidence, claim) -> float (n, 3) logits: entail, neutral, contradict
Progress = Callable[[int, int], None]

WINDOWS_PER_PAIR = 2  # of a chunk that may speak of the claim
# How much of a window's logits comes from the best sentence read alone: the sentences around a proof blur it, and some proofs need them. Against
# none: macro-F1 0.574 -> 0.650 on answers (n 390, rules off), elsewhere as docs/training.md tells.
SENTENCE_SHARE = 0.3
# Share of the claim's content words that a long chunk must hold for more than its best sentence to be read; words that any medical text may hold
# count less. bench/reading.py tells what that saves and costs.
SHARED = 0.4
BATCH = 256  # pairs between two signs of progress


@dataclass(frozen=True)
class _Reading:
    """One window of a chunk, and what the model reads of it."""

    window: Window
    text: tuple[str, str]  # evidence, claim


def score_pairs(
    pairs: Sequence[tuple[Claim, Chunk]],
    score_texts: TextScorer,
    *,
    signature: str,
    temperature: float = 1.0,
    windows: int = WINDOWS_PER_PAIR,
    cache: Path | None = None,
    progress: Progress | None = None,
) -> list[PairScore]:
    """Returns one score per pair, in the order of `pairs`.

    The sentence that fits a claim best is read alone, and where the chunk is short or shares the claim's words its best windows too, a chunk of
    some 300 words whole; both give a window's logits together. What gives the clearest decision, for or against, speaks for the chunk, of a
    long one the sentence alone included: a small model that finds a sentence to prove a claim can lose the proof among the sentences around
    it. A pair's score never depends on the other pairs.
    Equal (evidence, claim) texts are scored once. A foreign model's logits that are not finite give a uniform neutral
    score with `logits` None, which the caller turns into `unscored`.

    Args:
        pairs: what to score.
        score_texts: the model.
        signature: names the model's weights; part of every cache key.
        temperature: logits are divided by it before the softmax; fitted by calibration.
        windows: how many windows of such a chunk are read for each claim.
        cache: the SQLite file of kept logits, or None to keep nothing.
        progress: told (pairs scored, to score).
    """
    known: dict[tuple[str, str], Logits] = {}
    scores: list[PairScore] = []
    for start in range(0, len(pairs), BATCH):
        batch = pairs[start : start + BATCH]
        looks = [_readings(claim, chunk, lone_sentence(claim.text, chunk.text)) for claim, chunk in batch]
        reads = [_windows(claim, chunk, most=windows if _may_speak_of(claim, chunk) else 0) for claim, chunk in batch]
        _score_new([*looks, *reads], known, score_texts, signature=signature, cache=cache)
        for (claim, chunk), look, read in zip(batch, looks, reads, strict=True):
            scores.append(_best_of(claim, chunk, _scored_windows(look, read, known, alone=is_long(chunk.text)), temperature))
        if progress:
            progress(len(scores), len(pairs))
    return scores


def _windows(claim: Claim, chunk: Chunk, *, most: int) -> list[_Reading]:
    return _readings(claim, chunk, best_windows(claim.text, chunk.text, most=most))


def _readings(claim: Claim, chunk: Chunk, windows: Sequence[Window]) -> list[_Reading]:
    """Returns `windows` as the model reads them: those that do not open the chunk get its title, which often names the subject."""
    opening = f"{chunk.title}. " if chunk.title else ""
    return [_Reading(window, ((opening if window.start > 0 else "") + window.text, claim.text)) for window in windows]


def _may_speak_of(claim: Claim, chunk: Chunk) -> bool:
    """Returns whether more of the chunk is worth reading than its best sentence."""
    if not is_long(chunk.text):
        return True
    wanted = content_keys(claim.text)
    return not wanted or share(wanted, content_keys(chunk.text)) >= SHARED


def _score_new(
    readings: Sequence[Sequence[_Reading]],
    known: dict[tuple[str, str], Logits],
    score_texts: TextScorer,
    *,
    signature: str,
    cache: Path | None,
) -> None:
    """Adds to `known` what it lacks of `readings`: from the cache, or by the model, which fills the cache."""
    keys = {reading.text: pair_key(signature, *reading.text) for own in readings for reading in own if reading.text not in known}
    if not keys:
        return
    kept = read_logits(cache, keys.values())
    known |= {text: kept[key] for text, key in keys.items() if key in kept}
    missing = [text for text in keys if text not in known]
    if missing:
        fresh = {text: tuple(map(float, row)) for text, row in zip(missing, score_texts(missing), strict=True)}
        known |= fresh  # type: ignore[arg-type]
        keep_logits(cache, {keys[text]: row for text, row in fresh.items() if all(map(math.isfinite, row))})  # type: ignore[misc]


def softmax(logits: Sequence[float], *, temperature: float = 1.0) -> tuple[float, float, float]:
    """Returns probabilities of three logits, rounded to 6 decimals so that reports do not change with the machine's last bit."""
    top = max(logits)
    powers = [math.exp((value - top) / temperature) for value in logits]
    total = sum(powers)
    entail, neutral, contradict = (round(power / total, 6) for power in powers)
    return entail, neutral, contradict


def _scored_windows(
    look: Sequence[_Reading], read: Sequence[_Reading], known: Mapping[tuple[str, str], Logits], *, alone: bool
) -> list[tuple[Window, Logits]]:
    """Returns what the model makes of each window read, and where `alone` of the lone sentence, as far as it is finite."""
    lone, found = (
        [(own.window, known[own.text]) for own in readings if all(map(math.isfinite, known[own.text]))] for readings in (look, read)
    )
    blended = [(window, _blend(logits, lone[0][1])) for window, logits in found] if lone else found
    return lone + blended if alone else blended


def _blend(window: Logits, sentence: Logits) -> Logits:
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
