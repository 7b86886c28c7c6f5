"""Splits off what a sentence says by the way: asides, closing relative clauses, participles."""

from __future__ import annotations

from pytest_medfaith.english import lexicon
from pytest_medfaith.english.conjugation import base_of
from pytest_medfaith.english.grammar import Clause, Part
from pytest_medfaith.english.lexicon import word_set
from pytest_medfaith.english.phrases import Phrase, borrowed, holds, places, trimmed
from pytest_medfaith.english.verbs import finite_verbs, forms, is_adverb, is_content

_LONGEST_SUBJECT = 9
_LONGEST_ANTECEDENT = 5
_ENUMERATING = word_set("including include includes included involve involves such like")
# Participles that belong to the words before them, or state nothing.
_ATTACHED = word_set(
    "including following regarding concerning depending using according excluding involving containing being "
    "having ranging considering meaning leaving resolving lasting"
)
# What a treatment or finding does; patients and doctors do not "result in" things.
_OF_EVENTS = word_set("resulting leading causing allowing making enabling contributing")
_PERSONS = word_set(
    "patients people participants adults children women men individuals doctors physicians clinicians "
    "researchers we they you authors"
)
_NO_SUBJECT = word_set("no none neither few little nothing there")


def split_asides(whole: Part) -> list[Part]:
    """Splits an aside from its sentence: "X, which is a Y, does Z" gives "X is a Y" and "X does Z".

    "X, sold as Y, does Z" and "X, a Y, does Z" give "X, sold as Y" and "X, a Y". A closing ", which is a Y"
    is split off if the noun before it is plainly what it speaks of. Without an aside the sentence comes back
    as the only part.
    """
    if whole.clause is None:
        return [whole]
    said = _subject_aside(whole.clause) or _closing_relative(whole.clause)
    return list(map(Part, said)) or [whole]


def _subject_aside(clause: Clause) -> list[Phrase]:
    """Returns (the aside as a statement, the sentence without it); [] without an aside after the subject."""
    words = clause.words
    commas = places(words, ",", clause.lead, clause.main)
    if not commas or commas[1:] != [clause.subject_end - 1]:
        return []
    first, second = commas
    said = _aside_predicate(words[first:second]) if 0 < first - clause.lead <= _LONGEST_SUBJECT else ()
    if not said:
        return []
    return [(*borrowed(words[clause.lead : first]), *said), (*words[:first], *words[second + 1 :])]


def _aside_predicate(aside: Phrase) -> Phrase:
    """Returns what an aside says of its subject: "is a Y" of ", which is a Y"; () where it states no fact.

    The first word of `aside` is its comma.
    """
    first = next((word for word in aside[1:] if not is_adverb(word)), None)
    verbs = finite_verbs(aside)
    if first is None:
        return ()
    if first.lower in ("which", "who"):
        return aside[2:] if verbs and all(map(is_adverb, aside[2 : verbs[0].index])) else ()
    participle = "part" in forms(first) and len(aside) > 2
    return aside if participle or (first.lower in ("a", "an") and not verbs) else ()


def _closing_relative(clause: Clause) -> list[Phrase]:
    """Returns (the sentence without its closing ", which is a Y", that as a statement); [] without it."""
    words = clause.words
    for comma in places(words, ",", clause.main + 1, len(words) - 3):
        relative, verb, after = (word.lower for word in words[comma + 1 : comma + 4])
        describes = verb in lexicon.BE and after in ("a", "an", "the", "also", "called", "known")
        if relative not in ("which", "who") or not describes:
            continue
        antecedent, tail = _noun_before(words, comma), words[comma + 2 :]
        if antecedent and not holds(tail, ",;"):
            return [words[:comma], (*borrowed(antecedent), *tail)]
    return []


def _noun_before(words: Phrase, end: int) -> Phrase:
    """Returns the noun that ends before index `end`, with adjectives and brackets; () if it is too long."""
    start = end
    while (
        start > 0
        and (is_content(words[start - 1]) or words[start - 1].inside)
        and (start == end or not _is_verb(words, start - 1))
    ):
        start -= 1
    return words[start:end] if end - start <= _LONGEST_ANTECEDENT else ()


def _is_verb(words: Phrase, index: int) -> bool:
    """Returns whether the word at `index` may be a verb where it is."""
    can_be = forms(words[index])
    behind = words[index - 1].lower if index else ""
    return bool(can_be & {"s", "ing"}) or (bool(can_be) and (behind in lexicon.MODALS or behind == "to"))


def split_participles(whole: Part) -> list[Part]:
    """Splits "X blocks A, lowering B" into "X blocks A" and "X, lowering B".

    A sentence with a modal verb ("may") or a condition ("if") stays whole.
    """
    words, clause = whole.words, whole.clause
    if clause is None or not clause.subject or clause.form == "modal":
        return [whole]
    if clause.subject[0].lower in _NO_SUBJECT or holds(words[clause.main :], lexicon.STRONG_CONDITIONS):
        return [whole]
    commas = places(words, ",", clause.main + 1, len(words) - 2)
    for comma in commas:
        if not _of_the_subject(clause, comma) or holds(words[clause.main : comma], lexicon.NEGATIONS):
            break
        if _is_participle(clause, comma):
            joints = [later for later in commas if later >= comma and _is_participle(clause, later)]
            subject = borrowed(words[: clause.subject_end])
            said = [words[:comma]]
            for begin, end in zip(joints, [*joints[1:], len(words)], strict=True):
                mark, *participle = trimmed(words[begin:end])
                said.append((*subject, mark, *participle[participle[0].lower == "and" :]))
            return list(map(Part, said))
    return [whole]


def _of_the_subject(clause: Clause, comma: int) -> bool:
    """Returns whether a participle after the comma at index `comma` speaks of the main subject.

    It does not in a list, nor in "studies show A does B, lowering C".
    """
    between = clause.words[clause.main : comma]
    verb_words = clause.words[clause.main : clause.main + 4]
    attributed = any(word.lower in lexicon.ATTRIBUTIONS for word in verb_words)
    other_verb = any(clause.main < verb.index < comma and not verb.subordinate for verb in clause.verbs)
    listed = holds(between, ":") or any(word.lower in _ENUMERATING for word in between)
    return not (attributed or other_verb or listed)


def _is_participle(clause: Clause, comma: int) -> bool:
    """Returns whether a participle that states something follows the comma at index `comma`."""
    words = clause.words
    begin = comma + 1 + (words[comma + 1].lower == "and")
    last = len(words) - 2
    place = next((index for index in range(begin, last) if not is_adverb(words[index])), last)
    participle, after = words[place], words[place + 1].lower
    by_person = participle.lower in _OF_EVENTS and any(word.lower in _PERSONS for word in clause.subject)
    if participle.inside or participle.lower in _ATTACHED or by_person or after in (",", ".", "and", "or"):
        return False
    return base_of(participle.lower, "ing") is not None
