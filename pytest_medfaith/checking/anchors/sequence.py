"""What comes before what: "A is followed by B", "A before B", "A after B"; a claim that turns the two round."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pytest_medfaith.checking.anchors.evidence import Evidence, Missing, shared_with
from pytest_medfaith.checking.rules.negation import negations
from pytest_medfaith.checking.rules.text import read_tokens

SAME_WORDS = 0.6  # of the claim's content words that the sentence holds
_LINK = re.compile(
    r"\b(?:(?P<second>preceded by|(?:comes?|came|starts?|started) after|after)"
    r"|(?P<first>followed by|(?:is|are|was|were) before|before|prior to|precedes?|preceded|and (?:then|adds?|added)|then))\b",
    re.IGNORECASE,
)
_BREAK = re.compile(r"[;:]|\b(?:because|since|unless|until|although)\b|,\s+(?:as|so)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Order:
    """The keys of what comes first and of what comes second, and the span of the words that say so."""

    first: frozenset[str]
    second: frozenset[str]
    start: int
    end: int


def read_sequence(text: str) -> Order | None:
    """Returns which things `text` puts before which; None where it says none or several."""
    links = list(_LINK.finditer(text))
    if len(links) != 1:
        return None
    link = links[0]
    before = max((match.end() for match in _BREAK.finditer(text, 0, link.start())), default=0)
    behind = next((match.start() for match in _BREAK.finditer(text, link.end())), len(text))
    ahead, rest = _keys(text[before : link.start()]), _keys(text[link.end() : behind])
    if not ahead or not rest:
        return None
    first, second = (rest, ahead) if link.lastgroup == "second" else (ahead, rest)
    return Order(first - second, second - first, *link.span())


def missing_sequences(claim: str, evidence: Evidence) -> Iterator[Missing]:
    """Yields the word that puts one thing before another where the sentence that decided puts the second before the first."""
    mine, theirs = read_sequence(claim), read_sequence(evidence.nearest)
    if mine is None or theirs is None or shared_with(claim, mine.start, mine.end, evidence.nearest) < SAME_WORDS:
        return
    if len(negations(read_tokens(claim))) != len(negations(read_tokens(evidence.nearest))):
        return
    turned = mine.first & theirs.second and mine.second & theirs.first
    if turned and not (mine.first & theirs.first and mine.second & theirs.second):
        yield Missing("order", mine.start, mine.end, note="claim and evidence put the two in opposite order", refutes=True)


def _keys(text: str) -> frozenset[str]:
    return frozenset(token.key for token in read_tokens(text) if token.content)
