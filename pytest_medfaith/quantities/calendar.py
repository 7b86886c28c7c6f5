"""Dates in texts: years, months with a day or a year, spans of years, and the time between two dates."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import combinations

from pytest_medfaith.quantities.counting import counts_things
from pytest_medfaith.quantities.quantity import Quantity

# Four digits are a year, unless a unit, a thousands mark or a word for a measure is beside them.
_YEAR = re.compile(
    r"(?<![\w.,/$£€-])(?P<year>1[89]\d\d|20\d\d)(?P<decade>s)?(?!\w|[.,]\d|"
    r"[\s-]*(?:mg|g|kg|mcg|ml|mL|IU|units?|kcal|calories?|hours?|minutes?|years?|steps|people|patients|"
    r"women|men|adults|children|participants|cells|per|mm)\b|\s*[%/])"
)
# In evidence any such number may be the year of a claim: also that of 05/2021, and the count "2,000", which a
# claim writes as 2000.
YEAR_LIKE = re.compile(r"(?<!\d)(?:1[89]|20)\d\d(?!\d)|(?<![\d.,])(?:1[,\s][89]|2[,\s]0)\d\d(?![\d,])")
_SPAN = re.compile(
    r"\b(?P<first>1[89]\d\d|20\d\d)\s*(?:-|–|/|to|and|until|through)\s*(?P<last>(?:1[89]|"
    r"20)?\d\d)\b(?![-–/]\d)"
)
_MONTHS = "january february march april may june july august september october november december".split()
MONTH = re.compile(
    rf"\b(?:(?P<before>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?)?(?P<month>{'|'.join(_MONTHS)}|jan|feb|mar|"
    rf"apr|jun|jul|aug|sept?|oct|nov|dec)\b\.?(?:\s+(?P<after>\d{{1,2}})(?:st|nd|rd|"
    rf"th)?(?!\d))?(?:,?\s+(?P<year>(?:19|20)\d\d))?",
    re.IGNORECASE,
)
YEAR_DAYS = 365.25
SAME_YEAR = 0.6  # years by which a gap between dates may differ from a stated number of years
_SAME_DAY = 3.0  # days by which it may differ from a stated number of days


def dates_in(text: str) -> Iterator[re.Match[str]]:
    """Yields the matches of `MONTH` in `text` that are dates: a month with a day or a year.

    "May 2020" is a date; "May" alone may be a verb. A month without its capital ("may 2020") is no date.
    """
    yield from (
        found
        for found in MONTH.finditer(text)
        if found["month"][0].isupper() and (found["before"] or found["after"] or found["year"])
    )


def read_date(found: re.Match[str]) -> tuple[int, int | None, int | None]:
    """Returns (month, day, year) of a match of `MONTH`: (5, None, 2020) for "May 2020".

    A day or year that the text does not give is None.
    """
    day = found["before"] or found["after"]
    month = next(
        number for number, name in enumerate(_MONTHS, 1) if name.startswith(found["month"].lower()[:3])
    )
    return month, int(day) if day else None, int(found["year"]) if found["year"] else None


def years_in(claim: str) -> Iterator[re.Match[str]]:
    """Yields the matches of years in a claim, with the groups `year` and `decade`; "2000 deaths" has none."""
    yield from (found for found in _YEAR.finditer(claim) if not counts_things(claim, *found.span("year")))


def year_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yields (first, last) year of "2010 to 2019", "2010-19", "2010/11" and "the 2010s"."""
    for found in _SPAN.finditer(text):
        last = found["last"] if len(found["last"]) == 4 else found["first"][:2] + found["last"]
        yield int(found["first"]), int(last)
    for found in _YEAR.finditer(text):
        if found["decade"]:
            yield int(found["year"]), int(found["year"]) + 9


def place_in_time(found: re.Match[str], years: Sequence[int]) -> float:
    """Returns a date as days from the year 0; a gap between two dates may be a few days out.

    All months count as equally long. A date without a day is on the first.

    Args:
        found: a match of `MONTH`.
        years: the different years of the text. A date without a year is in the only one, else in year 0.
    """
    month, day, year = read_date(found)
    known = year if year is not None else years[0] if len(years) == 1 else 0
    return known * YEAR_DAYS + (month - 1) * YEAR_DAYS / 12 + (day or 1) - 1


def is_between_dates(quantity: Quantity, evidence: str) -> bool:
    """Returns whether a time is the gap between two dates of the evidence.

    Example: "26 years" for "introduced in 1970, left in 1996". A number of years may count both the first and
    the last: January 2013 to December 2015 are three years.
    """
    years = sorted({int(found["year"]) for found in years_in(evidence)})
    yearly = quantity.high / YEAR_DAYS
    if yearly >= SAME_YEAR and any(
        -0.1 <= yearly - (later - first) <= 1.1 for first, later in combinations(years, 2)
    ):
        return True
    days = sorted(
        place_in_time(found, years) for found in MONTH.finditer(evidence) if found["month"][0].isupper()
    )
    return any(
        abs(later - first - quantity.high) <= max(_SAME_DAY, 0.1 * quantity.high)
        for first, later in combinations(days, 2)
    )
