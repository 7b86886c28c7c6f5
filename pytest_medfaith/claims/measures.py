"""Tells whether words have something to check: a measured amount, an order or a predicate.

A label or heading with such words is a claim.
"""

from __future__ import annotations

import re

from pytest_medfaith.english.conjugation import noun_verbs
from pytest_medfaith.english.grammar import Part
from pytest_medfaith.english.lexicon import word_set
from pytest_medfaith.english.phrases import Phrase, written
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
    """Returns whether `text` has a measure, a fraction, a bound or a frequency: "8 g", "> 65", "twice"."""
    return _AMOUNT.search(text) is not None


def amounts(text: str) -> list[str]:
    """Returns the measures, fractions, bounds and frequencies of `text`: ["8 g", "twice"]."""
    return [found[0] for found in _AMOUNT.finditer(text)]


# How, when and how long a dose is taken: "twice a day", "with meals", "for 7 days", "by mouth".
_TIMING_WORDS = word_set(
    "a an the per each every once twice times time daily hourly nightly weekly monthly day days night week "
    "weeks month months hour hours minute minutes am pm morning evening noon bedtime breakfast lunch dinner "
    "supper meal meals food or and to at in on with without before after for up by mouth orally as needed "
    "intravenously subcutaneously intramuscularly bd bid tds tid qds qid od iv im sc po prn then until "
    "between least most maximum of no more than one two three four five six seven eight nine ten twelve"
)


def is_amount_alone(words: Phrase) -> bool:
    """Returns whether `words` only say how much: "500 mg", "1 to 2 tablets"."""
    text = written(words).rstrip(" .;,")
    found = _AMOUNT.match(text)
    return found is not None and found.end() == len(text)


def is_timing(words: Phrase) -> bool:
    """Returns whether `words` only say how often, when, how long or by which route: "twice a day"."""
    spoken = [word.lower for word in words if any(map(str.isalnum, word.text))]
    numbers = [word for word in spoken if word[0].isdigit()]
    plain = [word for word in spoken if word in _TIMING_WORDS]
    return len(plain) > 0 and len(numbers) + len(plain) == len(spoken)


def is_order(words: Phrase) -> bool:
    """Returns whether `words` begin with a verb that bids or forbids: "Never mix them"; not "Treating"."""
    if words and words[0].lower in ("do", "don't", "never", "please", "avoid", "stop"):
        return len(words) > 1
    return begins_with_verb(words)


def begins_with_verb(words: Phrase) -> bool:
    """Returns whether `words` begin with a bare verb that is no noun, after adverbs: "Slowly lower it"."""
    first = next((word for word in words if not is_adverb(word)), None)
    return first is not None and len(words) > 1 and "base" in forms(first) and first.lower not in noun_verbs()


def states(part: Part) -> bool:
    """Returns whether `part` says something by itself: it has a subject and a verb, or is an order."""
    return part.clause is not None or is_order(part.words)
