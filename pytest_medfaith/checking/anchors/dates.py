"""Dates, years and trials that the evidence does not know, and findings dated in the future."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from datetime import datetime, timezone
from itertools import combinations

from pytest_medfaith.checking.anchors.evidence import Evidence, Missing, linked
from pytest_medfaith.english.words import pieces_of
from pytest_medfaith.quantities.bounds import words_before
from pytest_medfaith.quantities.counting import counts_things
from pytest_medfaith.quantities.quantity import Quantity
from pytest_medfaith.quantities.reader import read_quantities

# Four digits that are a year, not a dose, a count or a sum: no unit, no thousand mark, no word of measure around them.
_YEAR = re.compile(
    r"(?<![\w.,/$£€-])(?P<year>1[89]\d\d|20\d\d)(?P<decade>s)?(?!\w|[.,]\d|"
    r"[\s-]*(?:mg|g|kg|mcg|ml|mL|IU|units?|kcal|calories?|hours?|minutes?|years?|steps|people|patients|"
    r"women|men|adults|children|participants|cells|per|mm)\b|\s*[%/])"
)
# In evidence any such number may be the year of a claim, 05/2021 too, or the count "2,000" that a claim writes as 2000.
_NAMED = re.compile(r"(?<!\d)(?:1[89]|20)\d\d(?!\d)|(?<![\d.,])(?:1[,\s][89]|2[,\s]0)\d\d(?![\d,])")
_SPAN = re.compile(
    r"\b(?P<first>1[89]\d\d|20\d\d)\s*(?:-|–|/|to|and|until|through)\s*(?P<last>(?:1[89]|"
    r"20)?\d\d)\b(?![-–/]\d)"
)
_FINDING = re.compile(
    r"\b(?:trials?|stud(?:y|ies)|guidelines?|review|meta-analysis|survey|cohort|showed|shown|found|reported|"
    r"published|approved|demonstrated|concluded|confirmed|recommended)\b",
    re.IGNORECASE,
)
_FORECAST = re.compile(
    r"\b(?:by|until|before|will|would|projected|expected|predicted|forecast|goal|target|plan(?:ned|s)?)\b",
    re.IGNORECASE,
)
# "As of July 31, 2020" dates the claim, not what it says.
_AS_OF = re.compile(
    r"\bas (?:of|at)\s+(?:the end of\s+)?(?:[A-Za-z]+\.?\s+)?(?:\d{1,2},?\s+)?(?:[A-Za-z]+\.?,?\s+)?$",
    re.IGNORECASE,
)
# What a register calls a trial: ClinicalTrials.gov, ISRCTN, EudraCT, and the registers of Australia, China, Germany, India and Japan.
_REGISTERED = re.compile(
    r"(?<![\w-])(?:NCT\s?\d{8}|ISRCTN\s?\d{6,8}|(?:EudraCT|"
    r"EU CT)(?:\s+number)?:?\s*\d{4}-\d{6}-\d{2}(?:-\d{2})?|ACTRN\s?\d{14}|ChiCTR(?:-\w+-)?\s?\d{8,10}|"
    r"DRKS\s?\d{8}|"
    r"CTRI/\d{4}/\d{2,3}/\d{6}|UMIN\s?\d{9}|jRCT\w?\d{9,10})(?!\w)",
    re.IGNORECASE,
)
# EMPEROR-Preserved, DAPA-CKD, REDUCE: capitals, next to a word for a study; before a verb or after "in" only with a hyphen (MRI showed ...).
_NAME = re.compile(
    r"(?<![\w-])(?:(?P<before>[A-Z][A-Z0-9]{3,}(?:[-–][A-Za-z0-9]+)*|"
    r"[A-Z]{2,}[-–][A-Z][A-Za-z0-9]+)(?=\s+(?:trials?|stud(?:y|ies)|cohort|registry|investigators)\b)"
    r"|(?<=trial )(?P<after>[A-Z][A-Z0-9]{3,}(?:[-–][A-Za-z0-9]+)*)\b"
    r"|(?P<subject>[A-Z][A-Z0-9]+[-–][A-Z][A-Za-z0-9]+)(?=\s+(?:randomi[sz]ed|enrolled|assigned|compared|"
    r"tested|showed|found|reported)\b)"
    r"|(?:(?<=^In )|(?<=^The ))(?P<opening>[A-Z]{3,}[-–][A-Z][A-Za-z0-9]+)(?=,|"
    r"\s+(?:results|data|programme?)\b))"
)


_MONTHS = "january february march april may june july august september october november december".split()
_MONTH = re.compile(
    rf"\b(?:(?P<before>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?)?(?P<month>{'|'.join(_MONTHS)}|jan|feb|mar|"
    rf"apr|jun|jul|aug|sept?|oct|nov|dec)\b\.?(?:\s+(?P<after>\d{{1,2}})(?:st|nd|rd|"
    rf"th)?(?!\d))?(?:,?\s+(?P<year>(?:19|20)\d\d))?",
    re.IGNORECASE,
)
_IN_BEFORE = re.compile(
    r"\b(?:in|by|from|until|till|since|to|through|during|of|early|late|mid)[\s-]+$", re.IGNORECASE
)
_YEAR_DAYS = 365.25
_SAME_YEAR = 0.6
_SAME_DAY = 3.0
_NUMBERS = re.compile(r"\d+")


def missing_dates(claim: str, evidence: Evidence, *, this_year: int | None = None) -> Iterator[Missing]:
    """Yields each year, each date, each registered trial and the named trial of `claim` that the evidence does not name.

    A study or guideline dated later than `this_year` (the clock's, where None) that the evidence does not know is refuted: it cannot have
    happened.
    """
    now = this_year if this_year is not None else datetime.now(tz=timezone.utc).year
    yield from _unknown_years(claim, evidence.whole, now)
    yield from _other_dates(claim, evidence)
    yield from _unknown_numbers(claim, evidence.whole)
    yield from _unknown_trials(claim, evidence.whole)


def _unknown_years(claim: str, evidence: str, now: int) -> Iterator[Missing]:
    known = {int(re.sub(r"\D", "", found[0])) for found in _NAMED.finditer(evidence)}
    spans = list(_spans(evidence))
    for found in _years(claim):
        year = int(found["year"])
        if (
            year in known
            or _reckoned(year, known, evidence)
            or found["decade"]
            or any(first <= year <= last for first, last in spans)
            or _AS_OF.search(words_before(claim, found.start()))
        ):
            continue
        future = year > now and bool(_FINDING.search(claim)) and not _FORECAST.search(claim)
        note = (
            f"claim dates a finding to {year}, which has not come"
            if future
            else f"claim says {year}, the evidence names no such year"
        )
        yield Missing("year", *found.span("year"), note=note, refutes=future)


def _reckoned(year: int, known: Collection[int], evidence: str) -> bool:
    """Returns whether `year` lies as many years from one of `known` as the evidence says: 2012 of "2007" and "five years later"."""
    gaps = [other for other in read_quantities(evidence) if other.dimension == "time" and other.role != "age"]
    return any(
        abs(abs(year - one) - gap.high / _YEAR_DAYS) < _SAME_YEAR
        for one in known
        for gap in gaps
        if year != one
    )


def is_between_dates(quantity: Quantity, evidence: str) -> bool:
    """Returns whether a time is what lies between two dates of `evidence`: "26 years" of "introduced in 1970 and dropped in 1996".

    Whole years may count the first and the last one: January 2013 to December 2015 are three.
    """
    years = sorted({int(found["year"]) for found in _years(evidence)})
    yearly = quantity.high / _YEAR_DAYS
    if yearly >= _SAME_YEAR and any(
        -0.1 <= yearly - (later - first) <= 1.1 for first, later in combinations(years, 2)
    ):
        return True
    days = sorted(
        _place_in_time(found, years) for found in _MONTH.finditer(evidence) if found["month"][0].isupper()
    )
    return any(
        abs(later - first - quantity.high) <= max(_SAME_DAY, 0.1 * quantity.high)
        for first, later in combinations(days, 2)
    )


def _place_in_time(found: re.Match[str], years: Sequence[int]) -> float:
    """Returns a date as days from the year 0; a month without a year lies in the only year that the text names."""
    month, day, year = _date(found)
    known = year if year is not None else years[0] if len(years) == 1 else 0
    return known * _YEAR_DAYS + (month - 1) * _YEAR_DAYS / 12 + (day or 1) - 1


def _other_dates(claim: str, evidence: Evidence) -> Iterator[Missing]:
    """Yields the dates of `claim` where the evidence dates something in the same month or year, and not this."""
    known = [_date(found) for found in _dates(evidence.whole)]
    years = {int(found["year"]) for found in _years(evidence.whole)}
    bare = {
        _date(found)[0]
        for found in _MONTH.finditer(evidence.whole)
        if found["month"][0].isupper() and _IN_BEFORE.search(words_before(evidence.whole, found.start()))
    }
    numbers = {int(number) for number in _NUMBERS.findall(evidence.whole)}
    for found in _dates(claim):
        month, day, year = _date(found)
        if any(
            (month == m and day in (d, None) and year in (y, None))
            or (month == m and d is None and year in (y, None))
            for m, d, y in known
        ):
            continue
        if year is not None and any(
            month == m and day == d and y is None and year in years for m, d, y in known
        ):
            continue  # "18 November of the same year"
        if day is None and year in years and month in bare:
            continue
        if any(_gap_of(found, other, evidence.whole) for other in _dates(evidence.whole)):
            continue
        rivals = {
            match[0]
            for match in _dates(evidence.nearest)
            if _date(match)[2] == year or _date(match)[0] == month
        }
        if rivals and not (month in numbers and (day is None or day in numbers)):
            yield Missing("date", *found.span(), instead=next(iter(rivals)) if len(rivals) == 1 else "")


def _gap_of(found: re.Match[str], other: re.Match[str], evidence: str) -> bool:
    """Returns whether two days lie as far apart as the evidence says: the 21st of "on 14 October" and "a week later"."""
    if _date(found)[1] is None or _date(other)[1] is None:
        return False
    apart = abs(_place_in_time(found, []) - _place_in_time(other, []))
    return apart > 0 and any(
        each.dimension == "time" and abs(each.high - apart) < 1 for each in read_quantities(evidence)
    )


def _dates(text: str) -> Iterator[re.Match[str]]:
    """Yields months with a day or a year beside them: "May" alone may be a verb, and so is "COVID-19 may"."""
    yield from (
        found
        for found in _MONTH.finditer(text)
        if found["month"][0].isupper() and (found["before"] or found["after"] or found["year"])
    )


def _date(found: re.Match[str]) -> tuple[int, int | None, int | None]:
    day = found["before"] or found["after"]
    month = next(
        number for number, name in enumerate(_MONTHS, 1) if name.startswith(found["month"].lower()[:3])
    )
    return month, int(day) if day else None, int(found["year"]) if found["year"] else None


def _years(claim: str) -> Iterator[re.Match[str]]:
    """Yields the years of a claim; "2000 deaths" names none."""
    yield from (found for found in _YEAR.finditer(claim) if not counts_things(claim, *found.span("year")))


def _spans(text: str) -> Iterator[tuple[int, int]]:
    """Yields first and last year of "2010 to 2019", "2010-19", "2010/11" and "the 2010s"."""
    for found in _SPAN.finditer(text):
        last = found["last"] if len(found["last"]) == 4 else found["first"][:2] + found["last"]
        yield int(found["first"]), int(last)
    for found in _YEAR.finditer(text):
        if found["decade"]:
            yield int(found["year"]), int(found["year"]) + 9


def _unknown_numbers(claim: str, evidence: str) -> Iterator[Missing]:
    known = {_plain(found[0]) for found in _REGISTERED.finditer(evidence)}
    for found in _REGISTERED.finditer(claim):
        if _plain(found[0]) not in known:
            yield Missing(
                "trial",
                *found.span(),
                note=f"claim names the registered trial {found[0]}, the evidence does not",
            )


def _plain(number: str) -> str:
    """Returns a trial's number as one run of capitals and digits."""
    return re.sub(r"[^A-Z0-9]", "", number.upper().replace("NUMBER", ""))


def _unknown_trials(claim: str, evidence: str) -> Iterator[Missing]:
    found = _NAME.search(claim)
    if (
        not found
        or _REGISTERED.match(found[0])
        or found[0].lower() in evidence.lower()
        or _spelled_out(found[0], evidence)
    ):
        return
    if any(mention.start <= found.start() < mention.end for mention in linked(claim)):
        return  # "COPD trials" names a disease
    yield Missing("trial", *found.span(), note=f"claim names the trial {found[0]}, the evidence does not")


def _spelled_out(name: str, evidence: str) -> bool:
    """Returns whether `name` is made of the first letters of words that follow each other in the evidence."""
    initials = "".join(piece[0] for piece, _, _ in pieces_of(evidence)).lower()
    return "".join(filter(str.isalpha, name)).lower() in initials
