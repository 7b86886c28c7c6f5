"""What comes before what: "A is followed by B", "A before B", "A after B"; a claim that turns the two round."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pytest_medfaith.checking.anchors.evidence import Evidence, Missing, shared_with
from pytest_medfaith.checking.rules.negation import negations
from pytest_medfaith.english.stems import word_key
from pytest_medfaith.english.words import read_tokens

SAME_WORDS = 0.6  # of the claim's content words that the sentence holds
_LINK = re.compile(
    r"\b(?:(?P<second>preceded by|(?:comes?|came|starts?|started) after|"
    r"after(?!\s+(?:it|that|this)\b|\s+(?:about\s+)?(?:\d|an?\s+(?:minute|hour|day|week|month|year)|"
    r"(?:one|two|three|four|five|six|seven|eight|ten|twelve|fifteen|twenty|thirty)\b)))"
    r"|(?P<first>followed by|(?:is|are|was|were) before|before|prior to|precedes?|preceded|"
    r"and (?:then|adds?|added)|then))\b",
    re.IGNORECASE,
)
_MOST_WORDS = 2  # for what comes later; more are a longer line
_BREAK = re.compile(
    r"[;:]|\b(?:because|since|unless|until|although|so as to|in order to|to (?:avoid|prevent))\b|"
    r",\s+(?:as|so)\b|,?\s+and not (?:after|before) it\b",
    re.IGNORECASE,
)
_FIRST = re.compile(
    r"\b(?:first|1st|initially|initial|starts?|started|begins?|begun|began)\b(?![-\s]?line)", re.IGNORECASE
)
_LATER = re.compile(
    r"\b(?:second|2nd|third|3rd|next|then|later|last|lastly|afterwards?|subsequently|finally|introduced|"
    r"added|adds?|after (?:it|that|this))\b(?![-\s]?line)",
    re.IGNORECASE,
)
_JOINT = re.compile(r"[;,|\n]|\b(?:and|with|then|but|while|whereas)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Order:
    """The keys of what comes first and of what comes second, and the span of the words that say so."""

    first: frozenset[str]
    second: frozenset[str]
    start: int
    end: int
    numbered: bool = False  # "A first, B later"
    denied: int = 0  # how often the part of the text that says the order denies

    def agrees(self, other: Order) -> bool:
        """Returns whether both put one thing before another, and neither any word the other way round."""
        straight = self.first & other.first and self.second & other.second
        return bool(straight) and not (self.first & other.second or self.second & other.first)


def read_sequence(text: str) -> Order | None:
    """Returns which things `text` puts before which; None where it says none or several."""
    links = list(_LINK.finditer(text))
    return (_linked_order(text, links[0]) if len(links) == 1 else None) or _numbered_order(text)


def _linked_order(text: str, link: re.Match[str]) -> Order | None:
    before = max((match.end() for match in _BREAK.finditer(text, 0, link.start())), default=0)
    behind = next((match.start() for match in _BREAK.finditer(text, link.end())), len(text))
    ahead, rest = _keys(text[before : link.start()]), _keys(text[link.end() : behind])
    if not ahead or not rest:
        return None
    first, second = (rest, ahead) if link.lastgroup == "second" else (ahead, rest)
    return Order(
        first - second, second - first, *link.span(), denied=len(negations(read_tokens(text[before:behind])))
    )


def _numbered_order(text: str) -> Order | None:
    """Returns the order of "A first, B later", where one joint parts the two; None where none does, or a third thing stands in line."""
    opening, later = list(_FIRST.finditer(text)), list(_LATER.finditer(text))
    if not opening or not 1 <= len({found[0].lower() for found in later}) <= _MOST_WORDS:
        return None
    for joint in _JOINT.finditer(text):
        halves = (text[: joint.start()], text[joint.start() :])
        first_ahead = opening[0].start() < joint.start()
        together = all((found.start() < joint.start()) == first_ahead for found in opening)
        if together and all((found.start() >= joint.start()) == first_ahead for found in later):
            ahead, rest = (_keys(half) - _ORDERING for half in halves)
            first, second = (ahead, rest) if first_ahead else (rest, ahead)
            if first - second and second - first:
                return Order(
                    first - second,
                    second - first,
                    *later[0].span(),
                    numbered=True,
                    denied=len(negations(read_tokens(text))),
                )
    return None


_ORDERING = frozenset(
    map(
        word_key,
        """first initially initial start begin second third next later last afterwards subsequently finally
        introduced add""".split(),
    )
)


def missing_sequences(claim: str, evidence: Evidence) -> Iterator[Missing]:
    """Yields the word that puts one thing before another where the sentence that decided puts the second before the first."""
    mine, theirs = read_sequence(claim), read_sequence(evidence.nearest)
    if (
        mine is None
        or theirs is None
        or shared_with(claim, mine.start, mine.end, evidence.nearest) < SAME_WORDS
    ):
        return
    if mine.denied != theirs.denied:
        return
    turned = mine.first & theirs.second and mine.second & theirs.first
    if turned and (
        (mine.numbered and theirs.numbered) or not (mine.first & theirs.first and mine.second & theirs.second)
    ):
        yield Missing(
            "order",
            mine.start,
            mine.end,
            note="claim and evidence put the two in opposite order",
            refutes=True,
        )


def _keys(text: str) -> frozenset[str]:
    return frozenset(token.key for token in read_tokens(text) if token.content)
