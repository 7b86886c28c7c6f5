"""Fits what stands around the weights, on pairs they never saw: the temperature and the thresholds."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pytest_medfaith.checking.calibrate import calibrate
from pytest_medfaith.checking.student import score_with_student
from pytest_medfaith.checking.windows import best_windows
from pytest_medfaith.distill.pairs import Pair


def fit_scoring(model: Path, pairs: Sequence[Pair], *, max_tokens: int) -> dict[str, Any]:
    """Returns the `scoring` part of a card for the ONNX `model`, fitted on `pairs`, and how many those were.

    Long evidence is read as checking reads it: the best window speaks for it.
    """
    texts = [(best_windows(pair.claim, pair.evidence, most=1)[0].text, pair.claim) for pair in pairs]
    fitted = dataclasses.asdict(calibrate(score_with_student(model, max_tokens, texts), [pair.label for pair in pairs]))
    return {"max_tokens": max_tokens, "fitted_on": fitted.pop("n"), **fitted}
