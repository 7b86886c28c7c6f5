"""Shares in words: "one in five", "two thirds", "30 to 40 in every 100", "half"; and multiples: "twice as", "threefold"."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pytest_medfaith.quantities.numerals import LOOK_BACK, WORDS, Numeral

_PARTS = {
    "half": 2,
    "halve": 2,
    "third": 3,
    "quarter": 4,
    "fourth": 4,
    "fifth": 5,
    "sixth": 6,
    "seventh": 7,
    "eighth": 8,
    "ninth": 9,
    "tenth": 10,
}
_PART = re.compile(
    r"(?<![\w-])(?:(?P<top>an?|one|two|three|four|five|six|seven|eight|nine)[\s-])?(?P<part>"
    + "|".join(f"{part}s?" for part in (*_PARTS, "halve"))
    + "|halved|halving"
    # no share: half-life, half an hour, a quarter of an hour, half-sister, first half
    + r")(?![\w])(?!-(?:life|lives|hour|day|dose|sister|brother|time)|\s+li(?:fe|ves)\b|\s+(?:of\s+)?an?\s+(?:second|minute|hour|day|week|month|year|decade|tablet|pill)\b"
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
_MULTIPLE = re.compile(
    r"\b(?:(?P<number>\d+(?:\.\d+)?|two|three|four|five|six|seven|eight|ten|twenty)(?:[\s-]?fold\b|"
    r"\s+times(?=\s+(?:as|more|the|higher|greater|likelier|larger|lower|that|less|faster)\b))"
    r"|(?P<double>twice(?=\s+(?:as|the|that)\b)|double[sd]?(?![\s-]*(?:blind|dummy|vision|up)\b)|doubling)"
    r"|(?P<triple>triple[sd]?(?!\s+(?:therapy|negative|vaccin))|tripling|thrice(?=\s+(?:as|the)\b)))",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Share:
    """A share of a whole (0 to 1) or a multiple of another amount, with its span; `step` as of a Numeral, `rough` for words such as "half"."""

    low: float
    high: float
    start: int
    end: int
    step: float = 0.0
    rough: bool = False


def read_shares(text: str, numerals: Sequence[Numeral]) -> Iterator[Share]:
    """Yields the shares that `text` states as "a in b" or as parts."""
    for found in _PART.finditer(text):
        top = (found["top"] or "a").lower()
        part = (
            "halve"
            if found["part"].lower() in ("halved", "halving")
            else found["part"].lower().removesuffix("s")
        )
        if found["top"] in (None, "one") and part not in ("half", "halve") and found["top"] is None:
            continue  # "the third trial", "fifth": an order, no share
        if not _ORDINAL_BEFORE.search(text, max(0, found.start() - LOOK_BACK), found.start()):
            number = WORDS.get(top, 1.0)
            yield Share(number / _PARTS[part], number / _PARTS[part], found.start(), found.end(), rough=True)
    yield from _ratios(text, numerals)


def _ratios(text: str, numerals: Sequence[Numeral]) -> Iterator[Share]:
    for index, (top, bottom) in enumerate(itertools.pairwise(numerals)):
        joined = _OUT_OF.fullmatch(text, top.end, bottom.start)
        if not joined or not 0 < top.value < bottom.value or _NO_SHARE_AFTER.match(text, bottom.end):
            continue
        if "of" in joined[0].split()[:1] and (
            bottom.value < 3 or _ANY_BEFORE.search(text, max(0, top.start - 8), top.start)
        ):
            continue  # "any one of 25 breaths or more"
        if "per" in joined[0].split() and (
            bottom.value not in _ROUND_WHOLES or _OVER_TIME.match(text, bottom.end)
        ):
            continue  # "5 per 20", "6 per 100 person-years"
        start, low = top.start, top.value
        if (
            index
            and re.fullmatch(r"\s*(?:-|–|to|or)\s*", text[numerals[index - 1].end : top.start])
            and numerals[index - 1].value < top.value
        ):
            start, low = numerals[index - 1].start, numerals[index - 1].value
        yield Share(
            low / bottom.value,
            top.value / bottom.value,
            start,
            bottom.end,
            step=0.5 / bottom.value if bottom.value <= 10 else 0.005,
        )


def read_multiples(text: str) -> Iterator[Share]:
    """Yields "twice as", "threefold", "5 times more", "doubled" as multiples."""
    for found in _MULTIPLE.finditer(text):
        value = (
            WORDS.get(found["number"].lower()) or float(found["number"])
            if found["number"]
            else 2.0
            if found["double"]
            else 3.0
        )
        yield Share(value, value, found.start(), found.end(), rough=True)
