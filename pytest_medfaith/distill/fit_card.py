"""Fits what stands around the weights, on pairs they never saw: the temperature and the thresholds."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from pytest_medfaith.checking.calibrate import calibrate
from pytest_medfaith.checking.scoring import score_pairs
from pytest_medfaith.checking.student import score_with_student, weights_signature
from pytest_medfaith.distill.pairs import Pair
from pytest_medfaith.records import Chunk, Claim


def fit_scoring(model: Path, pairs: Sequence[Pair], *, max_tokens: int) -> dict[str, Any]:
    """Returns the `scoring` part of a card for the ONNX `model`, fitted on `pairs`, and how many those were.

    Evidence is read as checking reads it, in windows of which the clearest speaks.
    """
    texts = [(Claim(id=str(n), text=pair.claim), Chunk(id="evidence", text=pair.evidence)) for n, pair in enumerate(pairs)]
    scores = score_pairs(texts, partial(score_with_student, model, max_tokens), signature=weights_signature(model))
    scored = [(score.logits, pair.label) for score, pair in zip(scores, pairs, strict=True) if score.logits is not None]
    fitted = dataclasses.asdict(calibrate([logits for logits, _ in scored], [label for _, label in scored]))
    return {"max_tokens": max_tokens, "fitted_on": fitted.pop("n"), **fitted}
