"""Tells whether words hold something to check: a measured amount, an order or a predicate.

A label or a heading that does is a claim.
"""

from __future__ import annotations

import re

from pytest_medfaith.english.conjugation import noun_verbs
from pytest_medfaith.english.grammar import Part
from pytest_medfaith.english.phrases import Phrase
from pytest_medfaith.english.verbs import forms, is_adverb

_UNIT = (
    r"(?:k?g|mg|mcg|[\u00b5\u03bcm]?g|ng|m?l|d?l|litres?|liters?|grams?|milligrams?|micrograms?|units?|iu|u"
    r"|mmol|mol|mmhg|kpa|bpm|%|per\s?cent|percent|tablets?|"
    r"capsules?|pills?|puffs?|drops?|doses?|sachets?|times?|hours?|hrs?|h|minutes?|mins?|days?|weeks?|months?"
    r"|years?|cm|mm|kcal|°c|°f|degrees?)"
)
_AMOUNT = re.compile(
    rf"(?<![\w.])(?:\d[\d.,]*(?:\s*(?:-|\u2013|to)\s*\d[\d.,]*)?)\s*(?:-\s*)?{_UNIT}(?![^\W\d_])|\d\s*/\s*\d"
    rf"|[<>≤≥]\s*\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve)"
    rf"\s+{_UNIT}(?!\w)|\b(?:once|twice|daily|hourly|b\.?i\.?d|t\.?[di]\.?[sd]|q\.?i\.?d|bd|qds|tds)\b",
    re.IGNORECASE,
)


def has_amount(text: str) -> bool:
    """Returns whether `text` holds a measure, a fraction, a bound or how often: "8 g", "> 65", "twice"."""
    return _AMOUNT.search(text) is not None


def amounts(text: str) -> list[str]:
    """Returns the measures, fractions and bounds of `text`, and how often: "8 g", "> 65", "twice"."""
    return [found[0] for found in _AMOUNT.finditer(text)]


def is_order(words: Phrase) -> bool:
    """Returns whether `words` begin with a verb that bids or forbids: "Never mix them"; not "Treating"."""
    if words and words[0].lower in ("do", "don't", "never", "please", "avoid", "stop"):
        return len(words) > 1
    return begins_with_verb(words)


def begins_with_verb(words: Phrase) -> bool:
    """Returns whether `words` begin with a bare verb that is no noun, adverbs aside: "Slowly lower it"."""
    first = next((word for word in words if not is_adverb(word)), None)
    return first is not None and len(words) > 1 and "base" in forms(first) and first.lower not in noun_verbs()


def states(part: Part) -> bool:
    """Returns whether `part` says something by itself: a predicate with its subject, or an order."""
    return part.clause is not None or is_order(part.words)
