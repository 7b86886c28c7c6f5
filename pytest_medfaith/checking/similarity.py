"""How near a claim and a text are under the sentence encoder: whether the text speaks of the claim's matter, not what it says of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytest_medfaith.checking.cache import content_key, fill

TOKENS = 128  # of a text that the encoder reads, as in its training; 256 tell hardly more (docs/training.md)


@dataclass(frozen=True)
class SimilarityShift:
    """How similarity moves a checker's logit of neutral: up by `weight` for each unit that the cosine lies below `even`, down above it.

    A small model that reads claim and text together takes a text on the same matter for evidence too often. An encoder trained to find tells those
    apart by other means, and the two together are surer than either: docs/training.md.
    """

    weight: float = 0.0
    even: float = 0.0

    def shift(self, cosine: float) -> float:
        """Returns what `cosine` adds to the logit of neutral."""
        return self.weight * (self.even - cosine)


MOVES_NOTHING = SimilarityShift()


@dataclass
class Vectors:
    """The vectors of texts under the shipped encoder, each read once, and kept in the SQLite file `cache` where one is named.

    They are rounded to 16 bits, which moves a cosine by less than 0.001 and keeps 768 bytes of a text.
    """

    cache: Path | None = None
    known: dict[str, Any] = field(default_factory=dict)

    def add(self, texts: Iterable[str]) -> None:
        """Reads `TOKENS` tokens of each of `texts` that is new."""
        signature = encoder_signature()
        fill(
            self.known,
            texts,
            _vectors,
            key=lambda text: content_key(signature, text),
            dtype="<f2",
            cache=self.cache,
        )

    def cosine(self, one: str, other: str) -> float:
        """Returns the cosine of two texts that were added."""
        import numpy as np

        return float(np.dot(self.known[one].astype(np.float32), self.known[other].astype(np.float32)))


def _vectors(texts: Sequence[str]) -> Any:
    from pytest_medfaith.models.onnx import embed_texts

    return embed_texts(texts, max_tokens=TOKENS)


def encoder_signature() -> str:
    """Returns what decides a vector besides the text."""
    from pytest_medfaith.models.onnx import ENCODER, weights_signature

    return f"{weights_signature(ENCODER)}/{TOKENS}"
