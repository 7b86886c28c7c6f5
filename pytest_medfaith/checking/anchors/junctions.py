"""Either and both: a claim that one of two things suffices where the evidence wants both, or the reverse."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pytest_medfaith.checking.anchors.evidence import Evidence, Missing, shared_with

SAME_STATEMENT = 0.4  # of the claim's words that the sentence holds
_ONE_SUFFICES = re.compile(
    r"\bone of (?:the two|them|these) (?:is enough|suffices|will do|is sufficient)\b|"
    r"\b(?:one|either)(?: \w+){0,4} (?:suffices|is enough|is sufficient)\b|"
    r"\bboth (?:\w+ ){0,3}(?:are|is) not (?:needed|required|necessary)\b|\beither\b",
    re.IGNORECASE,
)
_TOGETHER = re.compile(
    r"\bboth\b|\btogether\b|\bin combination\b|\bcombined\b|\bplus\b|\bas well as\b|\bat the same time\b",
    re.IGNORECASE,
)
_ALL_NEEDED = re.compile(r"\bboth\b|\band (?:to|also|an?)\b|\ball (?:of|three|four)\b", re.IGNORECASE)
_BOTH_NEEDED = re.compile(
    r"\b(?:needs?|needed|requires?|required|must|necessary)\b[^.;]*\bboth\b|"
    r"\bboth\b[^.;]*\b(?:needed|required|must|necessary)\b",
    re.IGNORECASE,
)
_AND = re.compile(r"\band\b", re.IGNORECASE)
_ENOUGH = re.compile(r"\b(?:or|either|any|enough|suffic\w+|one)\b", re.IGNORECASE)
_CHOICE = re.compile(r"\bor\b", re.IGNORECASE)
_SUFFICES = re.compile(
    r"\b(?:is enough|suffices?|just one|only one of)\b.*\bor\b|\bor\b.*\b(?:is enough|suffices)\b",
    re.IGNORECASE,
)
_EITHER = re.compile(r"\beither\b", re.IGNORECASE)
_OR = re.compile(r"\bor\b|\beither\b|(?<!\d\s)(?<!\d)\b[^\W\d]+/[^\W\d]", re.IGNORECASE)
_OR_MORE = re.compile(
    r"\b(?:or|and) (?:more|less|over|under|above|below|older|younger|higher|lower)\b", re.IGNORECASE
)


def missing_junctions(claim: str, evidence: Evidence) -> Iterator[Missing]:
    """Yields a `Missing` of the kind "junction" for "either" or "both" where the evidence has the opposite.

    Example: "either drug is enough" against the deciding sentence (`evidence.nearest`) "give A and also B".
    At most one is yielded.
    """
    sentence = _OR_MORE.sub(" ", evidence.nearest)
    bare = _OR_MORE.sub(" ", claim)
    either, both = _ONE_SUFFICES.search(claim), _TOGETHER.search(claim)
    if enough := _SUFFICES.search(bare):
        found, clashes = enough, bool(_AND.search(sentence)) and not _ENOUGH.search(sentence)
    elif either:
        found, clashes = either, bool(_ALL_NEEDED.search(sentence)) and not _OR.search(sentence)
    elif both and not _OR.search(bare):
        found, clashes = both, bool(_EITHER.search(sentence)) and not _TOGETHER.search(sentence)
    elif (choice := _CHOICE.search(claim)) and not both and bare == claim:
        found, clashes = choice, bool(_BOTH_NEEDED.search(sentence)) and not _OR.search(sentence)
    else:
        return
    if clashes and shared_with(claim, *found.span(), evidence.nearest) >= SAME_STATEMENT:
        yield Missing("junction", *found.span(), note=f"the evidence does not say {found[0]}")
