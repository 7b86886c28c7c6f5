"""Isotonic calibration of three-way probabilities: a rising map for each label, the three values normalised.

Source: Zadrozny & Elkan 2002, Transforming classifier scores into accurate multiclass probability estimates,
KDD.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_medfaith.records import LABELS

Curve = tuple[tuple[float, float], ...]  # (probability given, probability meant), both rising
Probabilities = tuple[float, float, float]


@dataclass(frozen=True)
class Isotonic:
    """Three rising curves, for entail, neutral and contradict, that correct probabilities.

    A curve is a list of points (given, meant): straight between them, level beyond them.
    """

    curves: tuple[Curve, Curve, Curve]

    def __call__(self, probs: Sequence[float]) -> Probabilities:
        """Returns the corrected probabilities of `probs` (3,); they sum to 1, with 6 decimals."""
        import numpy as np

        meant = [
            float(np.interp(prob, [given for given, _ in curve], [value for _, value in curve]))
            for prob, curve in zip(probs, self.curves, strict=True)
        ]
        entail, neutral, contradict = (round(value / sum(meant), 6) for value in meant)
        return entail, neutral, contradict

    @property
    def signature(self) -> str:
        """16 hexadecimal digits that change with any point."""
        return hashlib.sha256(repr(self.curves).encode()).hexdigest()[:16]

    def to_dict(self) -> dict[str, Any]:
        """Returns {label: [[given, meant], ...]}: the points of each label's curve, shares from 0 to 1."""
        return {
            label: [list(point) for point in curve] for label, curve in zip(LABELS, self.curves, strict=True)
        }

    @classmethod
    def from_dict(cls, row: Mapping[str, Any]) -> Isotonic:
        """Returns the curves of `row`, the dict that `to_dict` makes: {label: [[given, meant], ...]}.

        Raises:
            ValueError: a label is missing, its points do not rise, or a point leaves 0 to 1.
        """
        entail, neutral, contradict = (_curve(label, row.get(label)) for label in LABELS)
        return cls((entail, neutral, contradict))


def _curve(label: str, points: Any) -> Curve:
    try:
        curve = tuple((float(given), float(meant)) for given, meant in points)
    except (TypeError, ValueError):
        curve = ()
    if (
        not curve
        or curve != tuple(sorted(curve))
        or [meant for _, meant in curve] != sorted(meant for _, meant in curve)
    ):
        raise ValueError(f"isotonic.{label} is {points!r}, expected points [given, meant] that rise")
    if not all(0 <= given <= 1 and 0 < meant < 1 for given, meant in curve):
        raise ValueError(
            f"isotonic.{label} leaves 0 to 1; expected probabilities, those meant neither 0 nor 1"
        )
    return curve


def fit_isotonic(probs: Any, truth: Any) -> Isotonic:
    """Returns for each class the curve that maps its probability to how often the class was right.

    The curves never fall, and have the least squared error from `probs` (n, 3) to the label indices `truth`
    (n,).

    No curve reaches 0 or 1, because n pairs cannot say that something never happens: values keep 1 / (n + 2)
    away from both.
    """
    entail, neutral, contradict = (
        _fitted(probs[:, column], truth == column) for column in range(len(LABELS))
    )
    return Isotonic((entail, neutral, contradict))


def _fitted(given: Any, outcome: Any) -> Curve:
    import numpy as np
    from scipy.optimize import isotonic_regression

    places, which, counts = np.unique(given, return_inverse=True, return_counts=True)
    shares = np.bincount(which, weights=outcome.astype(np.float64)) / counts
    least = 1 / (len(given) + 2)
    meant = np.clip(isotonic_regression(shares, weights=counts).x, least, 1 - least)
    # The two ends of a level stretch say all.
    kept = [
        i
        for i in range(len(places))
        if i in (0, len(places) - 1) or not meant[i - 1] == meant[i] == meant[i + 1]
    ]
    return tuple((round(float(places[i]), 6), round(float(meant[i]), 6)) for i in kept)
