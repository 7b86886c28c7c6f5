"""Keeps what was asked and told before a sentence, and finds the question that a "Yes" or "No" answers."""

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
# A heading or bold line of these words alone is an answer: "Safe", "Not recommended".
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
    """What was asked and told before a sentence.

    Attributes:
        before: the sentences that tell what a later "it" may mean.
        asked: the words of the last question that "Yes" would answer; () for none.
        behind: the words that a reader of this question needs.
        fresh: True while nothing was stated since the question.
        answered: the answers that the question got: True for yes, False for no, None for neither.
    """

    before: Before
    asked: Phrase = ()
    behind: str = ""
    fresh: bool = False
    answered: frozenset[bool | None] = frozenset()

    @classmethod
    def by(cls, question: str) -> Told:
        """Returns what is told before an answer to `question`; nothing is asked for "".

        "I am 40. May I take 8 g?" tells an age, and asks what "Yes" would answer.
        """
        polar = polar_sentences(question)
        place = question.find(polar[0]) if polar else len(question)
        asked = borrowed(read_words(question[place:]))  # "I am 40." before "May I take 8 g?" is its context
        return cls(Before(question, question), asked, question[:place].strip(), fresh=bool(question))

    def stated(self, part: Part) -> Told:
        """Returns a copy of this that has `part` as the latest sentence before the next.

        Some statements ask: "10 g is safe?", "True or false: 10 g is safe.". If a yes or no answers such a
        statement, it becomes the question that the next "Yes" would answer.

        Args:
            part: a sentence that states something.
        """
        told = replace(self, before=self.before.followed_by(part, alone=stands_alone(part)), fresh=False)
        waits = part.text.endswith("?") or _TO_JUDGE.match(part.text)
        return told.waiting(part, self.before.text) if waits else told

    def asking(self, part: Part) -> Told:
        """Returns a copy of this after the question `part`."""
        alone = asks_alone(part)
        told = replace(self, before=self.before.asked(part, alone=alone), fresh=True)
        return told.waiting(part, "" if alone else self.before.text)

    def headed(self, part: Part) -> Told:
        """Returns a copy of this after the heading `part`.

        A heading that asks ("Is it safe?", "True or false: it is safe") is the question that the next "Yes"
        would answer.
        """
        told = replace(self, before=self.before.followed_by(part, alone=True))
        waits = part.text.endswith("?") or _TO_JUDGE.match(part.text) or begins_polar(part.text)
        return told.waiting(part, "") if waits else told

    def waiting(self, part: Part, behind: str) -> Told:
        """Returns a copy of this in which `part` is the question that the next "Yes" would answer.

        Unchanged if a yes or no does not answer it. `behind` are the words that a reader of `part` needs.
        """
        if not is_polar(part.text):
            return self
        return replace(self, asked=part.words, behind=behind, fresh=True, answered=frozenset())

    def answered_by(self, answer: Answer) -> Told:
        """Returns a copy of this with `answer.affirms` (yes, no or neither) added to `answered`."""
        return replace(self, answered=self.answered | {answer.affirms})

    def behind_list(self, item: Told) -> Told:
        """Returns what is told after a list item; this is what was told before the item.

        The next item does not speak of what this item says. But a question that the item asks stays open.

        Args:
            item: what was told at the end of the item.
        """
        return item if item.fresh and item.asked != self.asked else self


@dataclass(frozen=True)
class Answer:
    """A yes or no that a line of an answer says.

    Attributes:
        words: its words, which a claim has after the question that they answer.
        affirms: True for yes, False for no, None for neither ("Probably not").
        taken_back: the statement that a "False." answers; "" where it answers a question, or nothing.
    """

    words: Phrase
    affirms: bool | None
    taken_back: str = ""


def read_answer_of(text: str, line: Line, told: Told, reason: str) -> Answer | None:
    """Returns the yes or no that `line` says; None where it says more, or something else.

    Args:
        text: the answer's text, with blanks for its marks.
        line: a line of the text.
        told: what was told before the line.
        reason: why the line states nothing, such as "greeting"; "" where it may state something.
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
    """Returns the words of "Yes." or "Yes, hope this helps.", where the line says nothing else; else ()."""
    words = line.part.words
    if is_bare_answer(line.part.text):
        return words
    opening = read_words(text, line.sentence.start, words[0].start)[:1]
    return opening if opening and is_bare_answer(opening[0].text) else ()


def _piece(text: str, line: Line, reason: str) -> Answer | None:
    """Returns the yes or no in a piece of a line of talk: "I'm not a doctor, but yes."; None for none."""
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
    """Returns the words for a yes or no at `text[start:end]`: "Yes" for a thumbs-up."""
    if read.spoken:
        return (Word(read.spoken, start, end),)
    return tuple(word for word in line.part.words if not word.borrowed)


def asks_unsaid_amount(text: str, start: int, whole: Part, told: Told, contexts: Sequence[str]) -> Phrase:
    """Returns the "Yes" before `whole` if it agrees to an amount that the answer does not say; else ().

    "Yes, paracetamol lowers fever." to "Can I take 8 g?" says more than its words. If a claim has the
    question as its context, its amount is read with the claim, and nothing is returned.

    Args:
        text: the answer.
        start: where the sentence begins.
        whole: the sentence.
        told: what was told before it.
        contexts: the contexts of its claims.
    """
    opening = _OPENING.search(text, start, whole.words[0].start)
    if not (told.asked and told.fresh and opening) or any(contexts):
        return ()
    asked = " ".join(polar_sentences(written(told.asked)))
    said = _NUMBER.findall(text[told.asked[-1].end if not told.asked[-1].borrowed else 0 :])
    unsaid = any(number not in said for amount in amounts(asked) for number in _NUMBER.findall(amount))
    return read_words(text, *opening.span()) if unsaid else ()


def is_verdict(part: Part) -> bool:
    """Returns whether a heading answers by itself: "Safe", "Not recommended"."""
    return _VERDICT.fullmatch(part.text) is not None


def without_label(text: str, part: Part, told: Told) -> Part:
    """Returns the answer to a question without its label: "It is safe." for "A: It is safe."."""
    words = part.words
    if not (told.fresh and len(words) > 2 and words[0].lower in ("a", "ans") and words[1].text == ":"):
        return part
    start = skip_openers(text, words[2].start, words[-1].end)
    return Part(tuple(word for word in words[2:] if word.start >= start))


def agrees(text: str) -> bool:
    """Returns whether `text` says yes. "Sure!" and "Of course." do not count: they open many refusals."""
    sentence = text if read_yes_no(text) else ""
    pieces = [sentence] if sentence else JOINTS.split(text)[: _MOST_PIECES + 1]
    return any(
        read.affirms and not _COURTEOUS.fullmatch(piece)
        for piece in pieces
        if (read := read_yes_no(piece)) is not None
    )
