"""Dates that the evidence gives to something else than the claim does.

Example: "registered in 2013" against "registered in 2006, published in 2013".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pytest_medfaith.checking.anchors.evidence import Evidence, Missing, is_odd, shared_with
from pytest_medfaith.english.stems import word_key
from pytest_medfaith.english.words import read_tokens
from pytest_medfaith.quantities.calendar import MONTH, read_date, years_in
from pytest_medfaith.quantities.numerals import WORDS, number_of

SAME_STATEMENT = 0.6  # of the claim's words that the sentence holds
_NEAR = 3  # words before a date that may say what it is of
_SEASON = r"spring|summer|autumn|winter|fall"
_PART = re.compile(
    rf"\b(?P<part>early|beginning of|start of|first half of|late|end of|second half of|mid|middle of|"
    rf"{_SEASON})"
    rf"[\s-]+(?:of\s+|in\s+)?(?:the\s+)?(?P<year>(?:19|20)\d\d)(?!s|\d)"
    rf"|\b(?P<late>late|early) in (?P<other>(?:19|20)\d\d)(?!s|\d)",
    re.IGNORECASE,
)
_EARLY = ("early", "beginning", "start", "first")
_LATE = ("late", "end", "second")
# "Since 2020" and "until 2020" bound a time from opposite sides.
_FROM = re.compile(
    r"\b(?:since|from|after|starting in|as of)\s+(?:\w+\s+)?(?P<year>(?:19|20)\d\d)\b", re.IGNORECASE
)
_TILL = re.compile(
    r"\b(?:until|till|up to|before|prior to)\s+(?:\w+\s+)?(?P<year>(?:19|20)\d\d)\b", re.IGNORECASE
)
_LATER = re.compile(
    rf"\b(?P<number>\d{{1,2}}|{'|'.join(word for word in WORDS if word.isalpha())})\s+years?\s+"
    r"(?P<way>later|earlier|before|afterwards)\b",
    re.IGNORECASE,
)
_ACTIVE = re.compile(r"\s+(?:(?:had|has|have)\s+)?")
_TIMES = frozenset(map(word_key, "year month week day time date".split()))
_LOOSE = re.compile(r"\b(?:between|respectively|and in|both)\b", re.IGNORECASE)


@dataclass(frozen=True)
class _Dated:
    """A date and the word that it dates: October 2006 and "registered".

    Attributes:
        of: the key (stem) of the word that is dated.
        date: (month, year); the month is None for "2006", the year is None for "that October".
        start: the first character of the date.
        end: the character after it.
    """

    of: str
    date: tuple[int | None, int | None]
    start: int
    end: int

    def differs(self, other: _Dated) -> bool:
        """Returns whether the dates cannot be the same: both months, or both years, are known and differ."""
        return any(one != two for one, two in zip(self.date, other.date, strict=True) if one and two)


def missing_dated(claim: str, evidence: Evidence) -> Iterator[Missing]:
    """Yields a `Missing` of the kind "date" for the first date that the evidence gives to something else.

    Only the deciding sentence, `evidence.nearest`, is read. "Early 2013" against "late 2013" and "until 2020"
    against "since 2020" are missing too.
    """
    sentence = evidence.nearest
    if shared_with(claim, 0, 0, sentence) < SAME_STATEMENT or is_odd(claim) != is_odd(sentence):
        return
    if found := _other_part(claim, sentence) or _other_side(claim, sentence):
        yield Missing("date", *found.span(), note=f"claim says {found[0]}, the evidence has another time")
        return
    known = list(read_dated(sentence)) if not _LOOSE.search(sentence) else []
    for mine in read_dated(claim) if known else ():
        same = [other for other in known if other.of == mine.of]
        stated = [other for other in known if other.date == mine.date]
        if same and all(mine.differs(other) for other in same) and (stated or len(same) == 1):
            note = f"the evidence says {claim[mine.start : mine.end]} of something else"
            yield Missing("date", mine.start, mine.end, note=note)
            return


def read_dated(text: str) -> Iterator[_Dated]:
    """Yields the years and months of `text`, each with the content word that it dates.

    This is the nearest content word before the date: "registered in 2006". In "the 2016 guideline dropped" it
    is the verb behind the noun: "dropped". "Five years later" counts as a date if `text` has a single year.
    """
    tokens = [
        token
        for token in read_tokens(text)
        if token.content and token.key not in _TIMES and not MONTH.fullmatch(token.text)
    ]
    dates: list[tuple[int | None, int | None, int, int]] = [
        (read_date(found)[0], read_date(found)[2], *found.span())
        for found in MONTH.finditer(text)
        if found["month"][0].isupper()
        and re.search(r"\b(?:in|of|on|that|since|until)\s+$", text[: found.start()])
    ]
    dates += [
        (None, int(found["year"]), *found.span("year"))
        for found in years_in(text)
        if not found["decade"] and not any(start <= found.start() < end for *_, start, end in dates)
    ]
    years = [year for _, year, *_ in dates if year]
    for found in _LATER.finditer(text):
        base = [year for _, year, _, end in dates if year and end <= found.start()]
        if len(base) == 1 and len(years) == 1:
            step = number_of(found["number"]) * (-1 if found["way"].lower() in ("earlier", "before") else 1)
            dates.append((None, base[0] + int(step), *found.span()))
    for month, year, start, end in dates:
        ahead = [token for token in tokens if token.end <= start]
        behind = [token for token in tokens if token.start >= end]
        if re.search(r"\b(?:the|an?|its|this)\s+$", text[:start], re.IGNORECASE):
            if (
                len(behind) > 1
                and not text[end : behind[0].start].strip()
                and _ACTIVE.fullmatch(text, behind[0].end, behind[1].start)
            ):
                yield _Dated(behind[1].key, (month, year), start, end)
        elif ahead and len(text[ahead[-1].end : start].split()) < _NEAR:
            yield _Dated(ahead[-1].key, (month, year), start, end)


def _other_part(claim: str, sentence: str) -> re.Match[str] | None:
    """Returns the match of "early 2013" where the sentence says "late 2013", or of a season; else None."""
    known = {_part_of(found) for found in _PART.finditer(sentence)}
    for found in _PART.finditer(claim):
        part, year = _part_of(found)
        others = {other for other, of in known if of == year}
        if others and part not in others:
            return found
    return None


def _part_of(found: re.Match[str]) -> tuple[str, str]:
    """Returns the part of a year and the year: ("early", "2013") for "the beginning of 2013"."""
    part = (found["part"] or found["late"]).lower().split()[0]
    part = "early" if part in _EARLY else "late" if part in _LATE else part
    return part, found["year"] or found["other"]


def _other_side(claim: str, sentence: str) -> re.Match[str] | None:
    """Returns the match of "until 2020" where the sentence says "since 2020", or the reverse; else None."""
    for mine, theirs in ((_FROM, _TILL), (_TILL, _FROM)):
        known = {found["year"] for found in theirs.finditer(sentence)}
        kept = {found["year"] for found in mine.finditer(sentence)}
        for found in mine.finditer(claim):
            if found["year"] in known - kept:
                return found
    return None
