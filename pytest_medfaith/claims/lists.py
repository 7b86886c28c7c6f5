"""Splits an enumeration at the end of a statement: each item becomes a statement."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from pytest_medfaith.english import lexicon
from pytest_medfaith.english.grammar import Clause, Part
from pytest_medfaith.english.lexicon import word_set
from pytest_medfaith.english.phrases import Phrase, Word, borrowed, holds, places
from pytest_medfaith.english.verbs import finite_verbs, forms, is_adverb, is_auxiliary, is_content

# What a list follows: a word such as "include", an "are" with a subject such as "symptoms", or the verb whose
# objects are listed.
Opener = Literal["including", "are", "verb"]

_INCLUDING = word_set("include includes included including involve involves")
_TOGETHER = word_set(
    "both between together combination combined combining plus versus vs either neither nor same than "
    "consist consists consisting comprise comprises contain contains containing with ratio regimen dual "
    "triple"
)
_CONDITIONS = word_set("if when whenever unless whether")
_ADJECTIVAL = (*lexicon.ADJECTIVE_ENDINGS, "ar", "less", "ed")
_NEGATING = lexicon.NEGATIONS | {"rarely"}
_NESTING = word_set(
    "such including like especially particularly e.g e.g. which who although but while because if when"
)
_NO_ITEM = _NESTING | lexicon.RELATIVES | lexicon.PREPOSITIONS | lexicon.PRONOUNS
_CLASS_SUBJECTS = word_set(
    "symptoms signs effects causes drugs medications medicines treatments options factors complications "
    "types examples triggers risks agents forms kinds reactions interactions contraindications tests methods "
    "benefits uses measures sources features manifestations"
)
_OBJECT_PREPOSITIONS = word_set("by for to against on from")
_LINKED = word_set("effective due useful helpful active secondary")
_BEFORE_BARE_VERB = lexicon.MODALS | word_set("to , by help also and")
_POPULATIONS = word_set(
    "patients people adults children women men individuals infants those pregnancy babies persons "
    "adolescents elderly humans mice rats newborns teenagers smokers"
)
_COUNTING = lexicon.NUMBERS | {"each", "any", "all", "both", "either", "none", "some", "more"}
_COUNTED = _COUNTING | {"only", "sole"}
_LONGEST_OBJECT = 9
_LONGEST_ITEM = 18


@dataclass(frozen=True)
class _Listing:
    """An enumeration: "A, B and C in children".

    Attributes:
        opener: what it follows.
        begin: the index of its first word.
        items: the words of each item.
        joint: the "and" or "or" before the last item.
        tail: the words after the items that go with each of them: "in children".
    """

    opener: Opener
    begin: int
    items: tuple[Phrase, ...]
    joint: str
    tail: Phrase


def split_lists(whole: Part) -> list[Part]:
    """Splits "X causes A, B and C" into "X causes A", "X causes B" and "X causes C".

    A closing "in children" goes with every item. Some lists stay whole: examples ("such as A, B and C"),
    things given together ("with A, B and C", "both A and B"), a choice ("take A, B or C"), doses, and
    adjectives of the same noun.
    """
    words, clause = whole.words, whole.clause
    if clause is None:
        return [whole]
    for begin, opener in _openings(clause):
        listing = _read_listing(words, begin, opener)
        if listing is None or not _holds_for_each(clause, listing) or not _fit(listing):
            continue
        prefix, tail = words[:begin], borrowed(listing.tail)
        first, *others = listing.items
        said = [(*prefix, *first, *tail), *((*borrowed(prefix), *item, *tail) for item in others)]
        return list(map(Part, said))
    return [whole]


def _openings(clause: Clause) -> Iterator[tuple[int, Opener]]:
    """Yields (index, opener) where an enumeration may begin."""
    words, main = clause.words, clause.main
    for index in reversed(places(words, _INCLUDING, main, len(words) - 1)):
        yield index + 1, "including"
    if words[main].lower in ("are", "were") and _names_class(clause.subject):
        yield main + 1, "are"
    comma = min(places(words, ",", main + 1), default=main)
    near = range(comma - 1, max(main, comma - _LONGEST_OBJECT) - 1, -1)
    verb = next((index for index in near if _opens_objects(clause, index)), None)
    if verb is not None:
        yield verb + 1, "verb"


def _names_class(subject: Phrase) -> bool:
    """Returns whether the main noun of `subject` is one such as "symptoms".

    False for a subject that counts its items: "the only drugs", "the three signs".
    """
    behind = (
        index
        for index, word in enumerate(subject)
        if index and (word.lower in lexicon.PREPOSITIONS or "part" in forms(word))
    )
    head = bool(subject) and subject[next(behind, len(subject)) - 1].lower in _CLASS_SUBJECTS
    return head and not any(word.lower in _COUNTED or word.text[0].isdigit() for word in subject)


def _opens_objects(clause: Clause, index: int) -> bool:
    """Returns whether the word at `index` is a verb or preposition that a list of objects may follow."""
    word, before = clause.words[index], clause.words[index - 1]
    if word.inside:
        return False
    if any(verb.index == index for verb in clause.verbs):
        return not is_auxiliary(word)
    if word.lower in _OBJECT_PREPOSITIONS:
        return before.lower in _LINKED or bool(forms(before) & {"part", "base", "s"})
    return bool(forms(word) & {"base", "ing"}) and (before.lower in _BEFORE_BARE_VERB or is_adverb(before))


def _read_listing(words: Phrase, begin: int, opener: Opener) -> _Listing | None:
    """Returns the enumeration that begins at index `begin`, or None.

    It has at least two items after "include", else three.
    """
    end = len(words)
    while end > begin and words[end - 1].text in ".;:,!":
        end -= 1
    spans, joint = _spans(words, begin, end)
    if len(spans) < (2 if opener == "including" else 3):
        return None
    *before, (start, last) = spans
    tail = _population(words, start, last)
    items = tuple(words[slice(*span)] for span in (*before, (start, tail)))
    return _Listing(opener, begin, items, joint, words[tail:last])


def _spans(words: Phrase, begin: int, end: int) -> tuple[list[tuple[int, int]], str]:
    """Returns (spans of the items, the "and" or "or" before the last); ([], "") without such a word.

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
    """Returns the index of a closing "in children" that goes with all items; `end` where there is none."""
    closing = (
        index
        for index in places(words, ("in", "among"), start + 1, end - 1)
        if any(word.lower in _POPULATIONS for word in words[index + 1 : index + 4])
    )
    return next(closing, end)


def _holds_for_each(clause: Clause, listing: _Listing) -> bool:
    """Returns whether the words before the list are true of each item by itself."""
    words, prefix = clause.words, clause.words[: listing.begin]
    before = {word.lower for word in prefix[clause.subject_end :]}
    # "A point for each of A, B and C", "any two of A, B and C"
    counted = prefix[-1].lower == "of" and any(word.lower in _COUNTING for word in prefix[-3:-1])
    listed = {word.lower for word in words[listing.begin :]}
    together = any(word.lower in _TOGETHER for word in prefix) or listed & {"respectively", "together"}
    if counted or together or (before | listed) & _CONDITIONS:
        return False
    negated = bool(before & lexicon.NEGATIONS)
    if negated and any("base" in forms(item[0]) for item in listing.items[1:]):
        return False  # "Do not double the dose, skip meals or stop": further orders, no objects
    if listing.joint == "or":
        return negated or bool(before & lexicon.TENTATIVE)
    return not negated and "who" not in before


def _fit(listing: _Listing) -> bool:
    """Returns whether each item is a noun phrase that makes sense after the words before the list."""
    phrases = listing.items
    if not all(map(_is_item, phrases)) or any(holds(phrase, _NESTING) for phrase in phrases[:-1]):
        return False
    if listing.opener == "verb" and not _are_objects(phrases):
        return False
    negated = [phrase[0].lower in _NEGATING for phrase in phrases]
    if any(negated) and not all(negated):
        return False
    single = phrases if listing.opener == "are" else phrases[:-1]
    lone = [phrase[0].lower for phrase in single if len(phrase) == 1]
    return not any(word in lexicon.ADJECTIVES or word.endswith(_ADJECTIVAL) for word in lone)


def _is_item(phrase: Phrase) -> bool:
    """Returns whether a phrase may be an item: short, with a content word, no preposition or number first."""
    if not 0 < len(phrase) <= _LONGEST_ITEM or any(word.text in ":;\u2013—" for word in phrase):
        return False
    first = phrase[0]
    return any(map(is_content, phrase)) and first.lower not in _NO_ITEM and not first.text[0].isdigit()


def _are_objects(phrases: Sequence[Phrase]) -> bool:
    """Returns whether `phrases` are objects of a verb: short, without a verb, no "improving mood"."""
    first, *others = phrases
    for phrase in phrases:
        if (
            len(phrase) > _LONGEST_OBJECT
            or finite_verbs(phrase)
            or any(word.lower == "to" for word in phrase)
        ):
            return False
    participles = any(len(phrase) > 1 and _is_participle(phrase[0]) for phrase in others)
    nested = any(word.lower in lexicon.PREPOSITIONS for word in first)
    return not nested and (not participles or _is_participle(first[0]))


def _is_participle(word: Word) -> bool:
    """Returns whether a word is a verb with "-ing"."""
    return word.lower.endswith("ing") and "ing" in forms(word)
