"""Findings that a text dates to the future: "a trial published in 2041 found it".

Plans do not count: "The guideline is due for review in 2041", "By 2050 a third of adults will have it".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta, timezone

from pytest_medfaith.english.sentences import sentence_spans
from pytest_medfaith.quantities.calendar import dates_in, read_date, years_in

# Journals and yearly guidelines have a date after their publication: the report for 2027 appears in November
# 2026.
DATED_AHEAD = timedelta(days=92)
_FIRST_CLOCK = timezone(timedelta(hours=14))  # where a day begins first

_SOURCES = (
    r"trials?|stud(?:y|ies)|guidelines?|guidance|reviews?|meta-?analys[ei]s|surveys?|cohorts?|reports?"
    r"|papers?|"
    r"articles?|RCTs?|consensus|statements?|analys[ei]s|registr(?:y|ies)|recommendations?|updates?|editions?|"
    r"labels?|approvals?|publications?|census"
)
_MADE_KNOWN = (
    r"show(?:ed|n)|found|reported|published|approved|demonstrated|concluded|confirmed|recommended|released|"
    r"presented|announced|issued|licensed|authori[sz]ed|introduced|launched|withdrawn|withdrew|retracted|"
    r"completed|enrolled|randomi[sz]ed|recruited|conducted|discovered|observed|proved|proven|established|"
    r"banned|updated|revised|tested|compared|warned|advised|endorsed|registered"
)
_PAST = re.compile(
    rf"\b(?:was|were|had|did|(?:has|have) been|{_MADE_KNOWN}|rose|fell|doubled|occurred|died|began|became|"
    r"ended|started|led|received|won)\b",
    re.IGNORECASE,
)
# "The 2041 outpatient trial", "the 2041 ESC/EAS guideline".
_SOURCE_AFTER = re.compile(rf"[\s-]+(?:[\w/'’&-]+\s+){{0,3}}?(?:{_SOURCES})\b", re.IGNORECASE)
_SOURCE_BEFORE = re.compile(rf"\b(?:{_SOURCES})\s+(?:of|from|in)\s+(?:[A-Za-z]+\.?\s+)?$", re.IGNORECASE)
_KNOWN_BEFORE = re.compile(
    rf"\b(?:{_MADE_KNOWN})\b(?:\s+[\w’'/-]+){{0,6}}?\s+(?:in|on|during|since)\s+"
    r"(?:(?:early|late|mid|the\s+\w+\s+of)[\s-]+)?(?:(?:\d{1,2}(?:st|nd|rd|th)?\s+)?[A-Za-z]+\.?"
    r"(?:\s+\d{1,2})?,?\s+)?$",
    re.IGNORECASE,
)
# "(Smith et al., 2041)", "Lancet 2041;".
_CITED = re.compile(r"(?:\bet al\.?,?\s*\(?|\([A-Z][\w’'-]+(?:\s+(?:and|&)\s+[A-Z][\w’'-]+)?,?\s+)$")
_ISSUE = re.compile(r"\s*;\s*\d")
# These words make a date a plan, wherever they are in the sentence.
_PLANNED = re.compile(
    r"\b(?:will|would|shall|won['’]t|could|should|project(?:ed|s|ions?)|expect(?:ed|s|ations?)?|predict\w*|"
    r"forecast\w*|anticipat\w+|schedul\w+|due|plan(?:ned|s|ning)?|goals?|targets?|targeted|aim(?:s|ed)?|"
    r"deadlines?|upcoming|forthcoming|next|pending|ongoing|recruiting|enrolling|expir\w+|valid|to be|set to|"
    r"agenda|strategy|vision|roadmap|estimat(?:e|es|ed|ion)|model(?:l?ed|ling|s)?|scenarios?|extrapolat\w+|"
    r"intend\w*|propos(?:ed|al|es)|hop(?:es|ed)|pledg\w+|commit\w*|horizon|trajector\w+|trends?)\b",
    re.IGNORECASE,
)
_PLANNED_NEAR = re.compile(
    r"\b(?:planned|scheduled|upcoming|forthcoming|next|pending|proposed|expected|anticipated|projected|"
    r"due|draft|future|if|until|before|for)\b(?:\s+\w+){0,2}\s*$",
    re.IGNORECASE,
)
# "The 2041 review is due", "the 2041 guideline will say".
_PLANNED_AFTER = re.compile(
    r"(?:\s+[\w’'/-]+){0,3}?\s+(?:will|would|shall|should|may|might|could|to be|is|are)\s+(?:\w+\s+)?"
    r"(?:planned|scheduled|due|expected|anticipated|pending|proposed|be|include|cover|address|begin|start|"
    r"recommend|report|end|run|enrol\w*|recruit\w*|replace|update)\b|"
    r"(?:\s+[\w’'/-]+){0,3}?\s+(?:agenda|targets?|goals?|strategy|vision|deadline|horizon|projections?|"
    r"forecasts?|estimates?)\b",
    re.IGNORECASE,
)
_NOT_YET = re.compile(
    r"\b(?:be|being|by|until|till|before|through|beyond|than|to|towards?|and|for)\s+(?:the\s+(?:end|start|"
    r"beginning|middle|year)\s+(?:of\s+)?)?(?:(?:early|late|mid)[\s-]+)?(?:\d{1,2}(?:st|nd|rd|"
    r"th)?\s+)?(?:[A-Z][a-z]+\.?\s+)?(?:\d{1,2},?\s+)?$"
)
_TO_BE_KNOWN = re.compile(rf"\b(?:be|to|get|gets)\s+(?:\w+ly\s+)?(?:{_MADE_KNOWN})\b[^.]*$", re.IGNORECASE)
_SPAN_BEFORE = re.compile(r"(?:19|20)\d\d\s*(?:[-–/]|to|and|through)\s*$")


@dataclass(frozen=True)
class FutureDate:
    """A year in the future to which a text dates a finding.

    Attributes:
        year: the year.
        start: the first character of its words in the text.
        end: the character after them.
    """

    year: int
    start: int
    end: int


def latest_date(today: date | None = None, *, published: int = 0) -> date:
    """Returns the last day that does not count as the future: today and some three months, or later.

    Args:
        today: today; the clock's day where None.
        published: the latest year in which a source of the evidence appeared, 0 for none. This whole year
            does not count as the future. A year after the next one is an error of the corpus, and counts as
            the next.
    """
    now = today or datetime.now(tz=_FIRST_CLOCK).date()
    return max(now + DATED_AHEAD, date(min(published, now.year + 1), 12, 31) if published else now)


def future_findings(text: str, *, latest: date) -> Iterator[FutureDate]:
    """Yields the dates after `latest` at which `text` puts a finding, a publication or an event.

    "A trial published in 2041 found less pain." gives 2041, while `latest` is before that year.
    """
    for start, end in sentence_spans(text):
        sentence = text[start:end]
        for found in _dates(sentence, latest):
            if _is_finding(sentence, found, latest):
                yield FutureDate(found.year, found.start + start, found.end + start)


def _dates(sentence: str, latest: date) -> Iterator[FutureDate]:
    """Yields the years of a sentence after that of `latest`, and the later months of its year."""
    for found in years_in(sentence):
        year = int(found["year"])
        if year > latest.year and not found["decade"]:
            yield FutureDate(year, *found.span("year"))
    for found in dates_in(sentence):
        month, _, of_year = read_date(found)
        if of_year == latest.year and month > latest.month:
            yield FutureDate(latest.year, *found.span())


def _is_finding(sentence: str, found: FutureDate, latest: date) -> bool:
    """Returns whether the sentence dates something that happened; False for plans and for "by 2041"."""
    before, after = sentence[: found.start], sentence[found.end :]
    if _NOT_YET.search(before) or _SPAN_BEFORE.search(before):
        return False
    if _is_bound(before, after):
        return True
    if _PLANNED.search(sentence):
        return False
    others = (year for year in years_in(sentence) if not found.start <= year.start("year") < found.end)
    has_come = any(int(year["year"]) <= latest.year for year in others)
    return bool(_PAST.search(sentence)) and not has_come


def _is_bound(before: str, after: str) -> bool:
    """Returns whether the date between `before` and `after` is that of a source: "published in 2041"."""
    if _TO_BE_KNOWN.search(before) or _PLANNED_NEAR.search(before) or _PLANNED_AFTER.match(after):
        return False
    if _CITED.search(before) or _ISSUE.match(after):
        return True
    of_source = _SOURCE_AFTER.match(after) or _SOURCE_BEFORE.search(before)
    planned = _PLANNED.search(before + after)
    if of_source:
        return not planned or bool(_PAST.search(after))
    return bool(_KNOWN_BEFORE.search(before)) and not _PLANNED.search(before)


def known_years(text: str, *, latest: date) -> frozenset[int]:
    """Returns the years after `latest` that `text` names outside plans: 2041 for "the 2041 edition"."""
    years = set()
    for start, end in sentence_spans(text):
        sentence = text[start:end]
        if not _PLANNED.search(sentence):
            years |= {int(found["year"]) for found in years_in(sentence) if int(found["year"]) > latest.year}
    return frozenset(years)
