"""Draws docs/house.svg: the rooms of the package by floor, as in the table of architecture.md, with sizes."""

# ruff: noqa: INP001 - a script, no package
from __future__ import annotations

import re
from html import escape
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "pytest_medfaith"
WIDTH, LABEL, GAP, ROW = 960, 70, 10, 58
_ROW = re.compile(r"^\| \*\*(?P<floor>\d+)\*\* \| (?P<rooms>[^|]+)\|", re.MULTILINE)


def floors(page: str) -> list[tuple[str, list[str]]]:
    """Returns (floor, rooms) from the top floor down."""
    return [(found["floor"], re.findall(r"`(\w+)`", found["rooms"])) for found in _ROW.finditer(page)]


def lines_of(room: str) -> int:
    """Returns how many lines of Python a room has, in whole hundreds, so that the picture changes seldom."""
    paths = (PACKAGE / room).rglob("*.py") if (PACKAGE / room).is_dir() else [PACKAGE / f"{room}.py"]
    return round(sum(len(path.read_text(encoding="utf-8").splitlines()) for path in paths), -2)


def house_svg(page: str) -> str:
    """Returns the picture as SVG: a row a floor, a box a room, wider where the room has more lines."""
    rows = floors(page)
    height = len(rows) * (ROW + GAP) + GAP
    canvas = f'viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" role="img"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {canvas}>',
        "<title>The rooms of pytest_medfaith, floor by floor</title>",
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
    ]
    for number, (floor, rooms) in enumerate(rows):
        top = GAP + number * (ROW + GAP)
        parts.append(
            f'<text x="12" y="{top + ROW / 2 + 5:.0f}" font-size="14" fill="#5b6770">floor {floor}</text>'
        )
        left, sizes = float(LABEL), [max(lines_of(room), 100) for room in rooms]
        room_width = WIDTH - LABEL - GAP * len(rooms)
        # A room of few lines still has to show its name: half of the width is shared out evenly.
        for room, size in zip(rooms, sizes, strict=True):
            width = room_width * (0.5 / len(rooms) + 0.5 * size / sum(sizes))
            parts.append(
                f'<rect x="{left:.1f}" y="{top}" width="{width:.1f}" height="{ROW}" rx="6" fill="#e8f1f2" '
                'stroke="#1b6b72"/>'
                + _text(left + width / 2, top + 25, escape(room), size=15, colour="#12363a")
                + _text(left + width / 2, top + 44, _told(size), size=11, colour="#5b6770")
            )
            left += width + GAP
    return "\n".join([*parts, "</svg>"]) + "\n"


def _text(middle: float, y: int, text: str, *, size: int, colour: str) -> str:
    place = f'x="{middle:.1f}" y="{y}" font-size="{size}"'
    return f'<text {place} text-anchor="middle" fill="{colour}">{text}</text>'


def _told(size: int) -> str:
    return f"{size:,} lines" if size > 100 else "up to 100 lines"
