"""Dates, years and trials of a claim that the evidence does not name."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from pytest_medfaith.checking.anchors.evidence import Evidence, Missing, mentions_at, only_of
from pytest_medfaith.checking.overrides.trials import REGISTERED, plain_number
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

# "As of July 31, 2020" dates the claim itself.
_AS_OF = re.compile(
    r"\bas (?:of|at)\s+(?:the end of\s+)?(?:[A-Za-z]+\.?\s+)?(?:\d{1,2},?\s+)?(?:[A-Za-z]+\.?,?\s+)?$",
    re.IGNORECASE,
)
# The name of a trial is in capitals beside a word for a study: "the REDUCE trial". Before a verb or after
# "in" it needs a hyphen ("DAPA-CKD showed"), since "MRI showed" names no trial.
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
_WAY = re.compile(
    r"\s+(?:(?P<later>later|afterwards?|on)\b|(?P<before>before\s+(?:its|her|his|their|the|a)\b)|"
    r"earlier\b|ago\b|after\s+(?:its|her|his|their|the|a)\b)",
    re.IGNORECASE,
)
_NUMBERS = re.compile(r"\d+")


def missing_dates(claim: str, evidence: Evidence) -> Iterator[Missing]:
    """Yields a `Missing` for each year, date and trial of `claim` that the evidence does not name.

    The kinds are "year" ("in 2013"), "date" ("14 March") and "trial" ("NCT01234567", "the DAPA-CKD trial").
    """
    yield from _unknown_years(claim, evidence.whole)
    yield from _other_dates(claim, evidence)
    yield from missing_trials(claim, evidence.whole)


def _unknown_years(claim: str, evidence: str) -> Iterator[Missing]:
    """Yields each year that the evidence neither has nor implies by a gap, a range or a decade."""
    known = {int(re.sub(r"\D", "", found[0])) for found in YEAR_LIKE.finditer(evidence)}
    spans = list(year_spans(evidence))
    for found in years_in(claim):
        year = int(found["year"])
        if (
            year in known
            or _follows(year, known, evidence)
            or (found["decade"] and not _is_other_decade(year, known, spans))
            or any(first <= year <= last for first, last in spans)
            or _AS_OF.search(words_before(claim, found.start()))
        ):
            continue
        note = f"claim says {year}, the evidence names no such year"
        yield Missing("year", *found.span("year"), note=note)


def _is_other_decade(year: int, known: Collection[int], spans: Sequence[tuple[int, int]]) -> bool:
    """Returns whether the evidence names years, but none of the decade that begins in `year`.

    Args:
        year: 1990 for "the 1990s".
        known: the years of the evidence.
        spans: its ranges of years, as (first, last).
    """
    decade = range(year, year + 10)
    overlaps = any(first in decade or last in decade for first, last in spans)
    return bool(known) and not overlaps and not any(other in decade for other in known)


def _follows(year: int, known: Collection[int], evidence: str) -> bool:
    """Returns whether `year` is a stated gap away from a known year: 2012 for "2007, five years later"."""
    gaps = [other for other in read_quantities(evidence) if other.dimension == "time" and other.role != "age"]
    return any(
        abs(way * (year - other) - gap.high / YEAR_DAYS) < SAME_YEAR
        for other in known
        for gap in gaps
        for way in _ways(evidence, gap.end)
        if year != other
    )


def _ways(evidence: str, end: int) -> tuple[int, ...]:
    """Returns where a gap of time leads to: (1,) to a later year, (-1,) to an earlier year, (1, -1) in doubt.

    "Five years later" leads to a later year. "In 2016, four years after her first symptoms" leads back to
    2012.

    Args:
        evidence: the text.
        end: the offset behind the gap ("four years").
    """
    found = _WAY.match(evidence, end)
    if found is None:
        return (1, -1)
    is_later = found["later"] is not None or found["before"] is not None
    return (1,) if is_later else (-1,)


def _other_dates(claim: str, evidence: Evidence) -> Iterator[Missing]:
    """Yields each date that the evidence lacks, if `nearest` has another date of that month or year."""
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
        same_month = [(d, y) for m, d, y in known if m == month]
        if any((day in (d, None) or d is None) and year in (y, None) for d, y in same_month):
            continue
        if year in years and (day, None) in same_month:
            continue  # "18 November of the same year"
        if day is None and year in years and month in bare:
            continue
        if any(_are_apart(found, other, evidence.whole) for other in dates_in(evidence.whole)):
            continue
        rivals = {
            match[0]
            for match in dates_in(evidence.nearest)
            if read_date(match)[2] == year or read_date(match)[0] == month
        }
        if rivals and not (month in numbers and (day is None or day in numbers)):
            yield Missing("date", *found.span(), instead=only_of(rivals))


def _are_apart(found: re.Match[str], other: re.Match[str], evidence: str) -> bool:
    """Returns whether the evidence states the time between two days: "a week" for the 14th and the 21st."""
    if read_date(found)[1] is None or read_date(other)[1] is None:
        return False
    apart = abs(place_in_time(found, []) - place_in_time(other, []))
    return apart > 0 and any(
        each.dimension == "time" and abs(each.high - apart) < 1 for each in read_quantities(evidence)
    )


def missing_trials(claim: str, evidence: str) -> Iterator[Missing]:
    """Yields a `Missing` of the kind "trial" for each trial of `claim` that `evidence` does not name.

    Args:
        claim: the text of the claim: "the DAPA-CKD trial (NCT03036150) showed ...".
        evidence: all evidence as one text.
    """
    yield from _unknown_numbers(claim, evidence)
    yield from _unknown_trials(claim, evidence)


def _unknown_numbers(claim: str, evidence: str) -> Iterator[Missing]:
    """Yields each registration number ("NCT03036150") that the evidence lacks."""
    known = {plain_number(found[0]) for found in REGISTERED.finditer(evidence)}
    for found in REGISTERED.finditer(claim):
        if plain_number(found[0]) not in known:
            note = f"claim names the registered trial {found[0]}, the evidence does not"
            yield Missing("trial", *found.span(), note=note)


def _unknown_trials(claim: str, evidence: str) -> Iterator[Missing]:
    """Yields the first trial by name ("DAPA-CKD") if the evidence neither has nor spells out the name."""
    found = _NAME.search(claim)
    if not found or REGISTERED.match(found[0]) or found[0].lower() in evidence.lower():
        return
    initials = "".join(piece[0] for piece, _, _ in pieces_of(evidence)).lower()
    if "".join(filter(str.isalpha, found[0])).lower() in initials:
        return  # neighbouring words of the evidence spell out the name
    if not mentions_at(claim, found.start()):  # "COPD trials" names a disease
        yield Missing("trial", *found.span(), note=f"claim names the trial {found[0]}, the evidence does not")
