"""How far reviewers agree beyond chance: Cohen's kappa for two, Krippendorff's alpha for more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """Agreement of reviewers over the claims that at least two of them labelled.

    Attributes:
        reviewers: two, or all.
        measure: "Cohen's kappa" or "Krippendorff's alpha".
        value: 1 for full agreement, 0 for agreement by chance, below 0 for less; None where there are no
            labels, or all are equal.
        claims: how many claims at least two of the reviewers labelled.
        equal: how many of these got equal labels.
    """

    reviewers: tuple[str, ...]
    measure: str
    value: float | None
    claims: int
    equal: int

    def __str__(self) -> str:
        """Returns a sentence such as "AB and CD: equal labels for 9 of 10 claims, Cohen's kappa 0.80"."""
        who = (
            f"{' and '.join(self.reviewers)}"
            if len(self.reviewers) == 2
            else f"{len(self.reviewers)} reviewers"
        )
        if not self.claims:
            return f"{who}: no claim that two of them labelled"
        value = "is undefined, since all labels are equal" if self.value is None else f"{self.value:.2f}"
        return f"{who}: equal labels for {self.equal} of {self.claims} claims, {self.measure} {value}"


def agreements(labels: Sequence[Mapping[str, str]]) -> list[Agreement]:
    """Returns kappa for two reviewers; for more, first alpha of all, then kappa of each pair.

    Args:
        labels: {reviewer: label} for each claim.
    """
    reviewers = sorted({reviewer for claim in labels for reviewer in claim})
    pairs = [_of_pair(labels, pair) for pair in combinations(reviewers, 2)]
    if len(reviewers) <= 2:
        return pairs
    shared = [list(claim.values()) for claim in labels if len(claim) > 1]
    alpha = Agreement(
        reviewers=tuple(reviewers),
        measure="Krippendorff's alpha",
        value=krippendorff_alpha(shared),
        claims=len(shared),
        equal=sum(len(set(claim)) == 1 for claim in shared),
    )
    return [alpha, *pairs]


def _of_pair(labels: Sequence[Mapping[str, str]], pair: tuple[str, str]) -> Agreement:
    """Returns kappa of two reviewers over the claims that both labelled."""
    first, second = pair
    shared = [(claim[first], claim[second]) for claim in labels if first in claim and second in claim]
    return Agreement(
        reviewers=pair,
        measure="Cohen's kappa",
        value=cohen_kappa(shared),
        claims=len(shared),
        equal=sum(one == other for one, other in shared),
    )


def cohen_kappa(pairs: Sequence[tuple[str, str]]) -> float | None:
    """Returns Cohen's kappa: 1 for full agreement, 0 for chance, below 0 for less than chance.

    None without pairs or if all labels are equal.

    kappa = (p_o - p_e) / (1 - p_e), with p_o the share of equal pairs, and p_e the share that chance gives by
    how often each reviewer uses each label. Source: J. Cohen, Educational and Psychological Measurement
    20(1), 1960, 37-46.

    Args:
        pairs: the two labels of each claim.
    """
    names = sorted({label for pair in pairs for label in pair})
    if len(names) < 2:
        return None
    counts = np.zeros((len(names), len(names)))
    for one, other in pairs:
        counts[names.index(one), names.index(other)] += 1
    shares = counts / counts.sum()
    expected = float(shares.sum(axis=0) @ shares.sum(axis=1))
    return (float(np.trace(shares)) - expected) / (1 - expected)


def krippendorff_alpha(units: Sequence[Sequence[str]]) -> float | None:
    """Returns Krippendorff's alpha for labels without an order: 1 for full agreement, 0 for chance.

    None where no claim has two labels, or all labels are equal. alpha = 1 - D_o / D_e over the matrix of
    coincidences, to which a claim of m labels adds each ordered pair of its labels with the weight 1 / (m -
    1). Claims with a single label add nothing. Source: K. Krippendorff, Computing Krippendorff's
    Alpha-Reliability, 2011.

    Args:
        units: the labels of each claim, in any order.
    """
    units = [unit for unit in units if len(unit) > 1]
    names = sorted({label for unit in units for label in unit})
    if len(names) < 2:
        return None
    coincidences = np.zeros((len(names), len(names)))
    for unit in units:
        counts = np.array([unit.count(name) for name in names], dtype=float)
        coincidences += (np.outer(counts, counts) - np.diag(counts)) / (len(unit) - 1)
    totals = coincidences.sum(axis=0)
    total = float(totals.sum())
    observed = total - float(np.trace(coincidences))
    expected = (total**2 - float(totals @ totals)) / (total - 1)
    return 1 - observed / expected
