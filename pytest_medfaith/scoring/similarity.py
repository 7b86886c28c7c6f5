"""How similar a claim and a text are under the sentence encoder.

Similarity says whether a text speaks of the claim's matter, not what it says of it: "Aspirin is safe in
pregnancy" and "Aspirin is not safe in pregnancy" are similar.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from pytest_medfaith.scoring.cache import content_key, fill

# Tokens of a text that the encoder reads, as in its training; 256 tell hardly more (docs/training.md). This
# is the encoder's number, the same for every checker: they share its vectors.
TOKENS = 128


@dataclass(frozen=True)
class SimilarityShift:
    """How similarity moves the logit of neutral: up for a text on another matter, down for the same matter.

    A small model that reads claim and text together takes a text on the same matter for evidence too often.
    An encoder trained to find texts tells those apart by other means, and the two together are surer than
    either (docs/training.md). Both numbers are in the model card.

    Attributes:
        weight: what the logit gains for each unit that the cosine lies below `even`; 0 moves nothing.
        even: the cosine at which nothing moves.
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

    They are rounded to 16 bits, which moves a cosine by less than 0.001 and keeps 768 bytes of a text.

    Attributes:
        cache: the SQLite file that keeps them, or None to keep nothing. The scores of pairs go to the same
            file.
        known: vector, float16 (384,), by text.
    """

    cache: Path | None = None
    known: dict[str, Any] = field(default_factory=dict)

    def add(self, texts: Iterable[str]) -> None:
        """Reads the first `TOKENS` tokens of each of `texts` that is new."""
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
        """Returns the cosine of two texts that were added."""
        import numpy as np

        return float(np.dot(self.known[first].astype(np.float32), self.known[second].astype(np.float32)))


def encoder_signature() -> str:
    """Returns what decides a vector besides the text: the encoder's weights and how many tokens it reads."""
    from pytest_medfaith.models.onnx import weights_signature
    from pytest_medfaith.models.shipped import ENCODER

    return f"{weights_signature(ENCODER)}/{TOKENS}"
