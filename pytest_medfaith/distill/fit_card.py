"""Fits what stands around the weights, on pairs they never saw: the linear layer, the temperature and the thresholds."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pytest_medfaith.checking.agreement import LinearLayer, expand, features
from pytest_medfaith.checking.calibrate import calibrate
from pytest_medfaith.checking.student import cosines, student_logits
from pytest_medfaith.checking.windows import best_windows
from pytest_medfaith.corpus.jsonl import write_text
from pytest_medfaith.distill.pairs import Pair
from pytest_medfaith.records import LABELS

STRENGTH = 0.05  # inverse of the L2 penalty: 77 products of features on some thousands of pairs overfit without it


def fit_layer(table: Any, labels: Sequence[int]) -> LinearLayer:
    """Returns the layer of multinomial logistic regression on features (n, f) and label indices (n)."""
    from sklearn.linear_model import LogisticRegression

    mean, scale = table.mean(axis=0), table.std(axis=0) + 1e-6
    model = LogisticRegression(C=STRENGTH, max_iter=2000).fit(expand((table - mean) / scale), labels)
    return LinearLayer(*(_rounded(values) for values in (mean, scale, model.coef_.T, model.intercept_)))


def _rounded(values: Any) -> list[Any]:
    return [_rounded(value) if getattr(value, "ndim", 0) else round(float(value), 5) for value in values]


def fit_scoring(model: Path, pairs: Sequence[Pair], *, max_tokens: int) -> dict[str, Any]:
    """Returns the `scoring` part of a card for the ONNX `model`, fitted on `pairs`: half of the groups for the layer, half for the rest.

    Long evidence is read as checking reads it: the best window speaks for it.
    """
    import zlib

    import numpy as np

    texts = [(best_windows(pair.claim, pair.evidence, most=1)[0].text, pair.claim) for pair in pairs]
    table = features(texts, student_logits(model, texts, max_tokens=max_tokens), cosines(texts))
    labels = np.array([LABELS.index(pair.label) for pair in pairs])
    first = np.array([zlib.crc32(f"layer-{pair.group}".encode()) % 2 == 0 for pair in pairs])
    layer = fit_layer(table[first], labels[first])
    fitted = calibrate(layer(table[~first]), [LABELS[label] for label in labels[~first]])
    return {
        "temperature": fitted.temperature,
        "entail_threshold": fitted.entail_threshold,
        "contradict_threshold": fitted.contradict_threshold,
        "max_tokens": max_tokens,
        "layer": dataclasses.asdict(layer),
    }


def write_card(path: Path, card: dict[str, Any]) -> None:
    """Writes a model card as JSON, whole or not at all."""
    write_text(path, json.dumps(card, indent=1, ensure_ascii=False) + "\n")
