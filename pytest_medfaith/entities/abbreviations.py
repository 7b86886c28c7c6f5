"""Finds short forms that a text explains: "polycystic ovary syndrome (PCOS)".

The letters of the short form must be, in order and from the right, in the words before the bracket, the first
letter at the start of a word. Source: Schwartz and Hearst 2003, A simple algorithm for identifying
abbreviation definitions in biomedical text, Pac Symp Biocomput 8:451.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

_BRACKET = re.compile(r"\(([^()]{2,10})\)")
_SHORT = re.compile(r"[A-Za-z][\w/&.-]*\d*s?$")
_CLAUSE_END = re.compile(r"[;:.!?]\s|[()]")


def find_abbreviations(text: str) -> Mapping[str, str]:
    """Returns {short form: long form} as written in `text`; the first definition of a short form counts.

    "Heart failure (HF) is common." gives {"HF": "Heart failure"}.
    """
    found: dict[str, str] = {}
    for bracket in _BRACKET.finditer(text):
        short = bracket[1].strip()
        if _SHORT.match(short) and sum(map(str.isupper, short)) >= 2 and short not in found:
            long = _long_form(short, text[: bracket.start()])
            if long:
                found[short] = long
    return MappingProxyType(found)


def _long_form(short: str, before: str) -> str | None:
    """Returns the end of `before` that spells out `short`, or None.

    It has at most twice as many words as the short form has letters, and at most five words more than that
    number.
    """
    clause = _CLAUSE_END.split(before)[-1].rstrip()
    letters = [letter.lower() for letter in short.removesuffix("s") if letter.isalnum()]
    words = clause.split()[-(min(len(letters) + 5, len(letters) * 2)) :]
    candidate = " ".join(words)
    place = len(candidate)
    for number, letter in enumerate(reversed(letters), start=1):
        place -= 1
        first = number == len(letters)
        while place >= 0 and (
            candidate[place].lower() != letter or (first and place > 0 and candidate[place - 1].isalnum())
        ):
            place -= 1
        if place < 0:
            return None
    long = candidate[place:]
    return long if len(long) > len(short) else None
