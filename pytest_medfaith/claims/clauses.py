"""Splits a sentence where "and", "but" or a semicolon joins clauses that each have a subject and a verb.

A clause that is not sure to hold on its own stays with its neighbour: nothing is split inside brackets and quotes, nor between
conditions that belong together ("if the face droops and the arm is weak").
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from pytest_medfaith.english import lexicon
from pytest_medfaith.english.grammar import Clause, ends_open, is_content, is_plain_verb, read_clause
from pytest_medfaith.english.lexicon import word_set
from pytest_medfaith.english.phrases import Phrase, carried, holds, places, trimmed

_JOINTS = word_set("and but so yet whereas while although though")
_NEED_COMMA = word_set("so yet while")
_CONTRASTS = word_set("; but whereas")
_CONCESSIVE = word_set("although though while whereas")
_QUESTION_WORDS = word_set("that which who whether how why what whatever whoever")
_OPENING_WORDS = word_set("after before until because as although though")


@dataclass(frozen=True)
class _Joint:
    """Where two clauses may part: the words from `start` to `end` join them."""

    start: int
    end: int
    word: str
    comma: bool


def split_clauses(words: Phrase) -> list[Phrase]:
    """Returns the clauses of `words` that have a subject and a verb of their own; an opening "In adults," goes with each."""
    concessive = _split_concessive(words)
    if concessive:
        return [part for clause in concessive for part in split_clauses(clause)]
    left = read_clause(words)
    if left is None:
        return [words]
    for joint in _joints(words, left.main + 1):
        right = read_clause(words[joint.end :])
        if (
            right is not None
            and _stands_alone(right)
            and _ends_well(left, joint)
            and not _governed(left, joint, right)
        ):
            lead = (
                carried(words[: left.lead])
                if joint.word != ";"
                and right.lead == 0
                and words[0].lower in lexicon.PREPOSITIONS | lexicon.CONDITIONS
                else ()
            )
            return [trimmed(words[: joint.start]), *split_clauses((*lead, *right.words))]
    return [words]


def _split_concessive(words: Phrase) -> list[Phrase]:
    """Splits "Although A, B", which states both."""
    whole = read_clause(words) if words[0].lower in _CONCESSIVE else None
    if whole is None or words[whole.lead - 1].text != ",":
        return []
    first = read_clause(words[1 : whole.lead - 1])
    return [first.words, words[whole.lead :]] if first is not None and first.subject else []


def _joints(words: Phrase, start: int) -> Iterator[_Joint]:
    for index in range(start, len(words) - 1):
        word, after = words[index], words[index + 1].lower
        if word.inside:
            continue
        if word.text == ";":
            yield _Joint(index, index + (2 if after in _JOINTS else 1), ";", comma=True)
        elif (
            word.text == ","
            and after == "even"
            and words[index + 2 : index + 3]
            and words[index + 2].lower == "though"
        ):
            yield _Joint(index, index + 3, "though", comma=True)
        elif word.text == "," and after == "meaning":
            that = [following.lower for following in words[index + 2 : index + 3]] == ["that"]
            yield _Joint(index, index + (3 if that else 2), "meaning", comma=True)
        elif word.text == "," and after in _JOINTS:
            yield _Joint(index, index + 2, after, comma=True)
        elif word.lower in _JOINTS - _NEED_COMMA and words[index - 1].text != ",":
            yield _Joint(index, index + 1, word.lower, comma=False)


def _stands_alone(right: Clause) -> bool:
    """Returns whether the words behind a joint are a clause of their own, with a subject that is one."""
    subject = right.subject
    if (
        not any(is_content(word) or word.lower in lexicon.PRONOUNS for word in subject)
        or right.words[0].lower in _QUESTION_WORDS
    ):
        return False
    commas = places(subject, (",", ";"))
    aside = subject[-1].text == "," and len(commas) == 2
    if (commas and not aside) or holds(subject, _OPENING_WORDS) or subject[-1].lower in ("and", "or", "but"):
        return False
    return subject[0].lower not in lexicon.PREPOSITIONS and not is_plain_verb(subject[0])


def _ends_well(left: Clause, joint: _Joint) -> bool:
    """Returns whether the words before `joint` are complete, so that it joins clauses rather than words of one clause."""
    words = left.words[: joint.start]
    if ends_open(words) or has_pair(words, "not", "only"):
        return False
    return joint.comma or not (_in_series(left, joint.start) or _within_as(left, joint.start))


def _in_series(left: Clause, end: int) -> bool:
    """Returns whether an "and" may join words rather than clauses: behind "both", a colon, or "A, B" with no verb."""
    if places(left.words, ":", left.main, end):
        return True
    comma = max(places(left.words, ",", left.main, end), default=None)
    if holds(left.words[comma or left.main : end], lexicon.PAIRING | {"between"}):
        return True
    return comma is not None and not any(comma < verb.index < end for verb in left.verbs)


def _within_as(left: Clause, end: int) -> bool:
    """Returns whether an "as" opens a clause whose verb is still to come, as in "X failed as A and B were ill"."""
    opening = max(places(left.words, ("as", "than"), left.main + 1, end), default=None)
    return opening is not None and not any(opening < verb.index < end for verb in left.verbs)


def _governed(left: Clause, joint: _Joint, right: Clause) -> bool:
    """Returns whether a condition or a "that" of one clause may govern the other too."""
    inner = [verb for verb in left.verbs if left.main < verb.index < joint.start and verb.subordinate]
    if joint.word in _CONTRASTS or not inner:
        return not joint.comma and _conditional(right.words[right.main :])
    relative = left.words[inner[-1].index - 1].lower in lexicon.RELATIVES
    return not joint.comma or not relative or _conditional(left.words[left.main : joint.start])


def _conditional(words: Phrase) -> bool:
    return holds(words, lexicon.STRONG_CONDITIONS | {"whether", "because"})


def has_pair(words: Phrase, first: str, second: str) -> bool:
    """Returns whether the words `first second` stand side by side in `words`."""
    return any(a.lower == first and b.lower == second for a, b in pairwise(words))
