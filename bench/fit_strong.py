"""Fits what turns a strong model's logits into verdicts, and prints the `scoring` part of its card.

    python bench/fit_strong.py FOLDER --data DIR [--most N] [--windows 5] [--window-words 100]

FOLDER holds model.onnx and tokenizer.json. The cases are those of bench/fit_card.py, and as many of the pairs
in data/kinds, which are written in the kinds of errors found in answers. They are read once, by the fast
student, the encoder and the strong model, as checking reads them.

Temperature, similarity and the fast student's weight are fitted on pairs, so that the mean of the kinds' log
losses is least; of the weights that cost at most 0.002 of it, the smallest are taken. The thresholds are
fitted on the verdicts over all texts of a claim.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
from fit_card import KINDS, LOSS_TO_SPARE, TEXTS, Case, calibration_cases

from pytest_medfaith.calibration.temperature import TEMPERATURES, fit_thresholds, log_loss
from pytest_medfaith.checking.cascade import Cascade, Reader, read_deciding_windows
from pytest_medfaith.checking.checker import Checker
from pytest_medfaith.checking.loading import load_checker
from pytest_medfaith.checking.student import score_with_student
from pytest_medfaith.records import LABELS, Chunk, Claim
from pytest_medfaith.scoring.pairs import score_pairs, softmax_rows
from pytest_medfaith.scoring.reading import AS_SHIPPED
from pytest_medfaith.scoring.similarity import Vectors
from training.published import label_together

READINGS = 2  # windows of a chunk, at most
FAST_WEIGHTS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0, 1.3)
SIMILARITY_WEIGHTS, EVEN = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0), 0.45
MAX_TOKENS = 384
WHILE_CHOOSING = 1.2  # temperature at which the clearer of two windows is chosen: it hardly matters


def read(checker: Checker, cases: Sequence[Case]) -> dict[str, np.ndarray]:
    """Returns what was read of each claim's texts.

    Returns:
        `logits` (n, TEXTS, READINGS, 3), NaN where nothing was read; `similarity` (n, TEXTS, READINGS);
        `fast`, log-probabilities of the fast student (n, TEXTS, 3); `there`, whether the claim has so many
        texts (n, TEXTS).
    """
    pairs = [
        (Claim(id=str(i), text=claim), Chunk(id=str(j), text=text))
        for i, (claim, texts) in enumerate(cases)
        for j, (text, _) in enumerate(texts)
    ]
    vectors, fast = Vectors(), checker.fast
    assert fast is not None  # noqa: S101 - a strong checker has a fast student
    scores = score_pairs(pairs, fast.model, vectors=vectors)
    reader = Reader(checker.model, checker.cascade, fast.thresholds, vectors)
    readings = read_deciding_windows(pairs, scores, reader)
    found = {
        "logits": np.full((len(cases), TEXTS, READINGS, 3), np.nan),
        "similarity": np.zeros((len(cases), TEXTS, READINGS)),
        "fast": np.zeros((len(cases), TEXTS, 3)),
        "there": np.zeros((len(cases), TEXTS), dtype=bool),
    }
    for number, (claim, chunk) in enumerate(pairs):
        place = int(claim.id), int(chunk.id)
        found["there"][place] = True
        found["fast"][place] = np.log(np.maximum(scores[number].probs, checker.cascade.least_probability))
        for k, reading in enumerate(readings.get(number, [])):
            found["logits"][(*place, k)] = reading.logits or np.nan
            found["similarity"][(*place, k)] = reading.similarity
    return found


def moved(found: dict[str, np.ndarray], *, fast_weight: float, similarity_weight: float) -> np.ndarray:
    """Returns logits (n, TEXTS, 3), those of each text's clearer window, moved by similarity and student.

    A text that was not read has neutral logits; where there is no text, they are certainly neutral.
    """
    logits = found["logits"] + fast_weight * found["fast"][:, :, None, :]
    logits[..., 1] += similarity_weight * (EVEN - found["similarity"])
    probs = softmax_rows(np.nan_to_num(logits, nan=-50.0) / WHILE_CHOOSING)
    clearness = np.where(np.isnan(logits[..., 0]), -1.0, np.maximum(probs[..., 0], probs[..., 2]))
    best = np.take_along_axis(logits, clearness.argmax(axis=2)[:, :, None, None], axis=2)[:, :, 0]
    best = np.where(np.isnan(best), np.array(AS_SHIPPED.unread_logits), best)
    return np.where(found["there"][..., None], best, np.array([-np.inf, 0.0, -np.inf]))


def labelled(cases: Sequence[Case], logits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns (logits (m, 3), label indices (m,)) of all texts."""
    rows = [
        (logits[i, j], LABELS.index(label))
        for i, (_, texts) in enumerate(cases)
        for j, (_, label) in enumerate(texts)
    ]
    return np.array([row for row, _ in rows]), np.array([label for _, label in rows])


def best_loss(cases: Sequence[Sequence[Case]], logits: Sequence[np.ndarray]) -> tuple[float, float]:
    """Returns (the least mean of the kinds' log losses, the temperature at which it is reached)."""
    kinds = [labelled(of_kind, of_logits) for of_kind, of_logits in zip(cases, logits, strict=True)]
    return min(
        (float(np.mean([log_loss(rows / temperature, truth) for rows, truth in kinds])), temperature)
        for temperature in TEMPERATURES
    )


def main() -> None:
    """Prints the fitted `scoring` part as JSON; progress goes to standard error."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--most", type=int, default=500, help="claims of each kind, drawn at random")
    parser.add_argument("--windows", type=int, default=5)
    parser.add_argument("--window-words", type=int, default=100)
    arguments = parser.parse_args()
    cases = [list(calibration_cases(arguments.data, readers)) for readers in KINDS]
    cases.append(list(calibration_cases(arguments.data, ["written"], kinds=True)))
    cases = [random.Random(0).sample(of_kind, min(arguments.most, len(of_kind))) for of_kind in cases]
    cascade = Cascade(windows=arguments.windows, window_words=arguments.window_words)
    scorer = partial(score_with_student, arguments.folder / "model.onnx", MAX_TOKENS)
    checker = Checker("fitted", "fitted", scorer, fast=load_checker("fast"), cascade=cascade)
    found = [read(checker, of_kind) for of_kind in cases]
    losses = {}
    for fast_weight, similarity_weight in itertools.product(FAST_WEIGHTS, SIMILARITY_WEIGHTS):
        logits = [moved(each, fast_weight=fast_weight, similarity_weight=similarity_weight) for each in found]
        losses[fast_weight, similarity_weight] = best_loss(cases, logits)
        print(
            f"fast {fast_weight}, similarity {similarity_weight}: {losses[fast_weight, similarity_weight]}",
            file=sys.stderr,
            flush=True,
        )
    least = min(loss for loss, _ in losses.values())
    chosen = min(
        (key for key, (loss, _) in losses.items() if loss <= least + LOSS_TO_SPARE),
        key=lambda key: (sum(key), key),
    )
    temperature = losses[chosen][1]
    logits = [moved(each, fast_weight=chosen[0], similarity_weight=chosen[1]) for each in found]
    together = [
        label_together(label for _, label in texts) for texts in (case[1] for case in itertools.chain(*cases))
    ]
    rows = [
        (each, LABELS.index(label))
        for each, label in zip(np.concatenate(logits), together, strict=True)
        if label
    ]
    thresholds = fit_thresholds(
        softmax_rows(np.array([row for row, _ in rows]) / temperature), np.array([label for _, label in rows])
    )
    scoring = {
        "max_tokens": MAX_TOKENS,
        "temperature": round(temperature, 4),
        "entail_threshold": thresholds.entail,
        "contradict_threshold": thresholds.contradict,
        "contradict_odds": thresholds.odds,
        "similarity_weight": chosen[1],
        "similarity_even": EVEN,
        "windows": arguments.windows,
        "window_words": arguments.window_words,
        "fast_weight": chosen[0],
    }
    print(json.dumps(scoring, indent=1))


if __name__ == "__main__":
    main()
