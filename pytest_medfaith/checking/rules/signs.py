"""Which way a number points: "-55%", "minus 55%", "fell by 55%" and "a 55% reduction" point down, "+2", "plus 2" and "rose by 2" up."""

from __future__ import annotations

import re
from dataclasses import replace

from pytest_medfaith.english.opposites import directions
from pytest_medfaith.english.words import LETTERS
from pytest_medfaith.quantities.quantity import Quantity

_LOOK_BACK = 72  # characters before a number in which the word stands that says which way it points
_DOWN = frozenset("down lost loses lose loss losses shrank shrunk shrinks suppressed deficit".split())
_UP = frozenset("up gain gains gained".split())
_PLUS = re.compile(r"(?:\+|\bplus\s)\s?$", re.IGNORECASE)
_CLAUSE_END = re.compile(r"[.;:|\n](?=\s)|,\s")
# After the word of direction stand at most a few words and "by" or "of": "lowered triglycerides by", "a drop of"; or nothing: "lost 7%".
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


def way_of(quantity: Quantity, text: str) -> int:
    """Returns -1 where `quantity` of `text` points down, 1 where it points up, 0 where no sign or word beside it says which."""
    if quantity.low < 0:
        return -1
    ahead = text[max(0, quantity.start - _LOOK_BACK) : quantity.start]
    if _PLUS.search(ahead):
        return 1
    ends = [found.end() for found in _CLAUSE_END.finditer(ahead)]
    ahead = ahead[ends[-1] :] if ends else ahead
    for word in reversed(list(LETTERS.finditer(ahead))):
        way = _way(word[0].lower())
        if way:
            between = ahead[word.end() :]
            return way if _LEADS.fullmatch(between) and not _NO_CHANGE.search(between) else 0
    after = _AFTER.match(text, quantity.end)
    return _way(after["word"].lower().removesuffix("s")) if after else 0


def _way(word: str) -> int:
    if word in _DOWN or word in _UP:
        return 1 if word in _UP else -1
    return directions(word).get("amount", 0)


def mirrored(other: Quantity, quantity: Quantity, *, claim: str, text: str) -> Quantity:
    """Returns `other` of `text` with the sign of `quantity` of `claim`, where both point one way: "fell by 55%" for "-55%"; else `other`."""
    if quantity.dimension != other.dimension or quantity.high * other.high >= 0:
        return other
    way = way_of(quantity, claim)
    if way == 0 or way != way_of(other, text):
        return other
    return replace(other, low=-other.high, high=-other.low, role=quantity.role)
