"""Whether a quote really stands in a text, and where."""

from __future__ import annotations

import re

from pytest_medfaith.teacher.replies import ReplyError

_FEWEST = 3  # words: "the" stands in every text, and says nothing
_BEFORE = " \t\n\r\"'\u201c\u201d\u2018\u2019\u2026"  # a point may begin a number: ".5 mg"
_AFTER = _BEFORE + ".,;:"
_DASHES = "\u2010-\u2013\u2212-"  # within brackets of a pattern
_WORD = re.compile(r"\w+")
# Marks that models write in another way than the text does.
_MARKS = {"'": "['\u2018\u2019]", "\u2018": "['\u2018\u2019]", "\u2019": "['\u2018\u2019]"}
_MARKS |= dict.fromkeys('"\u201c\u201d', '["\u201c\u201d]')
_MARKS |= dict.fromkeys("-\u2010\u2011\u2012\u2013\u2212", "[-\u2010-\u2013\u2212]")


def find_quote(quote: str, text: str) -> tuple[int, int] | None:
    """Returns the span of `quote` in `text`, None where it does not stand there word for word.

    Case, white space, the kind of quotation mark and dash, and marks around the quote do not count. A number
    is never a part of a longer one or of a range: "5 mg" is in neither "2.5 mg" nor "2-5 mg".
    """
    words = quote.lstrip(_BEFORE).rstrip(_AFTER).split()
    if not words:
        return None
    pattern = r"\s+".join("".join(_MARKS.get(sign, re.escape(sign)) for sign in word) for word in words)
    number = rf"(?:\d|[.,{_DASHES}])" if words[0][0].isdigit() else r"\d[.,]"
    found = re.search(rf"(?<!\w)(?<!{number}){pattern}(?!\w)(?![.,{_DASHES}]\d)", text, re.IGNORECASE)
    return found.span() if found else None


def checked_quote(quote: str, text: str, *, place: str) -> tuple[int, int]:
    """Returns the span of `quote` in `text`.

    Raises:
        ReplyError: it does not stand there, or is shorter than three words of a longer text.
    """
    span = find_quote(quote, text)
    if span is None:
        raise ReplyError(f"the quote does not stand in {place} word for word")
    if len(_WORD.findall(quote)) < min(_FEWEST, len(_WORD.findall(text))):
        raise ReplyError(f"the quote from {place} is shorter than {_FEWEST} words")
    return span
