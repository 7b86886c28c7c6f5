"""Splits an enumeration at the end of a statement into one statement an item."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from pytest_medfaith.english import lexicon
from pytest_medfaith.english.grammar import Clause, Part
from pytest_medfaith.english.lexicon import word_set
from pytest_medfaith.english.phrases import Phrase, Word, borrowed, holds, places
from pytest_medfaith.english.verbs import finite_verbs, forms, is_adverb, is_auxiliary, is_content

# What opens a list: a word such as "include", "are" behind a subject such as "symptoms", or the verb whose objects are listed.
Opener = Literal["including", "are", "verb"]

_INCLUDING = word_set("include includes included including involve involves")
_TOGETHER = word_set(
    "both between together combination combined combining plus versus vs either neither nor same than consist consists consisting "
    "comprise comprises contain contains containing with ratio regimen dual triple"
)
_CONDITIONS = word_set("if when whenever unless whether")
_NEGATING = lexicon.NEGATIONS | {"rarely"}
_NESTING = word_set(
    "such including like especially particularly e.g e.g. which who although but while because if when"
)
_CLASS_SUBJECTS = word_set(
    "symptoms signs effects causes drugs medications medicines treatments options factors complications types examples triggers risks "
    "agents forms kinds reactions interactions contraindications tests methods benefits uses measures sources features manifestations"
)
_OBJECT_PREPOSITIONS = word_set("by for to against on from")
_LINKED = word_set("effective due useful helpful active secondary")
_BEFORE_BARE_VERB = lexicon.MODALS | word_set("to , by help also and")
_POPULATIONS = word_set(
    "patients people adults children women men individuals infants those pregnancy babies persons adolescents elderly humans mice "
    "rats newborns teenagers smokers"
)
_COUNTING = lexicon.NUMBERS | {"each", "any", "all", "both", "either", "none", "some", "more"}
_LONGEST_OBJECT = 9
_LONGEST_ITEM = 18


@dataclass(frozen=True)
class _Listing:
    """The place of an enumeration: its items as spans of words, and the span behind them that holds for all, such as "in children"."""

    opener: Opener
    begin: int
    items: tuple[tuple[int, int], ...]
    joint: str
    tail: tuple[int, int]


def split_lists(whole: Part) -> list[Part]:
    """Splits "X causes A, B and C" into "X causes A", "X causes B" and "X causes C".

    A closing "in children" goes with every item. Examples ("such as A, B and C") stay with what they illustrate, and so do things
    given together ("with A, B and C", "both A and B"), a choice ("take A, B or C"), doses, and adjectives of one noun.
    """
    words, clause = whole.words, whole.clause
    if clause is None:
        return [whole]
    for begin, opener in _openings(clause):
        listing = _read_listing(words, begin, opener)
        if listing is None or not _holds_for_each(clause, listing) or not _fit(words, listing):
            continue
        prefix, tail = words[:begin], borrowed(words[slice(*listing.tail)])
        first, *others = (words[slice(*item)] for item in listing.items)
        said = [(*prefix, *first, *tail), *((*borrowed(prefix), *item, *tail) for item in others)]
        return list(map(Part, said))
    return [whole]


def _openings(clause: Clause) -> Iterator[tuple[int, Opener]]:
    """Yields where an enumeration may begin, and what opens it."""
    words, main = clause.words, clause.main
    for index in reversed(places(words, _INCLUDING, main, len(words) - 1)):
        yield index + 1, "including"
    if words[main].lower in ("are", "were") and _names_class(clause.subject):
        yield main + 1, "are"
    comma = min(places(words, ",", main + 1), default=main)
    objects = (
        index
        for index in range(comma - 1, max(main, comma - _LONGEST_OBJECT) - 1, -1)
        if _opens_objects(clause, index)
    )
    for index in objects:
        yield index + 1, "verb"
        return


def _names_class(subject: Phrase) -> bool:
    """Returns whether the head of `subject` is a noun such as "symptoms", and nothing counts: not "the only drugs", "the three signs"."""
    behind = (
        index
        for index, word in enumerate(subject)
        if index and (word.lower in lexicon.PREPOSITIONS or "part" in forms(word))
    )
    head = bool(subject) and subject[next(behind, len(subject)) - 1].lower in _CLASS_SUBJECTS
    return head and not any(
        word.lower in _COUNTING | {"only", "sole"} or word.text[0].isdigit() for word in subject
    )


def _opens_objects(clause: Clause, index: int) -> bool:
    word, before = clause.words[index], clause.words[index - 1]
    if word.inside:
        return False
    if any(verb.index == index for verb in clause.verbs):
        return not is_auxiliary(word)
    if word.lower in _OBJECT_PREPOSITIONS:
        return before.lower in _LINKED or bool(forms(before) & {"part", "base", "s"})
    return bool(forms(word) & {"base", "ing"}) and (before.lower in _BEFORE_BARE_VERB or is_adverb(before))


def _read_listing(words: Phrase, begin: int, opener: Opener) -> _Listing | None:
    end = len(words)
    while end > begin and words[end - 1].text in ".;:,!":
        end -= 1
    items, joint = _items(words, begin, end)
    if len(items) < (2 if opener == "including" else 3):
        return None
    start, last = items[-1]
    tail = _population(words, start, last)
    return _Listing(opener, begin, (*items[:-1], (start, tail)), joint, (tail, last))


def _items(words: Phrase, begin: int, end: int) -> tuple[list[tuple[int, int]], str]:
    """Returns the spans that commas and the last "and" or "or" part, and that joint; no spans where there is no such joint.

    Examples of the last item stay with it: "A, B, and drugs such as C, D, and E" has three items.
    """
    commas = places(words, ",", begin, end)
    examples = min(places(words, ("such",), begin, end), default=0)
    closing = [comma for comma in commas if comma < examples and words[comma + 1].lower in ("and", "or")]
    commas = [comma for comma in commas if not closing or comma <= closing[-1]]
    spans = list(zip([begin, *(comma + 1 for comma in commas)], [*commas, end], strict=True))
    first, last = spans[-1]
    joints = places(words, ("and", "or"), first, last)
    if not joints or (joints[0] != first and len(joints) > 1):
        return [], ""
    before = [] if joints[0] == first else [(first, joints[0])]
    return [*spans[:-1], *before, (joints[0] + 1, last)], words[joints[0]].lower


def _population(words: Phrase, start: int, end: int) -> int:
    """Returns where a closing "in children" begins that holds for all items, else `end`."""
    closing = (
        index
        for index in places(words, ("in", "among"), start + 1, end - 1)
        if any(word.lower in _POPULATIONS for word in words[index + 1 : index + 4])
    )
    return next(closing, end)


def _holds_for_each(clause: Clause, listing: _Listing) -> bool:
    """Returns whether what stands before the list holds for each item alone."""
    words = clause.words
    before = {word.lower for word in words[clause.subject_end : listing.begin]}
    listed = {word.lower for word in words[listing.begin :]}
    if (
        any(word.lower in _TOGETHER for word in words[: listing.begin])
        or (before | listed) & _CONDITIONS
        or _counted(words[: listing.begin])
        or listed & {"respectively", "together"}
    ):
        return False
    negated = bool(before & lexicon.NEGATIONS)
    if listing.joint == "or":
        return negated or bool(before & lexicon.TENTATIVE)
    return not negated and "who" not in before


def _counted(before: Phrase) -> bool:
    """Returns whether the items are counted together: "a point for each of", "any two of"."""
    return (
        bool(before) and before[-1].lower == "of" and any(word.lower in _COUNTING for word in before[-3:-1])
    )


def _fit(words: Phrase, listing: _Listing) -> bool:
    """Returns whether each item is a noun phrase of its own, so that it makes sense behind the words before the list."""
    phrases = [words[slice(*item)] for item in listing.items]
    if not all(_is_item(phrase) for phrase in phrases) or any(
        holds(phrase, _NESTING) for phrase in phrases[:-1]
    ):
        return False
    if listing.opener == "verb" and not _are_objects(phrases):
        return False
    negated = [phrase[0].lower in _NEGATING for phrase in phrases]
    if any(negated) and not all(negated):
        return False
    single = phrases if listing.opener == "are" else phrases[:-1]
    return not any(len(phrase) == 1 and _is_adjectival(phrase[0].lower) for phrase in single)


def _is_item(phrase: Phrase) -> bool:
    if (
        not 0 < len(phrase) <= _LONGEST_ITEM
        or not any(map(is_content, phrase))
        or any(word.text in ":;\u2013—" for word in phrase)
    ):
        return False
    first = phrase[0]
    return not first.text[0].isdigit() and not any(
        first.lower in words
        for words in (_NESTING, lexicon.RELATIVES, lexicon.PREPOSITIONS, lexicon.PRONOUNS)
    )


def _are_objects(phrases: list[Phrase]) -> bool:
    """Returns whether `phrases` are objects of one verb: short, with no verb, and none a participle such as "improving mood"."""
    first = phrases[0]
    if any(
        len(phrase) > _LONGEST_OBJECT or finite_verbs(phrase) or any(word.lower == "to" for word in phrase)
        for phrase in phrases
    ):
        return False
    participles = any(len(phrase) > 1 and _is_participle(phrase[0]) for phrase in phrases[1:])
    return not any(word.lower in lexicon.PREPOSITIONS for word in first) and (
        not participles or _is_participle(first[0])
    )


def _is_participle(word: Word) -> bool:
    return word.lower.endswith("ing") and "ing" in forms(word)


def _is_adjectival(word: str) -> bool:
    return word in lexicon.ADJECTIVES or word.endswith((*lexicon.ADJECTIVE_ENDINGS, "ar", "less", "ed"))
