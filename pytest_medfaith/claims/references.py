"""Recognises the lines that name sources at the end of an answer, and tells them from statements that stand among them."""

from __future__ import annotations

import re

from pytest_medfaith.claims.measures import has_amount, is_order
from pytest_medfaith.english.grammar import Part
from pytest_medfaith.english.phrases import read_words

_SIGNS = tuple(
    re.compile(pattern)
    for pattern in (
        r"https?://|www\.|\bdoi\b|(?i:\bpmid\b|\bpmc\d|\bisbn\b)",
        r"\b[A-Z][\w'’-]+,?\s+(?:[A-Z]\.?){1,3}(?=[\s,.;])|\bet\s+al\b",
        r"[(\s,;.](?:19|20)\d\d[a-z]?(?=[\s);:.,]|$)",
        r"\b\d+\s*(?:\(\d+\))?\s*:\s*e?\d+",
        r"(?i:\bjournal\b|\blancet\b|\bjama\b|\bnejm\b|\bbmj\b|\bcochrane\b|\bguidelines?\b|\bn\s+engl\s+j\b|\brev\b|\bmedlineplus\b|\bwebsite\b|\bpress\b|\bed\.)",
    )
)
_ADDRESS = re.compile(r"\W*(?:https?://|www\.)\S+\W*$")
_NUMBERED = re.compile(r"^\s*(?:[-*•]\s+)?(?:\[\^?[\w-]+\]:?|\(?\d{1,3}[.)])?\s*")
_TITLE = re.compile(r"(?i:^(?:references?|sources?|citations?)\s*:\s*)")
_SAYS = re.compile(
    r"\b(?:is|are|was|were|should|must|can|may|take|takes|you|your|not|never|safe|unsafe|contraindicated|recommended)\b",
    re.IGNORECASE,
)


def is_reference(line: str) -> bool:
    """Returns whether `line` only names a source: "[1] Smith J. Metformin in practice. 2020.", "NICE NG28", an address.

    A line with a dose or an order is none, and a line that reads as a statement only with two signs of a source (authors, year,
    journal, volume, address).
    """
    if _ADDRESS.match(line):
        return True
    numbered = _NUMBERED.match(line)
    text = _TITLE.sub("", line[numbered.end() if numbered else 0 :])
    part = Part(read_words(text))
    if has_amount(text) or is_order(part.words):
        return False
    signs = sum(sign.search(line) is not None for sign in _SIGNS)
    return signs >= 2 or not (_SAYS.search(text) or part.clause is not None)
