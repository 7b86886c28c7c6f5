"""How cards write numbers, intervals and foreign texts.

Answers, questions, passages, ids and addresses come from anywhere. What leaves the package for a terminal, a log or a sheet goes
through `one_line` or `plain_lines`, so that no text can move a cursor, colour a screen, end a line or give a CI server a command.
"""

from __future__ import annotations

import math
import re
import unicodedata

from pytest_medfaith.errors import DataError
from pytest_medfaith.records import MetricValue

NOTHING = "-"  # stands where nothing could be measured


def decimals(value: float, *, places: int = 2) -> str:
    """Returns `value` with `places` decimals; `<0.01` and `>0.99` where rounding would claim a 0 or a 1 that is not there.

    Raises:
        DataError: `value` is not finite.
    """
    if not math.isfinite(value):
        raise DataError(
            f"a card was given the number {value}, expected a finite one; a metric without a value is None, mend where it is made"
        )
    step = 10.0**-places
    text = f"{value:.{places}f}"
    if 0 < value < 1 and float(text) == 0:
        return f"<{step:.{places}f}"
    if 0 < value < 1 and float(text) == 1:
        return f">{1 - step:.{places}f}"
    return text


def metric_text(metric: MetricValue | None, *, interval: bool = False) -> str:
    """Returns `0.82`, or with `interval` `0.82 [0.76, 0.88]`; `-` for a metric that has no value."""
    if metric is None or metric.value is None:
        return NOTHING
    value = decimals(metric.value)
    if not interval or metric.low is None or metric.high is None:
        return value
    return f"{value} [{decimals(metric.low)}, {decimals(metric.high)}]"


_UNSEEN = frozenset({"Cc", "Cf"})  # control characters, and format characters such as those that turn the direction of writing
# GitHub takes a line of a log for a command where it begins, after blanks, with "::name"; "##[name]", "##vso[name]" and
# "##teamcity[name]" are commands of it and of other servers, and GitHub obeys the first of these inside a line too.
_COMMAND = re.compile(r"^(\s*:)(?=:)|(#)(?=#\w*\[)", re.MULTILINE)
_INSIDE = re.compile(r"#(?=#\w*\[)")
_LINE_END = re.compile(r"\r\n?")


def one_line(text: str) -> str:
    """Returns `text` on one line, without control characters: a chunk cannot move the cursor or colour the terminal."""
    return _seen(" ".join(text.split()))


def plain_lines(text: str) -> str:
    """Returns `text` as a terminal or a log may show it: its lines end in LF, hold no control character and no command of a CI server.

    Blanks at the start of a line stay, and so do lines: only LF, CR LF and CR end one, every other break is a blank.
    """
    lines = (_seen("".join(" " if sign.isspace() else sign for sign in line)) for line in _LINE_END.sub("\n", text).split("\n"))
    return _COMMAND.sub(r"\1\2 ", "\n".join(lines))


def _seen(text: str) -> str:
    """Returns `text` without control and format characters; half of a character, which cannot be written, becomes U+FFFD."""
    if text.isprintable():
        return text
    kinds = ((sign, unicodedata.category(sign)) for sign in text)
    return "".join("\N{REPLACEMENT CHARACTER}" if kind == "Cs" else sign for sign, kind in kinds if kind not in _UNSEEN)


def plain_json(text: str) -> str:
    """Returns the JSON `text` with all that a terminal or a CI server might obey written as escapes; it reads back the same."""
    text = _INSIDE.sub(r"\\u0023", text)
    return text if text.isprintable() else "".join(sign if sign == "\n" or sign.isprintable() else _escape(sign) for sign in text)


def _escape(sign: str) -> str:
    units = sign.encode("utf-16-be", errors="surrogatepass")
    return "".join(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2))


def clip(text: str, length: int) -> str:
    """Returns `text` on one line of at most `length` characters, with an ellipsis where it was cut."""
    line = one_line(text)
    return line if len(line) <= length else line[: max(0, length - 1)].rstrip() + "…"


def counted(number: int, noun: str) -> str:
    """Returns `1 case`, `2 cases`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
