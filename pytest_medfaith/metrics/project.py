"""The metrics of a project: its settings name them, and every result of them is checked."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping, Sequence
from numbers import Real
from typing import TYPE_CHECKING

from pytest_medfaith.dotted import load_dotted
from pytest_medfaith.errors import DataError, shown
from pytest_medfaith.metrics.base import Fraction, Metric
from pytest_medfaith.metrics.registry import METRICS, parse_metric

if TYPE_CHECKING:
    from pytest_medfaith.records import Report

# Gates ("brand_names <= 0.1"), the marker (brand_names_at_most=0.1) and files hold the name.
_NAME = re.compile(r"[A-Za-z][\w.]*")
_ROUNDING = 1e-9  # a sum of shares may leave the range by its last bits
_MOST = 1_000_000  # as the baseline allows


def declared_metrics(names: Sequence[str]) -> Mapping[str, Metric]:
    """Returns the shipped metrics by name, and after them those that `names` lead to.

    Nothing is kept between calls: two projects in one process do not see each other's metrics.

    Args:
        names: dotted names of `Metric` objects, such as "my_pkg.metrics:brand_names".

    Raises:
        DataError: a name leads nowhere or to something else; a metric has a name that is taken or that a gate
            cannot hold, or a direction or range that does not exist.
    """
    declared = dict(METRICS)
    for dotted in names:
        metric = load_dotted(dotted, what="the metric")
        if not isinstance(metric, Metric):
            raise DataError(
                f"the metric {dotted!r} is {shown(metric)}; expected a pytest_medfaith.metrics.base.Metric, "
                "as in brand_names = Metric(name=..., direction=..., definition=..., per_case=...)"
            )
        _check_declaration(metric, dotted, declared)
        declared[metric.name] = dataclasses.replace(metric, family="project", per_case=_checked(metric))
    return declared


def _check_declaration(metric: Metric, dotted: str, declared: Mapping[str, Metric]) -> None:
    """Raises DataError where a metric of the project has a taken name, or no valid direction or range."""
    said = f"the metric {dotted!r} has the"
    if not isinstance(metric.name, str) or not _NAME.fullmatch(metric.name):
        raise DataError(
            f"{said} name {metric.name!r}; expected letters, digits, _ and . with a letter first, such as "
            "'brand_names'"
        )
    if _is_taken(metric.name, declared):
        whose = (
            "another metric of the settings"
            if metric.name in declared and metric.name not in METRICS
            else "a shipped one"
        )
        raise DataError(f"{said} name {metric.name!r}, which {whose} has; expected another name")
    if metric.direction not in ("higher", "lower"):
        raise DataError(
            f"{said} direction {metric.direction!r}; expected 'higher' or 'lower', which says what is better"
        )
    if not metric.range[0] < metric.range[1]:
        raise DataError(f"{said} range {metric.range!r}; expected (lowest, highest)")


def _is_taken(name: str, declared: Mapping[str, Metric]) -> bool:
    try:
        parse_metric(name, declared)
    except ValueError:
        return False
    return True


def _checked(metric: Metric) -> Callable[[Report], Fraction | None]:
    """Returns the metric's function with a check of what it returns.

    A baseline refuses such values as well, but in a later run, and without naming the function.
    """
    low, high = metric.range

    def per_case(report: Report) -> Fraction | None:
        found = metric.per_case(report)
        if found is None:
            return None
        said = f"metric {metric.name!r} of case {report.case.id!r} is"
        if not _is_pair(found):
            raise ValueError(
                f"{said} {found!r}, expected (part, whole), such as (1, 4), or None where it does not apply"
            )
        part, whole = map(float, found)
        said = f"{said} {part:g} / {whole:g}"
        if not (whole.is_integer() and 1 <= whole <= _MOST):
            raise ValueError(
                f"{said}, expected a whole number of 1 or more as the whole, or None where nothing is counted"
            )
        if metric.whole == "claims" and whole > len(report.verdicts):
            raise ValueError(
                f"{said}, but the answer makes {len(report.verdicts)} claims; expected no more of them"
            )
        if metric.part == "count" and not part.is_integer():
            raise ValueError(f"{said}, expected a whole number as the part, which is declared as a count")
        if not low - _ROUNDING <= part / whole <= high + _ROUNDING:
            raise ValueError(
                f"{said} = {part / whole:g}, expected a value in its range, {low:g} to {high:g}; mend the "
                "function, or declare another range, as in Metric(..., range=(0, math.inf))"
            )
        return min(max(part, low * whole), high * whole), whole

    return per_case


def _is_pair(found: object) -> bool:
    return (
        isinstance(found, (tuple, list)) and len(found) == 2 and all(isinstance(one, Real) for one in found)
    )
