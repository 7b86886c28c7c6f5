"""Reads the citation markers of an answer, and tells to which sentence each of them belongs."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from pytest_medfaith.claims.citable import Citable
from pytest_medfaith.claims.citation_forms import Citation, find_citations
from pytest_medfaith.claims.layout import Sentence
from pytest_medfaith.english import lexicon
from pytest_medfaith.english.conjugation import verb_forms
from pytest_medfaith.english.struck import without_struck
from pytest_medfaith.records import Chunk

# In these patterns a NUL character means a marker.
_BETWEEN = re.compile(r"(?<=\x00)\s*(?:[,;&]|and)?\s*(?=\x00)")
_WRAPPED = re.compile(
    r"[(\[]\s*(?:(?:see|cf\.?|as in|refs?\.?|references?|sources?|from):?\s*)?\x00+\s*[)\]]", re.IGNORECASE
)
_MONTH = r"(?:Jan|Feb|Mar|Apr|May|June?|July?|Aug|Sept?|Oct|Nov|Dec)[a-z]*"
_AUTHORS = (
    rf"(?!{_MONTH}\b)[A-Z][\w'\u2019-]+(?:\s+(?:[A-Z][\w'\u2019-]+\s+)?(?:et\s+al\.?|(?:and"
    rf"|&)\s+[A-Z][\w'\u2019-]+)\s*,?|\s*,)\s*(?:19|20)\d\d[a-z]?"
)
# Marks that name a source without the number of a passage. They are no words of the claim.
_NAMELESS = re.compile(
    rf"""\u3010[^\u3010\u3011\r\n]{{0,80}}\u3011
      | [(\[]\s*(?:(?:see|cf\.?|e\.g\.,?|reviewed\s+in)\s+)?{_AUTHORS}(?:\s*[;,]\s*{_AUTHORS}){{0,6}}\s*[)\]]
      | (?<=[.!?,;:)”"])[\u00b9\u00b2\u00b3\u2070\u2074-\u2079]+
        (?:[,\u2013\u207b-][\u00b9\u00b2\u00b3\u2070\u2074-\u2079]+)*
      | (?<=[a-z]{{3}})[\u00b9\u00b2\u00b3\u2070\u2074-\u2079]+
        (?:[,\u2013\u207b-][\u00b9\u00b2\u00b3\u2070\u2074-\u2079]+)*(?=[\s.,;:)]|$)
      | (?:(?<=[a-z]{{3}})|(?<=[.!?,;:)”"]))(?:<sup>\s*\[?\d{{1,3}}(?:\s*[,\u2013-]\s*\d{{1,3}})*\]?\s*</sup>
        |\^\d{{1,3}}(?:[,\u2013-]\d{{1,3}})*\^)
      | \[(?P<name>(?!{_MONTH}\b)[A-Z][\w'\u2019-]+)(?:\s+et\s+al\.?)?\s+(?:19|20)\d\d[a-z]?\]
      | (?<=[.!?])\(\d{{1,3}}(?:\s*[,\u2013-]\s*\d{{1,3}})*\)(?=\s|$)""",
    re.VERBOSE,
)
_NAMED = re.compile(
    r"(?<!\s)(?:,\s*|\s+)(?:according\s+to|as\s+(?:stated|shown|described|reported)\s+in|per|see"
    r"|from)\s+(?:the\s+)?(?:sources?|documents?|passages?|contexts?|references?|refs?\.?"
    r"|chunks?)\s*\x00+(?=\s*[.;:)]|\s*$)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Cited:
    """An answer with its citations.

    Attributes:
        text: the answer at its length, with blanks for citations and the brackets and commas around them, for
            marks that name a source without a number, and for struck-out words.
        citations: the citations in order.
    """

    text: str
    citations: tuple[Citation, ...]

    def markers_of(self, sentences: Sequence[Sentence]) -> list[tuple[str, ...]]:
        """Returns the markers that belong to each sentence, in order and once each; () for none.

        A citation after words of no sentence, as in a list of references, belongs to none.
        """
        zones = [sentence.zone for sentence in sentences]
        found: list[dict[str, None]] = [{} for _ in sentences]
        for citation in self.citations if sentences else ():
            place = max(bisect_right(zones, citation.start) - 1, 0)
            if not any(map(str.isalnum, self.text[sentences[place].end : citation.start])):
                found[place][citation.marker] = None
        return list(map(tuple, found))


def read_citations(answer: str, contexts: Sequence[Chunk] = ()) -> Cited:
    """Returns `answer` with its citations read; arguments as in `parse_citations`.

    "Statins help [1, 2]." cites "1" and "2"; its text keeps its length, with blanks for the bracket.
    """
    answer = without_struck(answer)
    citations = parse_citations(answer, contexts)
    spans = {(citation.start, citation.end) for citation in citations if not citation.is_said}
    spans |= {mark.span() for mark in _NAMELESS.finditer(answer) if not _is_said(mark["name"])}
    if not spans:
        return Cited(answer, ())
    masked = list(answer)
    for start, end in spans:
        masked[start:end] = "\x00" * (end - start)
    text = "".join(masked)
    for around in (_BETWEEN, _WRAPPED, _NAMED):
        text = around.sub(lambda found: "\x00" * len(found[0]), text)
    return Cited(text.replace("\x00", " "), tuple(citations))


def _is_said(name: str | None) -> bool:
    """Returns whether the word before a year in brackets says something of it: "[Withdrawn 2019]"."""
    word = (name or "").lower()
    return word in lexicon.PREPOSITIONS or word in verb_forms()


def parse_citations(text: str, contexts: Sequence[Chunk] = ()) -> list[Citation]:
    """Returns the citations of `text` in order, in the forms that `citation_forms` lists.

    A bracket that lists several sources gives a citation for each, with the bracket's span. Numbers run from
    1 to 999. The brackets of an interval ("95 % CI [1, 3]") and of a range longer than 20 are text.
    Struck-out words cite nothing.

    Args:
        text: an answer.
        contexts: what the answer was given. Ids, titles and addresses cite only where a context has them.
    """
    return find_citations(without_struck(text), Citable.of(contexts))
