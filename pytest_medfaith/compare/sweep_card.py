"""A sweep of thresholds as a table and as a plot."""

from __future__ import annotations

from collections.abc import Sequence

from tabulate import tabulate

from pytest_medfaith.cards.plots import draw_dot, draw_line, draw_path, draw_svg, draw_text
from pytest_medfaith.cards.wording import decimals, metric_text
from pytest_medfaith.compare.sweep import SWEPT, SweepRow

_WIDTH, _HEIGHT = 320.0, 220.0  # of a panel, in pixels
_LEFT, _TOP, _BOTTOM, _RIGHT = 40.0, 30.0, 36.0, 12.0


def sweep_table(rows: Sequence[SweepRow]) -> str:
    """Returns a line for each threshold: the cases that are answered, and the metrics of their answers."""
    header = ["threshold", "answered", "abstention", *SWEPT]
    body = [
        [
            f"{row.threshold:.2f}",
            f"{row.answered} of {row.cases}",
            decimals(row.abstention),
            *(metric_text(row.metrics[name], interval=True) for name in SWEPT),
        ]
        for row in rows
    ]
    return tabulate(body, headers=header, disable_numparse=True)


def sweep_svg(rows: Sequence[SweepRow]) -> str:
    """Returns an SVG of two panels over the threshold: faithfulness with intervals, and abstention, 0 to 1.

    A threshold at which nothing is answered has no faithfulness, and no dot.
    """
    body = []
    for place, title in enumerate(("faithfulness of the answers", "abstention")):
        left = place * _WIDTH
        body += _axes(left, title)
        line = []
        for row in rows:
            x, faithfulness = _x(left, row.threshold), row.metrics["faithfulness"]
            value = row.abstention if place else faithfulness.value
            if value is None:
                continue
            line.append((x, _y(value)))
            if not place and faithfulness.low is not None and faithfulness.high is not None:
                body.append(draw_line(x, _y(faithfulness.low), x, _y(faithfulness.high), "band"))
            shown = (
                f"threshold {row.threshold:.2f}: {decimals(value)}, {row.answered} of {row.cases} answered"
            )
            body.append(draw_dot(x, _y(value), "3", shown))
        body += [draw_path(line, "mark")] if len(line) > 1 else []
    return draw_svg(body, 2 * _WIDTH, _HEIGHT, "Faithfulness and abstention over the confidence threshold")


def _x(left: float, threshold: float) -> float:
    return left + _LEFT + (_WIDTH - _LEFT - _RIGHT) * threshold


def _y(value: float) -> float:
    return _HEIGHT - _BOTTOM - (_HEIGHT - _TOP - _BOTTOM) * value


def _axes(left: float, title: str) -> list[str]:
    drawn = [draw_text(left + _LEFT, 16, title, "strong")]
    for value in (0.0, 0.5, 1.0):
        drawn += [
            draw_line(left + _LEFT, _y(value), left + _WIDTH - _RIGHT, _y(value), "rule"),
            draw_text(left + _LEFT - 6, _y(value) + 4, f"{value:g}", "soft", anchor="end"),
            draw_text(_x(left, value), _HEIGHT - _BOTTOM + 16, f"{value:g}", "soft", anchor="middle"),
        ]
    middle = left + _LEFT + (_WIDTH - _LEFT - _RIGHT) / 2
    return [*drawn, draw_text(middle, _HEIGHT - 4, "threshold", "soft", anchor="middle")]
