"""How well student and encoder tell texts that decide a claim from texts that leave it open.

    python bench/similarity.py --data DIR [--sets healthver scifact ...] [--most 1500]

Printed is the ROC-AUC, with 95 % bootstrap intervals, of the student's probability that the text is not
neutral, of the cosine of claim and text, and of the probability after similarity changed it ("both"). The
sets are those of checker_quality.py that have all three labels and a single text for each claim; rules are
off.
"""

import argparse
import dataclasses
import random
from pathlib import Path

import numpy as np
from checker_quality import SETS, scores_by_row

from pytest_medfaith.checking.loading import load_checker
from pytest_medfaith.metrics.bootstrap import percentile_interval, resampled_counts
from pytest_medfaith.metrics.label_statistics import point, roc_auc
from pytest_medfaith.scoring.similarity import MOVES_NOTHING, Vectors

NAMES = ["healthver", "scifact", "scifact_found", "check_covid_sentences", "published", "turned", "written"]


def shown(decides: np.ndarray, scores: np.ndarray) -> str:
    """Returns the ROC-AUC of some scores with its 95 % interval: "0.912 [0.900, 0.924]"."""
    statistic = roc_auc(decides, scores)
    low, high = percentile_interval(
        np.concatenate([statistic(counts) for counts in resampled_counts(len(scores))])
    )
    return f"{point(statistic, len(scores)):.3f} [{low:.3f}, {high:.3f}]"


def main() -> None:
    """Prints the figures of each set."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--sets", nargs="+", choices=NAMES, default=NAMES)
    parser.add_argument("--most", type=int, default=1500, help="rows of each set, drawn at random")
    arguments = parser.parse_args()
    shipped = load_checker()
    student = dataclasses.replace(shipped, similarity=MOVES_NOTHING)
    vectors = Vectors()
    for name in arguments.sets:
        rows = list(SETS[name](arguments.data))
        rows = random.Random(0).sample(rows, min(arguments.most, len(rows)))
        decides = np.array([label != "neutral" for _, _, label in rows])
        alone, both = (
            1 - np.array([scores[0].probs[1] for scores in scores_by_row(rows, checker.score)])
            for checker in (student, shipped)
        )
        vectors.add(text for claim, texts, _ in rows for text in (claim, *texts))
        cosines = np.array([vectors.cosine(text, claim) for claim, (text,), _ in rows])
        ways = {"student": alone, "cosine": cosines, "both": both}
        said = ", ".join(f"{way} {shown(decides, scores)}" for way, scores in ways.items())
        print(f"{name}: n {len(rows)}, {decides.mean():.2f} decide, {said}", flush=True)


if __name__ == "__main__":
    main()
