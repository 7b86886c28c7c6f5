"""How cards write numbers, intervals and clipped texts."""

from __future__ import annotations

import math
from collections.abc import Iterable

from pytest_medfaith.errors import DataError
from pytest_medfaith.plain import one_line
from pytest_medfaith.records import VERDICTS, MetricValue, Report, VectorIndex

NOTHING = "-"  # shown where nothing could be measured


def decimals(value: float, *, places: int = 2) -> str:
    """Returns `value` with `places` decimals; `<0.01` and `>0.99` where rounding would make it 0 or 1.

    Raises:
        DataError: `value` is not finite.
    """
    if not math.isfinite(value):
        raise DataError(
            f"a card was given the number {value}, expected a finite one; mend where it is made. "
            "A metric without a value is None"
        )
    step = 10.0**-places
    text = f"{value:.{places}f}"
    if 0 < value < 1 and float(text) == 0:
        return f"<{step:.{places}f}"
    if 0 < value < 1 and float(text) == 1:
        return f">{1 - step:.{places}f}"
    return text


def has_value(metric: MetricValue | None) -> bool:
    """Returns whether a metric was measured at all: False for None, and for a metric whose value is None."""
    return metric is not None and metric.value is not None


def metric_text(metric: MetricValue | None, *, interval: bool = False) -> str:
    """Returns `0.82`, or with `interval` `0.82 [0.76, 0.88]`; `-` for a metric without a value."""
    if metric is None or metric.value is None:
        return NOTHING
    value = decimals(metric.value)
    if not interval or metric.low is None or metric.high is None:
        return value
    return f"{value} [{decimals(metric.low)}, {decimals(metric.high)}]"


def clip(text: str, length: int) -> str:
    """Returns `text` as one line of at most `length` characters, with an ellipsis where it was cut."""
    line = one_line(text)
    return line if len(line) <= length else line[: max(0, length - 1)].rstrip() + "…"


def counted(number: int, noun: str) -> str:
    """Returns `1 case`, `2 cases`, `0 cases` for the noun "case": the plural has an "s" at its end."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def index_text(index: VectorIndex) -> str:
    """Returns an approximate index in words: "HNSW32 (efSearch 128): recall@10 0.957 of exact ..."."""
    search = ", ".join(f"{name} {value}" for name, value in index.search.items())
    recall = ", ".join(f"recall@{depth} {decimals(value, places=3)}" for depth, value in index.recall.items())
    said = f"{one_line(index.factory)} ({search})" if search else one_line(index.factory)
    return f"{said}: {recall} of exact search, on {counted(index.queries, 'sentence')} of the corpus"


def told_verdicts(reports: Iterable[Report]) -> list[str]:
    """Returns the labels that files count: "uncertain" only where verdicts are selective."""
    selective = any(report.selective for report in reports)
    return [label for label in VERDICTS if selective or label != "uncertain"]
