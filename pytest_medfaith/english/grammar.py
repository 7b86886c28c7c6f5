"""Reads the clause of a sentence: its main verb and its subject, by word lists and places of words."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

from pytest_medfaith.english import lexicon
from pytest_medfaith.english.lexicon import word_set
from pytest_medfaith.english.phrases import Phrase, holds, places, written
from pytest_medfaith.english.verbs import (
    Form,
    Verb,
    before_adverbs,
    begins_object,
    finite_verbs,
    forms,
    is_adverb,
)

_OPENING_WORDS = lexicon.PREPOSITIONS | lexicon.SUBORDINATORS | word_set("as due based according compared")
_NO_SUBJECT = lexicon.COORDINATORS | lexicon.RELATIVES | lexicon.PREPOSITIONS  # behind the comma of a list


@dataclass(frozen=True)
class Clause:
    """A clause: "In adults, metformin often lowers glucose".

    Attributes:
        words: its words.
        verbs: its finite verbs: "lowers".
        main: the index of its main verb.
        lead: the index where the subject begins. Words before it are an opening: "In adults,".
        subject_end: the index where the subject ends. The main verb of an order ("Take 5 mg") has the form
            "base" and no subject.
    """

    words: Phrase
    verbs: tuple[Verb, ...]
    main: int
    lead: int
    subject_end: int

    @property
    def subject(self) -> Phrase:
        """The words of the subject, "metformin", without adverbs before the verb; () for an order."""
        return self.words[self.lead : self.subject_end]

    @property
    def form(self) -> Form:
        """The form of the main verb."""
        return next(verb.form for verb in self.verbs if verb.index == self.main)


@dataclass(frozen=True)
class Part:
    """A sentence or a part of it.

    Example: "statins lower cholesterol" of "If taken daily, statins lower cholesterol."
    """

    words: Phrase

    @cached_property
    def text(self) -> str:
        """The text of the words, with the usual blanks."""
        return written(self.words)

    @cached_property
    def clause(self) -> Clause | None:
        """The clause that the words make; None where they have no main verb."""
        return read_clause(self.words)


@lru_cache(maxsize=256)  # words tried as a clause, such as "B raises C" after an "and", often become a part
def read_clause(words: Phrase) -> Clause | None:
    """Returns the clause that `words` make; None without a main verb.

    "Statins have lowered cholesterol" has the main verb "have" and the subject "Statins"; "In adults with
    asthma" gives None. An order ("Take it") is a clause of the form "base" without a subject.
    """
    verbs = finite_verbs(words)
    free = (verb.index for verb in verbs if not verb.subordinate)
    main = next((index for index in free if not _goes_on_with_opening(words, index)), None)
    if main is not None:
        lead = _lead(words, main)
        return Clause(words, verbs, main, lead, max(lead, before_adverbs(words, main) + 1))
    order = _order(words)
    if order is None:
        return None
    return Clause(words, (Verb(order, "base", subordinate=False), *verbs), order, order, order)


def _goes_on_with_opening(words: Phrase, index: int) -> bool:
    """Returns whether a verb belongs to an opening: "For wounds that bleed, are deep, or itch, ..."."""
    opens = words[0].lower in lexicon.PREPOSITIONS or words[0].lower in lexicon.CONDITIONS
    listed = words[index - 1].lower in (",", "or")
    return opens and listed and any(word.text == "," for word in words[index + 1 :])


def _order(words: Phrase) -> int | None:
    """Returns the index of the verb of an order ("Take 5 mg", "To sleep better, avoid coffee"), or None."""
    starts = [0, *(comma + 1 for comma in places(words, ","))] if words and _is_opening(words) else [0]
    for start in starts:
        place = start
        while place < len(words) - 1 and (
            is_adverb(words[place]) or words[place].lower in ("please", "do", "don't")
        ):
            place += 1
        if place + 1 < len(words) and "base" in forms(words[place]) and begins_object(words[place + 1]):
            return place
    return None


def _is_opening(words: Phrase) -> bool:
    """Returns whether `words` may begin with an opening phrase: a preposition, an -ing form, an adverb."""
    first = words[0]
    return first.lower in _OPENING_WORDS or "ing" in forms(first) or is_adverb(first)


def _lead(words: Phrase, main: int) -> int:
    """Returns the index where the subject begins: after the comma of an opening phrase, else 0."""
    commas = places(words, ",", end=main)
    if not commas or not _is_opening(words):
        return 0
    if holds(words[commas[-1] : main], ("and", "or")):  # the last comma is within a list of subjects
        return 0 if "ing" in forms(words[0]) else commas[0] + 1
    behind = (comma + 1 for comma in reversed(commas))
    return next((place for place in behind if place < main and words[place].lower not in _NO_SUBJECT), 0)
