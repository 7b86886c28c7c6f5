"""Fits temperature and thresholds of an exported student on what trained nothing, and prints the `scoring` part of its card.

    python bench/fit_card.py MODEL --data DIR [--most N]

Of the calibration shares of the shipped recipe, as many are drawn of five kinds: LLM-written pairs, claims on published texts against the whole text,
pairs of SciFact and Check-COVID, claims against texts that a search finds for them, and claims against four texts at once (clusters, answers). The
temperature is fitted on pairs, the thresholds on the verdicts over all texts of a claim. All are read as checking reads them.
"""

import argparse
import dataclasses
import itertools
import json
import random
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from pytest_medfaith.checking.calibrate import Calibration, calibrate
from pytest_medfaith.checking.scoring import TextScorer, score_pairs
from pytest_medfaith.checking.student import MODELS, read_card, score_with_student, weights_signature
from pytest_medfaith.distill.pairs import Pair, is_share
from pytest_medfaith.distill.published import label_together, read_clusters, read_crossed, read_published
from pytest_medfaith.distill.readers import READERS
from pytest_medfaith.distill.train_nli import RECIPE, read_recipe
from pytest_medfaith.records import Chunk, Claim

REPO = Path(__file__).parents[1]
KINDS = [("written",), ("published",), ("scifact", "check_covid"), ("crossed",), ("clusters",)]  # readers
TEXTS = 4  # of a claim, at most

Case = tuple[str, list[tuple[str, str]]]  # claim, (text, label) of each of its texts


def calibration_cases(data: Path, readers: Sequence[str]) -> Iterator[Case]:
    """Yields the claims of these readers that the recipe sets apart for calibration; those of a cluster with all texts, others with one."""
    seen: set[tuple[str, str]] = set()
    alone = itertools.count()
    for source in read_recipe(RECIPE, data=data, repo=REPO).sources.values():
        if source["reader"] not in readers or "calibration_one_in" not in source:
            continue
        read = READERS[source["reader"]]
        whole = {"whole": True} if read in (read_published, read_crossed, read_clusters) else {}
        for path in source["paths"]:
            pairs = (pair for pair in read(Path(path), **source["options"], **whole) if _calibrates(pair, source))
            for _, own in itertools.groupby(pairs, key=lambda pair: pair.bundle if read is read_clusters else next(alone)):
                case = [(pair.claim, pair.evidence, pair.label) for pair in own]
                if not {row[:2] for row in case} & seen:
                    seen |= {row[:2] for row in case}
                    yield case[0][0], [(text, label) for _, text, label in case]


def _calibrates(pair: Pair, source: dict) -> bool:
    held_out = "held_out_one_in" in source and is_share(pair.group, one_in=source["held_out_one_in"])
    return not held_out and is_share(pair.group, one_in=source["calibration_one_in"], remainder=1)


def logits_of(cases: Sequence[Case], score_texts: TextScorer, signature: str) -> np.ndarray:
    """Returns (n, TEXTS, 3), certainly neutral where a claim has fewer texts or one cannot be scored."""
    pairs = [
        (Claim(id=str(i), text=claim), Chunk(id=str(j), text=text))
        for i, (claim, texts) in enumerate(cases)
        for j, (text, _) in enumerate(texts)
    ]
    logits = np.tile([-np.inf, 0.0, -np.inf], (len(cases), TEXTS, 1))
    for score in score_pairs(pairs, score_texts, signature=signature):
        if score.logits is not None:
            logits[int(score.claim_id), int(score.chunk_id)] = score.logits
    return logits


def fit(cases: Sequence[Sequence[Case]], logits: Sequence[np.ndarray]) -> Calibration:
    """Returns what fits the `cases` of every kind, whose logits are (n, TEXTS, 3); claims whose texts decide both ways fit no threshold."""
    pairs = []
    for own, read in zip(cases, logits, strict=True):
        of_kind = [(row, label) for rows, (_, texts) in zip(read, own, strict=True) for row, (_, label) in zip(rows, texts, strict=False)]
        pairs += random.Random(0).sample(of_kind, min(len(own), len(of_kind)))
    together = [label_together(label for _, label in texts) for _, texts in itertools.chain(*cases)]
    claims = [(rows, label) for rows, label in zip(np.concatenate(logits), together, strict=True) if label]
    return calibrate(*zip(*pairs, strict=True), claims=tuple(zip(*claims, strict=True)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--most", type=int, default=700, help="claims of each kind, drawn at random")
    arguments = parser.parse_args()
    score_texts = partial(score_with_student, arguments.model, read_card(MODELS / "nli").max_tokens)
    cases = [list(calibration_cases(arguments.data, readers)) for readers in KINDS]
    cases = [random.Random(0).sample(own, min(arguments.most, len(own))) for own in cases]
    logits = [logits_of(own, score_texts, weights_signature(arguments.model)) for own in cases]
    print(json.dumps(dataclasses.asdict(fit(cases, logits)), indent=1))


if __name__ == "__main__":
    main()
