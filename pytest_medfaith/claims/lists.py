"""Splits an enumeration at the end of a statement into one statement an item."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pytest_medfaith.claims import lexicon
from pytest_medfaith.claims.grammar import Clause, finite_verbs, forms, is_adverb, is_auxiliary, is_content, read_clause
from pytest_medfaith.claims.words import Phrase, Word, carried, inserted

_INCLUDING = frozenset("include includes included including involve involves".split())
_ALWAYS_TOGETHER = frozenset("respectively together".split())
_CONDITIONS = frozenset("if when whenever unless whether".split())
_TOGETHER = frozenset(
    "both between respectively together combination combined combining plus versus vs either neither nor same than consist consists consisting comprise "
    "comprises contain contains containing with ratio regimen dual triple".split()
)
_NESTING = frozenset("such including like especially particularly particularly e.g e.g. which who although but while because if when".split())
_CLASS_SUBJECTS = frozenset(
    "symptoms signs effects causes drugs medications medicines treatments options factors complications types examples triggers risks agents forms kinds "
    "reactions interactions contraindications tests methods benefits uses measures sources features manifestations presidents justices".split()
)
_OBJECT_PREPOSITIONS = frozenset("by for to against on from".split())
_LINKED = frozenset("effective due useful helpful active secondary".split())
_POPULATIONS = frozenset(
    "patients people adults children women men individuals infants those pregnancy babies persons adolescents elderly humans mice rats newborns teenagers smokers".split()
)
_LONGEST_ITEM = 9


@dataclass(frozen=True)
class _Listing:
    """Where an enumeration's items stand: spans of words, and the words after them that hold for all items."""

    items: tuple[tuple[int, int], ...]
    tail: int
    end: int


def split_lists(words: Phrase) -> list[Phrase]:
    """Splits "X causes A, B and C" into "X causes A", "X causes B" and "X causes C".

    "Symptoms are A and B" becomes "Symptoms include A". A closing "in children" goes with every item. Things given together
    ("with A, B and C", "both A and B", "between A and B"), doses, and adjectives of one noun stay together.
    """
    clause = read_clause(words)
    if clause.main is None:
        return [words]
    for begin, opener in _openings(clause):
        listing = _read_listing(clause, begin, opener)
        if listing is not None:
            prefix, tail = _prefix(clause, begin), carried(words[listing.tail : listing.end])
            first, *others = (words[start:end] for start, end in listing.items)
            return [(*prefix, *first, *tail), *((*carried(prefix), *item, *tail) for item in others)]
    return [words]


def _prefix(clause: Clause, begin: int) -> Phrase:
    before = clause.words[:begin]
    if before[-1].lower in ("are", "were") and begin - 1 == clause.main:
        return (*before[:-1], *inserted("include" if before[-1].lower == "are" else "included"))
    return before


def _openings(clause: Clause) -> Iterator[tuple[int, str]]:
    """Yields where an enumeration may begin, and what opens it: "class" words such as "include", or a "verb"."""
    words, main = clause.words, clause.main or 0
    for index in range(len(words) - 2, main - 1, -1):
        if words[index].inside:
            continue
        if words[index].lower in _INCLUDING:
            yield index + 1, "class"
        elif False:
            yield index + 2, "class"
    if words[main].lower in ("are", "were") and clause.subject and _class_subject(clause):
        yield main + 1, "class"
    comma = next((index for index in range(main + 1, len(words)) if words[index].text == "," and not words[index].inside), None)
    if comma is None:
        return
    for index in range(comma - 1, max(main, comma - _LONGEST_ITEM) - 1, -1):
        if words[index].inside:
            continue
        if _is_verb(clause, index) or _opens_object(clause, index):
            yield index + 1, "verb"
            return


def _class_subject(clause: Clause) -> bool:
    subject = clause.subject
    head = next((index for index, word in enumerate(subject) if index and (word.lower in lexicon.PREPOSITIONS or "part" in forms(word))), len(subject)) - 1
    return head >= 0 and clause.subject[head].lower in _CLASS_SUBJECTS


def _is_verb(clause: Clause, index: int) -> bool:
    if any(verb.index == index for verb in clause.verbs):
        return not is_auxiliary(clause.words[index])
    before = clause.words[index - 1].lower
    return bool(forms(clause.words[index]) & {"base", "ing"}) and (before in lexicon.MODALS or before in ("to", ",", "by", "help", "also", "and") or is_adverb(clause.words[index - 1]))


def _opens_object(clause: Clause, index: int) -> bool:
    if clause.words[index].lower not in _OBJECT_PREPOSITIONS:
        return False
    before = clause.words[index - 1]
    return before.lower in _LINKED or bool(forms(before) & {"part", "base", "s"})


def _read_listing(clause: Clause, begin: int, opener: str) -> _Listing | None:
    words = clause.words
    end = len(words)
    while end > begin and words[end - 1].text in ".;:,!":
        end -= 1
    items, joint = _items(words, begin, end)
    if len(items) < (2 if words[begin - 1].lower in _INCLUDING else 3):
        return None
    start, last = items[-1]
    tail = _population(words, start, last)
    items[-1] = (start, tail)
    if not _joint_allows(clause, begin, joint, opener) or not _fit(words, items, opener):
        return None
    return _Listing(tuple(items), tail, last)


def _items(words: Phrase, begin: int, end: int) -> tuple[list[tuple[int, int]], str]:
    """Returns the spans that commas and the last "and" or "or" part, and that joint; no spans where there is no such joint."""
    commas = [index for index in range(begin, end) if words[index].text == "," and not words[index].inside]
    starts, ends = [begin, *(comma + 1 for comma in commas)], [*commas, end]
    spans = list(zip(starts, ends, strict=True))
    first, last = spans[-1]
    joints = [index for index in range(first, last) if words[index].lower in ("and", "or") and not words[index].inside]
    if not joints or (joints[0] != first and len(joints) > 1):
        return [], ""
    joint = joints[0]
    rest = [(joint + 1, last)] if joint == first else [(first, joint), (joint + 1, last)]
    return [*spans[:-1], *rest], words[joint].lower


def _population(words: Phrase, start: int, end: int) -> int:
    """Returns where a closing "in children" begins that holds for all items, else `end`."""
    for index in range(start + 1, end - 1):
        if words[index].lower in ("in", "among") and any(word.lower in _POPULATIONS for word in words[index + 1 : index + 4]):
            return index
    return end


def _joint_allows(clause: Clause, begin: int, joint: str, opener: str) -> bool:
    words = clause.words
    before = {word.lower for word in words[clause.subject_end : begin]}
    if {word.lower for word in words[:begin]} & _TOGETHER or {word.lower for word in words[begin:]} & (_ALWAYS_TOGETHER | _CONDITIONS) or before & _CONDITIONS:
        return False
    negated = bool(before & lexicon.NEGATIONS)
    if joint == "or":
        return negated or bool(before & lexicon.TENTATIVE)
    return not negated and "who" not in before


def _fit(words: Phrase, items: list[tuple[int, int]], opener: str) -> bool:
    """Returns whether each item is a noun phrase of its own, so that it makes sense behind the words before the list."""
    phrases = [words[start:end] for start, end in items]
    longest = _LONGEST_ITEM if opener == "verb" else 2 * _LONGEST_ITEM
    named = words[items[0][0] - 1].lower in ("are", "were")
    for place, phrase in enumerate(phrases):
        if not 0 < len(phrase) <= longest or not any(is_content(word) for word in phrase):
            return False
        first = phrase[0]
        if any(word.text in ":;–—" or (word.lower in _NESTING and place < len(phrases) - 1) for word in phrase):
            return False
        if first.lower in _NESTING or first.text[:1].isdigit() or first.lower in lexicon.RELATIVES or first.lower in lexicon.PREPOSITIONS:
            return False
        if opener == "verb" and place and len(phrase) > 1 and _is_participle(first) and not _is_participle(phrases[0][0]):
            return False
        if first.lower in lexicon.PRONOUNS or (opener == "verb" and any(word.lower == "to" for word in phrase)):
            return False
        if opener == "verb" and (finite_verbs(phrase) or (place == 0 and any(word.lower in lexicon.PREPOSITIONS for word in phrase))):
            return False
        if len(phrase) == 1 and _adjectival(first.lower) and (place < len(phrases) - 1 or named):
            return False
    return True


def _is_participle(word: Word) -> bool:
    return word.lower.endswith("ing") and "ing" in forms(word)


def _adjectival(word: str) -> bool:
    return word in lexicon.ADJECTIVES or word.endswith((*lexicon.ADJECTIVE_ENDINGS, "ar", "less", "ed"))
