"""Reads the citation markers of an answer and finds the chunks they name."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pytest_medfaith.claims.layout import Sentence, read_layout, read_sentences
from pytest_medfaith.records import Chunk

# "[120-140]" is a reference interval, not 21 sources.
_LONGEST_RANGE = 20
_NUMBERS = r"\d{1,3}(?:\s*[-\u2013—]\s*\d{1,3})?(?:\s*[,;]\s*\d{1,3}(?:\s*[-\u2013—]\s*\d{1,3})?)*"
_SOURCE_WORD = (
    r"(?:sources?|documents?|docs?|passages?|contexts?|references?|refs?|chunks?|snippets?)\s*[#]?\s*"
)
_PMIDS = r"PMIDs?\s*:?\s*\d{1,9}(?:\s*[,;]\s*(?:PMID\s*:?\s*\d{1,9}|\d{7,9}))*"
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
_INTERVAL_BEFORE = re.compile(
    r"\b(?:CI|IQR|intervals?|ranges?|ranging|between)(?:\s+(?:of|was|is))?\s*[:,=]?\s*$", re.IGNORECASE
)
_FOOTNOTE = re.compile(r"\[\^\d+\]:")
# The NUL character stands for a marker here.
_BETWEEN = re.compile(r"(?<=\x00)\s*(?:[,;&]|and)?\s*(?=\x00)")
_WRAPPED = re.compile(
    r"[(\[]\s*(?:(?:see|cf\.?|as in|refs?\.?|references?|sources?|from):?\s*)?\x00+\s*[)\]]", re.IGNORECASE
)
_MONTH = r"(?:Jan|Feb|Mar|Apr|May|June?|July?|Aug|Sept?|Oct|Nov|Dec)[a-z]*"
_AUTHORS = rf"(?!{_MONTH}\b)[A-Z][\w'\u2019-]+(?:\s+(?:[A-Z][\w'\u2019-]+\s+)?(?:et\s+al\.?|(?:and|&)\s+[A-Z][\w'\u2019-]+)\s*,?|\s*,)\s*(?:19|20)\d\d[a-z]?"
# Marks that name a source without a number of a passage: they are no words of the claim.
_NAMELESS = re.compile(
    rf"""\u3010[^\u3010\u3011\r\n]{{0,80}}\u3011
      | [(\[]\s*(?:(?:see|cf\.?|e\.g\.,?|reviewed\s+in)\s+)?{_AUTHORS}(?:\s*[;,]\s*{_AUTHORS}){{0,6}}\s*[)\]]
      | (?<=[.!?,;:)”"])[\u00b9\u00b2\u00b3\u2070\u2074-\u2079]+(?:[,\u2013\u207b-][\u00b9\u00b2\u00b3\u2070\u2074-\u2079]+)*
      | (?<=[a-z]{{3}})[\u00b9\u00b2\u00b3\u2070\u2074-\u2079]+(?:[,\u2013\u207b-][\u00b9\u00b2\u00b3\u2070\u2074-\u2079]+)*(?=[\s.,;:)]|$)
      | (?<=[.!?])\(\d{{1,3}}(?:\s*[,\u2013-]\s*\d{{1,3}})*\)(?=\s|$)""",
    re.VERBOSE,
)
_NAMED = re.compile(
    r"(?<!\s)(?:,\s*|\s+)(?:according\s+to|as\s+(?:stated|shown|described|reported)\s+in|per|see|from)\s+(?:the\s+)?(?:sources?|documents?|passages?|contexts?|references?|refs?\.?|chunks?)\s*\x00+(?=\s*[.;:)]|\s*$)",
    re.IGNORECASE,
)
_PMID = re.compile(r"(?:pmid|pubmed)[\s:_-]*(\d{1,9})", re.IGNORECASE)


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
        if _FOOTNOTE.match(text, match.start()) and text[: match.start()].rpartition("\n")[2].strip() == "":
            continue
        before = text[max(0, match.start() - 40) : match.start()]
        if match["numbers"] and (_INTERVAL_BEFORE.search(before) or _spreads(before, match["numbers"])):
            continue
        pmids = match["square"] or match["round"] or match["bare"]
        markers = (
            [f"PMID {digits}" for digits in re.findall(r"\d+", pmids)]
            if pmids
            else _numbers(match["numbers"] or match["named"])
        )
        found += [Citation(marker, match.start(), match.end()) for marker in dict.fromkeys(markers)]
    return found


def _spreads(before: str, listed: str) -> bool:
    """Returns whether a bracket is the spread of the number it follows, as in "34 [28-41]"."""
    middle = re.search(r"(\d+(?:\.\d+)?)\s*$", before[-12:])
    ends = re.fullmatch(r"(\d+)\s*[-\u2013—]\s*(\d+)", listed)
    return middle is not None and ends is not None and int(ends[1]) <= float(middle[1]) <= int(ends[2])


def _numbers(listed: str) -> list[str]:
    numbers: list[int] = []
    for part in re.split(r"[,;]", listed):
        ends = [int(end) for end in re.findall(r"\d+", part)]
        if not 0 <= ends[-1] - ends[0] <= _LONGEST_RANGE:
            return []
        numbers += range(ends[0], ends[-1] + 1)
    return [str(number) for number in numbers] if min(numbers) > 0 else []


def strip_citations(text: str) -> str:
    """Returns `text` without its citation markers and without the white space, commas and empty brackets they leave."""
    if mask_citations(text, "\x00") == text:
        return text
    return re.sub(r"[ \t]*\x00+", "", mask_citations(text, "\x00")).strip(" \t")


def mask_citations(text: str, blank: str = " ") -> str:
    """Returns `text` at the same length with each marker, and the brackets and commas around it, overwritten by `blank`."""
    spans = {(citation.start, citation.end) for citation in parse_citations(text)} | {
        mark.span() for mark in _NAMELESS.finditer(text)
    }
    masked = list(text)
    for start, end in spans:
        masked[start:end] = "\x00" * (end - start)
    overwritten = _BETWEEN.sub(lambda found: "\x00" * len(found[0]), "".join(masked))
    overwritten = _WRAPPED.sub(lambda found: "\x00" * len(found[0]), overwritten)
    overwritten = _NAMED.sub(lambda found: "\x00" * len(found[0]), overwritten)
    return overwritten.replace("\x00", blank) if spans else text


def cited_sentences(answer: str) -> list[CitedSentence]:
    """Returns each sentence of `answer` with the markers that stand in it or right after it; headings are no sentences."""
    sentences = read_sentences(read_layout(mask_citations(answer)))
    cited = zip(sentences, _citations_of(answer, sentences), strict=True)
    return [
        CitedSentence(
            sentence.start,
            max([sentence.end, *(citation.end for citation in citations)]),
            _markers(citations),
        )
        for sentence, citations in cited
        if sentence.block.kind != "heading"
    ]


def sentence_markers(answer: str, sentences: Sequence[Sentence]) -> list[tuple[str, ...]]:
    """Returns, for each of the `sentences` of `answer`, its markers in order and once each."""
    return [_markers(citations) for citations in _citations_of(answer, sentences)]


def _citations_of(answer: str, sentences: Sequence[Sentence]) -> list[list[Citation]]:
    """Returns, for each sentence, the citations in its zone; one behind other words, as in a list of references, is nobody's."""
    zones = [sentence.zone for sentence in sentences]
    owned: list[list[Citation]] = [[] for _ in sentences]
    masked = mask_citations(answer)
    for citation in parse_citations(answer) if sentences else ():
        owner = max(bisect_right(zones, citation.start) - 1, 0)
        if not any(map(str.isalnum, masked[sentences[owner].end : citation.start])):
            owned[owner].append(citation)
    return owned


def _markers(citations: Iterable[Citation]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(citation.marker for citation in citations))


def resolve_citations(markers: Iterable[str], contexts: Sequence[Chunk]) -> ResolvedCitations:
    """Returns the ids of the chunks in `contexts` that `markers` name, and the markers that name none.

    "3" is the third of `contexts`, in rank order and from 1; "PMID 123" is every chunk with that `pmid`, or whose id is that
    number with or without "PMID"; anything else is a chunk's id.
    """
    found: dict[str, None] = {}
    unknown: dict[str, None] = {}
    for marker in markers:
        ids = _named_chunks(marker.strip(), contexts)
        found.update(dict.fromkeys(ids))
        if not ids:
            unknown[marker] = None
    return ResolvedCitations(tuple(found), tuple(unknown))


def _named_chunks(marker: str, contexts: Sequence[Chunk]) -> list[str]:
    by_id = [chunk.id for chunk in contexts if chunk.id == marker]
    pmid = _PMID.fullmatch(marker)
    if by_id or not (pmid or marker.isdecimal()):
        return by_id
    if pmid:
        return [chunk.id for chunk in contexts if pmid[1] in (chunk.pmid, _pmid_of(chunk.id))]
    place = int(marker)
    return [contexts[place - 1].id] if 1 <= place <= len(contexts) else []


def _pmid_of(chunk_id: str) -> str:
    found = _PMID.fullmatch(chunk_id)
    return found[1] if found else chunk_id
