"""Finds sentences fast: where evidence windows may begin and end. Claim extraction has a slower, finer splitter."""

from __future__ import annotations

import re

_ABBREVIATIONS = frozenset(
    "e.g i.e etc vs cf al fig figs ca approx dr prof mr mrs ms st no nos vol ed eds resp spp sp subsp inc dept min max incl wt est i.v i.m s.c p.o b.i.d t.i.d q.i.d".split()
)
# The look-behinds keep runs of stops or blanks from being tried again at each of their characters.
_BOUNDARY = re.compile(
    r"""(?P<stop>(?<![.!?…])[.!?…]+["'”’)\]]*)(?:\s*\[[\d,\s–-]+\])*\s+(?=["'“‘(\[]?[A-Z0-9Α-Ω•*-])|(?<!\s)\s*\n\s*"""
)


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Returns half-open character spans of the sentences of `text`, in order, without surrounding white space.

    Line ends are boundaries; abbreviations, initials and decimals are not. Blank text has no sentence.
    """
    spans: list[tuple[int, int]] = []
    start = 0
    for match in _BOUNDARY.finditer(text):
        if match["stop"] is not None and _is_abbreviation(text[start : match.start()], text[match.end()]):
            continue
        _append_trimmed(spans, text, start, match.end())
        start = match.end()
    _append_trimmed(spans, text, start, len(text))
    return spans


def _is_abbreviation(before: str, following: str) -> bool:
    """Returns whether the last word of `before` is cut short; "No." alone answers a question, unless a number follows."""
    if before.strip() == "No" and not following.isdigit():
        return False
    word = before.rsplit(None, 1)[-1].lstrip("([\"'") if before.strip() else ""
    return word.lower() in _ABBREVIATIONS or re.fullmatch(r"[A-Z]", word) is not None


def _append_trimmed(spans: list[tuple[int, int]], text: str, start: int, end: int) -> None:
    piece = text[start:end]
    lead = len(piece) - len(piece.lstrip())
    kept = piece.strip()
    if kept:
        spans.append((start + lead, start + lead + len(kept)))
