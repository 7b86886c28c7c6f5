"""Joins the items of a list with the line that introduces them, so that each item stands alone."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pytest_medfaith.claims.context import stands_alone
from pytest_medfaith.claims.measures import has_amount
from pytest_medfaith.english import lexicon
from pytest_medfaith.english.grammar import (
    finite_verbs,
    forms,
    is_adverb,
    is_content,
    is_plain_verb,
    read_clause,
)
from pytest_medfaith.english.lexicon import word_set
from pytest_medfaith.english.phrases import Phrase, carried, inserted, trimmed, written

# What a line ends in that its list completes.
OPEN_ENDS = word_set(
    "include includes included including if when unless to by with for should must may can is are was were be that of as you on in "
    "from at have has cause causes like such avoid involve involves requires require through via during after before because contain "
    "contains"
)
_POINTERS = (
    *((first, verb) for first in ("here", "below", "these", "they") for verb in ("is", "are")),
    ("the", "following", "are"),
)
_FOLLOWING = (
    ("the", "following"),
    ("as", "follows"),
    ("these",),
    ("the", "below"),
    ("following",),
    ("below",),
)
_LONGEST_LABEL = 7


@dataclass(frozen=True)
class Intro:
    """The line that introduces list items indented deeper than `indent`."""

    words: Phrase
    indent: int


def states_fact(intro: Phrase) -> bool:
    """Returns whether an intro is a statement by itself: "Metformin is first-line for two reasons:", but not "Symptoms include:"."""
    lead = trimmed(tuple(word for word in intro if word.own))
    clause = (
        read_clause(lead)
        if lead and _without_pointer(lead) == lead and lead[-1].lower not in OPEN_ENDS
        else None
    )
    return clause is not None and bool(clause.subject)


def compose(intro: Phrase, item: Phrase, *, labelled: bool = False) -> Phrase:
    """Returns `item` as a statement that holds without its list; a `labelled` item ("Sleep: apnea is common") counts as a name.

    "See a doctor if:" and "the pain lasts" give one sentence; an item that is a sentence already stays, but for a condition that it
    needs ("In children:"); else the intro, a colon and the item, as in "Common side effects: nausea".
    """
    lead = _without_pointer(trimmed(intro))
    if not lead or lead[0].lower in ("what", "how", "why"):
        return item
    if lead[-1].lower in OPEN_ENDS:
        joint = inserted(":", spaced=False) if lead[-1].lower in ("are", "were", "of") else ()
        return (*carried(lead), *joint, *_lowered(item))
    limits = has_amount(written(lead)) or lead[0].lower in lexicon.PREPOSITIONS | lexicon.CONDITIONS
    whole = None if limits else read_clause(item)
    if (whole is not None and whole.subject and not labelled) or (_is_order(item) and not limits):
        return item
    return (*carried(lead), *inserted(":", spaced=False), *item)


def _without_pointer(lead: Phrase) -> Phrase:
    """Returns `lead` without the words that only point at the list: "Here are", "the following"."""
    lowers = tuple(word.lower for word in lead)
    for opening in _POINTERS:
        if lowers[: len(opening)] == opening and len(lead) > len(opening):
            return lead[len(opening) :]
    for ending in _FOLLOWING:
        if lowers[-len(ending) :] == ending and len(lead) > len(ending):
            return trimmed(lead[: -len(ending)])
    return lead


def _lowered(item: Phrase) -> Phrase:
    """Returns `item` without the capital of a sentence where its first word is plainly no name."""
    first = item[0]
    plain = first.lower in lexicon.DETERMINERS | lexicon.PRONOUNS | lexicon.PREPOSITIONS or bool(forms(first))
    followed_by_name = item[1:2] and item[1].text[0].isupper()
    if not plain or first.text == "I" or followed_by_name or any(map(str.isupper, first.text[1:])):
        return item
    return (replace(first, text=first.text.lower()), *item[1:])


def _is_order(item: Phrase) -> bool:
    first = next((word for word in item if not is_adverb(word)), None)
    return (
        first is not None
        and "base" in forms(first)
        and first.lower not in lexicon.noun_verbs()
        and len(item) > 1
    )


def read_label(item: Phrase) -> tuple[Phrase, Phrase]:
    """Returns the label and the rest of "Label: rest" or "Label - rest"; an empty label where there is none."""
    marks = (
        index
        for index, word in enumerate(item[: _LONGEST_LABEL + 1])
        if not word.inside and (word.text == ":" or (word.text in "-\u2013—" and word.spaced))
    )
    mark = next(marks, 0)
    label, rest = item[:mark], item[mark + 1 :]
    return (label, rest) if rest and any(map(is_content, label)) and not finite_verbs(label) else ((), item)


def under_label(label: Phrase, sentence: Phrase) -> Phrase:
    """Returns a later sentence of a labelled item; an order ("Start at 5 mg"), a phrase or an "it" carries the label, a sentence stays."""
    clause = read_clause(sentence)
    whole = clause is not None and bool(clause.subject) and stands_alone(sentence)
    return sentence if not label or whole else (*carried(label), *inserted(":", spaced=False), *sentence)


def join_label(label: Phrase, rest: Phrase) -> Phrase:
    """Returns label and rest as one statement: "Metformin: lowers glucose" says "Metformin lowers glucose"."""
    first = next((word for word in rest if not is_adverb(word)), rest[0])
    if "s" in forms(first) and is_plain_verb(first):
        return (*label, *_lowered(rest))
    return (*label, *inserted(":", spaced=False), *rest)
