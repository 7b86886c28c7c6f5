"""Shows a watched rate: a table by day, what the test says, and a plot."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from pytest_medfaith.cards.plots import trend_svg
from pytest_medfaith.drift.betting import rate_interval
from pytest_medfaith.drift.history import LEFT_OUT, UNDECIDED, Seen
from pytest_medfaith.plain import one_line
from pytest_medfaith.records import MetricValue

if TYPE_CHECKING:
    from pytest_medfaith.drift.watching import Watched

_LARGEST = 100  # answers of a row, where the log has no days
_SHOWN = 14  # rows of the table, the newest


def periods(seen: Sequence[Seen]) -> list[tuple[str, list[Seen]]]:
    """Returns (day, answers) in order; answers without a day are grouped by hundreds."""
    looked = [one for one in seen if one.outcome != LEFT_OUT]
    if looked and all(one.day for one in looked):
        by_day = sorted(looked, key=lambda one: one.day)
        return [(day, list(of_day)) for day, of_day in groupby(by_day, key=lambda one: one.day)]
    return [
        (f"answers {start + 1} to {min(start + _LARGEST, len(looked))}", looked[start : start + _LARGEST])
        for start in range(0, len(looked), _LARGEST)
    ]


def measured(name: str, seen: Sequence[Seen]) -> MetricValue:
    """Returns the mean over answers with its 95 % interval (see `rate_interval`)."""
    values = [one.value for one in seen if one.value is not None]
    ends = rate_interval(values)
    if ends is None:
        return MetricValue(name=name, value=None)
    return MetricValue(name=name, value=sum(values) / len(values), low=ends[0], high=ends[1], n=len(values))


def watch_text(watched: Watched) -> str:
    """Returns the card of a watched rate."""
    name = watched.bound.metric
    rows = periods(watched.seen)
    lines = [
        f"{'period':<22} {'answers':>8} {'refusals':>9} {'failed':>7} {'undecided':>10}  {name}, mean [95 %]"
    ]
    if len(rows) > _SHOWN:
        lines.append(f"... {len(rows) - _SHOWN} earlier rows")
    for period, seen in rows[-_SHOWN:]:
        lines.append(_row(period, seen, name))
    lines.append(_row("all", [one for one in watched.seen if one.outcome != LEFT_OUT], name))
    lines.append(f"{watched.new} new answers, {watched.left_out} of them left out by the sample")
    if watched.others:
        lines.append(
            f"{watched.others} answers were judged by another checker or other rules; they do not count here"
        )
    lines.append(verdict_line(watched))
    return "\n".join(lines)


def verdict_line(watched: Watched) -> str:
    """Returns what the test says, in a line."""
    bound, crossed = watched.bound.expression, watched.crossed
    if crossed is not None:
        when = f", {crossed.day}" if crossed.day else ""
        return (
            f"ALARM {bound}: refuted at answer {watched.test.crossed} ({one_line(crossed.id)}{when}); "
            f"evidence {watched.test.evidence:,.0f}, 20 is enough"
        )
    if watched.unusable:
        return f"UNUSABLE {bound}: {watched.unusable}"
    return (
        f"OK {bound}: not refuted by {len(watched.valued)} answers; "
        f"evidence {watched.test.evidence:.2f}, 20 would be enough"
    )


def watch_svg(watched: Watched) -> str:
    """Returns the course of the rate as SVG.

    Raises:
        ValueError: no answer has a value.
    """
    points = [(period, measured(watched.bound.metric, seen)) for period, seen in periods(watched.seen)]
    return trend_svg(points, title=watched.bound.metric, width=720, height=240)


def _told(metric: MetricValue) -> str:
    if metric.value is None:
        return "-"
    return f"{metric.value:.3f} [{metric.low:.3f}, {metric.high:.3f}]"


def _row(period: str, seen: Sequence[Seen], metric: str) -> str:
    refusals, failed, undecided = (
        sum(one.outcome == kind for one in seen) for kind in ("abstained", "failed", UNDECIDED)
    )
    counts = f"{len(seen):>8} {refusals:>9} {failed:>7} {undecided:>10}"
    return f"{period:<22} {counts}  {_told(measured(metric, seen))}"
