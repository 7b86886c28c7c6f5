"""Amounts that the evidence does not pair: "500 mg for 5 days" where it has the 500 mg for 7 days.

Single numbers do not show this error. "150 mL of 20%" has no number that "20 % 75 mL or 10 % 150 mL" lacks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from pytest_medfaith import defaults
from pytest_medfaith.checking.anchors.evidence import Evidence, Missing
from pytest_medfaith.quantities.quantity import Quantity, agree
from pytest_medfaith.quantities.reader import read_quantities
from pytest_medfaith.quantities.steps import step_of

# dimension of an amount -> dimensions of what may be said of it
_SAID_OF = {
    "mass": ("time", "frequency", "volume"),
    "unit": ("time", "frequency", "volume"),
    "mass/area": ("time", "frequency"),
    "mass/mass": ("time", "frequency"),
    "volume": ("time", "frequency", "fraction"),
    "fraction": ("time", "frequency", "volume"),
    "frequency": ("time",),
}
_FARTHEST = 3  # words between two amounts of a claim that go together
_ENDS = re.compile(r"[;:.]\s|\n|\b(?:then|followed)\b")
_OR = re.compile(r"\bor\b")
_CLAIM_ENDS = re.compile(rf"{_ENDS.pattern}|,\s+\w+\s+[a-z]|\b(?:and|or|but|whereas|while)\b")
_LASTS = re.compile(r"\b(?:for|over)(?:\s+\w+){0,4}\s*$")
_WORD = re.compile(r"\w+")
_DAILY_DOSE = re.compile(r"\bdaily dose\b", re.IGNORECASE)
_ONCE = re.compile(r"\b(?:once|OD|o\.d\.)(?!\w)", re.IGNORECASE)


def missing_amount_pairs(claim: str, evidence: Evidence) -> Iterator[Missing]:
    """Yields each pair of amounts of `claim` that the evidence does not have together.

    Example: the claim says "500 mg for 5 days", and the evidence has 500 mg only "for 7 days". Then the pair
    of "500 mg" and "5 days" is missing.

    A pair is missing only where the evidence has the first amount, and says at each of its places what goes
    with it. No pair is missing where a place leaves this open, or has a bound ("up to 500 mg").

    Args:
        claim: the text of the claim.
        evidence: what the claim is compared with.

    Yields:
        A `Missing` of the kind "pair": the span in `claim` of both amounts, and a note for the report.
    """
    for amount, said in _pairs(claim):
        known = _known(amount, said, evidence)
        if not known or any(agree(said, other) for other in known):
            continue
        if _may_be_total(said, claim) and any(other.high >= 1 for other in known):
            continue  # "1.5 g daily" may be the total of "1.5 g, in three doses a day"
        words = f"{claim[amount.start : amount.end]} with {claim[said.start : said.end]}"
        note = f"the evidence does not have {words}"
        yield Missing("pair", amount.start, said.end, note=note)


def _pairs(claim: str) -> Iterator[tuple[Quantity, Quantity]]:
    """Yields (amount, said) for each exact amount of `claim` and each later amount that goes with it.

    Example: (500 mg, 5 days) for "500 mg for 5 days". An amount with a bound, a range, or a second mention in
    the claim starts no pair.
    """
    stated = read_quantities(claim)
    for number, amount in enumerate(stated):
        twins = [other for other in stated if other.dimension == amount.dimension and other.low == amount.low]
        if amount.bound or amount.low != amount.high or len(twins) > 1:
            continue
        for place, said in enumerate(stated[number + 1 :], start=number + 1):
            between = stated[number + 1 : place]
            gap = claim[amount.end : said.start]
            if said.dimension == amount.dimension or _CLAIM_ENDS.search(gap):
                break
            if _words(gap, between) > _FARTHEST:
                break
            if said.dimension in _SAID_OF.get(amount.dimension, ()) and _is_said(said, claim, between):
                yield amount, said


def _words(gap: str, between: Sequence[Quantity]) -> int:
    """Returns the number of words in `gap`, less two for each quantity of `between` that stands in it."""
    return len(_WORD.findall(gap)) - 2 * len(between)


def _is_said(said: Quantity, claim: str, between: Sequence[Quantity]) -> bool:
    """Returns whether `said` goes with the amount before it. A time does so only as a duration: "for 5 days".

    Args:
        said: the second amount.
        claim: the text of the claim.
        between: the quantities between the two amounts.
    """
    if said.role == "age":
        return False
    ahead = claim[between[-1].end if between else 0 : said.start]
    return said.dimension != "time" or (said.loose in ("", "over") and bool(_LASTS.search(ahead)))


def _may_be_total(said: Quantity, claim: str) -> bool:
    """Returns whether `said` is "daily" or "a day", not "once a day": the amount may be the day's total."""
    words = claim[said.start : said.end]
    return (said.dimension, said.low, said.high) == ("frequency", 1, 1) and not _ONCE.search(words)


def _known(amount: Quantity, said: Quantity, evidence: Evidence) -> list[Quantity]:
    """Returns the quantities of the dimension of `said` that the evidence gives with `amount`.

    Example: [7 days] for 500 mg in "500 mg for 7 days". Empty where the evidence does not have the amount, or
    has it at a place with a bound or with nothing beside it.
    """
    known: list[Quantity] = []
    for text in evidence.texts:
        stated = read_quantities(text)
        for place, other in enumerate(stated):
            if other.dimension == amount.dimension and agree(other, amount):
                of_daily = step_of(other, text) == "to" and _DAILY_DOSE.search(text)
                if (said.dimension, said.low) == ("frequency", 1) and of_daily:
                    return []  # "until the daily dose reaches 20 mg"
                beside = _beside(text, stated, place, said.dimension)
                if not beside or other.bound:
                    return []
                known += beside
    return known


@lru_cache(maxsize=defaults.PASSAGES_KEPT)
def _beside(text: str, stated: tuple[Quantity, ...], place: int, dimension: str) -> tuple[Quantity, ...]:
    """Returns the quantities of `dimension` that go with the amount at index `place` of `stated`.

    Those behind the amount count ("500 mg for 7 days"), else those ahead of it ("for 7 days, 500 mg").
    """
    behind = _along(text, stated[place:], dimension)
    return behind or _along(text, stated[place::-1], dimension)


def _along(text: str, stated: Sequence[Quantity], dimension: str) -> tuple[Quantity, ...]:
    """Returns the quantities of `dimension` that go with the first of `stated`, up to the next dose.

    "For 5 or 7 days" gives two times of a dose. In "150 mL or 75 mL for 7 days" another dose begins behind
    "or".

    Args:
        text: the evidence.
        stated: quantities of `text`, in its order or in reverse.
        dimension: "time", for example.
    """
    amount, *others = stated
    found: list[Quantity] = []
    last = amount
    for other in others:
        gap = text[min(last.end, other.end) : max(last.start, other.start)]
        if other.dimension == amount.dimension or _ENDS.search(gap):
            break
        if _OR.search(gap) and not (found and other.dimension == dimension):
            break
        found += [other] if other.dimension == dimension and other.role != "age" else []
        last = other
    return tuple(found)
