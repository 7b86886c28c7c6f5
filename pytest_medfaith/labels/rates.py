"""The rates of a slice, corrected by people's labels, and what its card says of them."""

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

_DECIMALS = 10  # as the metrics round
_LEAST_LABELS = 30  # of the run's claims; fewer say so little that error rates of all labels say more


@dataclass(frozen=True, kw_only=True)
class CorrectedSlice:
    """What labels say of a slice.

    Attributes:
        metrics: the corrected rates by name; each is there, without a value where the labels say too little.
        lines: for the card: how many labels, the checker's error rates on them, how many more are wanted.
    """

    metrics: Mapping[str, MetricValue]
    lines: tuple[str, ...] = field(default=())


def one_label_a_claim(labels: Sequence[LabelRow], path: Path) -> Sequence[LabelRow]:
    """Returns `labels`; refuses those of several reviewers, which `medfaith review --import` merges.

    Raises:
        DataError: two labels of a claim drawn under the same checker.
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
    """The labels of a checker, those of claims that the slice still has and those of claims that are gone."""

    present: Sequence[tuple[int, LabelRow]]  # the place of the claim in the slice, its label
    gone: Sequence[LabelRow]
    no_claim: int  # labels that say that there is no claim
    others: int  # labels of claims drawn under another checker

    @property
    def rows(self) -> list[LabelRow]:
        """All labels that count."""
        return [*(row for _, row in self.present), *self.gone]


def corrected_slice(
    report: SliceReport,
    labels: Sequence[LabelRow],
    *,
    checker: str,
    strata: Mapping[str, str],
    seed: int = defaults.SEED,
) -> CorrectedSlice:
    """Returns the corrected rates of a slice.

    Labels of claims that the slice still has, with the same evidence, correct its rates directly
    (`stratified_rate`). Where there are fewer than 30 of them, or a verdict without a label, the checker's
    error rates on all labels are carried over (`transported_rate`). A label that says "no claim" counts in
    nothing.

    Args:
        report: of the slice, under one checker.
        labels: of a labels file, all slices and checkers.
        checker: name and fingerprint of the row's checker; labels drawn under another are left out.
        strata: {key of a claim: its stratum}, of the run that the slice belongs to: see `strata_of`.
        seed: of the draws behind intervals.
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
    """A corrected rate, how many labels it rests on, and whether error rates on other claims gave it."""

    rate: Rate
    labels: int
    is_carried: bool


def _direct_rate(
    units: Sequence[KeyedClaim], matched: _Matched, label: VerdictLabel, strata: Mapping[str, str]
) -> _Found | None:
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
    rates = _error_rates(matched.rows, label, seed=seed)
    if rates is None or not units:
        return None
    said = np.array([unit.verdict.label == label for unit in units], dtype=bool)
    rate = transported_rate(_case_numbers(units), said, rates, seed=seed)
    return None if rate is None else _Found(rate, len(matched.rows), is_carried=True)


def _case_numbers(units: Sequence[KeyedClaim]) -> Ints:
    return np.unique([unit.report.case.id for unit in units], return_inverse=True)[1]


def _match(
    units: Sequence[KeyedClaim], labels: Sequence[LabelRow], slice_name: str, checker: str
) -> _Matched:
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
    """Returns the strata as numbers; a verdict's halves are one where a half has fewer than 2 labels."""
    labels = [strata[place] for place in chosen]
    thin = {name for name in set(strata) if labels.count(name) < 2}
    verdicts = {name.split()[0] for name in thin}
    names = [name.split()[0] if name.split()[0] in verdicts else name for name in strata]
    return np.unique(names, return_inverse=True)[1]


def _error_rates(rows: Sequence[LabelRow], label: str, *, seed: int) -> ErrorRates | None:
    return error_rates(
        [row.verdict == label for row in rows],
        [row.label == label for row in rows],
        [row.stratum for row in rows],
        [row.weight for row in rows],
        seed=seed,
    )


def _value(name: str, found: _Found | None) -> MetricValue:
    if found is None:
        return MetricValue(name=name, value=None)
    value, low, high = (round(number, _DECIMALS) for number in found.rate)
    return MetricValue(name=name, value=value, low=low, high=high, n=found.labels)


def _lines(matched: _Matched, found: Mapping[str, _Found], rates: ErrorRates | None) -> list[str]:
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
    return f"{rate.value:.3f} [{rate.low:.3f}, {rate.high:.3f}]"
