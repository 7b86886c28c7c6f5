"""How near a claim and a text are under the sentence encoder: whether the text speaks of the claim's matter, not what it says of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

TOKENS = 128  # of a text that the encoder reads, as in its training; 256 tell hardly more (docs/training.md)


@dataclass(frozen=True)
class Nearness:
    """How nearness moves a checker's logit of neutral: up by `weight` for each unit that the cosine lies below `even`, down above it.

    A small model that reads claim and text together takes a text on the same matter for evidence too often. An encoder trained to find tells those
    apart by other means, and the two together are surer than either: docs/training.md.
    """

    weight: float = 0.0
    even: float = 0.0

    def shift(self, cosine: float) -> float:
        """Returns what `cosine` adds to the logit of neutral."""
        return self.weight * (self.even - cosine)


MOVES_NOTHING = Nearness()


def cosines(pairs: Sequence[tuple[str, str]]) -> Any:
    """Returns the cosine of evidence and claim under the shipped encoder for each of `pairs`: float32 (n, 1). It reads `TOKENS` tokens of a text."""
    import numpy as np

    from pytest_medfaith.models.onnx import embed_texts

    texts = list(dict.fromkeys(text for pair in pairs for text in pair))
    vectors = dict(zip(texts, embed_texts(texts, max_tokens=TOKENS), strict=True))
    return np.array([[vectors[evidence] @ vectors[claim]] for evidence, claim in pairs], dtype=np.float32).reshape(-1, 1)


def cosines_signature() -> str:
    """Returns what decides a cosine besides the texts."""
    from pytest_medfaith.models.onnx import ENCODER, weights_signature

    return f"{weights_signature(ENCODER)}/{TOKENS}"
