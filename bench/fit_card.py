"""Fits temperature and thresholds of an exported student on pairs that trained nothing, and prints the `scoring` part of its card.

    python bench/fit_card.py MODEL --data DIR [--most N]

The pairs are the calibration shares of the shipped recipe, drawn half and half from claims against texts on the same matter, most of which leave them
open, as retrieval brings them (clusters, texts that search finds), and from pairs that authors chose: LLM-written ones, claims on published texts
against the whole text, SciFact and Check-COVID. They are read as checking reads them.
"""

import argparse
import dataclasses
import itertools
import json
import random
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from pytest_medfaith.checking.calibrate import calibrate
from pytest_medfaith.checking.scoring import score_pairs
from pytest_medfaith.checking.student import MODELS, read_card, score_with_student, weights_signature
from pytest_medfaith.distill.pairs import Pair, is_share
from pytest_medfaith.distill.published import read_clusters, read_crossed, read_published
from pytest_medfaith.distill.readers import READERS
from pytest_medfaith.distill.train_nli import RECIPE, read_recipe
from pytest_medfaith.records import Chunk, Claim

REPO = Path(__file__).parents[1]
CHOSEN = ("written", "published", "scifact", "check_covid")  # readers
RETRIEVED = ("crossed", "clusters")


def calibration_pairs(data: Path, readers: Sequence[str]) -> Iterator[Pair]:
    """Yields every pair of these readers that the recipe sets apart for calibration, once."""
    seen: set[tuple[str, str]] = set()
    for source in read_recipe(RECIPE, data=data, repo=REPO).sources.values():
        if source["reader"] not in readers or "calibration_one_in" not in source:
            continue
        read = READERS[source["reader"]]
        if read in (read_published, read_crossed, read_clusters):
            read = partial(read, whole=True)
        for pair in itertools.chain.from_iterable(read(Path(path), **source["options"]) for path in source["paths"]):
            held_out = "held_out_one_in" in source and is_share(pair.group, one_in=source["held_out_one_in"])
            new = (pair.evidence, pair.claim) not in seen
            if new and not held_out and is_share(pair.group, one_in=source["calibration_one_in"], remainder=1):
                seen.add((pair.evidence, pair.claim))
                yield pair


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--most", type=int, default=9_000, help="pairs, drawn at random")
    arguments = parser.parse_args()
    pairs = []
    for readers in (CHOSEN, RETRIEVED):
        kind = list(calibration_pairs(arguments.data, readers))
        pairs += random.Random(0).sample(kind, min(arguments.most // 2, len(kind)))
    texts = [(Claim(id=str(n), text=pair.claim), Chunk(id="evidence", text=pair.evidence)) for n, pair in enumerate(pairs)]
    score_texts = partial(score_with_student, arguments.model, read_card(MODELS / "nli").max_tokens)
    scores = score_pairs(texts, score_texts, signature=weights_signature(arguments.model))
    scored = [(score.logits, pair.label) for score, pair in zip(scores, pairs, strict=True) if score.logits is not None]
    print(json.dumps(dataclasses.asdict(calibrate([logits for logits, _ in scored], [label for _, label in scored])), indent=1))


if __name__ == "__main__":
    main()
