"""What words, numbers and vectors say of a pair beside the model, and the small linear layer that weighs it all.

The student alone judges an unrelated passage and a close paraphrase with one and the same confidence. How many of the claim's words
and numbers the evidence holds, and how near the two are as sentence vectors, says which passages speak of the claim at all.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pytest_medfaith.checking.windows import content_words
from pytest_medfaith.sentences import sentence_spans

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_NEGATION = re.compile(r"\b(?:not|no|never|without|neither|nor|none|cannot|fail(?:s|ed)?|lack(?:s|ed)?|avoid(?:ed|s)?|contraindicated|\w+n't)\b", re.IGNORECASE)
FEATURES = (
    "entail_margin",
    "contradict_margin",
    "entail_over_contradict",
    "coverage",
    "sentence_coverage",
    "numbers",
    "foreign_number",
    "negation",
    "cosine",
    "claim_words",
    "evidence_words",
)


@dataclass(frozen=True)
class LinearLayer:
    """Turns features into logits: standardise, add all products of two, multiply.

    `mean`, `scale`: (f,) of FEATURES. `weights`: (f + f (f + 1) / 2, 3), `bias`: (3,), order entail, neutral, contradict.
    """

    mean: Sequence[float]
    scale: Sequence[float]
    weights: Sequence[Sequence[float]]
    bias: Sequence[float]

    def __call__(self, features: Any) -> Any:
        """Returns logits, float64 (n, 3), of features (n, f)."""
        import numpy as np

        expanded = expand((features - np.asarray(self.mean)) / np.asarray(self.scale))
        # A matrix product may add in another order for another number of rows; this sum does not.
        return (expanded[:, :, None] * np.asarray(self.weights)[None]).sum(axis=1) + np.asarray(self.bias)


def expand(features: Any) -> Any:
    """Returns standardised features (n, f), clipped at three deviations, with the products of every two: (n, f + f (f + 1) / 2)."""
    import numpy as np

    clipped = np.clip(features, -3.0, 3.0)
    first, second = np.triu_indices(clipped.shape[1])
    return np.hstack([clipped, clipped[:, first] * clipped[:, second]])


def features(pairs: Sequence[tuple[str, str]], logits: Any, cosines: Sequence[float]) -> Any:
    """Returns features, float64 (n, len(FEATURES)), of (evidence, claim) pairs.

    Args:
        pairs: n texts.
        logits: (n, 3) of the model.
        cosines: n, between the sentence vectors of evidence and claim.
    """
    import numpy as np

    rows = np.asarray(logits, dtype=np.float64)
    table = [
        [row[0] - row[1], row[2] - row[1], row[0] - row[2], *_overlap(*pair), cosine, *_lengths(*pair)]
        for pair, row, cosine in zip(pairs, rows, cosines, strict=True)
    ]
    return np.array(table, dtype=np.float64).reshape(len(pairs), len(FEATURES))


def _overlap(evidence: str, claim: str) -> tuple[float, float, float, float, float]:
    """Returns the words' coverage by the evidence and by its best sentence, the numbers', whether one is foreign, the negation gap."""
    wanted = content_words(claim)
    sentences = [evidence[start:end] for start, end in sentence_spans(evidence)] or [evidence]
    best = max(sentences, key=lambda sentence: _share(wanted, content_words(sentence)))
    claimed, found = set(_NUMBER.findall(claim)), set(_NUMBER.findall(evidence))
    numbers = len(claimed & found) / len(claimed) if claimed else 1.0
    gap = abs(len(_NEGATION.findall(claim)) - len(_NEGATION.findall(best)))
    return _share(wanted, content_words(evidence)), _share(wanted, content_words(best)), numbers, float(bool(claimed - found)), float(min(gap, 2))


def _share(wanted: frozenset[str], found: frozenset[str]) -> float:
    """Returns which share of `wanted` is in `found`, longer words counting more: they are rarer and say more."""
    total = sum(map(len, wanted))
    return sum(map(len, wanted & found)) / total if total else 0.0


def _lengths(evidence: str, claim: str) -> tuple[float, float]:
    import math

    return math.log1p(len(claim.split())), math.log1p(len(evidence.split()))
