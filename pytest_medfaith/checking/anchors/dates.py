"""Dates, years and trials that the evidence does not know, and findings dated in the future."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from datetime import datetime, timezone

from pytest_medfaith.checking.anchors.evidence import Evidence, Missing, linked
from pytest_medfaith.english.words import pieces_of
from pytest_medfaith.quantities.bounds import words_before
from pytest_medfaith.quantities.calendar import (
    MONTH,
    SAME_YEAR,
    YEAR_DAYS,
    YEAR_LIKE,
    dates_in,
    place_in_time,
    read_date,
    year_spans,
    years_in,
)
from pytest_medfaith.quantities.reader import read_quantities

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

_IN_BEFORE = re.compile(
    r"\b(?:in|by|from|until|till|since|to|through|during|of|early|late|mid)[\s-]+$", re.IGNORECASE
)
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
    known = {int(re.sub(r"\D", "", found[0])) for found in YEAR_LIKE.finditer(evidence)}
    spans = list(year_spans(evidence))
    for found in years_in(claim):
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
        abs(abs(year - one) - gap.high / YEAR_DAYS) < SAME_YEAR
        for one in known
        for gap in gaps
        if year != one
    )


def _other_dates(claim: str, evidence: Evidence) -> Iterator[Missing]:
    """Yields the dates of `claim` where the evidence dates something in the same month or year, and not this."""
    known = [read_date(found) for found in dates_in(evidence.whole)]
    years = {int(found["year"]) for found in years_in(evidence.whole)}
    bare = {
        read_date(found)[0]
        for found in MONTH.finditer(evidence.whole)
        if found["month"][0].isupper() and _IN_BEFORE.search(words_before(evidence.whole, found.start()))
    }
    numbers = {int(number) for number in _NUMBERS.findall(evidence.whole)}
    for found in dates_in(claim):
        month, day, year = read_date(found)
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
        if any(_gap_of(found, other, evidence.whole) for other in dates_in(evidence.whole)):
            continue
        rivals = {
            match[0]
            for match in dates_in(evidence.nearest)
            if read_date(match)[2] == year or read_date(match)[0] == month
        }
        if rivals and not (month in numbers and (day is None or day in numbers)):
            yield Missing("date", *found.span(), instead=next(iter(rivals)) if len(rivals) == 1 else "")


def _gap_of(found: re.Match[str], other: re.Match[str], evidence: str) -> bool:
    """Returns whether two days lie as far apart as the evidence says: the 21st of "on 14 October" and "a week later"."""
    if read_date(found)[1] is None or read_date(other)[1] is None:
        return False
    apart = abs(place_in_time(found, []) - place_in_time(other, []))
    return apart > 0 and any(
        each.dimension == "time" and abs(each.high - apart) < 1 for each in read_quantities(evidence)
    )


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
