"""The entry of a slice in a baseline: metrics, every case with its claims, and the signature."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_medfaith.conversion import Record
from pytest_medfaith.errors import MissingBaseline
from pytest_medfaith.metrics.aggregate import aggregate
from pytest_medfaith.metrics.base import Fraction, Metric
from pytest_medfaith.metrics.registry import METRICS, parse_metric
from pytest_medfaith.metrics.severity import as_rules_grade
from pytest_medfaith.records import (
    MetricValue,
    Report,
    SliceRecord,
    SliceReport,
    SliceRun,
    VerdictLabel,
)

UPDATE = "--medfaith-update-baseline"
# Parts of a signature that hold a value for each name, and the fields of a slice run that say, level by
# level, which of them made it.
_NAMED_PARTS = {
    "checkers": ("checker",),
    "corpora": ("slice",),
    "encoders": ("retriever",),
    "retrievers": ("slice", "retriever"),
}
_DECIMALS = 10  # as the metrics round: the last bits differ between machines


@dataclass(frozen=True, kw_only=True)
class CaseBaseline(Record):
    """A case in a baseline: `claims` are (verdict, text), `fractions` {metric: (part, whole)}."""

    claims: tuple[tuple[VerdictLabel, str], ...]
    fractions: Mapping[str, tuple[float, float]]


@dataclass(frozen=True, kw_only=True)
class SliceBaseline(SliceRecord):
    """A slice run in a baseline: its metrics, its cases by id, and the signature of what made them."""

    signature: Mapping[str, Any]
    metrics: Mapping[str, MetricValue]
    cases: Mapping[str, CaseBaseline]


def baseline_entry(
    report: SliceReport,
    *,
    signature: Mapping[str, Any],
    metrics: Collection[str] = (),
    declared: Mapping[str, Metric] = METRICS,
    seed: int = 0,
) -> SliceBaseline:
    """Returns what a baseline keeps of `report`.

    Args:
        report: of the slice.
        signature: what made the run, as plain values.
        metrics: names to keep beside those of the report, such as the `recall@20` of a gate.
        declared: the metrics by name, see `parse_metric`.
        seed: of the intervals of `metrics`.

    Raises:
        ValueError: no metric has one of the names.
    """
    asked = {
        name: report.metrics.get(name)
        or aggregate(parse_metric(name, declared), report.reports, seed=seed)[0]
        for name in metrics
    }
    values = {name: value for name, value in {**report.metrics, **asked}.items() if value.value is not None}
    measured = [parse_metric(name, declared) for name in sorted(values)]
    return SliceBaseline(
        **report.run.to_dict(),
        signature=slice_signature(report.run, signature),
        metrics=values,
        cases={one.case.id: case_baseline(one, measured) for one in report.reports},
    )


def case_baseline(report: Report, metrics: Iterable[Metric]) -> CaseBaseline:
    """Returns what a baseline keeps of a case; a metric that does not apply to it is absent.

    Errors have the severity that rules gave them, not that of people's labels: see `as_rules_grade`.
    """
    fractions: dict[str, Fraction] = {}
    by_rules = as_rules_grade(report)
    for metric in metrics:
        fraction = metric.measure(by_rules if metric.family == "severity" else report)
        if fraction is not None:
            fractions[metric.name] = round(fraction[0], _DECIMALS), round(fraction[1], _DECIMALS)
    claims = tuple((verdict.label, verdict.claim.text) for verdict in report.verdicts)
    return CaseBaseline(claims=claims, fractions=fractions)


def slice_signature(run: SliceRun, signature: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the part of a run's `signature` that decides the numbers of a slice.

    Of checkers, corpora, retrievers, encoders and contexts it is what the slice uses, of the rest all.
    """
    kept = dict(signature)
    contexts = kept.pop("contexts", {}).get(run.slice, {})
    if run.contexts_mode in contexts:
        kept["contexts"] = {run.contexts_mode: contexts[run.contexts_mode]}
    for part, fields in _NAMED_PARTS.items():
        if part in kept:
            kept[part] = _used(kept[part], [getattr(run, field) for field in fields])
    # through JSON, so that it equals what is read back
    return json.loads(json.dumps(kept, default=str))  # type: ignore[no-any-return]


def _used(values: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Returns the part of nested `values` that the path `names` leads to, still nested; {} for none."""
    name, *below = names
    if name not in values:
        return {}
    return {name: _used(values[name], below) if below else values[name]}


def require_metrics(entry: SliceBaseline, names: Collection[str]) -> None:
    """Refuses an entry that lacks one of the metrics `names`.

    Raises:
        MissingBaseline: it does.
    """
    lacking = sorted(set(names) - entry.metrics.keys())
    if lacking:
        raise MissingBaseline(
            f"the baseline of slice {entry.slice!r} holds no value of {lacking[0]}; "
            f"store one with pytest {UPDATE}, or remove the gate where the slice cannot be measured by it"
        )
