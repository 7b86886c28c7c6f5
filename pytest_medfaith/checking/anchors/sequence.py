"""Orders in time ("A is followed by B", "A after B") and claims that reverse them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pytest_medfaith.checking.anchors.evidence import Evidence, Missing, shared_with
from pytest_medfaith.checking.rules.denials import negations
from pytest_medfaith.english.sentences import part_around
from pytest_medfaith.english.stems import word_key
from pytest_medfaith.english.words import content_keys, read_tokens

SAME_WORDS = 0.6  # of the claim's content words that the sentence holds
_LINK = re.compile(
    r"\b(?:(?P<second>preceded by|(?:comes?|came|starts?|started) after|"
    r"(?<!hour )(?<!hours )(?<!days )(?<!weeks )(?<!minutes )(?<!months )(?<!years )"
    r"after(?!\s+(?:it|that|this)\b|\s+(?:about\s+)?(?:\d|an?\s+(?:minute|hour|day|week|month|year)|"
    r"(?:one|two|three|four|five|six|seven|eight|ten|twelve|fifteen|twenty|thirty)\b)))"
    r"|(?P<first>followed by|(?:is|are|was|were) before|before|prior to|precedes?|preceded|"
    r"and (?:then|adds?|added)|then))\b",
    re.IGNORECASE,
)
_MOST_WORDS = 2  # different words for "later"; a text with more of them lists more than two things
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
_ORDERING = frozenset(
    map(
        word_key,
        """first initially initial start begin second third next later last afterwards subsequently finally
        introduced add""".split(),
    )
)


@dataclass(frozen=True)
class Order:
    """What a text puts before what: A before B.

    Attributes:
        first: the keys (stems) of words only for what comes first.
        second: the keys of words only for what comes second.
        start: the first character of the words for the order ("followed by").
        end: the character after them.
        numbered: True for "A first, B later".
        denied: how often the part of the text with the order denies.
    """

    first: frozenset[str]
    second: frozenset[str]
    start: int
    end: int
    numbered: bool = False
    denied: int = 0

    def agrees(self, other: Order) -> bool:
        """Returns whether both orders share a first and a second thing, and none is reversed."""
        straight = self.first & other.first and self.second & other.second
        return bool(straight) and not (self.first & other.second or self.second & other.first)


def missing_sequences(claim: str, evidence: Evidence) -> Iterator[Missing]:
    """Yields a `Missing` of the kind "order" where `claim` and the deciding sentence have opposite orders.

    Example: "A before B" where `evidence.nearest` says "A after B".
    """
    mine, theirs = read_sequence(claim), read_sequence(evidence.nearest)
    if mine is None or theirs is None or mine.denied != theirs.denied:
        return
    if shared_with(claim, mine.start, mine.end, evidence.nearest) < SAME_WORDS:
        return
    is_reversed = mine.first & theirs.second and mine.second & theirs.first
    also_straight = mine.first & theirs.first and mine.second & theirs.second
    if is_reversed and ((mine.numbered and theirs.numbered) or not also_straight):
        note = "claim and evidence put the two in opposite order"
        yield Missing("order", mine.start, mine.end, note=note, refutes=True)


def read_sequence(text: str) -> Order | None:
    """Returns what `text` puts before what: metformin before insulin for "metformin, followed by insulin".

    None where the text states no order, or several.
    """
    links = list(_LINK.finditer(text))
    return (_linked_order(text, links[0]) if len(links) == 1 else None) or _numbered_order(text)


def _linked_order(text: str, link: re.Match[str]) -> Order | None:
    """Returns the order around "before" or "followed by"; None where a side has no content word."""
    start, end = part_around(text, *link.span(), ends=_BREAK)
    ahead, behind = content_keys(text[start : link.start()]), content_keys(text[link.end() : end])
    if not ahead or not behind:
        return None
    first, second = (behind, ahead) if link.lastgroup == "second" else (ahead, behind)
    denied = len(negations(read_tokens(text[start:end])))
    return Order(first - second, second - first, *link.span(), denied=denied)


def _numbered_order(text: str) -> Order | None:
    """Returns the order of "A first, B later".

    None where no mark or "and" parts the two, or where a third thing follows.
    """
    opening, later = list(_FIRST.finditer(text)), list(_LATER.finditer(text))
    if not opening or not 1 <= len({found[0].lower() for found in later}) <= _MOST_WORDS:
        return None
    for joint in _JOINT.finditer(text):
        first_ahead = opening[0].start() < joint.start()
        together = all((found.start() < joint.start()) == first_ahead for found in opening)
        if not together or any((found.start() < joint.start()) == first_ahead for found in later):
            continue
        ahead, behind = text[: joint.start()], text[joint.start() :]
        first, second = (
            content_keys(half) - _ORDERING for half in ((ahead, behind) if first_ahead else (behind, ahead))
        )
        if first - second and second - first:
            denied = len(negations(read_tokens(text)))
            return Order(first - second, second - first, *later[0].span(), numbered=True, denied=denied)
    return None
