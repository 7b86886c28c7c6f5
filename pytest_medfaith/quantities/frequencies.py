"""How often: "twice daily", "every 12 hours", "b.i.d.", "on alternate days", "a week" after an amount."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pytest_medfaith.quantities.numerals import LOOK_BACK, WORDS

_DAYS = {
    "minute": 1 / 1440,
    "min": 1 / 1440,
    "hour": 1 / 24,
    "hr": 1 / 24,
    "h": 1 / 24,
    "day": 1.0,
    "night": 1.0,
    "morning": 1.0,
    "evening": 1.0,
    "bedtime": 1.0,
    "week": 7.0,
    "fortnight": 14.0,
    "month": 365.25 / 12,
    "year": 365.25,
}
_ADVERBS = {
    "hourly": "hour",
    "daily": "day",
    "nightly": "night",
    "weekly": "week",
    "fortnightly": "fortnight",
    "monthly": "month",
    "yearly": "year",
    "annually": "year",
}
_LATIN = {
    "od": 1.0,
    "qd": 1.0,
    "bid": 2.0,
    "bds": 2.0,
    "bd": 2.0,
    "tid": 3.0,
    "tds": 3.0,
    "td": 3.0,
    "qid": 4.0,
    "qds": 4.0,
    "nocte": 1.0,
    "mane": 1.0,
}
_COUNTS = {"once": 1.0, "twice": 2.0, "thrice": 3.0} | {
    f"{word} times": WORDS[word] for word in "two three four five six seven eight ten twelve".split()
}

_NUMBER = r"\d{1,9}(?:\.\d{1,9})?|" + "|".join(
    "one two three four five six seven eight nine ten eleven twelve".split()
)
_COUNT = (
    rf"(?P<word>once|twice|thrice)(?:\s+or\s+(?P<also>twice|three times))?|"
    rf"(?P<low>{_NUMBER})(?:\s*(?:-|–|to|or)\s*(?P<high>{_NUMBER}))?\s+times"
)
_PERIOD = "|".join(_DAYS)
_HOUR = "morning|midday|noon|lunchtime|afternoon|evening|night|bedtime"
_CLOCK = r"\d{1,2}(?:[.:]\d\d)?\s?[ap]\.?m\b\.?"
_FREQUENCY = re.compile(
    rf"\b(?:{_COUNT})[\s-]*(?:(?:a|an|per|each|every|in an?|in every)\s+(?:single\s+)?(?P<period>{_PERIOD})|"
    rf"(?P<round>(?:in|over|within|every|per|each)\s+(?:24\s+hours|the\s+24\s+hours))|"
    rf"(?P<adverb>{'|'.join(_ADVERBS)}))\b"
    rf"|\b(?P<latin>b\.?i\.?d\b\.?|t\.?i\.?d\b\.?|q\.?i\.?d\b\.?|b\.?d\.?s\b\.?|b\.?d\b\.?|t\.?d\.?s\b\.?|"
    rf"q\.?d\.?s\b\.?|q\.?d\b\.?|(?-i:O\.?D\b\.?)(?!\s+of\b)|nocte\b|mane\b)"
    rf"|\b(?:{_HOUR})(?:\s+and\s+|\s*/\s*)(?:at\s+|in\s+the\s+)?(?P<twice>{_HOUR})\b"
    rf"|\bat\s+(?P<clock>{_CLOCK}(?:(?:\s*,|,?\s+and)\s+(?:at\s+)?{_CLOCK}){{1,5}})(?:\s+(?:each|"
    rf"every)\s+day|\s+daily)?"
    rf"|\b(?P<meals>{_NUMBER})\s+(?:daily\s+(?:meals|doses|applications|sessions|visits)|"
    rf"[\d.]+\s?[^\W\d_]{{1,11}}\s+doses\s+(?:of\s+[\w-]+\s+)?(?:(?:a|per|each|every)\s+day|"
    rf"(?:in|over|within|every|per|each)\s+24\s+hours))\b"
    rf"|\bq\.?\s?(?P<q>\d{{1,2}})(?:\s?[-–]\s?(?P<q_high>\d{{1,2}}))?\s?h(?:r?s?|ourly|ours?)?\b\.?"
    rf"|\b(?P<hourly>{_NUMBER})(?:\s*(?:-|–|to)\s*(?P<hourly_high>{_NUMBER}))?[\s-]?hourly\b"
    rf"|\b(?:every|each)\s+(?P<hours>(?:{_HOUR})(?:(?:\s*,|,?\s+and)\s+(?:(?:at|every|each|"
    rf"in\s+the)\s+)?(?:{_HOUR})){{1,3}})\b"
    rf"|\b(?:every|each)\s+(?:(?P<ordinal>other|second|alternate|third)\s+|"
    rf"(?P<gap>{_NUMBER})(?:\s*(?:-|–|to|or)\s*(?P<gap_high>{_NUMBER}))?[\s-]+|"
    rf"(?P<part>half[\s-]+(?:an?[\s-]+)?|quarter[\s-]+of[\s-]+an?[\s-]+)|"
    rf"single[\s-]+)?(?P<every>{_PERIOD})s?\b"
    rf"|\bintervals? of\s+(?:(?P<interval>{_NUMBER})[\s-]+)?(?P<apart>{_PERIOD})s?\b"
    rf"|\bin\s+(?P<divided>{_NUMBER})\s+(?:divided\s+|equal\s+|separate\s+|single\s+)?doses\b"
    rf"|\balternate[\s-]+(?P<alternate>{_PERIOD})s?\b"
    rf"|\b(?P<alone>{'|'.join(_ADVERBS)})\b",
    re.IGNORECASE,
)
# "2000 IU a day", "5 mg/day", "7 mg per week": only straight after an amount.
_AFTER_AMOUNT = re.compile(
    rf"\s*(?:/\s*|(?:a|an|per|each|every|in(?: any)?|within|over)\s+)(?:24\s*(?P<hours>h|hours)\b|"
    rf"(?P<period>{_PERIOD}|d)\b)",
    re.IGNORECASE,
)
_ADJECTIVE_AFTER = re.compile(
    r"(?:\b(?:a|an|the|your|their|its|his|her|total|mean|median|usual|maximum|average|recommended|normal|"
    r"of)\s+|-)$",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Frequency:
    """How many times a day something is done, from `low` to `high`; `explicit` unless it only spreads an amount over a period ("a day")."""

    low: float
    high: float
    start: int
    end: int
    explicit: bool = True


def read_frequencies(text: str) -> Iterator[Frequency]:
    """Yields the frequencies that `text` states in words of their own, in order."""
    for found in _FREQUENCY.finditer(text):
        if (
            found["alone"]
            and found["alone"].lower() != "annually"
            and _ADJECTIVE_AFTER.search(text, max(0, found.start() - LOOK_BACK), found.start())
        ):
            continue  # "the daily dose", "near-daily": an adjective
        low, high = _times_a_day(found)
        yield Frequency(low, high, found.start(), found.end())


def frequency_after_amount(text: str, position: int) -> Frequency | None:
    """Returns the frequency of "a day", "/day", "per week" at `position`, straight after an amount."""
    found = _AFTER_AMOUNT.match(text, position)
    if not found:
        return None
    if found["period"] and re.match(r"\s*(?:in|within|over)\b", found[0], re.IGNORECASE):
        return None  # "in day 3": a time, no rate
    rate = 1.0 if found["hours"] or found["period"].lower() == "d" else 1 / _DAYS[found["period"].lower()]
    return Frequency(rate, rate, found.start(), found.end(), explicit=False)


def _times_a_day(found: re.Match[str]) -> tuple[float, float]:
    rate = _rate_said(found)
    if rate:
        return rate, rate
    if found["q"] or found["hourly"]:
        short, long = (found["q"], found["q_high"]) if found["q"] else (found["hourly"], found["hourly_high"])
        gaps = sorted((_value(short), _value(long or short)))
        return 24 / (gaps[1] or 1.0), 24 / (gaps[0] or 1.0)
    if found["every"] or found["hours"]:
        return _every(found)
    if found["apart"] or found["alternate"]:
        gap = _value(found["interval"]) if found["interval"] else 2.0 if found["alternate"] else 1.0
        rate = 1 / (gap * _DAYS[(found["apart"] or found["alternate"]).lower()] or 1.0)
        return rate, rate
    if found["alone"]:
        rate = 1 / _DAYS[_ADVERBS[found["alone"].lower()]]
        return rate, rate
    days = 1.0 if found["round"] else _DAYS[(found["period"] or _ADVERBS[found["adverb"].lower()]).lower()]
    low, high = _count(found)
    return low / days, high / days


def _rate_said(found: re.Match[str]) -> float:
    """Returns how often a day "b.d.", "in three doses", "morning and night", "at 8 am and 8 pm" or "three daily meals" is; 0 for other forms."""
    if found["latin"]:
        return _LATIN[found["latin"].lower().replace(".", "")]
    if found["clock"]:
        return float(len(re.findall(_CLOCK, found["clock"], re.IGNORECASE)))
    counted = found["divided"] or found["meals"]
    return _value(counted) if counted else 2.0 if found["twice"] else 0.0


def _every(found: re.Match[str]) -> tuple[float, float]:
    if found["hours"]:  # "each morning and evening"
        times = float(len(re.findall(_HOUR, found["hours"], re.IGNORECASE)))
        return times, times
    days = _DAYS[found["every"].lower()]
    if found["part"]:
        gaps = (0.25, 0.25) if found["part"].lower().startswith("quarter") else (0.5, 0.5)
    elif found["ordinal"]:
        gaps = (3.0, 3.0) if found["ordinal"].lower() == "third" else (2.0, 2.0)
    else:
        short = _value(found["gap"]) if found["gap"] else 1.0
        gaps = (short, _value(found["gap_high"]) if found["gap_high"] else short)
    shortest, longest = min(gaps), max(gaps)
    return 1 / (longest * days or 1.0), 1 / (shortest * days or 1.0)


def _count(found: re.Match[str]) -> tuple[float, float]:
    if found["word"]:
        low = _COUNTS[found["word"].lower()]
        return low, _COUNTS[found["also"].lower()] if found["also"] else low
    low = _value(found["low"])
    return low, _value(found["high"]) if found["high"] else low


def _value(text: str) -> float:
    return WORDS[text.lower()] if text.lower() in WORDS else float(text)
