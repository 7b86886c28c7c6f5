"""Whether a number points up ("+2", "rose by 2") or down ("-55%", "fell by 55%", "a 55% reduction")."""

from __future__ import annotations

import re
from dataclasses import replace

from pytest_medfaith.english.opposites import directions
from pytest_medfaith.english.words import LETTERS
from pytest_medfaith.quantities.quantity import Quantity

_LOOK_BACK = 72  # characters before a number in which the word for its sign is looked for
_DOWN = frozenset("down lost loses lose loss losses shrank shrunk shrinks suppressed deficit".split())
_UP = frozenset("up gain gains gained".split())
_PLUS = re.compile(r"(?:\+|\bplus\s)\s?$", re.IGNORECASE)
_CLAUSE_END = re.compile(r"[.;:|\n](?=\s)|,\s")
# A few words and "by" or "of" may follow the word of direction ("lowered triglycerides by"), or nothing
# ("lost 7%").
_LEADS = re.compile(
    r"\s*(?:(?:[\w'-]+\s+){0,6}?(?:by|of)\s+)?(?:(?:a|an|about|around|some|nearly|almost|only|just|mean|"
    r"median|average|relative|absolute|as much as|at least|up to|more than|on average)\s+)*",
    re.IGNORECASE,
)
_NO_CHANGE = re.compile(r"\b(?:to|from|than|in|at|below|above|under|over)\b", re.IGNORECASE)
_AFTER = re.compile(
    r"\s*-?(?:(?:relative|absolute|mean|points?)\s+){0,2}(?P<word>lower|higher|reductions?|increases?|"
    r"decreases?|drops?|rises?|falls?|loss|gain|decline)\b(?!\s+than)",
    re.IGNORECASE,
)


def sign_of(quantity: Quantity, text: str) -> int:
    """Returns -1 where `quantity` of `text` points down, 1 where it points up, 0 where neither is said.

    "fell by 5 mmHg" gives -1, "a rise of 5 mmHg" gives 1.
    """
    if quantity.low < 0:
        return -1
    ahead = text[max(0, quantity.start - _LOOK_BACK) : quantity.start]
    if _PLUS.search(ahead):
        return 1
    ends = [found.end() for found in _CLAUSE_END.finditer(ahead)]
    ahead = ahead[ends[-1] :] if ends else ahead
    for word in reversed(list(LETTERS.finditer(ahead))):
        sign = _sign_of_word(word[0].lower())
        if sign:
            between = ahead[word.end() :]
            return sign if _LEADS.fullmatch(between) and not _NO_CHANGE.search(between) else 0
    after = _AFTER.match(text, quantity.end)
    return _sign_of_word(after["word"].lower().removesuffix("s")) if after else 0


def _sign_of_word(word: str) -> int:
    """Returns 1 for "gained", -1 for "lowered", 0 for a word without a direction."""
    if word in _DOWN or word in _UP:
        return 1 if word in _UP else -1
    return directions(word).get("amount", 0)


def signed_like(other: Quantity, quantity: Quantity, *, claim: str, text: str) -> Quantity:
    """Returns `other` of `text` with the sign of `quantity` of `claim`, where both point the same way.

    Next to "-55%" the quantity of "fell by 55%" becomes -55%. A quantity that points the opposite way, or
    nowhere, comes back unchanged.
    """
    if quantity.dimension != other.dimension or quantity.high * other.high >= 0:
        return other
    sign = sign_of(quantity, claim)
    if sign == 0 or sign != sign_of(other, text):
        return other
    return replace(other, low=-other.high, high=-other.low, role=quantity.role)
