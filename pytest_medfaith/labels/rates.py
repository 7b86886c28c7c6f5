"""The rates of a slice, corrected by people's labels, and what its card says of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from pytest_medfaith import defaults
from pytest_medfaith.labels.correction import (
    LEAST_OF_CLASS,
    ErrorRates,
    Labelled,
    Rate,
    error_rates,
    labels_for_width,
    stratified_rate,
    transported_rate,
)
from pytest_medfaith.labels.rows import LabelRow
from pytest_medfaith.labels.sampling import KeyedClaim, claims_with_keys, near_and_far
from pytest_medfaith.metrics.corrected import COUNTED, SUFFIX
from pytest_medfaith.records import MetricValue, SliceReport

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


@dataclass(frozen=True)
class _Matched:
    """The labels of a checker, those of claims that the slice still has and those of claims that are gone."""

    present: Sequence[tuple[int, LabelRow]]  # the place of the claim in the slice, its label
    gone: Sequence[LabelRow]
    others: int  # labels of claims drawn under another checker


def corrected_slice(
    report: SliceReport, labels: Sequence[LabelRow], *, checker: str, seed: int = defaults.SEED
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
        seed: of the draws behind intervals.
    """
    units = claims_with_keys([report])
    matched = _match(units, labels, report.slice, checker)
    strata = near_and_far(units)
    cases = (
        np.unique([unit.report.case.id for unit in units], return_inverse=True)[1] if units else np.array([])
    )
    counted = [row for _, row in matched.present if row.label != "no_claim"]
    metrics, found = {}, dict[str, tuple[Rate, int]]()
    ways = set()
    for name, label in COUNTED.items():
        said = np.array([unit.verdict.label == label for unit in units], dtype=bool)
        rate, number, way = None, 0, ""
        if len(counted) >= min(_LEAST_LABELS, len(units)):
            chosen = [(place, row) for place, row in matched.present if row.label != "no_claim"]
            labelled = Labelled(
                cases=cases,
                strata=_merged(strata, [place for place, _ in chosen]),
                chosen=np.array([place for place, _ in chosen], dtype=np.int64),
                truth=np.array([row.label == label for _, row in chosen], dtype=bool),
            )
            rate, number, way = stratified_rate(labelled), len(chosen), "labels of these claims"
        if rate is None and units:
            rows = [row for row in (*counted, *matched.gone) if row.label != "no_claim"]
            rates = _error_rates(rows, label, seed=seed)
            rate = transported_rate(cases, said, rates, seed=seed) if rates else None
            number, way = len(rows), "the checker's error rates on labels of earlier claims"
        if rate is not None:
            found[name] = rate, number
            ways.add(way)
        metrics[name + SUFFIX] = _value(name + SUFFIX, rate, number)
    lines = _lines(matched, found, ways, _error_rates(_scored(matched), "supported", seed=seed))
    return CorrectedSlice(metrics=metrics, lines=tuple(lines))


def _match(
    units: Sequence[KeyedClaim], labels: Sequence[LabelRow], slice_name: str, checker: str
) -> _Matched:
    place = {unit.key: number for number, unit in enumerate(units)}
    of_slice = [row for row in labels if row.slice == slice_name]
    mine = [row for row in of_slice if row.checker == checker]
    return _Matched(
        present=[(place[row.key], row) for row in mine if row.key in place],
        gone=[row for row in mine if row.key not in place],
        others=len(of_slice) - len(mine),
    )


def _scored(matched: _Matched) -> list[LabelRow]:
    return [row for row in (*(row for _, row in matched.present), *matched.gone) if row.label != "no_claim"]


def _merged(strata: Sequence[str], chosen: Sequence[int]) -> np.ndarray:
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


def _value(name: str, rate: Rate | None, number: int) -> MetricValue:
    if rate is None:
        return MetricValue(name=name, value=None)
    value, low, high = (round(number, _DECIMALS) for number in rate)
    return MetricValue(name=name, value=value, low=low, high=high, n=number)


def _lines(
    matched: _Matched, found: Mapping[str, tuple[Rate, int]], ways: set[str], rates: ErrorRates | None
) -> list[str]:
    present, gone = len(matched.present), len(matched.gone)
    told = f"labels: {present} of claims of this slice"
    if gone:
        told += f", {gone} of claims that it no longer has (they count in error rates only)"
    if matched.others:
        told += f", {matched.others} drawn under another checker (left out)"
    lines = [told]
    for name, (rate, number) in found.items():
        line = f"{name} corrected by labels: {rate.value:.3f} [{rate.low:.3f}, {rate.high:.3f}]"
        more = labels_for_width(rate, number)
        lines.append(line + (f"; about {more} more labels would bring it to +- 0.02" if more else ""))
    if ways == {"the checker's error rates on labels of earlier claims"}:
        lines[-1] += "; from error rates on labels of earlier claims"
    if rates is not None:
        # The rates are of "supported": what people call supported and the checker too, and what neither does.
        caught, passed = rates.specificity, rates.sensitivity
        lines.append(
            f"on these labels the checker flags {caught.value:.2f} [{caught.low:.2f}, {caught.high:.2f}] of what is "
            f"not supported, and supports {passed.value:.2f} [{passed.low:.2f}, {passed.high:.2f}] of what is"
        )
    if not found:
        lines.append(
            f"too few labels to correct a rate: expected {_LEAST_LABELS} of this slice's claims with each verdict "
            f"among them, or {LEAST_OF_CLASS} claims each of what a rate counts and of what it does not; "
            "draw some with medfaith review"
        )
    return lines
