"""Recognises marks of references and footnotes, so that they can be left out of the text.

A page shows them raised or in colour. Plain text would glue them to the word before: "was 12" with the mark 3
would read "was 123".
"""

from __future__ import annotations

import re

_RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_ONE = rf"(?:\d{{1,3}}[a-z]?|[{_RAISED}]+|[*†‡§¶#]+|[a-z])"
_BETWEEN = r"\s*(?:[-‐-―−,;+]|⁻|&|and)\s*"
_MARK = re.compile(rf"\s*{_ONE}(?:{_BETWEEN}{_ONE})*\s*,?\s*")
_BRACKETED = re.compile(rf"\s*(?:\[[^\[\]]{{1,40}}\]|\({_ONE}(?:{_BETWEEN}{_ONE})*\))\s*")
_EXPONENT = re.compile(r"\s*[-+−–]?\s*(?:\d{1,3}|[a-z])\s*")
_POWERS = re.compile(r"\s*\d{1,2}\s*(?:[-‐-―−]|to)\s*\d{1,2}\s*")
_SEPARATOR = re.compile(rf"{_BETWEEN}|\s*")
# A number behind such text is part of the sentence, not a mark: "[3, " and "refs 3 and ".
_OPEN = re.compile(rf"[\[(]\s*(?:{_ONE}{_BETWEEN})*$")
_NAMED = re.compile(
    rf"\b(?:refs?|references?|nos?|numbers?|citations?|studies|study|notes?|footnotes?)\b[.:]?\s*"
    rf"(?:{_ONE}{_BETWEEN})*$",
    re.IGNORECASE,
)


def is_mark(text: str) -> bool:
    """Returns whether `text` is reference marks only: `3`, `3-5`, `3, 4`, `a`, `*`, `(3)`, `[3]`.

    A number has up to three digits; a letter is in lower case. Square brackets may hold up to 40 characters
    of any kind: "[citation needed]" is a mark.
    """
    return _MARK.fullmatch(text) is not None or _BRACKETED.fullmatch(text) is not None


def is_exponent(before: str, text: str) -> bool:
    """Returns whether raised `text` behind `before` may be an exponent or a charge, as in `m²` or `Na⁺`.

    So may `10³⁻⁵` and `xᵃ`. `3,4`, `[3]` and `*` may not.
    """
    return _EXPONENT.fullmatch(text) is not None or (
        _POWERS.fullmatch(text) is not None and before.endswith("10")
    )


def is_separator(text: str) -> bool:
    """Returns whether `text` is what stands between two marks: a comma, a dash, "and", blanks, or nothing.

    So are a semicolon, a plus, "&" and a raised minus, with blanks around them, but not two of them.
    """
    return _SEPARATOR.fullmatch(text) is not None


def shown_reference(before: str, text: str) -> str:
    """Returns what plain text shows of a link to a reference: "" for a mere mark, else its text.

    Example: behind "was 12" the mark "3" is left out, so that the text never says "was 123". In brackets or
    behind a word it stays: "[3]", "ref. 3". Other text stays, with a blank before it where it would be glued
    to a word.

    Args:
        before: the text before the link.
        text: the text of the link.
    """
    if _MARK.fullmatch(text) and not _OPEN.search(before) and not _NAMED.search(before):
        return ""
    return apart(before, text)


def apart(before: str, text: str) -> str:
    """Returns `text` with a blank before it, if it would be glued to the word at the end of `before`.

    Letters, digits and opening brackets would be: behind "ref", "[3]" becomes " [3]", and "," stays.
    """
    glued = before[-1:].isalnum() and text[:1] and (text[0].isalnum() or text[0] in "[(")
    return f" {text}" if glued else text
