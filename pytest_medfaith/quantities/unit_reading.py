"""Reads the unit after a number, with its denominators: "mg/kg", "mL per minute", "cells per microlitre"."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pytest_medfaith.quantities.units import unit_of, unit_pattern

_PER_UNIT = re.compile(r"\s*(?:/|per\b|a\b|an\b|each\b|for (?:every|each)\b)\s*", re.IGNORECASE)
# In "1 mg an hour before" and "50 mg an hour or so ahead of" the hour is not a denominator.
_TIME_BEFORE = re.compile(
    r"\s+an?\s+(?:second|minute|hour)\s+(?:or\s+(?:so|two|more)\s+)?"
    r"(?:before|after|later|earlier|prior|ahead|apart)\b",
    re.IGNORECASE,
)
_PER_VOLUME = re.compile(
    r"(?:(?:\s+(?!to\b|and\b|or\b|in\b)[^\W\d_][\w-]*){1,4}\s?(?:/|per\s)|"
    r"\s?(?:/|per\s))\s?(?P<below>litres?|liters?|millilit(?:re|er)s?|decilit(?:re|er)s?|l|dl|ml|mm3|mm³|"
    r"[µμu]l|microlitres?|microliters?)(?![^\W_])",
    re.IGNORECASE,
)
_BODY_SURFACE = re.compile(r"\s*(?:/|per)\s*1\.73\s*(?:m2|m²|square met\w+)", re.IGNORECASE)
_CAPITAL_UNIT = re.compile(r"\s?(?P<letter>[FD])(?![\w+-]|\.\w)")  # "101.3 F", "+18 D"; a day is "d"
_JOINTS = (" ", "-", "\u00a0", "\u2009", "\u202f")  # between a number and its unit
_RUNNING = re.compile(
    r"\s(?:consecutive|successive|straight|full|whole|complete|further|"
    r"more)(?=\s(?:second|minute|hour|day|night|week|month|year)s?\b)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Unit:
    """A unit as a text writes it: "mg/kg".

    Attributes:
        factor: to the base unit of its dimension: 0.001 for "mg", whose base unit is the gram.
        dimension: with denominators, such as "volume/time".
        end: the character after its words.
    """

    factor: float
    dimension: str
    end: int


def unit_at(text: str, position: int) -> Unit | None:
    """Returns the unit at `position`, with its denominators ("mg/kg", "mL per minute"), or None.

    A day and longer times are no denominators: "5 mg a day" tells how often 5 mg are given.
    """
    if bare := _CAPITAL_UNIT.match(text, position):
        return Unit(1.0, "fahrenheit" if bare["letter"] == "F" else "refraction", bare.end())
    if long := _RUNNING.match(text, position):
        position = long.end()
    start = position + 1 if text[position : position + 1] in _JOINTS else position
    found = unit_pattern().match(text, start)
    volume = _PER_VOLUME.match(text, position)
    if volume and (not found or unit_of(found[0])[1] in ("copies", "cells")):  # "150 × 10^9/L", "200/mm3"
        return Unit(1 / unit_of(volume["below"])[0], "cells/volume", volume.end())
    if not found or (start == position and found[0] == "s"):
        return None
    factor, dimension = unit_of(found[0])
    end = found.end()
    while True:
        if surface := _BODY_SURFACE.match(text, end):
            end = surface.end()
        joint = None if _TIME_BEFORE.match(text, end) else _PER_UNIT.match(text, end)
        below = unit_pattern().match(text, joint.end()) if joint else None
        if not below or dimension == "fraction":
            return Unit(factor, dimension, end)
        below_factor, below_dimension = unit_of(below[0])
        if below_dimension == "time" and below_factor >= 1:
            return Unit(factor, dimension, end)
        factor, dimension, end = factor / below_factor, f"{dimension}/{below_dimension}", below.end()
