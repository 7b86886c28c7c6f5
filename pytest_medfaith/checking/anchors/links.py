"""Small words that turn a statement: "instead of" for "as well as", "often" for "rarely"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from pytest_medfaith.checking.anchors.evidence import Evidence, Missing, denials, shared_with
from pytest_medfaith.english.sentences import part_around
from pytest_medfaith.english.words import content_keys, share

SAME_STATEMENT = 0.6  # of the words of the claim's clause that the sentence holds
SAME_CLAUSE = 0.75  # the same, where nothing beside the clause tells what the small words are said of
SAME_OBJECT = 0.6  # of the words behind the small words, in claim and evidence
_CLAUSE = re.compile(r"[;:,]|\b(?:so|because|but|while|whereas|although)\b", re.IGNORECASE)
_OBJECT_ENDS = re.compile(r"[.;,:()]|\b(?:and|but|or|if|when|unless|because|which|who|that)\b", re.IGNORECASE)

# What claim and evidence must share for their small words to be held against each other. "thing": the words
# of the object, which may be on either side ("A with B" is "B with A"). "clause": nothing beside the clause.
Shared = Literal["thing", "clause"]


@dataclass(frozen=True)
class Opposites:
    """Two sets of small words with opposite meaning.

    Attributes:
        one: the words of the first meaning: "instead of".
        other: the words of the opposite meaning: "as well as".
        kind: the kind of anchor that a report names.
        shared: what claim and evidence must have in common beside most words of the clause.
    """

    one: re.Pattern[str]
    other: re.Pattern[str]
    kind: str
    shared: Shared


def _opposites(one: str, other: str, *, kind: str, shared: Shared) -> Opposites:
    first, second = (re.compile(rf"\b(?:{words})\b", re.IGNORECASE) for words in (one, other))
    return Opposites(first, second, kind, shared)


OPPOSITES = (
    _opposites(
        r"instead of|in (?:place|lieu) of|(?:as )?an alternative to|replac(?:es?|ed|ing)(?: by)?|"
        r"(?:a )?(?:replacement|substitute)s? for|tak(?:es?|ing|en) the place of",
        r"as well as|in addition to|on top of|(?:in combination|together|along) with|alongside|"
        r"combined with|add(?:s|ed)? to",
        kind="junction",
        shared="thing",
    ),
    _opposites(
        r"may choose(?: whether to)?|can choose(?: whether to)?|(?:is|are) (?:optional|free to)|need not|"
        r"(?:do|does) not (?:have|need) to|if (?:they|you) (?:like|wish|want(?: to)?)",
        r"must(?! not)|(?<!not )ha(?:s|ve) to|(?<!not )needs? to|"
        r"(?:is|are) (?:required|essential|mandatory|compulsory)",
        kind="duty",
        shared="thing",
    ),
    _opposites(
        r"rarely|seldom|hardly ever|uncommonly|infrequently|in rare cases",
        r"often|usually|commonly|frequently|(?:nearly |almost )?always|mostly|regularly",
        kind="frequency",
        shared="clause",
    ),
    _opposites(
        r"(?:only )?(?:sometimes|occasionally)|now and then|in some cases",
        r"(?:nearly |almost )?always|invariably|without exception|in (?:all|every) cases?",
        kind="frequency",
        shared="clause",
    ),
)
# Of two events, what an "until" or "before" puts first, an "after" or "once" puts second.
_UNTIL = r"until|till|before|prior to"
_ONCE = (
    r"after|as soon as(?! possible)|once(?! (?:or|and|in|only)\b|[ -](?:an?|per|every|each|daily|weekly|"
    r"monthly|yearly|more)\b)"
)
_BEFORE = re.compile(_UNTIL, re.IGNORECASE)
# "Five days after" measures a time, and says nothing of the order.
_PHASE = re.compile(
    rf"(?<!minutes )(?<!hours )(?<!days )(?<!weeks )(?<!months )(?<!years )\b(?:{_UNTIL}|{_ONCE})\b",
    re.IGNORECASE,
)
# "Wait until" puts what is done after the event, as "not until" does. "Avoid" and "withheld" are no such
# words here: they count as denials already.
_WAITING = re.compile(
    r"\b(?:wait\w*|delay\w*|postpon\w+|defer\w*|put off|hold off|withhold\w*|refrain\w*)\b",
    re.IGNORECASE,
)
ALL_SHARED = 0.9  # of the words for what is done, where one side says "before" and the other "after"


@dataclass(frozen=True)
class _Side:
    """The clause of a text with small words: the clause, what is behind the words, how often it denies."""

    clause: str
    behind: str
    denials: int


def missing_links(claim: str, evidence: Evidence) -> Iterator[Missing]:
    """Yields the small words of `claim` where its sentence has the opposite words in the same clause.

    Example: "Give it instead of aspirin" is not supported by "Give it as well as aspirin". Both clauses must
    deny, or both affirm.
    """
    sentence = evidence.nearest
    for pair in OPPOSITES:
        for mine, opposite in ((pair.one, pair.other), (pair.other, pair.one)):
            said, turned = mine.search(claim), opposite.search(sentence)
            if not said or not turned or opposite.search(claim) or mine.search(sentence):
                continue
            one, other = _side(claim, said), _side(sentence, turned)
            if one.denials % 2 != other.denials % 2:
                continue
            least = SAME_CLAUSE if pair.shared == "clause" else SAME_STATEMENT
            if shared_with(one.clause, 0, 0, sentence) < least:
                continue
            thing = content_keys(_OBJECT_ENDS.split(one.behind, maxsplit=1)[0])
            if pair.shared == "clause" or (thing and thing <= content_keys(sentence)):
                yield _turned(pair.kind, said, turned)
                return


def missing_phases(claim: str, evidence: Evidence) -> Iterator[Missing]:
    """Yields "before" or "once" of `claim` where its sentence says the opposite of the same event.

    Example: "Drive before you feel well" is not supported by "Do not drive until you feel well", which says
    to drive after the event. All words for what is done must be in the sentence: "stay away until" and "go
    back once" say the same.
    """
    known = [_Phase.read(evidence.nearest, found) for found in _PHASE.finditer(evidence.nearest)]
    for found in _PHASE.finditer(claim) if known else ():
        mine = _Phase.read(claim, found)
        same = [theirs for theirs in known if mine.is_of_event(theirs)]
        # "45 before and 180 after the course" is of the course at both places.
        agreeing = (
            theirs.is_first == mine.is_first for theirs in known if theirs in same or not theirs.event
        )
        if not same or any(agreeing):
            continue
        if not mine.done or share(mine.done, content_keys(evidence.nearest)) >= ALL_SHARED:
            yield _turned("order", found, same[0].words)
            return


@dataclass(frozen=True)
class _Phase:
    """A word such as "until" in its clause.

    Attributes:
        words: the match of the word.
        event: the keys of what it leads to.
        done: the keys of the rest of the clause, which say what is done.
        is_first: whether what is done comes before the event: "until" and "not after" say so.
    """

    words: re.Match[str]
    event: frozenset[str]
    done: frozenset[str]
    is_first: bool

    @classmethod
    def read(cls, text: str, words: re.Match[str]) -> _Phase:
        side = _side(text, words)
        behind = _PHASE.split(_OBJECT_ENDS.split(side.behind, maxsplit=1)[0], maxsplit=1)[0]
        event = content_keys(behind)
        denied = (side.denials + bool(_WAITING.search(side.clause))) % 2 == 1
        is_first = bool(_BEFORE.fullmatch(words[0])) != denied
        return cls(words, event, content_keys(side.clause) - event, is_first)

    def is_of_event(self, other: _Phase) -> bool:
        if not self.event or not other.event:
            return False
        return min(share(self.event, other.event), share(other.event, self.event)) >= SAME_OBJECT


def _side(text: str, words: re.Match[str]) -> _Side:
    """Returns the clause around `words`, without them.

    A clause that opens with `words` goes on behind its comma ("After infarction, it is avoided"), unless what
    is there has a time of its own ("After the dose, do not lie down until you have eaten").
    """
    start, end = part_around(text, *words.span(), ends=_CLAUSE)
    if not text[start : words.start()].strip() and text[end : end + 1] == ",":
        _, further = part_around(text, end, end + 1, ends=_CLAUSE)
        end = end if _PHASE.search(text, end, further) else further
    clause = f"{text[start : words.start()]} {text[words.end() : end]}"
    return _Side(clause, text[words.end() : end], denials(clause))


def _turned(kind: str, said: re.Match[str], theirs: re.Match[str]) -> Missing:
    note = f"the claim says {said[0]}, the evidence says {theirs[0]}"
    return Missing(kind, *said.span(), note=note, refutes=True)
