"""What it saves and costs to read less of a chunk: only its best sentence, or a window too if it is similar.

    python bench/reading.py --data DIR [--sets responses scifact check_covid]

Printed are macro-F1 and accuracy of the shipped checker, rules included, on sets of checker_quality.py, and
how many tokens the model reads: sentences of recorded answers with some eight short contexts each, or claims
with their abstracts. The same is counted for an answer of speed.py (10 claims against 20 chunks of 500
tokens). Tokens of the encoder are not counted, since they are the same.
"""

import argparse
import dataclasses
from functools import partial
from pathlib import Path

import numpy as np
from checker_quality import SETS, measured, scores_by_row
from speed import answer

from pytest_medfaith.checking.checker import Checker
from pytest_medfaith.checking.loading import load_checker
from pytest_medfaith.checking.student import pair_row
from pytest_medfaith.scoring.pairs import score_pairs
from pytest_medfaith.scoring.similarity import Vectors

# Changes to the reading settings of the checker's card; a cosine of -1 is always met, a cosine of 2 never.
WAYS = {
    "as shipped": {},
    "always": {"window_similarity": -1, "least_similarity": -1},
    "at least the best sentence of every chunk": {"least_similarity": -1},
    "nearer": {"window_similarity": 0.45},
    "the best sentence alone": {"window_similarity": 2, "least_similarity": -1},
}


@dataclasses.dataclass
class Reader:
    """A model that remembers what it has read, and counts the tokens that it is asked to read.

    Attributes:
        checker: the shipped checker.
        known: {pair: its logits}.
        tokens: asked for so far.
    """

    checker: Checker
    known: dict[tuple[str, str], np.ndarray] = dataclasses.field(default_factory=dict)
    tokens: int = 0

    def __call__(self, pairs: list[tuple[str, str]]) -> np.ndarray:
        """Returns the logits of pairs of texts; only new pairs reach the model."""
        self.tokens += sum(len(pair_row(*pair, max_tokens=512)[0]) for pair in pairs)
        new = [pair for pair in pairs if pair not in self.known]
        self.known |= dict(zip(new, self.checker.score_texts(new), strict=True))
        return np.array([self.known[pair] for pair in pairs])


def main() -> None:
    """Prints the figures of each way of reading."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--sets", nargs="+", choices=SETS, default=["responses", "scifact", "check_covid"])
    arguments = parser.parse_args()
    reader = Reader(load_checker())
    checker = dataclasses.replace(reader.checker, score_texts=reader)
    sets = {name: list(SETS[name](arguments.data)) for name in arguments.sets}
    claims, chunks = answer(0)
    for name, changes in WAYS.items():
        reading = dataclasses.replace(checker.reading, **changes)
        model = dataclasses.replace(checker.model, reading=reading)
        score = partial(score_pairs, model=model, vectors=Vectors())
        said = []
        for of, rows in sets.items():
            reader.tokens = 0
            values, _ = measured(checker, rows, scores_by_row(rows, score))
            figures = f"{values['f1'].value:.3f} / {values['accuracy'].value:.3f}"
            said.append(f"{of} (n {len(rows)}) {figures}, {reader.tokens:,} tokens")
        reader.tokens = 0
        score([(claim, chunk) for claim in claims for chunk in chunks])
        print(f"{name}: {'; '.join(said)}; one answer {reader.tokens:,} tokens", flush=True)


if __name__ == "__main__":
    main()
