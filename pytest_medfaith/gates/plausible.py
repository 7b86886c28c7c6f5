"""Checks whether an entry of a baseline can be what a run measured: checksum, ranges, counts of claims."""

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
from pytest_medfaith.records.labels import OPEN

if TYPE_CHECKING:
    from pytest_medfaith.gates.entry import CaseBaseline, SliceBaseline

CHECKSUM = "sha256"
_MOST = 1_000_000  # contexts, gold claims or chunks of a case
_ROUNDING = 1e-6  # of sums of rounded parts
# The label that a metric counts: `unscored` over all claims of a case, the rest over its scored claims.
_LABELS = {
    "faithfulness": "supported",
    "hallucination": "refuted",
    "unsupported": "unsupported",
    "unscored": "unscored",
    "uncertain": "uncertain",
}


def checksum(row: Mapping[str, Any]) -> str:
    """Returns the SHA-256 of an entry without its checksum, 64 hexadecimal digits.

    It shows an edit, and proves no author. The order of keys does not count.
    """
    content = {key: value for key, value in row.items() if key != CHECKSUM}
    text = json.dumps(content, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def check_checksum(row: Mapping[str, Any], place: str) -> None:
    """Refuses an entry that was edited after it was written.

    Raises:
        DataError: its checksum is absent or that of other content; the message names `place`.
    """
    written = row.get(CHECKSUM)
    if written is None:
        raise DataError(
            f"{place} has no checksum: an edit took it away, or a version before 0.2 wrote the entry"
        )
    if written != checksum(row):
        raise DataError(f"{place} was edited after it was written: its checksum is that of other content")


def check_entry(entry: SliceBaseline, declared: Mapping[str, Metric] = METRICS) -> None:
    """Refuses an entry that no run can have measured.

    A metric that is neither shipped nor one of `declared` is checked as far as that needs no definition.

    Raises:
        DataError: a number is out of its range, or does not fit the claims or the cases.
    """
    place = f"slice {entry.slice!r}"
    if entry.k < 1:
        raise DataError(f"{place}: k is {entry.k}, expected 1 or more")
    for name, case in entry.cases.items():
        _check_case(case, f"{place}, case {name!r}", declared)
    for name, value in entry.metrics.items():
        metric = _metric(name, declared)
        if metric:
            parts = [case.fractions[name] for case in entry.cases.values() if name in case.fractions]
            _check_value(metric, value, parts, place)


def _metric(name: str, declared: Mapping[str, Metric]) -> Metric | None:
    """Returns the metric of `name`, None where neither this version nor the project has it."""
    try:
        return parse_metric(name, declared)
    except ValueError:
        return None


def _check_case(case: CaseBaseline, place: str, declared: Mapping[str, Metric]) -> None:
    """Raises DataError where the numbers of a case are impossible, or do not fit the labels of its claims."""
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
            scored = sum(label not in OPEN for label in labels)
            counted = labels.count(_LABELS[name]), len(labels) if _LABELS[name] in OPEN else scored
            if counted != fraction:
                raise DataError(f"{said}, but its claims say {counted[0]} / {counted[1]}")
        if metric.whole == "claims" and whole > len(labels):
            raise DataError(f"{said}, but the case has {len(labels)} claims")
        if metric.part == "count" and not part.is_integer():
            raise DataError(f"{said}, expected a whole numerator")


def _check_value(metric: Metric, value: MetricValue, parts: Sequence[Fraction], place: str) -> None:
    said = f"{place}: {metric.name} is {value.value!r} over {value.n} cases"
    if value.n != len(parts) and metric.family != "corrected":  # its n counts labels
        raise DataError(f"{said}, but {len(parts)} cases hold it")
    ends = [end for end in (value.low, value.high) if end is not None]
    low, high = metric.range
    outside = [end for end in (value.value, *ends) if end is not None and not low <= end <= high]
    if outside or ends != sorted(ends):
        raise DataError(
            f"{said} with the interval {ends}, expected values from {low:g} to {high:g}, the lower first"
        )
    if value.value is None or not parts:
        return
    tops, bases = np.array(parts, dtype=np.float64).T
    q = metric.quantile
    made = tops.sum() / bases.sum() if q is None else np.quantile(tops / bases, q)
    if not math.isclose(float(made), value.value, rel_tol=_ROUNDING, abs_tol=_ROUNDING):
        raise DataError(f"{said}, but its cases make {float(made):g}")


def no_doubled_keys(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Returns the object of `pairs`, for json.loads.

    Raises:
        ValueError: the object has a key twice; a reader would take the last, a reviewer may see the first.
    """
    made = dict(pairs)
    if len(made) < len(pairs):
        names = [name for name, _ in pairs]
        doubled = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"key {doubled!r} stands twice in one object")
    return made
