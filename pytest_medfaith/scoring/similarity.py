"""How similar a claim and a text are under the sentence encoder.

Similarity tells whether a text is about the claim's topic, not what it says: "Aspirin is safe in pregnancy"
and "Aspirin is not safe in pregnancy" are similar.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from pytest_medfaith.scoring.cache import content_key, fill

# Tokens of a text that the encoder reads, as in its training. 256 bring hardly more (docs/training.md). The
# number is the same for every checker, since all checkers share the encoder's vectors.
TOKENS = 128


@dataclass(frozen=True)
class SimilarityShift:
    """How similarity changes the logit of neutral: up for a text on another matter, down for the same matter.

    A small model that reads claim and text together often takes a text on the same matter for evidence. The
    encoder, which was trained to find texts, makes other errors. Both together are better than either
    (docs/training.md). Both numbers are in the model card.

    Attributes:
        weight: what the logit gains for each unit by which the cosine is below `even`; 0 for no change.
        even: the cosine without a change.
    """

    weight: float = 0.0
    even: float = 0.0

    def of(self, cosine: float) -> float:
        """Returns what `cosine` adds to the logit of neutral."""
        return self.weight * (self.even - cosine)


MOVES_NOTHING = SimilarityShift()


@dataclass
class Vectors:
    """The vectors of texts under the shipped encoder, each text read once.

    They are rounded to 16 bits, which changes a cosine by less than 0.001 and needs 768 bytes for a text.

    Attributes:
        cache: the SQLite file that keeps them and the scores of pairs; None to keep nothing.
        known: {text: vector, float16 (384,)}.
    """

    cache: Path | None = None
    known: dict[str, Any] = field(default_factory=dict)

    def add(self, texts: Iterable[str]) -> None:
        """Adds the vectors of those `texts` that are new, by their first `TOKENS` tokens."""
        from pytest_medfaith.models.onnx import embed_texts

        signature = encoder_signature()
        fill(
            self.known,
            texts,
            partial(embed_texts, max_tokens=TOKENS),
            key=lambda text: content_key(signature, text),
            dtype="<f2",
            cache=self.cache,
        )

    def cosine(self, first: str, second: str) -> float:
        """Returns the cosine of two texts, -1 to 1. KeyError for a text that was not added."""
        import numpy as np

        return float(np.dot(self.known[first].astype(np.float32), self.known[second].astype(np.float32)))


def encoder_signature() -> str:
    """Returns a text that names what decides a vector besides the text: weights and number of tokens."""
    from pytest_medfaith.models.onnx import weights_signature
    from pytest_medfaith.models.shipped import ENCODER

    return f"{weights_signature(ENCODER)}/{TOKENS}"
