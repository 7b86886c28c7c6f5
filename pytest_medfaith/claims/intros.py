"""Joins the items of a list with the line that introduces them, so that each item stands alone."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pytest_medfaith.claims import lexicon
from pytest_medfaith.claims.clauses import trimmed
from pytest_medfaith.claims.grammar import finite_verbs, forms, is_adverb, is_content, read_clause
from pytest_medfaith.claims.words import Phrase, carried, inserted

_OPEN_ENDS = frozenset(
    "include includes included including if when unless to by with for should must may can is are was were be that of as you on in from at have has cause causes like "
    "such avoid involve involves requires require through via during after before because contain contains".split()
)
_FOLLOWING = (("the", "following"), ("as", "follows"), ("these",), ("the", "below"), ("following",), ("below",))
_POINTERS = tuple((first, verb) for first in ("here", "below", "these", "they") for verb in ("is", "are")) + (("the", "following", "are"),)
_LONGEST_LABEL = 7


@dataclass(frozen=True)
class Intro:
    """The line that introduces list items indented deeper than `indent`."""

    words: Phrase
    indent: int


def compose(intro: Phrase, item: Phrase, *, labelled: bool = False) -> Phrase:
    """Returns `item` as a statement that holds without its list; a `labelled` item ("Sleep: apnea is common") counts as a name.

    "Common side effects:" and "nausea" give "Common side effects include nausea"; "See a doctor if:" and "the pain lasts" give
    one sentence; an item that is a sentence already stays; else the intro, a colon and the item.
    """
    lead = _without_pointer(trimmed(intro))
    if not lead or not item:
        return item
    last = lead[-1].lower
    whole = read_clause(item)
    if last in _OPEN_ENDS:
        if last in ("are", "were") and whole.main is None and finite_verbs(lead):
            lead = (*lead[:-1], *inserted("include" if last == "are" else "included"))
        return (*carried(lead), *_lowered(item))
    if lead[0].lower in ("what", "how", "why"):
        return item
    if (whole.main is not None and whole.subject and not labelled) or _is_imperative(item):
        return item
    if not finite_verbs(lead) and not _is_imperative(lead) and _is_plural(lead):
        return (*carried(lead), *inserted("include"), *_lowered(item))
    return (*carried(lead), *_colon(), *item)


def _colon() -> Phrase:
    return tuple(replace(word, spaced=False) for word in inserted(":"))


def _without_pointer(lead: Phrase) -> Phrase:
    """Returns `lead` without the words that only point at the list: "Here are", "the following"."""
    lowers = [word.lower for word in lead]
    for opening in _POINTERS:
        if tuple(lowers[: len(opening)]) == opening and len(lead) > len(opening):
            return lead[len(opening) :]
    for ending in _FOLLOWING:
        if tuple(lowers[-len(ending) :]) == ending and len(lead) > len(ending):
            return trimmed(lead[: -len(ending)])
    return lead


def _lowered(item: Phrase) -> Phrase:
    """Returns `item` without the capital of a sentence, kept where the word is a name or an abbreviation."""
    first = item[0]
    plain = first.text[1:].islower() and (len(item) == 1 or not item[1].text[:1].isupper())
    known = first.lower in lexicon.DETERMINERS | lexicon.PRONOUNS or bool(forms(first))
    return (replace(first, text=first.text[0].lower() + first.text[1:]), *item[1:]) if plain and (known or first.lower in lexicon.PREPOSITIONS) else item


def _is_imperative(item: Phrase) -> bool:
    first = next((word for word in item if not is_adverb(word)), None)
    return first is not None and "base" in forms(first) and len(item) > 1 and first.lower not in lexicon.noun_verbs()


def _is_plural(lead: Phrase) -> bool:
    outside = [word for word in lead if not word.inside]
    ends = (index for index, word in enumerate(outside) if index and (word.lower in lexicon.PREPOSITIONS | lexicon.RELATIVES or "part" in forms(word)))
    head = next(ends, len(outside)) - 1
    return head >= 0 and outside[head].lower.endswith("s") and not outside[head].lower.endswith(("ss", "us", "is"))


def read_label(item: Phrase) -> tuple[Phrase, Phrase]:
    """Returns the label and the rest of "Label: rest" or "Label - rest"; an empty label where there is none."""
    for index, word in enumerate(item[: _LONGEST_LABEL + 1]):
        if word.inside or not (word.text == ":" or (word.text in "-–—" and word.spaced)):
            continue
        label, rest = item[:index], item[index + 1 :]
        if label and rest and not finite_verbs(label) and any(is_content(part) for part in label):
            return label, rest
        break
    return (), item


def join_label(label: Phrase, rest: Phrase) -> Phrase:
    """Returns label and rest as one statement: "Metformin: lowers glucose" says "Metformin lowers glucose"."""
    first = next((word for word in rest if not is_adverb(word)), None)
    if first is not None and "s" in forms(first) and first.lower not in lexicon.noun_verbs():
        return (*label, *_lowered(rest))
    return (*label, *_colon(), *rest)
