"""Scores (claim, chunk) pairs in bulk: windows, deduplication, the cache, the model, and the best window per pair."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_medfaith.checking.cache import Logits, keep_logits, pair_key, read_logits
from pytest_medfaith.checking.windows import Window, best_sentence, best_windows, content_words, first_look
from pytest_medfaith.records import LABELS, Chunk, Claim, PairScore

TextScorer = Callable[[Sequence[tuple[str, str]]], Any]  # n (evidence, claim) -> float (n, 3) logits: entail, neutral, contradict
Progress = Callable[[int, int], None]

WINDOWS_PER_PAIR = 2  # of a long chunk that may speak of the claim
# Below both, the windows of a long chunk are not read: bench/reading.py tells what that saves and costs.
LEAN = 0.3  # probability of entailment or contradiction that the model gives the best sentence alone
SHARED = 0.5  # share of the claim's content words that stand in the chunk
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

    Of a long chunk the best sentence is read alone first: a small model that finds a sentence to prove a claim can lose the proof among
    the sentences around it. Where the model leans to a decision on it, or the chunk shares the claim's words, its best windows are read
    too; what gives the clearest decision, for or against, speaks for the chunk. A pair's score never depends on the other pairs.
    Equal (evidence, claim) texts are scored once. A foreign model's logits that are not finite give a uniform neutral
    score with `logits` None, which the caller turns into `unscored`.

    Args:
        pairs: what to score.
        score_texts: the model.
        signature: names the model's weights; part of every cache key.
        temperature: logits are divided by it before the softmax; fitted by calibration.
        windows: how many windows of such a long chunk are read for each claim.
        cache: the SQLite file of kept logits, or None to keep nothing.
        progress: told (pairs scored, to score).
    """
    known: dict[tuple[str, str], Logits] = {}
    scores: list[PairScore] = []
    for start in range(0, len(pairs), BATCH):
        batch = pairs[start : start + BATCH]
        readings = [_readings(*pair, first_look(pair[0].text, pair[1].text)) for pair in batch]
        _score_new(readings, known, score_texts, signature=signature, cache=cache)
        for (claim, chunk), own in zip(batch, readings, strict=True):
            if own and _may_speak_of(claim, chunk, known[own[0].text], temperature):
                own.extend(_readings(claim, chunk, best_windows(claim.text, chunk.text, most=windows)))
        _score_new(readings, known, score_texts, signature=signature, cache=cache)
        scores += [_best_of(claim, chunk, own, known, temperature) for (claim, chunk), own in zip(batch, readings, strict=True)]
        if progress:
            progress(len(scores), len(pairs))
    return scores


def _readings(claim: Claim, chunk: Chunk, windows: Sequence[Window]) -> list[_Reading]:
    """Returns `windows` as the model reads them: those that do not open the chunk get its title, which often names the subject."""
    opening = f"{chunk.title}. " if chunk.title else ""
    return [_Reading(window, ((opening if window.start > 0 else "") + window.text, claim.text)) for window in windows]


def _may_speak_of(claim: Claim, chunk: Chunk, logits: Logits, temperature: float) -> bool:
    """Returns whether the chunk is worth more than the look that gave `logits`."""
    if not all(map(math.isfinite, logits)):
        return True
    entail, _, contradict = softmax(logits, temperature=temperature)
    wanted = content_words(claim.text)
    return max(entail, contradict) >= LEAN or len(wanted & content_words(chunk.text)) >= SHARED * len(wanted)


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


def _best_of(
    claim: Claim, chunk: Chunk, readings: Sequence[_Reading], known: Mapping[tuple[str, str], Logits], temperature: float
) -> PairScore:
    finite = [reading for reading in readings if all(map(math.isfinite, known[reading.text]))]
    if not finite:
        return PairScore(claim_id=claim.id, chunk_id=chunk.id, probs=(0.0, 1.0, 0.0), label="neutral")
    scored = [(reading, softmax(known[reading.text], temperature=temperature)) for reading in finite]
    reading, probs = max(scored, key=lambda row: max(row[1][0], row[1][2]))
    return PairScore(
        claim_id=claim.id,
        chunk_id=chunk.id,
        probs=probs,
        label=LABELS[probs.index(max(probs))],  # type: ignore[arg-type]
        logits=tuple(round(value, 5) for value in known[reading.text]),  # type: ignore[arg-type]
        span=best_sentence(claim.text, reading.window, of=chunk.text),
    )
