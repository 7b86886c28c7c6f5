"""Keeps what was asked and told before a sentence, and finds what a yes or no there answers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pytest_medfaith.claims.chatter import is_bare_answer
from pytest_medfaith.claims.context import Before, asks_alone, stands_alone
from pytest_medfaith.claims.idle import JOINTS
from pytest_medfaith.claims.measures import amounts
from pytest_medfaith.claims.openers import skip_openers
from pytest_medfaith.claims.questions import begins_polar, is_polar, polar_sentences
from pytest_medfaith.claims.yes_no import YesNo, read_yes_no
from pytest_medfaith.english.grammar import Part
from pytest_medfaith.english.phrases import Phrase, Word, borrowed, read_words, written

if TYPE_CHECKING:
    from pytest_medfaith.claims.blocks import Line

_MOST_PIECES = 6
_OPENING = re.compile(
    r"\b(?:yes|yep|yeah|no|nope|sure|certainly|absolutely|definitely|indeed|of\s+course|ok|okay)(?=\W)",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_COURTEOUS = re.compile(
    r"\W*(?:sure|certainly|absolutely|of\s+course|o\.?k\.?(?:ay)?|all\s+right|alright|no\s+(?:problem"
    r"|worries)|indeed|right|i\s+(?:am|do|can|will))\W*",
    re.IGNORECASE,
)
_TO_JUDGE = re.compile(r"\W*(?:true\s+or\s+false|yes\s+or\s+no)\b", re.IGNORECASE)
# As a heading or a bold line each of them is an answer; in a sentence its own words say more.
_VERDICT = re.compile(
    r"\W*(?:(?:\w+\s+)?\w+\W*:\W*)?(?:(?:yes|no)\W*|(?:(?:yes|no)\W+)?(?:(?:very|quite|perfectly|totally|"
    r"generally|usually|probably|not|mostly|completely|absolutely|(?:it|that|this)(?:\s+is|"
    r"['\u2019]s))\s+)*(?:(?:un)?safe|fine(?:\s+by\s+me)?|o\.?k(?:ay)?|allowed|permitted|granted|cleared|"
    r"(?:im)?possible|recommended|advised|harmless|harmful|dangerous|contraindicated|(?:un)?acceptable|"
    r"(?:un)?suitable|(?:in)?appropriate|(?:in)?effective|(?:un)?supported|approved|forbidden|prohibited|"
    r"endorsed|advisable|indicated|confirmed|proven|unlikely|likely|good\s+to\s+go|green\s+light|(?:nothing|"
    r"no\s+(?:need|reason))\s+to\s+worry(?:\s+about)?))\W*",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Told:
    """What was told before a sentence.

    `before` says what a later "it" may mean, `asked` is the last question that "Yes" would answer, and
    `behind` what a reader of the question needs. While it is `fresh`, nothing was stated since. `answered`
    holds the answers it got: True for yes, False for no, None for what is neither.
    """

    before: Before
    asked: Phrase = ()
    behind: str = ""
    fresh: bool = False
    answered: frozenset[bool | None] = frozenset()

    @classmethod
    def by(cls, question: str) -> Told:
        """Returns what a case tells whose question is `question`."""
        polar = polar_sentences(question)
        place = question.find(polar[0]) if polar else len(question)
        asked = borrowed(read_words(question[place:]))  # "I am 40." before "May I take 8 g?" is its context
        return cls(Before(question, question), asked, question[:place].strip(), fresh=bool(question))

    def stated(self, part: Part) -> Told:
        """Returns a copy of this that has `part` as the latest sentence before the next.

        Some statements ask: "10 g is safe?", "True or false: 10 g is safe.". Where a yes or no answers such a
        statement, it becomes the question that the next "Yes" would answer.

        Args:
            part: a sentence that states something.
        """
        told = replace(self, before=self.before.followed_by(part, alone=stands_alone(part)), fresh=False)
        waits = part.text.endswith("?") or _TO_JUDGE.match(part.text)
        return told.waiting(part, self.before.text) if waits else told

    def asking(self, part: Part) -> Told:
        """Returns what is told once the question `part` was asked."""
        alone = asks_alone(part)
        told = replace(self, before=self.before.asked(part, alone=alone), fresh=True)
        return told.waiting(part, "" if alone else self.before.text)

    def headed(self, part: Part) -> Told:
        """Returns what is told under the heading `part`."""
        told = replace(self, before=self.before.followed_by(part, alone=True))
        waits = part.text.endswith("?") or _TO_JUDGE.match(part.text) or begins_polar(part.text)
        return told.waiting(part, "") if waits else told

    def waiting(self, part: Part, behind: str) -> Told:
        """Returns what is told while `part` waits for its answer, where a yes or no is an answer to it."""
        if not is_polar(part.text):
            return self
        return replace(self, asked=part.words, behind=behind, fresh=True, answered=frozenset())

    def answered_by(self, answer: Answer) -> Told:
        """Returns what is told once the question got `answer`."""
        return replace(self, answered=self.answered | {answer.affirms})

    def behind_list(self, item: Told) -> Told:
        """Returns what is told behind a list item, before which this was told and behind which `item` was.

        What an item says is no part of what the next item speaks of; what it asks waits for its answer.
        """
        return item if item.fresh and item.asked != self.asked else self


@dataclass(frozen=True)
class Answer:
    """The words of a yes or no, which a claim has behind what it answers, and whether it affirms.

    `taken_back` is the statement that a "False." answers. Without it and without a question the answer says
    nothing that can be checked.
    """

    words: Phrase
    affirms: bool | None
    taken_back: str = ""


def read_answer_of(text: str, line: Line, told: Told, reason: str) -> Answer | None:
    """Returns the yes or no that `line` of `text` is, or None where it says more or less.

    Args:
        text: the answer's text, with its marks blanked.
        line: a line of it.
        told: what was told before the line.
        reason: why the line states nothing, "" where it may.
    """
    start, end = line.sentence.start, line.sentence.end
    read = read_yes_no(text[start:end])
    plain = _plain_answer(text, line) if reason else ()
    if plain:
        affirms = read.affirms if read else True
        if read and read.spoken == "False" and not told.fresh and told.before.latest:
            return Answer(plain, affirms, taken_back=told.before.latest)
        return Answer(plain, affirms)
    if read is not None:
        led = any(word.borrowed for word in line.part.words)
        elsewhere = (read.points or led) and not told.fresh
        says_more = not (
            told.asked or told.fresh or reason or read.is_word
        )  # "Go ahead." where nothing was asked
        return None if elsewhere or says_more else Answer(_words(read, line, start, end), read.affirms)
    return _piece(text, line, reason) if reason and reason != "question" else None


def _plain_answer(text: str, line: Line) -> Phrase:
    """Returns the "Yes" with which a line begins that says nothing else: "Yes.", "Yes, hope this helps."."""
    words = line.part.words
    if is_bare_answer(line.part.text):
        return words
    opening = read_words(text, line.sentence.start, words[0].start)[:1]
    return opening if opening and is_bare_answer(opening[0].text) else ()


def _piece(text: str, line: Line, reason: str) -> Answer | None:
    """Returns the yes or no among the pieces of a line of talk: "I'm not a doctor, but yes."."""
    sentence = text[line.sentence.start : line.sentence.end]
    joints = [joint.span() for joint in JOINTS.finditer(sentence)][:_MOST_PIECES]
    starts, ends = [0, *(end for _, end in joints)], [*(start for start, _ in joints), len(sentence)]
    for start, end in zip(starts, ends, strict=True):
        read = read_yes_no(sentence[start:end]) if joints else None
        if read and read.affirms is not None and (read.affirms or reason != "refusal"):
            begin = line.sentence.start + start
            return Answer(_words(read, line, begin, begin + end - start), read.affirms)
    return None


def _words(read: YesNo, line: Line, start: int, end: int) -> Phrase:
    """Returns the words for a yes or no at `start`, `end`: "Yes" for a thumbs-up."""
    if read.spoken:
        return (Word(read.spoken, start, end),)
    return tuple(word for word in line.part.words if not word.borrowed)


def asks_unsaid_amount(text: str, start: int, whole: Part, told: Told, contexts: Sequence[str]) -> Phrase:
    """Returns the "Yes" before `whole` where it answers to an amount that the answer `text` nowhere says.

    "Yes, paracetamol lowers fever." to "Can I take 8 g?" says more than its words. Where the claims have the
    question as their context (`contexts`), its amount is read with them. The sentence begins at `start`.
    """
    opening = _OPENING.search(text, start, whole.words[0].start)
    if not (told.asked and told.fresh and opening) or any(contexts):
        return ()
    asked = " ".join(polar_sentences(written(told.asked)))
    said = _NUMBER.findall(text[told.asked[-1].end if not told.asked[-1].borrowed else 0 :])
    unsaid = any(number not in said for amount in amounts(asked) for number in _NUMBER.findall(amount))
    return read_words(text, *opening.span()) if unsaid else ()


def is_verdict(part: Part) -> bool:
    """Returns whether a heading is an answer of a word: "Safe", "Not recommended"."""
    return _VERDICT.fullmatch(part.text) is not None


def without_label(text: str, part: Part, told: Told) -> Part:
    """Returns the answer to a question without the label before it: "A: It is safe."."""
    words = part.words
    if not (told.fresh and len(words) > 2 and words[0].lower in ("a", "ans") and words[1].text == ":"):
        return part
    start = skip_openers(text, words[2].start, words[-1].end)
    return Part(tuple(word for word in words[2:] if word.start >= start))


def agrees(text: str) -> bool:
    """Returns whether `text` says yes; "Sure!" and "Of course." open many a refusal and do not count."""
    sentence = text if read_yes_no(text) else ""
    pieces = [sentence] if sentence else JOINTS.split(text)[: _MOST_PIECES + 1]
    return any(
        read.affirms and not _COURTEOUS.fullmatch(piece)
        for piece in pieces
        if (read := read_yes_no(piece)) is not None
    )
