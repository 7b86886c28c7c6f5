"""Words around a number that bound it or make it rough: "at least 5", "5 or more", "up to 5", "about 5"."""

from __future__ import annotations

import re

from pytest_medfaith.quantities.numerals import LOOK_BACK, WORDS

_ROUGH_BEFORE = re.compile(
    r"(?:\b(?:about|around|approximately|roughly|nearly|almost|some|close to|estimated|just over|just under|"
    r"on average|as much as|as many as|typically|well over)|~|≈)\s*$",
    re.IGNORECASE,
)
_ROUGH_AFTER = re.compile(r"\s*(?:or so|or thereabouts)\b", re.IGNORECASE)
_MINIMUM_BEFORE = re.compile(
    r"(?:\b(?:at least|(?:no|not) (?:less|fewer|lower|earlier|sooner|shorter|younger) than|"
    r"minimum(?: of| is)?|(?:more|greater|higher|larger|longer|older|later|better) than|above|over|"
    r"exceed(?:s|ing|ed)?|"
    r"beyond|past|upwards of|in excess of)(?:\s+(?:about|the age of|a|an))?|≥|>=|>|⩾)[\s-]*$",
    re.IGNORECASE,
)
_MAXIMUM_BEFORE = re.compile(
    r"(?:\b(?:at most|(?:no|not) (?:more|later|longer|higher|greater|older) than|not exceed(?:ing)?|up to|"
    r"(?:less|fewer|lower|smaller|shorter|younger|earlier|sooner) than|below|under|within|inside|"
    r"(?:maximum|max|ceiling|limit)(?: dose)?(?: of| is)?|limited to|barely)(?:\s+(?:about|the age of|a|"
    r"an))?|≤|<=|<|⩽)[\s-]*$",
    re.IGNORECASE,
)
_FROM = re.compile(r"\bfrom(?:\s+(?:about|the age of|a|an))?[\s-]*$", re.IGNORECASE)
# "from 5 to 10 mg", "rose from 20% with placebo to 40%": the number after "from" is one of two ends.
_TO_INSIDE = re.compile(r"\bto\b|[-–—−]\s*\d", re.IGNORECASE)
_TO = (
    rf"\s*(?:\b(?:to|through|until)\s+|[-–—−]\s*)(?:(?:about|around|nearly|almost|at|age)\s+)?(?:\d|"
    rf"(?:{'|'.join(map(re.escape, WORDS))})\b)"
)
_TO_AFTER = re.compile(_TO, re.IGNORECASE)
_TO_LATER = re.compile(rf"(?:\s+[\w/%-]+){{0,6}}?{_TO}", re.IGNORECASE)
_RISING = (
    r"rises?|rose|risen|rais\w+|increas\w+|improv\w+|grows?|grew|grown|climb\w*|went|goes|gone|chang\w+|"
    r"titrat\w+"
)
_FALLING = r"falls?|fell|fallen|drop\w*|declin\w+|decreas\w+|reduc\w+|lower\w*|cut"
_RISES_FROM = re.compile(rf"\b(?:{_RISING})\b[^.;]*\bfrom\s+(?:about\s+)?$", re.IGNORECASE)
_MOVES_FROM = re.compile(rf"\b(?:{_RISING}|{_FALLING})\b[^.;]*\bfrom\s+(?:about\s+)?$", re.IGNORECASE)
# Said of a time, these need not bound it: "over 12 weeks" is also during them, "within" and "by" are no opposites of "over" and "after".
_LOOSE_BEFORE = re.compile(
    r"\b(?P<kept>(?:for|last(?:s|ed|ing)?|takes?|took|taking|exceeds?|is|are|was|were|be|than|of|well|"
    r"just)\s+(?=over))?"
    r"(?P<word>over|within|inside|by|after|before|until|past|beyond)(?:\s+(?:about|the age of|a|an))?\s*$",
    re.IGNORECASE,
)
_BEFORE_TIME = re.compile(r"\b(?:before|by|until)\s+$", re.IGNORECASE)
_AFTER_TIME = re.compile(r"\bafter\s+$", re.IGNORECASE)
# "200 mg plus paracetamol" and "0.5 mg + zinc" add a second thing.
_MINIMUM_AFTER = re.compile(
    r"\+|\s*(?:(?:or|and)\s+(?:more|older|above|over|higher|greater|longer|upwards?|up|beyond|later)\b|"
    r"plus\b(?=\s*(?:[.,;:)]|$))|at least\b|upwards?\b)",
    re.IGNORECASE,
)
_MAXIMUM_AFTER = re.compile(
    r"\s*(?:(?:or|and)\s+(?:less|fewer|younger|under|below|lower|shorter|earlier)\b|at (?:the )?most\b|"
    r"maximum\b)",
    re.IGNORECASE,
)
_NEGATED_BOUND = re.compile(
    r"\b(?:not|never|n't|cannot|rather than|instead of|without)\s+(?:\w+\s+){0,2}$", re.IGNORECASE
)


def before(text: str, position: int) -> str:
    """Returns what stands before `position`, as far back as any word that qualifies a number may stand."""
    return text[max(0, position - LOOK_BACK) : position]


def is_rough(text: str, start: int, end: int) -> bool:
    """Returns whether the number at `start:end` is only about right."""
    return bool(_ROUGH_BEFORE.search(before(text, start)) or _ROUGH_AFTER.match(text, end))


def bound_of(text: str, start: int, end: int, *, is_time: bool) -> str:
    """Returns "min" or "max" where the words around the number at `start:end` bound it, else an empty text.

    "before" and "after" bound a time only; "not more than" turns a bound round.
    """
    ahead = before(text, start)
    low, high = _MINIMUM_BEFORE.search(ahead) or _open_from(text, start, end), _MAXIMUM_BEFORE.search(ahead)
    if is_time:
        low, high = low or _AFTER_TIME.search(ahead), high or _BEFORE_TIME.search(ahead)
    following = bound_after(text, end)
    opening = min((found for found in (low, high) if found), key=lambda found: found.start(), default=None)
    if following or not opening:
        return following
    bound = "min" if opening is low else "max"
    if _NEGATED_BOUND.search(ahead[: opening.start()]):
        return "max" if bound == "min" else "min"
    return bound


def is_denied_bound(text: str, start: int) -> bool:
    """Returns whether a negation before the number at `start` has turned its bound round: "must not be used below 30"."""
    ahead = before(text, start)
    opening = _MINIMUM_BEFORE.search(ahead) or _MAXIMUM_BEFORE.search(ahead)
    return bool(opening and _NEGATED_BOUND.search(ahead[: opening.start()]))


def _open_from(text: str, start: int, end: int) -> re.Match[str] | None:
    """Returns the "from" before a number that no "to" follows: "from 12 weeks on", not "from 5 to 10 mg"."""
    ahead = before(text, start)
    to = _TO_LATER if _MOVES_FROM.search(ahead) else _TO_AFTER
    return None if _TO_INSIDE.search(text, start, end) or to.match(text, end) else _FROM.search(ahead)


def loose_word(text: str, start: int, end: int) -> str:
    """Returns "over", "within", "by", "after" or their like where it is all that bounds the time at `start:end`, else an empty text."""
    found = None if bound_after(text, end) else _LOOSE_BEFORE.search(before(text, start))
    return found["word"].lower() if found and not found["kept"] else ""


def is_course(text: str, start: int) -> bool:
    """Returns whether the range at `start` says how something rose "from" one value to another, rather than where values lie."""
    return bool(_RISES_FROM.search(before(text, start)))


def bound_after(text: str, end: int) -> str:
    """Returns "min" for "or more" at `end`, "max" for "or less", else an empty text."""
    return "min" if _MINIMUM_AFTER.match(text, end) else "max" if _MAXIMUM_AFTER.match(text, end) else ""
