"""Parts of a whole and multiples: "one in five", "two thirds", "half a litre"; "twice as", "threefold"."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence

from pytest_medfaith.quantities.numerals import LOOK_BACK, WORDS, Numeral, number_of
from pytest_medfaith.quantities.quantity import Quantity
from pytest_medfaith.quantities.unit_reading import unit_at

# "Halve" is here for its plural "halves".
_PARTS = (
    {"half": 2, "halve": 2}
    | {
        part: number
        for number, part in enumerate("third quarter fifth sixth seventh eighth ninth tenth".split(), start=3)
    }
    | {"fourth": 4}
)
_PART = re.compile(
    rf"(?<![\w-])(?:(?P<top>an?|one|two|three|four|five|six|seven|eight|nine)[\s-])?"
    rf"(?P<part>{'|'.join(f'{part}s?' for part in _PARTS)}|halved|halving)(?!\w)"
    # No share: half-life, half an hour, a quarter of an hour, half-sister, first half.
    r"(?!-(?:life|lives|hour|day|dose|sister|brother|time)|\s+li(?:fe|ves)\b"
    r"|\s+(?:of\s+)?an?\s+(?:second|minute|hour|day|week|month|year|decade|tablet|pill)\b"
    r"|\s+(?:day|week|month|year|trimester|dose|stage|line|cause|most|time|of life|visit|cycle|party)\b)",
    re.IGNORECASE,
)
_ORDINAL_BEFORE = re.compile(
    r"\b(?:first|second|last|each|this|that|next|other|another|(?:one|day|week|month|year|hour|two|three|"
    r"four|five|six|seven|eight|nine|ten|eleven|twelve|\d) and)\s+$",
    re.IGNORECASE,
)
_ANY_BEFORE = re.compile(r"\b(?:any|least)\s+$", re.IGNORECASE)
_OUT_OF = re.compile(
    r"\s*(?:(?:patients?|people|persons?|wom[ae]n|m[ae]n|child|children|adults?|baby|babies|cases?|infants?|"
    r"deaths?|births?) )?(?:in|out of|of|per|in every|out of every|of every)\s+(?:about\s+|every\s+)?",
    re.IGNORECASE,
)
_NO_SHARE_AFTER = re.compile(
    r"\s*(?:%|per\s?cent|-|–|(?:second|minute|hour|day|week|month|year|trial|stud|countr|cohort|centre|"
    r"center|hospital|mg|g\b|ml|mmol|cm|mm|kg|arm|group|meta|random|review|survey)\w*)",
    re.IGNORECASE,
)
_ROUND_WHOLES = frozenset({1e2, 1e3, 1e4, 1e5, 1e6})
_OVER_TIME = re.compile(r"\s*[\w-]+[\s-](?:year|month|day)s?\b", re.IGNORECASE)
# "In 2010" after a number is a year, "in 2000" may be a whole: "12 in 2010" is no share, "1 in 2000" is.
_IN_A_YEAR = re.compile(r"\sin\s+(?!\d\d[05]0$)(?:1[89]|20)\d\d$")
_UP_TO = re.compile(r"\s*(?:-|–|to|or)\s*")
_MULTIPLE = re.compile(
    r"\b(?:(?P<number>\d+(?:\.\d+)?|two|three|four|five|six|seven|eight|ten|twenty)(?:[\s-]?fold\b|"
    r"\s+times(?=\s+(?:as|more|the|higher|greater|likelier|larger|lower|that|less|faster)\b))"
    r"|(?P<double>twice(?=\s+(?:as|the|that)\b)|double[sd]?(?![\s-]*(?:blind|dummy|vision|up)\b)|doubling)"
    r"|(?P<triple>triple[sd]?(?!\s+(?:therapy|negative|vaccin))|tripling|thrice(?=\s+(?:as|the)\b)))",
    re.IGNORECASE,
)
_PART_OF_UNIT = re.compile(
    r"\b(?P<part>half|quarter of|three[- ]quarters of|third of)\s+an?\s+(?=[a-z])", re.IGNORECASE
)
_PARTS_OF_UNIT = {"half": 0.5, "quarter": 0.25, "three": 0.75, "third": 1 / 3}


def read_shares(text: str, numerals: Sequence[Numeral]) -> Iterator[Quantity]:
    """Yields the shares that `text` states as parts ("two thirds") or ratios ("3 out of 10"), 0 to 1."""
    for found in _PART.finditer(text):
        part = found["part"].lower()
        part = "half" if part in ("halved", "halving") else part.removesuffix("s")
        if found["top"] is None and part not in ("half", "halve"):
            continue  # "the third trial", "fifth": an order, no share
        if not _ORDINAL_BEFORE.search(text, max(0, found.start() - LOOK_BACK), found.start()):
            share = WORDS.get((found["top"] or "a").lower(), 1.0) / _PARTS[part]
            yield Quantity(share, share, "fraction", found.start(), found.end(), rough=True)
    for index, (top, bottom) in enumerate(itertools.pairwise(numerals)):
        if not _is_ratio(text, top, bottom) or _IN_A_YEAR.search(text, top.start, bottom.end):
            continue
        earlier = numerals[index - 1] if index else None
        if not earlier or earlier.value >= top.value or not _UP_TO.fullmatch(text, earlier.end, top.start):
            earlier = top
        yield Quantity(
            earlier.value / bottom.value,
            top.value / bottom.value,
            "fraction",
            earlier.start,
            bottom.end,
            step=0.5 / bottom.value if bottom.value <= 10 else 0.005,
        )


def _is_ratio(text: str, top: Numeral, bottom: Numeral) -> bool:
    """Returns whether `top` is a share of `bottom`: "3 out of 10", but not "6 per 100 person-years"."""
    joint = _OUT_OF.fullmatch(text, top.end, bottom.start)
    if not joint or not 0 < top.value < bottom.value or _NO_SHARE_AFTER.match(text, bottom.end):
        return False
    words = joint[0].split()
    if "of" in words[:1]:  # "any one of 25 breaths or more"
        return bottom.value >= 3 and not _ANY_BEFORE.search(text, max(0, top.start - 8), top.start)
    if "per" in words:  # not "5 per 20"
        return bottom.value in _ROUND_WHOLES and not _OVER_TIME.match(text, bottom.end)
    return True


def read_multiples(text: str) -> Iterator[Quantity]:
    """Yields "twice as", "threefold", "5 times more" and "doubled" in the dimension "multiple"."""
    for found in _MULTIPLE.finditer(text):
        value = number_of(found["number"]) if found["number"] else 2.0 if found["double"] else 3.0
        yield Quantity(value, value, "multiple", found.start(), found.end(), rough=True)


def read_parts_of_units(text: str) -> Iterator[Quantity]:
    """Yields "half a litre" and "a quarter of a milligram"; parts of a time are read by `times`."""
    for found in _PART_OF_UNIT.finditer(text):
        unit = unit_at(text, found.end())
        if unit and unit.dimension not in ("time", "fraction", "cells", "copies"):
            said = found["part"].lower()
            part = next(value for word, value in _PARTS_OF_UNIT.items() if said.startswith(word))
            yield Quantity(part * unit.factor, part * unit.factor, unit.dimension, found.start(), unit.end)
