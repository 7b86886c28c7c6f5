"""Plots as SVG text, without a plotting package: rows side by side, a trend, a reliability diagram.

A plot can be a file or part of a page, and follows the light or dark scheme of its viewer. None needs colour
to be read.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING

from pytest_medfaith.cards.summary import COLUMNS, many_checkers, run_label
from pytest_medfaith.cards.wording import clip, counted, decimals, has_value, metric_text
from pytest_medfaith.records import MetricValue, SliceReport

if TYPE_CHECKING:
    from pytest_medfaith.metrics.calibration import ReliabilityBin

Point = tuple[str, MetricValue]
_STYLE = (
    ".mf-plot{font:12px system-ui,sans-serif;"
    "--ink:#1f2328;--soft:#59636e;--rule:#d1d9e0;--mark:#0550ae;--band:#7fa8d8}"
    "@media screen and (prefers-color-scheme:dark){"
    ".mf-plot{--ink:#e6edf3;--soft:#9198a1;--rule:#3d444d;--mark:#79c0ff;--band:#35618e}}"
    ".mf-plot text{fill:var(--ink)}.mf-plot .soft{fill:var(--soft)}"
    ".mf-plot .strong{font-weight:600}.mf-plot .rule{stroke:var(--rule)}"
    ".mf-plot .mark{stroke:var(--mark);fill:none;stroke-width:1.5}.mf-plot .dot{fill:var(--mark)}"
    ".mf-plot .band{stroke:var(--band);stroke-width:5}"
    ".mf-plot .ideal{stroke:var(--soft);stroke-dasharray:4 4}"
)
_LEAST_RANGE = 0.1  # of the axis of a trend; in less, noise would look like a cliff


def trend_svg(points: Sequence[Point], *, title: str, width: int = 280, height: int = 132) -> str:
    """Returns a plot of a metric over runs, the newest last, with a bar for each 95 % interval.

    A run in which the metric had no value leaves a gap in the line.

    Args:
        points: (label of the run, value).
        title: what is shown.
        width: pixels.
        height: pixels.

    Raises:
        ValueError: no point has a value.
    """
    ends = [end for _, metric in points for end in (metric.value, metric.low, metric.high) if end is not None]
    if not ends:
        raise ValueError(
            f"the trend of {title!r} has no value in {len(points)} runs, expected at least one; "
            "leave the plot out"
        )
    low, high = _axis(ends)
    left, right, top, bottom = 36.0, width - 8.0, 26.0, height - 22.0

    def x(place: int) -> float:
        return left + (right - left) * (place + 0.5) / len(points)

    def y(value: float) -> float:
        return bottom - (bottom - top) * (value - low) / (high - low)

    body = [
        draw_text(0, 13, title, "strong"),
        draw_text(width, 13, metric_text(points[-1][1]), "strong", anchor="end"),
    ]
    for value in (low, high):
        body += [
            draw_line(left, y(value), right, y(value), "rule"),
            draw_text(left - 6, y(value) + 4, f"{value:.2f}", "soft", anchor="end"),
        ]
    body += [draw_path(line, "mark") for line in _unbroken(points, x, y) if len(line) > 1]
    for place, (label, metric) in enumerate(points):
        body += _point(x(place), y, metric, label)
    body.append(draw_text(left, height - 5, clip(points[0][0], 20), "soft"))
    if len(points) > 1:
        body.append(draw_text(right, height - 5, clip(points[-1][0], 20), "soft", anchor="end"))
    return draw_svg(body, width, height, f"{title} over {len(points)} runs")


def _axis(values: Sequence[float]) -> tuple[float, float]:
    """Returns both ends of an axis, multiples of 0.05 that are at least 0.1 apart and hold all `values`."""
    low, high = math.floor(min(values) * 20) / 20, math.ceil(max(values) * 20) / 20
    short = _LEAST_RANGE - (high - low)
    if short <= 0:
        return low, high
    return (low, high + short) if low < short else (low - short, high)


def _unbroken(
    points: Sequence[Point], x: Callable[[int], float], y: Callable[[float], float]
) -> list[list[tuple[float, float]]]:
    """Returns the points as lines of (x, y) in pixels; a missing value begins a new line."""
    lines: list[list[tuple[float, float]]] = [[]]
    for place, (_, metric) in enumerate(points):
        if metric.value is None:
            lines.append([])
        else:
            lines[-1].append((x(place), y(metric.value)))
    return lines


def _point(x: float, y: Callable[[float], float], metric: MetricValue, label: str) -> list[str]:
    """Returns the dot of a value with a bar for its interval; nothing for a metric without a value."""
    if metric.value is None:
        return []
    shown = f"{label}: {metric_text(metric, interval=True)}, {counted(metric.n, 'case')}"
    dot = draw_dot(x, y(metric.value), "3.5", shown)
    if metric.low is None or metric.high is None:
        return [dot]
    return [draw_line(x, y(metric.low), x, y(metric.high), "band"), dot]


def ablation_svg(slice_reports: Sequence[SliceReport], *, metrics: Mapping[str, str] = COLUMNS) -> str:
    """Returns a plot with a row for each slice report and a panel for each metric, from 0 to 1.

    A dot shows the value, a bar its 95 % interval.

    Args:
        slice_reports: the rows, for example of one slice under several retrievers.
        metrics: {title of the panel: name of the metric}; a metric without a value in every report gets no
            panel.

    Raises:
        ValueError: no report has a value of any of `metrics`.
    """
    panels = {
        title: name
        for title, name in metrics.items()
        if any(has_value(report.metrics.get(name)) for report in slice_reports)
    }
    if not panels:
        raise ValueError(
            f"none of {', '.join(metrics.values())} has a value in {len(slice_reports)} slice reports; "
            "leave the plot out"
        )
    checkers = many_checkers(slice_reports)
    labels = [clip(run_label(report, checker=checkers), 44) for report in slice_reports]
    left, panel, row = 24 + 7 * max(map(len, labels)), 132, 26
    width, height = left + panel * len(panels), 46 + row * len(labels)
    body = [draw_text(0, 38 + row * i + 4, label) for i, label in enumerate(labels)]
    for j, (title, name) in enumerate(panels.items()):
        values = [report.metrics.get(name) for report in slice_reports]
        body += _panel(title, values, start=left + panel * j, length=panel - 56, row=row)
    return draw_svg(body, width, height, f"{', '.join(panels)} of {len(labels)} slice reports")


def _panel(
    title: str, values: Sequence[MetricValue | None], *, start: float, length: float, row: float
) -> list[str]:
    """Returns the panel of a metric: for each row a rule from 0 to 1, a dot, an interval and a value."""
    body = [draw_text(start, 13, title, "strong")]
    for i, metric in enumerate(values):
        y = 38 + row * i
        body += [
            draw_line(start, y, start + length, y, "rule"),
            draw_text(start + length + 8, y + 4, metric_text(metric)),
        ]
        if metric is None or metric.value is None:
            continue
        if metric.low is not None and metric.high is not None:
            body.append(draw_line(start + length * metric.low, y, start + length * metric.high, y, "band"))
        body.append(draw_dot(start + length * metric.value, y, "4"))
    return body


def reliability_svg(bins: Sequence[ReliabilityBin], *, title: str = "Reliability", size: int = 320) -> str:
    """Returns a reliability diagram: accuracy over confidence, both 0 to 1, and the ideal diagonal.

    The area of a dot grows with the number of pairs in its bin.

    Args:
        bins: as `metrics.calibration.reliability` returns them.
        title: what is shown.
        size: pixels, of width and height.

    Raises:
        ValueError: no bins.
    """
    if not bins:
        raise ValueError("a reliability plot got no bins, expected at least one; score labelled pairs first")
    left, right, top, bottom = 40.0, size - 12.0, 28.0, size - 44.0

    def x(value: float) -> float:
        return left + (right - left) * value

    def y(value: float) -> float:
        return bottom - (bottom - top) * value

    body = [draw_text(0, 14, title, "strong")]
    for tick in (0.0, 0.5, 1.0):
        body += [
            draw_line(left, y(tick), right, y(tick), "rule"),
            draw_text(left - 6, y(tick) + 4, f"{tick:.1f}", "soft", anchor="end"),
            draw_text(x(tick), bottom + 16, f"{tick:.1f}", "soft", anchor="middle"),
        ]
    places = [(x(one.confidence), y(one.accuracy)) for one in bins]
    body += [draw_line(x(0), y(0), x(1), y(1), "ideal"), draw_path(places, "mark")]
    most = max(one.n for one in bins)
    for one, place in zip(bins, places, strict=True):
        shown = f"{one.n} pairs: confidence {decimals(one.confidence)}, accuracy {decimals(one.accuracy)}"
        body.append(draw_dot(*place, f"{3 + 6 * math.sqrt(one.n / most):.1f}", shown))
    axis = f"confidence (accuracy upwards; {sum(one.n for one in bins)} pairs)"
    body.append(draw_text((left + right) / 2, size - 8, axis, "soft", anchor="middle"))
    return draw_svg(body, size, size, title)


def draw_svg(body: Iterable[str], width: float, height: float, label: str) -> str:
    """Returns the plot of `body`, with the styles of all plots; readers of screens hear `label`."""
    head = '<svg xmlns="http://www.w3.org/2000/svg" class="mf-plot" role="img"'
    head += f' aria-label="{escape(label)}" viewBox="0 0 {width} {height}" width="{width}" height="{height}">'
    return "\n".join([head, f"<style>{_STYLE}</style>", *body, "</svg>"]) + "\n"


def draw_text(x: float, y: float, text: str, kind: str = "", *, anchor: str = "start") -> str:
    """Returns a text in the style `kind`."""
    place = f'x="{x:.1f}" y="{y:.1f}"'
    place += f' class="{kind}"' if kind else ""
    place += f' text-anchor="{anchor}"' if anchor != "start" else ""
    return f"<text {place}>{escape(text)}</text>"


def draw_dot(x: float, y: float, radius: str, shown: str = "") -> str:
    """Returns a dot; `shown` appears where the pointer rests on it."""
    place = f'<circle class="dot" cx="{x:.1f}" cy="{y:.1f}" r="{radius}"'
    return f"{place}><title>{escape(shown)}</title></circle>" if shown else f"{place}/>"


def draw_line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    """Returns a line in the style `kind`."""
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def draw_path(places: Sequence[tuple[float, float]], kind: str) -> str:
    """Returns a line through `places`."""
    return f'<polyline class="{kind}" points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in places)}"/>'
