"""Reads the citation markers of an answer and finds the chunks they name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pytest_medfaith.claims.layout import read_layout
from pytest_medfaith.claims.sentences import split_sentences
from pytest_medfaith.records import Chunk

# "[120-140]" is a reference interval, not 21 sources.
_LONGEST_RANGE = 20
_NUMBERS = r"\d{1,3}(?:\s*[-–—]\s*\d{1,3})?(?:\s*[,;]\s*\d{1,3}(?:\s*[-–—]\s*\d{1,3})?)*"
_SOURCE_WORD = r"(?:sources?|documents?|docs?|passages?|contexts?|references?|refs?|chunks?|snippets?)\s*#?\s*"
_PMIDS = r"PMIDs?\s*:?\s*\d{1,9}(?:\s*[,;]\s*(?:PMID\s*:?\s*)?\d{4,9})*"
_MARKER = re.compile(
    rf"""
    \[\^?(?:{_SOURCE_WORD})?(?P<numbers>{_NUMBERS})\](?:\([^()\s]*\))?
  | \({_SOURCE_WORD}(?P<named>{_NUMBERS})\)
  | \[\s*(?P<square>{_PMIDS})\s*\]
  | \(\s*(?P<round>{_PMIDS})\s*\)
  | \b(?P<bare>{_PMIDS})
    """,
    re.VERBOSE | re.IGNORECASE,
)
_INTERVAL_BEFORE = re.compile(r"\b(?:CI|IQR|intervals?|ranges?|ranging|between)(?:\s+(?:of|was|is))?\s*[:,=]?\s*$", re.IGNORECASE)
_WRAPPED = re.compile(r"\(\s*(?:see|cf\.?|e\.g\.,?|as in|ref(?:s|erence)?\.?|sources?:?)?\s*(?:\x00[\s,;]*)+\)", re.IGNORECASE)


@dataclass(frozen=True)
class Citation:
    """One cited source: `marker` is a number such as "1", or "PMID 123"; `start`, `end` span the whole bracket in the text."""

    marker: str
    start: int
    end: int


@dataclass(frozen=True)
class CitedSentence:
    """A sentence of an answer, its half-open span (markers that follow its full stop included), and its markers in order."""

    start: int
    end: int
    markers: tuple[str, ...]


@dataclass(frozen=True)
class ResolvedCitations:
    """The ids of the chunks that markers name, in order and once each, and the markers that name none."""

    chunk_ids: tuple[str, ...]
    unknown: tuple[str, ...]


def parse_citations(text: str) -> list[Citation]:
    """Returns the citations of `text` in order: [1], [1, 2], [1-3], [1][2], [^1], [Source 1], (PMID 123), [PMID 123], PMID: 123.

    A bracket that lists several sources gives one citation each, with the bracket's span. Numbers run from 1 to 999; the
    brackets of an interval ("95 % CI [1, 3]") and of a range longer than 20 are text.
    """
    found: list[Citation] = []
    for match in _MARKER.finditer(text):
        if match["numbers"] and _INTERVAL_BEFORE.search(text[max(0, match.start() - 40) : match.start()]):
            continue
        pmids = match["square"] or match["round"] or match["bare"]
        markers = [f"PMID {digits}" for digits in re.findall(r"\d+", pmids)] if pmids else _numbers(match["numbers"] or match["named"])
        found += [Citation(marker, match.start(), match.end()) for marker in dict.fromkeys(markers)]
    return found


def _numbers(listed: str) -> list[str]:
    numbers: list[int] = []
    for part in re.split(r"[,;]", listed):
        ends = [int(end) for end in re.findall(r"\d+", part)]
        if not 0 <= ends[-1] - ends[0] <= _LONGEST_RANGE:
            return []
        numbers += range(ends[0], ends[-1] + 1)
    return [str(number) for number in numbers] if min(numbers) > 0 else []


def strip_citations(text: str) -> str:
    """Returns `text` without its citation markers and without the white space and empty parentheses they leave."""
    return _close_gaps(mask_citations(text)) if parse_citations(text) else text


def _close_gaps(masked: str) -> str:
    without = re.sub(r"[ \t]*\x00+", "", _WRAPPED.sub("\x00", masked))
    return re.sub(r"[ \t]{2,}", " ", without).strip(" \t")


def mask_citations(text: str, blank: str = "\x00") -> str:
    """Returns `text` at the same length with each citation marker overwritten by `blank`, so that offsets stay true."""
    for citation in parse_citations(text):
        text = text[: citation.start] + blank * (citation.end - citation.start) + text[citation.end :]
    return text
