"""Fits the `scoring` part of an exported student's card, on pairs that did not train it, and prints it.

    python bench/fit_card.py MODEL --data DIR [--most N] [--windows 5 --window-words 100]

Fitted are temperature, thresholds and the weight of similarity. From the calibration shares of the shipped
recipe, as many claims are drawn of each of five kinds: LLM-written pairs, claims on published texts with the
whole text, pairs of SciFact and Check-COVID, claims with texts that a search finds for them, and claims with
four texts at once (clusters, answers).

Temperature and similarity are fitted on pairs, so that the mean of the kinds' log losses is least; of the
weights of similarity that cost at most 0.002 of it, the smallest is taken. The thresholds are fitted on the
verdicts over all texts of a claim. All texts are read as checking reads them: with `--windows` by the strong
model after the fast student.
"""

import argparse
import dataclasses
import itertools
import json
import random
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from pytest_medfaith.calibration.temperature import TEMPERATURES, Calibration, calibrate, log_loss
from pytest_medfaith.checking.card import read_card
from pytest_medfaith.checking.cascade import Cascade
from pytest_medfaith.checking.checker import Checker
from pytest_medfaith.checking.loading import load_checker
from pytest_medfaith.checking.student import score_with_student
from pytest_medfaith.models.shipped import FAST_CHECKER, MINILM_TOKENIZER
from pytest_medfaith.records import LABELS, Chunk, Claim, PairScore
from pytest_medfaith.scoring.similarity import MOVES_NOTHING, SimilarityShift
from training.pairs import Pair, is_share
from training.published import label_together, read_clusters, read_crossed, read_published
from training.readers import READERS
from training.recipe import NLI, read_recipe

REPO = Path(__file__).parents[1]
KINDS = [("written",), ("published",), ("scifact", "check_covid"), ("crossed",), ("clusters",)]  # readers
TEXTS = 4  # texts of a claim, at most
WEIGHTS, EVENS = (1.0, 2.0, 3.0, 4.0, 5.0, 6.0), (0.3, 0.35, 0.4, 0.45, 0.5)
SHIFTS = [MOVES_NOTHING, *itertools.starmap(SimilarityShift, itertools.product(WEIGHTS, EVENS))]
LOSS_TO_SPARE = 0.002  # how much log loss a smaller weight may cost

Case = tuple[str, list[tuple[str, str]]]  # claim, (text, label) of each of its texts


def calibration_cases(data: Path, readers: Sequence[str], *, kinds: bool = False) -> Iterator[Case]:
    """Yields the claims of these readers that the recipe keeps for calibration, each with its labelled texts.

    A claim of a cluster has all texts of the cluster, any other claim a single text. `kinds` takes only the
    sources in data/kinds, written in the kinds of errors found in answers; without it they are left out.
    """
    seen: set[tuple[str, str]] = set()
    alone = itertools.count()
    for name, source in read_recipe(NLI, data=data, repo=REPO).sources.items():
        if (
            source["reader"] not in readers
            or "calibration_one_in" not in source
            or name.startswith("kinds_") != kinds
        ):
            continue
        read = READERS[source["reader"]]
        whole = {"whole": True} if read in (read_published, read_crossed, read_clusters) else {}
        for path in source["paths"]:
            pairs = (
                pair for pair in read(Path(path), **source["options"], **whole) if _calibrates(pair, source)
            )
            for _, of_claim in itertools.groupby(
                pairs, key=lambda pair: pair.bundle if read is read_clusters else next(alone)
            ):
                case = [(pair.claim, pair.evidence, pair.label) for pair in of_claim]
                if not {row[:2] for row in case} & seen:
                    seen |= {row[:2] for row in case}
                    yield case[0][0], [(text, label) for _, text, label in case]


def _calibrates(pair: Pair, source: dict) -> bool:
    """Returns whether the recipe keeps a pair for calibration."""
    held_out = "held_out_one_in" in source and is_share(pair.group, one_in=source["held_out_one_in"])
    return not held_out and is_share(pair.group, one_in=source["calibration_one_in"], remainder=1)


def logits_of(
    cases: Sequence[Case], score: Callable[[list[tuple[Claim, Chunk]]], list[PairScore]]
) -> np.ndarray:
    """Returns logits (n, TEXTS, 3); certainly neutral for a text that is missing or cannot be scored."""
    pairs = [
        (Claim(id=str(i), text=claim), Chunk(id=str(j), text=text))
        for i, (claim, texts) in enumerate(cases)
        for j, (text, _) in enumerate(texts)
    ]
    logits = np.tile([-np.inf, 0.0, -np.inf], (len(cases), TEXTS, 1))
    for pair_score in score(pairs):
        if pair_score.logits is not None:
            logits[int(pair_score.claim_id), int(pair_score.chunk_id)] = pair_score.logits
    return logits


def pairs_of(cases: Sequence[Case], logits: np.ndarray) -> list[tuple[np.ndarray, str]]:
    """Returns (logits, label) of texts, drawn at random: as many as there are cases, at most."""
    rows = [
        (row, label)
        for of_case, (_, texts) in zip(logits, cases, strict=True)
        for row, (_, label) in zip(of_case, texts, strict=False)
    ]
    return random.Random(0).sample(rows, min(len(cases), len(rows)))


def mean_loss(cases: Sequence[Sequence[Case]], logits: Sequence[np.ndarray]) -> float:
    """Returns the mean of the kinds' log losses, at the temperature at which it is least."""
    kinds = [
        tuple(zip(*pairs_of(of_kind, read), strict=True)) for of_kind, read in zip(cases, logits, strict=True)
    ]
    rows = [(np.array(read), np.array([LABELS.index(label) for label in labels])) for read, labels in kinds]
    return min(
        float(np.mean([log_loss(read / temperature, truth) for read, truth in rows]))
        for temperature in TEMPERATURES
    )


def fit(cases: Sequence[Sequence[Case]], logits: Sequence[np.ndarray]) -> Calibration:
    """Returns temperature and thresholds fitted to cases of every kind, whose logits are (n, TEXTS, 3).

    Claims that one text entails and another contradicts are left out when fitting thresholds.
    """
    pairs = [pair for of_kind, read in zip(cases, logits, strict=True) for pair in pairs_of(of_kind, read)]
    together = [label_together(label for _, label in texts) for _, texts in itertools.chain(*cases)]
    claims = [(rows, label) for rows, label in zip(np.concatenate(logits), together, strict=True) if label]
    return calibrate(*zip(*pairs, strict=True), claims=tuple(zip(*claims, strict=True)))


def main() -> None:
    """Prints the fitted `scoring` part as JSON; progress goes to standard error."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", type=Path)
    parser.add_argument("--tokenizer", type=Path, default=MINILM_TOKENIZER)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--most", type=int, default=700, help="claims of each kind, drawn at random")
    parser.add_argument("--windows", type=int, help="of a strong model: how many it reads for each claim")
    parser.add_argument("--window-words", type=int, default=100)
    arguments = parser.parse_args()
    strong = {}
    if arguments.windows:
        cascade = Cascade(windows=arguments.windows, window_words=arguments.window_words)
        strong = {"fast": load_checker("fast"), "cascade": cascade}
    score_texts = partial(
        score_with_student, arguments.model, read_card(FAST_CHECKER).max_tokens, tokenizer=arguments.tokenizer
    )
    cases = [list(calibration_cases(arguments.data, readers)) for readers in KINDS]
    cases = [random.Random(0).sample(of_kind, min(arguments.most, len(of_kind))) for of_kind in cases]
    read: dict[SimilarityShift, list[np.ndarray]] = {}
    losses: dict[SimilarityShift, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        for similarity in SHIFTS:
            cache = Path(folder) / "pairs.sqlite"
            checker = Checker("fitted", "fitted", score_texts, similarity=similarity, cache=cache, **strong)
            read[similarity] = [logits_of(of_kind, checker.score) for of_kind in cases]
            losses[similarity] = mean_loss(cases, read[similarity])
            said = f"weight {similarity.weight}, even {similarity.even}: loss {losses[similarity]:.4f}"
            print(said, file=sys.stderr, flush=True)
    enough = [shift for shift, loss in losses.items() if loss <= min(losses.values()) + LOSS_TO_SPARE]
    chosen = min(enough, key=lambda shift: (shift.weight, losses[shift]))
    fitted = dataclasses.asdict(fit(cases, read[chosen]))
    fitted |= {"similarity_weight": chosen.weight, "similarity_even": chosen.even}
    if arguments.windows:
        fitted |= {"windows": arguments.windows, "window_words": arguments.window_words}
    print(json.dumps(fitted, indent=1))


if __name__ == "__main__":
    main()
