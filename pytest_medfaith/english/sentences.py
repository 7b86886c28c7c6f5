"""Finds the sentences of a text, as half-open character spans in their order.

There are three readers, because a wrong boundary does different harm in each place:

* `sentence_spans` reads evidence: fast, since a run reads thousands of chunks. A boundary too many only makes
  the pieces that a model reads shorter.
* `whole_sentences` reads pages that are cut into chunks. In doubt it joins two sentences, since a chunk that
  begins with "Food and Drug Administration" has lost the "U.S.".
* `answer_sentences` reads answers, where each sentence becomes claims: pySBD with corrections, a millisecond
  for each doubtful full stop.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

Span = tuple[int, int]

_ABBREVIATIONS = frozenset(
    "e.g i.e etc vs cf al fig figs ca approx dr prof mr mrs ms st no nos vol ed eds resp spp sp subsp inc "
    "dept min max incl wt est i.v i.m s.c p.o b.i.d t.i.d q.i.d".split()
)
# Because of the look-behinds, runs of full stops or blanks are not tried again at each of their characters.
_BOUNDARY = re.compile(
    r"""(?P<stop>(?<![.!?…])[.!?…]+["'”’)\]]*)(?:\s*\[[\d,\s–-]+\])*\s+(?=["'“‘(\[]?[A-Z0-9Α-Ω•*-])"""
    r"|(?<!\s)\s*\n\s*"
)


def sentence_spans(text: str) -> list[Span]:
    """Returns (start, end) of each sentence of an evidence `text`, without surrounding white space.

    "Dr. Ray gave 2.5 mg. It helped." gives (0, 20) and (21, 31): abbreviations, initials and decimals end no
    sentence. Line ends do. Blank text has no sentence.
    """
    spans: list[Span] = []
    start = 0
    for match in _BOUNDARY.finditer(text):
        if match["stop"] is not None and _is_abbreviation(text[start : match.start()], text[match.end()]):
            continue
        spans.append(_trimmed(text, start, match.end()))
        start = match.end()
    spans.append(_trimmed(text, start, len(text)))
    return [span for span in spans if span[0] < span[1]]


def sentences_of(text: str) -> list[str]:
    """Returns the texts of the sentences that `sentence_spans` finds."""
    return [text[start:end] for start, end in sentence_spans(text)]


def sentence_at(text: str, place: int) -> str:
    """Returns the sentence of `text` with the character at `place`; all of `text` where there is none."""
    return next((text[start:end] for start, end in sentence_spans(text) if start <= place < end), text)


def _is_abbreviation(before: str, following: str) -> bool:
    """Returns whether the last word of `before` is an abbreviation or initial.

    A bare "No." answers a question, unless a number follows.
    """
    if before.strip() == "No" and not following.isdigit():
        return False
    word = before.rsplit(None, 1)[-1].lstrip("([\"'") if before.strip() else ""
    return word.lower() in _ABBREVIATIONS or re.fullmatch(r"[A-Z]", word) is not None


def _trimmed(text: str, start: int, end: int) -> Span:
    """Returns the span without white space at its ends; start is not below end where nothing is left."""
    piece = text[start:end]
    return start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip())


# Full stops that `sentence_spans` takes for a boundary although names and numbers follow them: U.S. Food,
# M.D. Anderson, Jan. 5, tab. 500 mg.
_GOES_ON = re.compile(
    r"(?:(?<![\w.])(?:[A-Za-z]\.){2,}|\b(?:Ph\.?D|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec|Suppl|Ref"
    r"|Refs|pp|Eq|[Tt]abs?|[Cc]aps?|[Tt]emp|[Ii]nj|Drs|Sect|Ch|Art|Jr|Sr|Gen|Ltd|Corp|Co|Vit)\.)$"
)
_LONGEST_SHORTENED = 12  # characters of a shortened word and its full stop


def whole_sentences(text: str) -> list[Span]:
    """Returns the spans of the sentences of a page's `text`; in doubt two sentences are one span.

    A full stop may belong to a short form, as in "Ref. 4". A line end is always a boundary: `text` is
    normalised, and lines that an editor broke are already joined.
    """
    spans: list[Span] = []
    for start, end in sentence_spans(text):
        before = spans[-1] if spans else (0, 0)
        if (
            spans
            and "\n" not in text[before[1] : start]
            and _GOES_ON.search(text, max(before[0], before[1] - _LONGEST_SHORTENED), before[1])
        ):
            spans[-1] = (before[0], end)
        else:
            spans.append((start, end))
    return spans


# A full stop after an ordinary word and before a capital certainly ends a sentence. Only the other full stops
# need pySBD.
_CERTAIN = re.compile(
    r"(?<=[a-z]{4})[.!?]\s+(?=[A-Z][a-z])|(?<=[a-z]{3})[.!?](?=[A-Z][a-z]{2})"
    r"|(?<=[a-z]\))\s?[.!?]\s*(?=[A-Z][a-z])"
)
_MAYBE = re.compile(r"[.!?。\uff01\uff1f…]\S{0,3}\s+\S|[。\uff01\uff1f]")
_ABBREVIATED = re.compile(
    r"\b(?:approx|dept|resp|incl|subsp|figs?|refs?|prof|vols?|eds?|spec|temp|diam|conc|intra|extra|circa"
    r"|assoc|univ|esp)$",
    re.IGNORECASE,
)
_LONGEST_FOR_PYSBD = 5000  # characters; its time grows faster than the text
_URL_TAIL = re.compile(r"(?:https?:|www\.|@|\bdoi\.org/)\S*$")
# pySBD takes a capital before a full stop for an initial. These words begin a sentence and are no surname.
_MISSED = re.compile(
    r"(?<=[A-Z0-9.)%][.!?])\s+(?=(?:It|This|The|These|They|In|If|However|For|When|You|Patients|Then|He|She"
    r"|Its|Their|There|Both|Some|Most|Please|Note|Take|Do)\b)"
)
# These end a sentence although they look like abbreviations: "hepatitis B.", "4 g.", an address, "…".
_ENDED = re.compile(
    r"""(?:\b(?:hepatitis|vitamins?|factors?|influenza|group|type|class|category|schedule|grade|stage|option
          |plan|chromosome|pugh|phase|arm|part|figure|table|appendix|strain|plan)
        (?:\s+is)?\s+(?:[A-Z]|[IVX]{1,4})[.!?](?=\s+(?P<number>\d)?)
      | \d\s*(?:m?g|kg|m?l|h|d|min|cm|mm|%)\. | (?:https?://|www\.|doi\.org/)[^\s]*[^\s.]\. | \u2026)
        \s+(?:(?=[A-Z][a-z])|(?(number)(?=\d)|(?!)))""",
    re.VERBOSE | re.IGNORECASE,
)
_TITLE = re.compile(r"\b(?:Drs?|Mrs?|Ms|Prof|Sr|St|[Vv]it|vs|Figs?|(?<!^)No|e\.g|i\.e|cf|approx)\.\s*$")
# Short forms of prescriptions and references. A lower-case word or number after them continues the sentence.
_SHORTENED = re.compile(
    r"(?:^|[\s(])(?:p\.o|i\.v|i\.m|s\.c|q\.d|o\.d|b\.d|b\.i\.d|t\.i\.d|t\.d\.s|q\.i\.d|q\.\d+h|p\.r\.n|ca|max"
    r"|min|approx|al|figs?|no|nos|resp|incl|vol|pp?|vit|wks?|se[cq]t?|ch|eqs?|suppl|ed|art|para|tabs?|caps?"
    r"|refs?)\.$",
    re.IGNORECASE,
)


def answer_sentences(text: str, start: int = 0, end: int | None = None) -> list[Span]:
    """Returns the spans of the sentences of `text[start:end]` of an answer, without surrounding white space.

    Every character that is no white space is in exactly one sentence. A dose such as "5 mg. daily", an
    abbreviation and a decimal number end no sentence. Where pySBD changes or loses a character,
    `sentence_spans` is used instead.
    """
    end = len(text) if end is None else end
    spans: list[Span] = []
    for first, last in _certain_pieces(text, start, end):
        piece = text[first:last]
        if not _MAYBE.search(piece):
            spans.append(_trimmed(text, first, last))
            continue
        found = (_pysbd_spans(piece) if len(piece) <= _LONGEST_FOR_PYSBD else []) or sentence_spans(piece)
        spans += [(first + begin, first + stop) for begin, stop in found]
    joined = _join_broken(text, [span for span in spans if span[0] < span[1]])
    # Sentences that pySBD cut inside "i.v. every 4 h." are joined before their ends are looked for.
    return [cut for span in joined for cut in _split_missed(text, *span) if cut[0] < cut[1]]


def _certain_pieces(text: str, start: int, end: int) -> list[Span]:
    """Returns the spans of `text[start:end]` between full stops that certainly end a sentence."""
    cuts = [start]
    for stop in _CERTAIN.finditer(text, start, end):
        before = text[cuts[-1] : stop.start()]
        quoted = before.count('"') % 2 == 1 or before.count("“") != before.count("”")
        bracketed = before.count("(") != before.count(")")
        if not (quoted or bracketed or _ABBREVIATED.search(before) or _URL_TAIL.search(before)):
            cuts.append(stop.end())
    return list(zip(cuts, [*cuts[1:], end], strict=True))


def _pysbd_spans(piece: str) -> list[Span]:
    """Returns pySBD's sentences of `piece`; [] where pySBD changed or lost a character."""
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
    """Returns pySBD's segmenter, loaded at the first call."""
    from pysbd import Segmenter

    return Segmenter(language="en", clean=False, char_span=False)


def _split_missed(text: str, start: int, end: int) -> list[Span]:
    """Splits a sentence of pySBD that took the full stop before "It" or "The" for that of an abbreviation."""
    cuts = [start]
    # `_ENDED` ignores case, so that what follows is asked again for a capital, or the number of "D. 800 IU".
    ended = (
        gap for gap in _ENDED.finditer(text, start, end) if gap["number"] or "A" <= text[gap.end()] <= "Z"
    )
    for gap in sorted([*_MISSED.finditer(text, start, end), *ended], key=re.Match.end):
        bracketed = text.count("(", cuts[-1], gap.start()) != text.count(")", cuts[-1], gap.start())
        if not bracketed and not _TITLE.search(text[start : gap.start()]):
            cuts.append(gap.end())
    cuts = sorted(set(cuts))
    return [_trimmed(text, first, last) for first, last in zip(cuts, [*cuts[1:], end], strict=True)]


def _join_broken(text: str, spans: list[Span]) -> list[Span]:
    """Joins each sentence that begins in lower case, or is only punctuation, to the sentence before it."""
    joined: list[Span] = []
    for start, end in spans:
        piece = text[start:end]
        before = text[slice(*joined[-1])] if joined else ""
        if before and (
            not any(map(str.isalnum, piece))
            or _goes_on(before, piece.split(None, 1)[0], text[joined[-1][1] : start])
        ):
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return joined


def _goes_on(before: str, word: str, gap: str) -> bool:
    """Returns whether `word`, the first of the next piece, continues the sentence `before`.

    `gap` is the text between the two.
    """
    lower = word[0].islower() and word.rstrip(",;:.!?").islower() and not any(map(str.isdigit, word))
    open_end = before.endswith(".") or (before[-1].isalnum() and "\n" not in gap)
    shortened = _SHORTENED.search(before) and (word[0].islower() or word[0].isdigit() or word[0] in "[(")
    in_address = not gap and _URL_TAIL.search(before)
    return bool((lower and open_end) or shortened or in_address or _TITLE.search(before))


def part_around(text: str, start: int, end: int, *, ends: re.Pattern[str]) -> Span:
    """Returns the span of `text` around `start:end`, from the nearest of `ends` before to the nearest after.

    Example: `ends` matches commas. The part around "gout" of "in adults, gout is rare, pain is not" is " gout
    is rare".
    """
    opening = max((found.end() for found in ends.finditer(text, 0, start)), default=0)
    return opening, next((found.start() for found in ends.finditer(text, end)), len(text))
