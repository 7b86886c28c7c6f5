"""Times in words, "half an hour" and "in a week", and times counted from the start, "day 28"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from pytest_medfaith import defaults
from pytest_medfaith.quantities.quantity import Quantity
from pytest_medfaith.quantities.units import unit_of

_TIME_IN_WORDS = re.compile(
    r"\b(?:(?:for|in|within|after|than|about|around|least|most|until|over|nearly|almost|lasting|past|under|"
    r"only|just|before|to|takes?|took|lasts?|lasted|first|or)\s+|(?=half\s+an\s+hour\b|"
    r"a\s+quarter\s+of\s+an\s+hour\b|an?\s+(?:hour|day|week|fortnight|month|year)\s+(?:later|earlier)\b|"
    r"an?\s+(?:minute|hour|day|week|month|year)\s+and\s+a\s+half\b))"
    r"(?P<span>(?P<part>half\s+|(?:a\s+)?quarter\s+of\s+|three\s+quarters\s+of\s+)?"
    r"an?\s+(?P<unit>second|minute|hour|day|night|week|fortnight|month|year|decade)"
    r"(?P<more>\s+and\s+a\s+half)?)\b",
    re.IGNORECASE,
)
_PARTS = {"half": 0.5, "three": 0.75, "quarter": 0.25}  # "three quarters" is found before "quarter"
_LABEL = re.compile(
    r"\b(?P<unit>days?|weeks?|months?)\s+(?P<number>\d{1,3})\b(?!\s*(?:%|mg|g\b|ml|of the cycle))",
    re.IGNORECASE,
)


def read_times_in_words(text: str) -> Iterator[Quantity]:
    """Yields "half an hour", the "a week" of "in a week" and "a day and a half" as rough times in days.

    "a week" counts only behind words such as "in", "for" or "after", or before "later"; "twice a week" has no
    time. Numbers ("2 weeks") are not read here.
    """
    for found in _TIME_IN_WORDS.finditer(text):
        factor, dimension = unit_of(found["unit"])
        said = (found["part"] or "").lower()
        part = next((value for word, value in _PARTS.items() if word in said), 1.0)
        days = factor * (part + (0.5 if found["more"] else 0.0))
        yield Quantity(days, days, dimension, found.start("span"), found.end("span"), rough=True)


@lru_cache(maxsize=defaults.TEXTS_KEPT)
def read_labelled_times(text: str) -> tuple[Quantity, ...]:
    """Returns the times that `text` counts from the start, in days: 28 for "day 28"; role "label"."""
    found = []
    for label in _LABEL.finditer(text):
        factor, dimension = unit_of(label["unit"])
        days = float(label["number"]) * factor
        found.append(Quantity(days, days, dimension, label.start(), label.end(), role="label"))
    return tuple(found)
