"""Makes foreign text harmless on its way to a terminal, a log, a JSON file or a spreadsheet.

Answers, questions, passages and ids come from anywhere. After `one_line`, `plain_lines`, `plain_json` or
`sheet_cell` such a text cannot move a cursor, colour a screen, end a line, command a CI server or run as a
formula.
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
    """Returns `text` on a single line: breaks become blanks, and control characters are left out."""
    return _seen(" ".join(text.split()))


def plain_lines(text: str) -> str:
    """Returns `text` for a terminal or a log, without control characters and commands of a CI server.

    Its lines and their indents stay. Lines end at LF, CR LF or CR, with LF in the result; any other kind of
    break becomes a blank. "::error::x", which GitHub would obey, becomes ": :error::x".
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
    """Returns JSON of the same value as `text`, with escapes for what a terminal or CI server might obey."""
    text = _INSIDE.sub(r"\\u0023", text)
    return (
        text
        if text.isprintable()
        else "".join(sign if sign == "\n" or sign.isprintable() else _escape(sign) for sign in text)
    )


def _escape(sign: str) -> str:
    r"""Returns a character as JSON escapes it, "\\u202e", with two escapes for a character above U+FFFF."""
    units = sign.encode("utf-16-be", errors="surrogatepass")
    return "".join(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2))


# A formula begins with one of the four signs; their full-width forms count in some languages. Blanks or
# quotes before it do not save a cell. Some spreadsheets part cells at semicolons, so a semicolon in a text
# begins a new cell. A comma does not, since its cell is quoted.
_FORMULA = r"""(?=[\s"'`;,|]*[=+\-@＝＋－＠﹢﹣﹦﹫−])"""
_GUARD = re.compile(rf"(?:^|(?<=[;|])){_FORMULA}")
_GUARDED = re.compile(rf"(?:^|(?<=[;|]))'{_FORMULA}")


def sheet_cell(text: str) -> str:
    """Returns `text` as a cell of a spreadsheet: on one line, and never run as a formula.

    A quote is put before what would run: "=1+1" becomes "'=1+1".
    """
    return _GUARD.sub("'", plain_lines(one_line(text)))


def text_of_cell(cell: str) -> str:
    """Returns what a person wrote in a cell, without the quotes that `sheet_cell` added."""
    return _GUARDED.sub("", cell)
