"""Corrects the rates of a slice by people's labels, and says on the card how.

Example: the checker calls 5 % of the claims refuted, but people find that only half of those are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pytest_medfaith import defaults
from pytest_medfaith.errors import DataError, shown
from pytest_medfaith.labels.correction import (
    LEAST_OF_CLASS,
    ErrorRates,
    Ints,
    Labelled,
    Rate,
    error_rates,
    labels_for_width,
    stratified_rate,
    transported_rate,
)
from pytest_medfaith.labels.rows import LabelRow
from pytest_medfaith.labels.sampling import KeyedClaim, claims_with_keys
from pytest_medfaith.metrics.corrected import COUNTED, SUFFIX
from pytest_medfaith.records import MetricValue, SliceReport, VerdictLabel

_DECIMALS = 10  # as other metrics are rounded
_LEAST_LABELS = 30  # labels of the run's claims; with fewer, error rates on all labels say more


@dataclass(frozen=True, kw_only=True)
class CorrectedSlice:
    """What labels say of a slice.

    Attributes:
        metrics: the corrected rates by name; the value is None where there are too few labels.
        lines: for the card: how many labels there are, the checker's error rates on them, how many more are
            wanted.
    """

    metrics: Mapping[str, MetricValue]
    lines: tuple[str, ...] = field(default=())


def one_label_a_claim(labels: Sequence[LabelRow], path: Path) -> Sequence[LabelRow]:
    """Returns `labels`, after refusing two labels of the same claim.

    Raises:
        DataError: two labels of a claim under the same checker; `medfaith review --import` merges them.
    """
    counts = Counter((row.key, row.checker) for row in labels)
    twice = [row for row in labels if counts[row.key, row.checker] > 1]
    if twice:
        raise DataError(
            f"{path}: holds {counts[twice[0].key, twice[0].checker]} labels of the claim "
            f"{shown(twice[0].claim)} of case {twice[0].case_id!r}, expected one; merge the files of several "
            "reviewers with medfaith review --import"
        )
    return labels


@dataclass(frozen=True)
class _Matched:
    """The labels of a checker, sorted by whether the slice still has their claims.

    Attributes:
        present: (place of the claim in the slice, its label).
        gone: labels of claims that the slice does not have any more.
        no_claim: how many labels say that the text is no claim.
        others: how many labels are of claims drawn under another checker.
    """

    present: Sequence[tuple[int, LabelRow]]  # the place of the claim in the slice, its label
    gone: Sequence[LabelRow]
    no_claim: int  # labels that say that there is no claim
    others: int  # labels of claims drawn under another checker

    @property
    def rows(self) -> list[LabelRow]:
        """The labels that count: those present and those gone."""
        return [*(row for _, row in self.present), *self.gone]


def corrected_slice(
    report: SliceReport,
    labels: Sequence[LabelRow],
    *,
    checker: str,
    strata: Mapping[str, str],
    seed: int = defaults.SEED,
) -> CorrectedSlice:
    """Returns the rates of a slice, corrected by labels.

    Labels of claims that the slice still has, with the same evidence, correct its rates directly
    (`stratified_rate`). That takes 30 of them, or one for each of its claims, and some in every stratum.
    Otherwise the checker's error rates on all labels are applied to it (`transported_rate`). A label "no
    claim" counts nowhere.

    Args:
        report: of the slice, under one checker.
        labels: of a labels file, all slices and checkers.
        checker: name and fingerprint of the report's checker; labels drawn under another are left out.
        strata: {key of a claim: its stratum} of the run that the slice belongs to, see `strata_of`.
        seed: of the random draws behind intervals.
    """
    units = claims_with_keys([report])
    matched = _match(units, labels, report.slice, checker)
    found = dict[str, _Found]()
    for name, label in COUNTED.items():
        rate = _direct_rate(units, matched, label, strata) or _carried_rate(units, matched, label, seed=seed)
        if rate is not None:
            found[name] = rate
    metrics = {name + SUFFIX: _value(name + SUFFIX, found.get(name)) for name in COUNTED}
    rates = _error_rates(matched.rows, "supported", seed=seed)
    return CorrectedSlice(metrics=metrics, lines=tuple(_lines(matched, found, rates)))


class _Found(NamedTuple):
    """A corrected rate.

    Attributes:
        rate: with its interval.
        labels: how many labels it rests on.
        is_carried: True if it comes from error rates on labels of other claims.
    """

    rate: Rate
    labels: int
    is_carried: bool


def _direct_rate(
    units: Sequence[KeyedClaim], matched: _Matched, label: VerdictLabel, strata: Mapping[str, str]
) -> _Found | None:
    """Returns the share of claims that people call `label`, by labels of this slice.

    None where there are too few labels.
    """
    present = matched.present
    if not present or len(present) < min(_LEAST_LABELS, len(units)):
        return None
    labelled = Labelled(
        cases=_case_numbers(units),
        strata=_merged([strata[unit.key] for unit in units], [place for place, _ in present]),
        chosen=np.array([place for place, _ in present], dtype=np.int64),
        truth=np.array([row.label == label for _, row in present], dtype=bool),
    )
    rate = stratified_rate(labelled)
    return None if rate is None else _Found(rate, len(present), is_carried=False)


def _carried_rate(
    units: Sequence[KeyedClaim], matched: _Matched, label: VerdictLabel, *, seed: int
) -> _Found | None:
    """Returns the share of claims that people would call `label`, by error rates; None for too few labels."""
    rates = _error_rates(matched.rows, label, seed=seed)
    if rates is None or not units:
        return None
    said = np.array([unit.verdict.label == label for unit in units], dtype=bool)
    rate = transported_rate(_case_numbers(units), said, rates, seed=seed)
    return None if rate is None else _Found(rate, len(matched.rows), is_carried=True)


def _case_numbers(units: Sequence[KeyedClaim]) -> Ints:
    """Returns the number of each claim's case, from 0: int (n,)."""
    return np.unique([unit.report.case.id for unit in units], return_inverse=True)[1]


def _match(
    units: Sequence[KeyedClaim], labels: Sequence[LabelRow], slice_name: str, checker: str
) -> _Matched:
    """Returns the labels of a slice and checker, sorted by whether the slice still has their claims."""
    place = {unit.key: number for number, unit in enumerate(units)}
    of_slice = [row for row in labels if row.slice == slice_name]
    same = [row for row in of_slice if row.checker == checker]
    counted = [row for row in same if row.label != "no_claim"]
    return _Matched(
        present=[(place[row.key], row) for row in counted if row.key in place],
        gone=[row for row in counted if row.key not in place],
        no_claim=len(same) - len(counted),
        others=len(of_slice) - len(same),
    )


def _merged(strata: Sequence[str], chosen: Sequence[int]) -> Ints:
    """Returns each claim's stratum as a number, int (n,).

    If either half of a verdict, near or far, has fewer than 2 labels, both halves become one stratum.
    """
    labels = [strata[place] for place in chosen]
    thin = {name for name in set(strata) if labels.count(name) < 2}
    verdicts = {name.split()[0] for name in thin}
    names = [name.split()[0] if name.split()[0] in verdicts else name for name in strata]
    return np.unique(names, return_inverse=True)[1]


def _error_rates(rows: Sequence[LabelRow], label: str, *, seed: int) -> ErrorRates | None:
    """Returns how well the checker tells claims that people call `label`; None for too few labels."""
    return error_rates(
        [row.verdict == label for row in rows],
        [row.label == label for row in rows],
        [row.stratum for row in rows],
        [row.weight for row in rows],
        seed=seed,
    )


def _value(name: str, found: _Found | None) -> MetricValue:
    """Returns a rate as a metric; without a value for None."""
    if found is None:
        return MetricValue(name=name, value=None)
    value, low, high = (round(number, _DECIMALS) for number in found.rate)
    return MetricValue(name=name, value=value, low=low, high=high, n=found.labels)


def _lines(matched: _Matched, found: Mapping[str, _Found], rates: ErrorRates | None) -> list[str]:
    """Returns the card's lines about the labels, the corrected rates, and the checker's error rates."""
    left_out = [
        (len(matched.gone), "of claims that it no longer has, for error rates only"),
        (matched.no_claim, "of what is no claim, left out"),
        (matched.others, "drawn under another checker, left out"),
    ]
    told = [f"labels: {len(matched.present)} of claims of this slice"]
    lines = [", ".join(told + [f"{count} {what}" for count, what in left_out if count])]
    for name, (rate, labels, is_carried) in found.items():
        more = labels_for_width(rate, labels)
        lines.append(
            f"{name} corrected: {_shown(rate)}"
            + (", by error rates on labels of other claims" if is_carried else "")
            + (f"; about {more} more labels would bring it to +- 0.02" if more else "")
        )
    if rates is not None:  # of the label "supported", so what is flagged has another label
        lines.append(
            f"on the labels the checker flags {_shown(rates.specificity)} of what is not supported, and "
            f"supports {_shown(rates.sensitivity)} of what is"
        )
    if not found:
        lines.append(
            f"too few labels to correct a rate: expected {_LEAST_LABELS} of this slice's claims with each "
            f"verdict among them, or {LEAST_OF_CLASS} of what a rate counts and {LEAST_OF_CLASS} of what it "
            "does not; draw claims with medfaith review"
        )
    return lines


def _shown(rate: Rate) -> str:
    """Returns "0.041 [0.020, 0.070]": a rate with its interval."""
    return f"{rate.value:.3f} [{rate.low:.3f}, {rate.high:.3f}]"
