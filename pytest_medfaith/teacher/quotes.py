"""Finds a quote in the text that it is said to be from."""

from __future__ import annotations

import re

from pytest_medfaith.teacher.replies import ReplyError

_FEWEST = 3  # words of a quote: "the" is in every text, and shows nothing
_BEFORE = " \t\n\r\"'\u201c\u201d\u2018\u2019\u2026"  # a point may begin a number: ".5 mg"
_AFTER = _BEFORE + ".,;:"
_DASHES = "\u2010-\u2013\u2212-"  # for use within [] of a pattern
_WORD = re.compile(r"\w+")
# Marks that models write in another way than the text does.
_MARKS = {"'": "['\u2018\u2019]", "\u2018": "['\u2018\u2019]", "\u2019": "['\u2018\u2019]"}
_MARKS |= dict.fromkeys('"\u201c\u201d', '["\u201c\u201d]')
_MARKS |= dict.fromkeys("-\u2010\u2011\u2012\u2013\u2212", "[-\u2010-\u2013\u2212]")


def find_quote(quote: str, text: str) -> tuple[int, int] | None:
    """Returns (start, end) of the first `quote` in `text`; None if it is blank or not there word for word.

    Case, white space, kinds of quotation marks and dashes, and marks around the quote may differ. A number is
    never found within a longer number or a range: "5 mg" is not in "2.5 mg", "2-5 mg" or "15 mg".
    """
    words = quote.lstrip(_BEFORE).rstrip(_AFTER).split()
    if not words:
        return None
    pattern = r"\s+".join("".join(_MARKS.get(sign, re.escape(sign)) for sign in word) for word in words)
    number = rf"(?:\d|[.,{_DASHES}])" if words[0][0].isdigit() else r"\d[.,]"
    found = re.search(rf"(?<!\w)(?<!{number}){pattern}(?!\w)(?![.,{_DASHES}]\d)", text, re.IGNORECASE)
    return found.span() if found else None


def checked_quote(quote: str, text: str, *, place: str) -> tuple[int, int]:
    """Returns the (start, end) of `quote` in `text`, in characters.

    Args:
        quote: what a model says that it read.
        text: where it should be.
        place: names the text in errors, as in "passage 2".

    Raises:
        ReplyError: the quote is not there, or has fewer than three words while the text has more.
    """
    span = find_quote(quote, text)
    if span is None:
        raise ReplyError(f"the quote does not stand in {place} word for word")
    if len(_WORD.findall(quote)) < min(_FEWEST, len(_WORD.findall(text))):
        raise ReplyError(f"the quote from {place} is shorter than {_FEWEST} words")
    return span
