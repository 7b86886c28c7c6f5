"""Finds the sentences of a block of an answer with pySBD, at true offsets."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from pytest_medfaith.claims.layout import Block, Layout
from pytest_medfaith.english.sentences import sentence_spans

# A stop after an ordinary word and before a capital ends a sentence for certain; only what is left needs pySBD, which takes
# a millisecond a sentence.
_CERTAIN = re.compile(
    r"(?<=[a-z]{4})[.!?]\s+(?=[A-Z][a-z])|(?<=[a-z]{3})[.!?](?=[A-Z][a-z]{2})|(?<=[a-z]\))\s?[.!?]\s*(?=[A-Z][a-z])"
)
_MAYBE = re.compile(r"[.!?。\uff01\uff1f…]\S{0,3}\s+\S|[。\uff01\uff1f]")
_ABBREVIATED = re.compile(
    r"\b(?:approx|dept|resp|incl|subsp|figs?|refs?|prof|vols?|eds?|spec|temp|diam|conc|intra|extra|circa|assoc|univ|esp)$",
    re.IGNORECASE,
)
_LONGEST_FOR_PYSBD = 5000  # characters; its time grows faster than the text
_URL_TAIL = re.compile(r"(?:https?:|www\.|@|\bdoi\.org/)\S*$")
# pySBD takes a capital before a stop for an initial; these words open a sentence and are no surname.
_MISSED = re.compile(
    r"(?<=[A-Z0-9.)%][.!?])\s+(?=(?:It|This|The|These|They|In|If|However|For|When|You|Patients|Then|He|She|Its|Their|There|Both|Some|Most|Please|Note|Take|Do)\b)"
)
# What ends a sentence though it looks cut short: "hepatitis B.", "Child-Pugh C.", "4 g.", an address, "…".
_ENDED = re.compile(
    r"""(?:\b(?:hepatitis|vitamins?|factors?|influenza|group|type|class|category|schedule|grade|stage|option|plan|chromosome|pugh|phase|arm|part|figure|table|appendix|strain|plan)
        (?:\s+is)?\s+(?:[A-Z]|[IVX]{1,4})[.!?]
      | \d\s*(?:m?g|kg|m?l|h|d|min|cm|mm|%)\. | (?:https?://|www\.|doi\.org/)[^\s]*[^\s.]\. | \u2026)\s+(?=[A-Z][a-z])""",
    re.VERBOSE | re.IGNORECASE,
)
_CAPITAL = re.compile(r"[A-Z]")
_TITLE = re.compile(r"\b(?:Drs?|Mrs?|Ms|Prof|Sr|St|[Vv]it|vs|Figs?|(?<!^)No|e\.g|i\.e|cf|approx)\.\s*$")

# How prescriptions and references shorten words: a lower-case word or a number behind them goes on with the sentence.
_SHORTENED = re.compile(
    r"(?:^|[\s(])(?:p\.o|i\.v|i\.m|s\.c|q\.d|o\.d|b\.d|b\.i\.d|t\.i\.d|t\.d\.s|q\.i\.d|q\.\d+h|p\.r\.n|ca|max|min|approx|al|figs?|no|nos|resp|incl|vol|pp?|vit|wks?|se[cq]t?|ch|eqs?|suppl|ed|art|para|tabs?|caps?|refs?)\.$",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Sentence:
    """A sentence of an answer at `start`, `end`; a citation from `zone` on, up to the next sentence's zone, is this sentence's."""

    start: int
    end: int
    zone: int
    block: Block


def read_sentences(layout: Layout) -> list[Sentence]:
    """Returns the sentences of all blocks of `layout`, in order."""
    found: list[Sentence] = []
    for block in layout.blocks:
        for place, (start, end) in enumerate(split_sentences(layout.text, block.start, block.end)):
            line = max(layout.text.rfind("\n", 0, start), layout.text.rfind("\r", 0, start)) + 1
            first_on_line = place == 0 and (not found or found[-1].end <= line)
            found.append(Sentence(start, end, line if first_on_line else start, block))
    return found


def split_sentences(text: str, start: int = 0, end: int | None = None) -> list[tuple[int, int]]:
    """Returns the half-open spans of the sentences of `text[start:end]`, in order, without surrounding white space.

    Every character that is no white space stands in exactly one sentence. A dose such as "5 mg. daily", an abbreviation and a
    decimal number end no sentence. Where pySBD alters or loses a character, `pytest_medfaith.english.sentences` answers instead.
    """
    end = len(text) if end is None else end
    spans = [
        span for first, last in _certain_pieces(text, start, end) for span in _segment(text, first, last)
    ]
    return _merge_broken(text, spans)


def _certain_pieces(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Returns the pieces of `text[start:end]` between stops that end a sentence for certain."""
    cuts = [start]
    for stop in _CERTAIN.finditer(text, start, end):
        before = text[cuts[-1] : stop.start()]
        if (
            before.count("(") == before.count(")")
            and not _quoted(before)
            and not _ABBREVIATED.search(before)
            and not _URL_TAIL.search(before)
        ):
            cuts.append(stop.end())
    return list(zip(cuts, [*cuts[1:], end], strict=True))


def _quoted(text: str) -> bool:
    return text.count('"') % 2 == 1 or text.count("“") != text.count("”")


def _segment(text: str, start: int, end: int) -> list[tuple[int, int]]:
    piece = text[start:end]
    if not piece.strip():
        return []
    if not _MAYBE.search(piece):
        return [_trimmed(text, start, end)]
    spans = (_pysbd_spans(piece) if len(piece) <= _LONGEST_FOR_PYSBD else []) or sentence_spans(piece)
    return [part for first, last in spans for part in _split_missed(text, start + first, start + last)]


def _pysbd_spans(piece: str) -> list[tuple[int, int]]:
    """Returns the spans of pySBD's sentences in `piece`, or none where its sentences are not the characters of `piece`."""
    compact = re.sub(r"\s+(?=[.,;:!?])", "", " ".join(piece.split()))
    sentences = [sentence for sentence in _segmenter().segment(compact) if sentence.strip()]
    if "".join("".join(sentences).split()) != "".join(piece.split()):
        return []
    places = [index for index, character in enumerate(piece) if not character.isspace()]
    spans, first = [], 0
    for sentence in sentences:
        last = first + len("".join(sentence.split()))
        spans.append((places[first], places[last - 1] + 1))
        first = last
    return spans


@lru_cache(maxsize=1)
def _segmenter() -> Any:
    from pysbd import Segmenter

    return Segmenter(language="en", clean=False, char_span=False)


def _split_missed(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Splits a sentence of pySBD where it took the stop before an "It" or "The" for an abbreviation's."""
    cuts = [start]
    ended = (gap for gap in _ENDED.finditer(text, start, end) if _CAPITAL.match(text, gap.end()))
    for gap in sorted([*_MISSED.finditer(text, start, end), *ended], key=re.Match.end):
        if not _TITLE.search(text[start : gap.start()]) and text.count(
            "(", cuts[-1], gap.start()
        ) == text.count(")", cuts[-1], gap.start()):
            cuts.append(gap.end())
    cuts = sorted(set(cuts))
    return [_trimmed(text, first, last) for first, last in zip(cuts, [*cuts[1:], end], strict=True)]


def _merge_broken(text: str, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Joins a sentence that begins in lower case, or is bare punctuation, to the one before it."""
    merged: list[tuple[int, int]] = []
    for start, end in spans:
        word = text[start:end].split(None, 1)[0]
        if merged and (
            _is_broken(text[merged[-1][0] : merged[-1][1]], word, text[merged[-1][1] : start])
            or not any(map(str.isalnum, text[start:end]))
        ):
            merged[-1] = (merged[-1][0], end)
        else:
            merged.append((start, end))
    return merged


def _is_broken(before: str, word: str, gap: str) -> bool:
    lower = word[0].islower() and word.rstrip(",;:.!?").islower() and not any(map(str.isdigit, word))
    goes_on = before.endswith(".") or (before[-1].isalnum() and "\n" not in gap)
    in_address = not gap and _URL_TAIL.search(before) is not None
    shortened = _SHORTENED.search(before) is not None and (
        word[0].islower() or word[0].isdigit() or word[0] in "[("
    )
    return (lower and goes_on) or shortened or in_address or _TITLE.search(before) is not None


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    piece = text[start:end]
    return start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip())
