"""How often something is done or given, as times a day: 2 for "twice daily" and "every 12 hours"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from pytest_medfaith.quantities.bounds import bound_after, words_before
from pytest_medfaith.quantities.numerals import LOOK_BACK, WORDS, number_of
from pytest_medfaith.quantities.quantity import DOSES, Quantity
from pytest_medfaith.quantities.unit_reading import unit_at

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
    rf"|(?<![\w.])(?:[×xX*]\s?(?P<signed>{_NUMBER})|(?P<fold>\d{{1,2}})\s?[×xX])\s*(?:(?:/|"
    rf"(?:a|per|each|every)\s+)\s*(?P<fold_period>{_PERIOD}|d)\b|(?P<fold_adverb>{'|'.join(_ADVERBS)})\b)"
    rf"|\balternate[\s-]+(?P<alternate>{_PERIOD})s?\b"
    rf"|\b(?P<alone>{'|'.join(_ADVERBS)})\b",
    re.IGNORECASE,
)
# "2000 IU a day", "5 mg/day" and "7 mg per week" state a frequency only straight after an amount.
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


_NOT_SPREAD = frozenset(
    {"frequency", "fraction", "multiple", "temperature", "pressure"}
)  # nobody gives these twice a day
_CLAUSE_GAP = re.compile(r"[^.;:()\d]{0,28}")
_PER_DOSE = re.compile(
    r"\s*(?:/\s*dose|(?:per|a|each|every)\s+(?:single\s+)?dose|at\s+(?:a|one|any one)\s+time|at\s+once|"
    r"(?:as|in)\s+(?:a|one)\s+single\s+dose)\b",
    re.IGNORECASE,
)
_DOSE_OF = re.compile(r"\b(?:single|one|each|every)\s+doses?\s+(?:of|is|are)\s+$", re.IGNORECASE)
_ALL_AT_ONCE = re.compile(r"[^.;]{0,40}\b(?:once|single|one dose)\b", re.IGNORECASE)
_MOST = 24  # doses; larger numbers before a sign of multiplication are sizes and powers
_PRODUCT = re.compile(
    r"(?<![\w.,/^-])(?P<times>\d{1,2})\s?[×xX*]\s?(?P<amount>\d{1,4}(?:,\d{3})*(?:\.\d+)?)(?![\d.,]*\d|\s?[×xX*^])"
)
_DAILY = re.compile(r"\s*daily\b", re.IGNORECASE)


def read_products(text: str) -> Iterator[Quantity]:
    """Yields the amount of "2 x 500 mg" (1 g), and amount and frequency of "4 x 2 g per day"."""
    for found in _PRODUCT.finditer(text):
        times, unit = float(found["times"]), unit_at(text, found.end())
        if unit is None or unit.dimension not in DOSES or not 0 < times <= _MOST:
            continue
        amount = number_of(found["amount"].replace(",", "")) * unit.factor
        period = frequency_after(text, unit.end)
        daily = _DAILY.match(text, unit.end)
        if period is None and daily is None:
            yield Quantity(times * amount, times * amount, unit.dimension, found.start(), unit.end)
            continue
        rate = times * (period.low if period else 1.0)
        end = period.end if period else daily.end() if daily else unit.end
        yield Quantity(rate, rate, "frequency", found.start(), found.start("amount"))
        yield Quantity(amount, amount, unit.dimension, found.start("amount"), end, times=(rate, rate))


def read_frequencies(text: str) -> Iterator[Quantity]:
    """Yields the frequencies that `text` states, in order, as times a day: 2 for "twice daily".

    The "a day" of "5 mg a day" is left out: see `frequency_after`.
    """
    for found in _FREQUENCY.finditer(text):
        if (
            found["alone"]
            and found["alone"].lower() != "annually"
            and _ADJECTIVE_AFTER.search(text, max(0, found.start() - LOOK_BACK), found.start())
        ):
            continue  # "the daily dose", "near-daily": an adjective
        low, high = _times_a_day(found)
        yield Quantity(low, high, "frequency", found.start(), found.end())


def with_frequencies(quantities: Sequence[Quantity], text: str) -> Iterator[Quantity]:
    """Yields all `quantities`, each amount with how often it is given, if `text` says so.

    The 0.5 g of "0.5 g twice a day" gets `times` (2, 2).

    Args:
        quantities: the quantities of `text`, in order.
        text: the text.
    """
    for index, quantity in enumerate(quantities):
        if quantity.dimension in _NOT_SPREAD or quantity.role == "age" or quantity.times:
            yield quantity
            continue
        frequency = spread = frequency_after(text, quantity.end)
        following = quantities[index + 1] if index + 1 < len(quantities) else None
        if not spread and following and following.dimension == "frequency":
            frequency = following if _CLAUSE_GAP.fullmatch(text, quantity.end, following.start) else None
        measured = replace(quantity, per=_per(quantity, text, spread))
        if frequency:  # a bound may follow: "2.5 mg a day or more"
            bound = bound_after(text, frequency.end) or quantity.bound
            measured = replace(measured, times=(frequency.low, frequency.high), bound=bound)
        yield measured


def frequency_after(text: str, position: int) -> Quantity | None:
    """Returns the frequency of "a day", "/day" or "per week" right after an amount at `position`; or None."""
    found = _AFTER_AMOUNT.match(text, position)
    if not found:
        return None
    if found["period"] and re.match(r"\s*(?:in|within|over)\b", found[0], re.IGNORECASE):
        return None  # "in day 3": a time, no rate
    rate = 1.0 if found["hours"] or found["period"].lower() == "d" else 1 / _DAYS[found["period"].lower()]
    return Quantity(rate, rate, "frequency", found.start(), found.end())


def _per(quantity: Quantity, text: str, spread: Quantity | None) -> str:
    """Returns "dose" or "day" for an amount for each dose or day; "" where the text says neither or both.

    `spread` is the frequency right after the amount.
    """
    if quantity.dimension == "time":
        return ""  # "30 minutes at a time" may well be those of "30 minutes a day"
    single = _PER_DOSE.match(text, quantity.end) or _DOSE_OF.search(words_before(text, quantity.start))
    if spread is None:
        return "dose" if single else ""
    return "day" if spread.low == 1 and not single and not _ALL_AT_ONCE.match(text, spread.end) else ""


def _times_a_day(found: re.Match[str]) -> tuple[float, float]:
    """Returns (lowest, highest) times a day of a match of `_FREQUENCY`."""
    rate = _stated_rate(found)
    if rate is not None:
        return rate, rate
    if found["q"] or found["hourly"]:
        short, long = (found["q"], found["q_high"]) if found["q"] else (found["hourly"], found["hourly_high"])
        shortest, longest = sorted((number_of(short), number_of(long or short)))
        return 24 / (longest or 1.0), 24 / (shortest or 1.0)
    if found["every"]:
        return _every(found)
    if found["apart"] or found["alternate"]:
        gap = number_of(found["interval"]) if found["interval"] else 2.0 if found["alternate"] else 1.0
        return _once_in(gap, gap, _DAYS[(found["apart"] or found["alternate"]).lower()])
    if found["alone"]:
        return _once_in(1.0, 1.0, _DAYS[_ADVERBS[found["alone"].lower()]])
    days = 1.0 if found["round"] else _DAYS[(found["period"] or _ADVERBS[found["adverb"].lower()]).lower()]
    if found["word"]:
        low = _COUNTS[found["word"].lower()]
        high = _COUNTS[found["also"].lower()] if found["also"] else low
    else:
        low = number_of(found["low"])
        high = number_of(found["high"]) if found["high"] else low
    return low / days, high / days


def _stated_rate(found: re.Match[str]) -> float | None:
    """Returns how often a day "b.d." or "morning and night" is; None for words with a period ("a week")."""
    if found["latin"]:
        return _LATIN[found["latin"].lower().replace(".", "")]
    if found["clock"]:
        return float(len(re.findall(_CLOCK, found["clock"], re.IGNORECASE)))
    if found["hours"]:  # "each morning and evening"
        return float(len(re.findall(_HOUR, found["hours"], re.IGNORECASE)))
    if counted := found["divided"] or found["meals"]:
        return number_of(counted)
    if counted := found["signed"] or found["fold"]:  # "× 3 daily", "3x/day"
        period = (found["fold_period"] or _ADVERBS[(found["fold_adverb"] or "daily").lower()]).lower()
        return number_of(counted) / _DAYS.get(period, 1.0)
    return 2.0 if found["twice"] else None


def _every(found: re.Match[str]) -> tuple[float, float]:
    """Returns (lowest, highest) times a day of "every half hour", "every other day", "every 4 to 6 hours"."""
    if found["part"]:
        gaps = (0.25, 0.25) if found["part"].lower().startswith("quarter") else (0.5, 0.5)
    elif found["ordinal"]:
        gaps = (3.0, 3.0) if found["ordinal"].lower() == "third" else (2.0, 2.0)
    else:
        short = number_of(found["gap"]) if found["gap"] else 1.0
        gaps = (short, number_of(found["gap_high"]) if found["gap_high"] else short)
    return _once_in(*gaps, _DAYS[found["every"].lower()])


def _once_in(gap: float, other_gap: float, days: float) -> tuple[float, float]:
    """Returns (lowest, highest) times a day of what is done once in a gap; a gap of 0 counts as a day.

    Args:
        gap: the number of periods in the gap.
        other_gap: the other end of a range of gaps, or the same number.
        days: the length of a period in days.
    """
    shortest, longest = sorted((gap, other_gap))
    return 1 / (longest * days or 1.0), 1 / (shortest * days or 1.0)
