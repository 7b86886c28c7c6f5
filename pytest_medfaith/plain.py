"""Cleans foreign text where it leaves the package: for terminals, logs, JSON and spreadsheets.

Answers, questions, passages, ids and addresses come from anywhere. On its way to a terminal, a log or a sheet
each text goes through `one_line`, `plain_lines`, `plain_json` or `sheet_cell`. After that it cannot move a
cursor, colour a screen, end a line, command a CI server or run in a spreadsheet.
"""

from __future__ import annotations

import re
import unicodedata

# Control characters, and format characters such as those that turn the direction of writing.
_UNSEEN = frozenset({"Cc", "Cf"})
# GitHub obeys a line of a log that begins, after blanks, with "::name". "##[name]", "##vso[name]" and
# "##teamcity[name]" are commands of several servers, and GitHub obeys the first of these inside a line, too.
_COMMAND = re.compile(r"^(\s*:)(?=:)|(#)(?=#\w*\[)", re.MULTILINE)
_INSIDE = re.compile(r"#(?=#\w*\[)")
_LINE_END = re.compile(r"\r\n?")


def one_line(text: str) -> str:
    """Returns `text` on one line without control characters, which could move the cursor."""
    return _seen(" ".join(text.split()))


def plain_lines(text: str) -> str:
    """Returns `text` for a terminal or a log: without control characters and commands of a CI server.

    Blanks at the start of a line stay, and so do the lines. They end at LF, CR LF or CR, and with LF in the
    result; every different break becomes a blank.
    """
    lines = (
        _seen("".join(" " if sign.isspace() else sign for sign in line))
        for line in _LINE_END.sub("\n", text).split("\n")
    )
    return _COMMAND.sub(r"\1\2 ", "\n".join(lines))


def _seen(text: str) -> str:
    """Returns `text` without control and format characters; a lone surrogate becomes U+FFFD."""
    if text.isprintable():
        return text
    kinds = ((sign, unicodedata.category(sign)) for sign in text)
    return "".join(
        "\N{REPLACEMENT CHARACTER}" if kind == "Cs" else sign for sign, kind in kinds if kind not in _UNSEEN
    )


def plain_json(text: str) -> str:
    """Returns JSON that reads back as `text`, with escapes for what a terminal or CI server might obey."""
    text = _INSIDE.sub(r"\\u0023", text)
    return (
        text
        if text.isprintable()
        else "".join(sign if sign == "\n" or sign.isprintable() else _escape(sign) for sign in text)
    )


def _escape(sign: str) -> str:
    units = sign.encode("utf-16-be", errors="surrogatepass")
    return "".join(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2))


# A formula begins with one of the four signs; their full-width forms count in some languages. Blanks or
# quotes before it do not save a cell. Some spreadsheets part cells at semicolons, so a semicolon in a text
# begins a new cell. A comma does not, since its cell is quoted.
_FORMULA = r"""(?=[\s"'`;,|]*[=+\-@＝＋－＠﹢﹣﹦﹫−])"""
_GUARD = re.compile(rf"(?:^|(?<=[;|])){_FORMULA}")
_GUARDED = re.compile(rf"(?:^|(?<=[;|]))'{_FORMULA}")


def sheet_cell(text: str) -> str:
    """Returns `text` as a cell of a spreadsheet: one line, a quote before what would run as a formula."""
    return _GUARD.sub("'", plain_lines(one_line(text)))


def text_of_cell(cell: str) -> str:
    """Returns what a person wrote in a cell, without the quotes that `sheet_cell` put there."""
    return _GUARDED.sub("", cell)
