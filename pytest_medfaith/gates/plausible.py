"""Whether an entry of a baseline file can be what a run measured: its checksum, its ranges, and its numbers against its claims."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_medfaith.errors import DataError
from pytest_medfaith.metrics.base import Fraction, Metric
from pytest_medfaith.metrics.registry import METRICS, parse_metric
from pytest_medfaith.records import MetricValue

if TYPE_CHECKING:
    from pytest_medfaith.gates.baseline import CaseBaseline, SliceBaseline

CHECKSUM = "sha256"
_MOST = 1_000_000  # contexts, gold claims or chunks of one case
_NEAR = 1e-6  # sums of rounded parts
# How the claims' verdicts give a metric: the counted labels, over all claims or over the scored ones.
_LABELS = {
    "faithfulness": "supported",
    "hallucination": "refuted",
    "unsupported": "unsupported",
    "unscored": "unscored",
}


def checksum(row: Mapping[str, Any]) -> str:
    """Returns the SHA-256 of an entry's content, its checksum aside; it shows an edit, it does not prove who made it."""
    content = {key: value for key, value in row.items() if key != CHECKSUM}
    text = json.dumps(content, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def check_checksum(row: Mapping[str, Any], place: str) -> None:
    """Refuses an entry that was edited after it was written (DataError)."""
    written = row.get(CHECKSUM)
    if written is None:
        raise DataError(
            f"{place} has no checksum: an edit took it away, or a version before 0.2 wrote the entry"
        )
    if written != checksum(row):
        raise DataError(f"{place} was edited after it was written: its checksum is that of other content")


def check_entry(entry: SliceBaseline, declared: Mapping[str, Metric] = METRICS) -> None:
    """Refuses an entry that no run can have measured (DataError).

    A metric that is neither shipped nor one of `declared` is checked as far as that needs no definition.
    """
    place = f"slice {entry.slice!r}"
    if entry.k < 1:
        raise DataError(f"{place}: k is {entry.k}, expected 1 or more")
    metrics = {name: metric for name in entry.metrics if (metric := _metric(name, declared))}
    for name, case in entry.cases.items():
        _check_case(case, f"{place}, case {name!r}", declared)
    for name, metric in metrics.items():
        parts = [case.fractions[name] for case in entry.cases.values() if name in case.fractions]
        _check_value(metric, entry.metrics[name], parts, place)


def _metric(name: str, declared: Mapping[str, Metric]) -> Metric | None:
    """Returns the metric of `name`, None where neither this version nor the project has one."""
    try:
        return parse_metric(name, declared)
    except ValueError:
        return None


def _check_case(case: CaseBaseline, place: str, declared: Mapping[str, Metric]) -> None:
    labels: list[str] = [label for label, _ in case.claims]
    for name, fraction in case.fractions.items():
        part, whole = fraction
        said = f"{place}: {name} is {part:g} / {whole:g}"
        if not (math.isfinite(part) and whole > 0):
            raise DataError(f"{said}, expected a positive denominator")
        if not whole.is_integer() or whole > _MOST:
            raise DataError(f"{said}, expected a whole denominator of at most {_MOST}")
        metric = _metric(name, declared)
        if metric is None:
            continue
        low, high = metric.range
        if not low * whole <= part <= high * whole:
            raise DataError(f"{said}, expected a part of {low:g} to {high:g} of the whole")
        if name in _LABELS:
            counted = (
                labels.count(_LABELS[name]),
                len(labels) - (labels.count("unscored") if name != "unscored" else 0),
            )
            if counted != fraction:
                raise DataError(f"{said}, but its claims say {counted[0]} / {counted[1]}")
        if metric.whole == "claims" and whole > len(labels):
            raise DataError(f"{said}, but the case has {len(labels)} claims")
        if metric.part == "count" and not part.is_integer():
            raise DataError(f"{said}, expected a whole numerator")


def _check_value(metric: Metric, value: MetricValue, parts: Sequence[Fraction], place: str) -> None:
    said = f"{place}: {metric.name} is {value.value!r} over {value.n} cases"
    if value.n != len(parts):
        raise DataError(f"{said}, but {len(parts)} cases hold it")
    ends = [end for end in (value.low, value.high) if end is not None]
    low, high = metric.range
    if any(end is not None and not low <= end <= high for end in (value.value, *ends)) or ends != sorted(
        ends
    ):
        raise DataError(
            f"{said} with the interval {ends}, expected values from {low:g} to {high:g}, the lower first"
        )
    if value.value is None or not parts:
        return
    table = np.array(parts, dtype=np.float64)
    made = (
        table[:, 0].sum() / table[:, 1].sum()
        if metric.quantile is None
        else np.quantile(table[:, 0] / table[:, 1], metric.quantile)
    )
    if not math.isclose(float(made), value.value, rel_tol=_NEAR, abs_tol=_NEAR):
        raise DataError(f"{said}, but its cases make {float(made):g}")


def no_doubled_keys(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Returns the object of `pairs`, for json.loads.

    Raises:
        ValueError: a key stands there twice; a reader would take the last, a reviewer may see the first.
    """
    made = dict(pairs)
    if len(made) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(
            f"key {next(name for name in names if names.count(name) > 1)!r} stands twice in one object"
        )
    return made
