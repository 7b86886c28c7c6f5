"""Splits a sentence where "and", "but" or a semicolon joins clauses that each have a subject and a verb.

A clause that may not be true by itself stays with its neighbour. Nothing is split inside brackets and quotes,
nor between conditions that belong together ("if the face droops and the arm is weak").
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pytest_medfaith.english import lexicon
from pytest_medfaith.english.grammar import Clause, Part, read_clause
from pytest_medfaith.english.lexicon import word_set
from pytest_medfaith.english.phrases import Phrase, borrowed, has_pair, holds, places, trimmed
from pytest_medfaith.english.verbs import ends_open, is_content, is_plain_verb

_JOINTS = word_set("and but so yet whereas while although though")
_WITHOUT_COMMA = _JOINTS - word_set("so yet while")
_CONTRASTS = word_set("; but whereas")
_CONCESSIVE = word_set("although though while whereas")
_QUESTION_WORDS = word_set("that which who whether how why what whatever whoever")
_OPENING_WORDS = word_set("after before until because as although though")
_CONDITIONS = lexicon.STRONG_CONDITIONS | word_set("whether because")


@dataclass(frozen=True)
class _Joint:
    """A place where two clauses may be split: the words from `start` to `end` join them.

    Attributes:
        start: the index of the first joining word or mark.
        end: the index after the last.
        word: the joining word, such as "and", or ";".
        comma: True where a comma or semicolon is part of it.
    """

    start: int
    end: int
    word: str
    comma: bool


def split_clauses(whole: Part) -> list[Part]:
    """Returns the clauses of `whole` that have a subject and a verb; [whole] where there is nothing to split.

    "A helps, but B harms" gives "A helps" and "B harms". An opening such as "In adults," goes with each
    clause.
    """
    words, left = whole.words, whole.clause
    if left is None:
        return [whole]
    if words[0].lower in _CONCESSIVE and words[left.lead - 1].text == ",":  # "Although A, B" states both
        conceded = Part(words[1 : left.lead - 1])
        if conceded.clause is not None and conceded.clause.subject:
            return [*split_clauses(conceded), *split_clauses(Part(words[left.lead :]))]
    opened = words[0].lower in lexicon.PREPOSITIONS or words[0].lower in lexicon.CONDITIONS
    for joint in _joints(words, left.main + 1):
        right = read_clause(words[joint.end :])
        if right is None or not _is_whole(right) or not _is_complete(left, joint):
            continue
        if not _governed(left, joint, right):
            shared = words[: left.lead] if opened and joint.word != ";" and right.lead == 0 else ()
            rest = Part((*borrowed(shared), *right.words))
            return [Part(trimmed(words[: joint.start])), *split_clauses(rest)]
    return [whole]


def _joints(words: Phrase, start: int) -> Iterator[_Joint]:
    """Yields the places from index `start` on where clauses may be joined."""
    for index in range(start, len(words) - 1):
        word = words[index]
        if word.inside:
            continue
        after = words[index + 1].lower
        second = words[index + 2].lower if index + 2 < len(words) else ""
        comma = word.text == ","
        if word.text == ";":
            yield _Joint(index, index + 1 + (after in _JOINTS), ";", comma=True)
        elif comma and (after, second) == ("even", "though"):
            yield _Joint(index, index + 3, "though", comma=True)
        elif comma and after == "meaning":
            yield _Joint(index, index + 2 + (second == "that"), "meaning", comma=True)
        elif comma and after in _JOINTS:
            yield _Joint(index, index + 2, after, comma=True)
        elif word.lower in _WITHOUT_COMMA and words[index - 1].text != ",":
            yield _Joint(index, index + 1, word.lower, comma=False)


def _is_whole(right: Clause) -> bool:
    """Returns whether the clause after a joint has a subject that names or points at something."""
    subject = right.subject
    named = any(is_content(word) or word.lower in lexicon.PRONOUNS for word in subject)
    if not named or right.words[0].lower in _QUESTION_WORDS:
        return False
    commas = places(subject, (",", ";"))
    aside = subject[-1].text == "," and len(commas) == 2
    if (commas and not aside) or holds(subject, _OPENING_WORDS) or subject[-1].lower in ("and", "or", "but"):
        return False
    return subject[0].lower not in lexicon.PREPOSITIONS and not is_plain_verb(subject[0])


def _is_complete(left: Clause, joint: _Joint) -> bool:
    """Returns whether the words before `joint` are complete, so that it joins clauses, not words."""
    words = left.words[: joint.start]
    if ends_open(words) or has_pair(words, "not", "only"):
        return False
    if joint.comma:
        return True
    # In "X failed as A and B were ill" the verb of "as" is to come.
    opening = max(places(words, ("as", "than"), left.main + 1), default=None)
    waiting = opening is not None and not any(opening < verb.index < joint.start for verb in left.verbs)
    return not waiting and not _in_series(left, joint.start)


def _in_series(left: Clause, end: int) -> bool:
    """Returns whether the "and" at `end` may join words: after "both", after a colon, or in "A, B and C"."""
    if places(left.words, ":", left.main, end):
        return True
    comma = max(places(left.words, ",", left.main, end), default=None)
    if holds(left.words[comma or left.main : end], lexicon.PAIRING | {"between"}):
        return True
    return comma is not None and not any(comma < verb.index < end for verb in left.verbs)


def _governed(left: Clause, joint: _Joint, right: Clause) -> bool:
    """Returns whether a condition ("if") or a "that" of one clause may govern the other clause too."""
    inner = [verb for verb in left.verbs if left.main < verb.index < joint.start and verb.subordinate]
    if joint.word in _CONTRASTS or not inner:
        return not joint.comma and holds(right.words[right.main :], _CONDITIONS)
    relative = left.words[inner[-1].index - 1].lower in lexicon.RELATIVES
    return not joint.comma or not relative or holds(left.words[left.main : joint.start], _CONDITIONS)
