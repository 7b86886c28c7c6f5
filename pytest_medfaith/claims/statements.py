"""Makes the atomic statements of a sentence, and names what of it states nothing."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from pytest_medfaith.claims.asides import split_asides, split_participles
from pytest_medfaith.claims.chatter import chatter_reason, is_bare_answer
from pytest_medfaith.claims.clauses import split_clauses
from pytest_medfaith.claims.context import Before, said, stands_alone
from pytest_medfaith.claims.declining import declines
from pytest_medfaith.claims.layout import Sentence
from pytest_medfaith.claims.lists import split_lists
from pytest_medfaith.claims.openers import skip_openers
from pytest_medfaith.claims.predicates import split_predicates, split_repeated
from pytest_medfaith.claims.questions import is_polar, is_question
from pytest_medfaith.claims.referring import refers
from pytest_medfaith.english.phrases import Phrase, read_words, span, written

_RULES = (split_asides, split_participles, split_predicates, split_repeated, split_lists)
_EDGES = re.compile(r"^(?:[\s,;:\u2013\u2014]|[-.](?!\d))+|(?:[\s,;:.\u2013\u2014]|(?<!\w)-)+$")
_JOINTS = re.compile(
    r"\s*(?:[,;:\u2013\u2014]|\s-)\s+(?:(?:so|but|and|as|since|because|though|therefore)\s+)?|\s+(?:so|but|and|as|since|because)\s+",
    re.IGNORECASE,
)
_LONGEST_TALK = 300  # characters: longer sentences say more than that nothing is said
_MOST_JOINTS = 6
_LONGEST_SENTENCE = 150  # words; what is longer is a table, a sequence or no prose, and the rules would guess


@dataclass(frozen=True)
class Read:
    """A sentence and its words, openers left out."""

    sentence: Sentence
    words: Phrase


@dataclass(frozen=True)
class Statement:
    """The words of a claim, the sentence they stand in, and the words before it that a reader needs."""

    sentence: Sentence
    words: Phrase
    context: str = ""


@dataclass(frozen=True)
class Idle:
    """A span of the answer that states nothing, and why."""

    start: int
    end: int
    reason: str


@dataclass(frozen=True)
class Told:
    """What was told before a sentence: the words a later "it" may stand for, and the last question that "Yes" would answer."""

    before: Before
    asked: Phrase = ()


def idle_reason(text: str) -> str:
    """Returns "question", "refusal" or the kind of chatter that `text` is, or "" where it states something.

    "I'm only an AI, so please ask your doctor" says two things of which neither can be checked.
    """
    if is_question(text):
        return "question"
    reason = "refusal" if declines(text) else chatter_reason(text) or ("advice" if refers(text) else "")
    return reason or _joined_reason(text)


def _joined_reason(text: str) -> str:
    """Returns the reason of a `text` whose parts, each by itself, state nothing; "" for any other."""
    joints = list(_JOINTS.finditer(text)) if len(text) <= _LONGEST_TALK else []
    for joint in joints if len(joints) <= _MOST_JOINTS else ():
        left = text[: joint.start()]
        first = "" if is_bare_answer(left) or not any(map(str.isalnum, left)) else idle_reason(left)
        second = idle_reason(text[joint.end() :]) if first else ""
        if second:
            return "refusal" if "refusal" in (first, second) else first
    return ""


def read_sentence(text: str, read: Read, told: Told) -> tuple[list[Statement | Idle], Told]:
    """Returns the atomic statements of a sentence and the idle parts of it, and what is told before the next sentence."""
    words, sentence = read.words, read.sentence
    reason = idle_reason(written(words))
    answered = _answered(text, read) if reason and told.asked else ()
    if answered:
        return [Statement(sentence, (*told.asked, *answered))], replace(told, asked=())
    if reason:
        asked = words if reason == "question" and is_polar(written(words)) else told.asked
        return [Idle(sentence.start, sentence.end, reason)], replace(told, asked=asked)
    long = len(words) > _LONGEST_SENTENCE
    found: list[Statement | Idle] = []
    within = told.before
    for clause in [words] if long else [_without_opener(text, clause) for clause in split_clauses(words)]:
        reason = idle_reason(written(clause))
        if reason:
            found.append(Idle(*span(clause), reason))
            continue
        statements = [clause] if long else _apply_rules(clause)
        found += [
            Statement(sentence, statement, "" if stands_alone(statement) else within.text)
            for statement in statements
        ]
        within = within.followed_by(said(clause), alone=stands_alone(clause))
    return found, replace(told, before=told.before.followed_by(said(words), alone=stands_alone(words)))


def _answered(text: str, read: Read) -> Phrase:
    """Returns the "Yes" with which a sentence begins that says nothing else: "Yes.", "Yes, hope this helps."."""
    if is_bare_answer(written(read.words)):
        return read.words
    opening = read_words(text, read.sentence.start, read.words[0].start)[:1]
    return opening if is_bare_answer(written(opening)) else ()


def _without_opener(text: str, clause: Phrase) -> Phrase:
    """Returns `clause` without an opener such as "note that" at its first own word."""
    first = next((index for index, word in enumerate(clause) if word.own), len(clause))
    if first == len(clause):
        return clause
    start = skip_openers(text, clause[first].start, clause[-1].end)
    return (*clause[:first], *(word for word in clause[first:] if word.start >= start or not word.own))


def _apply_rules(statement: Phrase) -> list[Phrase]:
    statements = [statement]
    for rule in _RULES:
        statements = [part for whole in statements for part in rule(whole)]
    return statements


def sentence_text(statement: Phrase) -> str:
    """Returns the text of `statement` as a sentence, or nothing where no own word says anything."""
    if not any(word.own and any(map(str.isalnum, word.text)) for word in statement):
        return ""
    text = _EDGES.sub("", written(statement))
    first = text.split(None, 1)[0]
    if first.rstrip(",:").replace("-", "").isalpha() and first.islower():
        text = text[0].upper() + text[1:]
    return text if text.endswith(("!", "?", "…")) else text + "."
