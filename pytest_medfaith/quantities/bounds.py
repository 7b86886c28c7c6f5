"""Words around a number that bound it or make it rough: "at least 5", "5 or more", "up to 5", "about 5"."""

from __future__ import annotations

import re
from dataclasses import replace

from pytest_medfaith.quantities.numerals import LOOK_BACK, WORDS
from pytest_medfaith.quantities.quantity import Quantity

_ROUGH_BEFORE = re.compile(
    r"(?:\b(?:about|around|approximately|roughly|nearly|almost|some|close to|estimated|just over|just under|"
    r"on average|as much as|as many as|typically|well over)|~|≈)\s*$",
    re.IGNORECASE,
)
_ROUGH_AFTER = re.compile(r"\s*(?:or so|or thereabouts)\b", re.IGNORECASE)
_MINIMUM_BEFORE = re.compile(
    r"(?:\b(?:at least|(?:no|not) (?:less|fewer|lower|earlier|sooner|shorter|younger) than|"
    r"minimum(?: of| is)?|(?:more|greater|higher|larger|longer|older|later|better|thicker|wider|heavier|"
    r"faster|warmer|deeper|taller) than|above|over|exceed(?:s|ing|ed)?|"
    r"beyond|past|upwards of|in excess of)(?:\s+(?:about|the age of|a|an))?|≥|>=|>|⩾)[\s-]*$",
    re.IGNORECASE,
)
_MAXIMUM_BEFORE = re.compile(
    r"(?:\b(?:at most|(?:no|not) (?:more|later|longer|higher|greater|older) than|not exceed(?:ing)?|up to|"
    r"(?:less|fewer|lower|smaller|shorter|younger|earlier|sooner|thinner|narrower|lighter|slower|cooler) "
    r"than|falls? short of|below|under|within|inside|"
    r"(?:maximum|max|ceiling|limit)(?: dose)?(?: of| is)?|limited to|barely)(?:\s+(?:about|the age of|a|"
    r"an))?|≤|<=|<|⩽)[\s-]*$",
    re.IGNORECASE,
)
# "The lowest dose for pain in the elderly was 5 mg" and "the maximum interval was set at four weeks".
_EXTREME = re.compile(
    r"\b(?:(?P<low>lowest|minimum|smallest|shortest)|highest|maximum|largest|longest)\s+(?!\d)"
    r"(?:[^\W\d]+\s+){1,8}?(?:is|was|are|were|set at|of|at)\s+$",
    re.IGNORECASE,
)
_AGE_FROM = re.compile(r"\b(?:start|begin)s? (?:at|from)\s+$", re.IGNORECASE)
_EXTREME_BACK = 96  # characters
_FROM = re.compile(
    r"\b(?:from|from an? (?:[\w-]+ ){1,3}of)(?:\s+(?:about|the age of|a|an))?[\s-]*$",
    re.IGNORECASE,
)
# The number after "from" may be one of two ends: "from 5 to 10 mg", "rose from 20% with placebo to 40%".
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
# Before a time these words may say "during": "over 12 weeks". So "within" is not the opposite of "over".
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
    r"\+|\s*(?:(?:or|and)\s+(?:more|older|above|over|higher|greater|longer|upwards?|up|beyond|later|"
    r"heavier|faster|"
    r"warmer)\b|plus\b(?=\s*(?:[.,;:)]|$))|at (?:the )?(?:least|earliest)\b|upwards?\b|"
    r"(?:is|was|as) (?:the|a) (?:minimum|lowest)\b)",
    re.IGNORECASE,
)
_MAXIMUM_AFTER = re.compile(
    r"\s*(?:(?:or|and)\s+(?:less|fewer|younger|under|below|lower|shorter|earlier|lighter|slower|"
    r"cooler)\b|at (?:the )?(?:most|latest)\b|maximum\b|"
    r"(?:is|was|as) (?:the|a) (?:maximum|highest|most|limit|ceiling)\b)",
    re.IGNORECASE,
)
_NEGATED_BOUND = re.compile(
    r"(?:\b(?:not|never|n't|cannot)\s+(?:\w+\s+){0,2}|\b(?:rather than|instead of|without)\s+(?:\w+\s+)?|"
    r"\bbefore\s+(?:\w+\s+){1,6}(?:for|lasts?|lasted|is|are|was|were)\s+)$",
    re.IGNORECASE,
)


def words_before(text: str, position: int) -> str:
    """Returns the 48 characters before `position`, in which words such as "at least" are looked for."""
    return text[max(0, position - LOOK_BACK) : position]


def bounded(quantity: Quantity, text: str) -> Quantity:
    """Returns `quantity` with what the words around it in `text` add.

    Sets `bound`, `rough`, `loose`, `course` and `denied`, see `Quantity`: "at least 5 mg" has the bound
    "min".
    """
    ahead, following = words_before(text, quantity.start), bound_after(text, quantity.end)
    may_be_loose = quantity.dimension == "time" and quantity.role != "age" and not following
    loose = _LOOSE_BEFORE.search(ahead) if may_be_loose else None
    opening = _MINIMUM_BEFORE.search(ahead) or _MAXIMUM_BEFORE.search(ahead)
    return replace(
        quantity,
        bound=following or _bound_before(quantity, text, ahead),
        rough=quantity.rough or bool(_ROUGH_BEFORE.search(ahead) or _ROUGH_AFTER.match(text, quantity.end)),
        loose=loose["word"].lower() if loose and not loose["kept"] else "",
        course=quantity.low < quantity.high and bool(_RISES_FROM.search(ahead)),
        denied=bool(opening and _NEGATED_BOUND.search(ahead[: opening.start()])),
    )


def bound_after(text: str, end: int) -> str:
    """Returns "min" for "or more" at the offset `end`, "max" for "or less", else ""."""
    return "min" if _MINIMUM_AFTER.match(text, end) else "max" if _MAXIMUM_AFTER.match(text, end) else ""


def _bound_before(quantity: Quantity, text: str, ahead: str) -> str:
    """Returns the bound in the words `ahead` of the quantity, "min", "max" or ""; a negation reverses it.

    "After" and "before" bound only times. "From" is a bound if no "to" follows: "from 12 weeks on", but not
    "from 5 to 10 mg".
    """
    low, high = _MINIMUM_BEFORE.search(ahead), _MAXIMUM_BEFORE.search(ahead)
    to = _TO_LATER if _MOVES_FROM.search(ahead) else _TO_AFTER
    if (
        not low
        and not _TO_INSIDE.search(text, quantity.start, quantity.end)
        and not to.match(text, quantity.end)
    ):
        low = _FROM.search(ahead)
        if quantity.role == "age":  # "licensed use starts at 16 years of age"
            low = low or _AGE_FROM.search(ahead)
    if quantity.dimension == "time":
        low, high = low or _AFTER_TIME.search(ahead), high or _BEFORE_TIME.search(ahead)
    opening = min((found for found in (low, high) if found), key=lambda found: found.start(), default=None)
    if not opening:
        extreme = _EXTREME.search(text, max(0, quantity.start - _EXTREME_BACK), quantity.start)
        return "" if not extreme else "min" if extreme["low"] else "max"
    is_minimum = opening is low
    if _NEGATED_BOUND.search(ahead[: opening.start()]):
        is_minimum = not is_minimum
    return "min" if is_minimum else "max"
