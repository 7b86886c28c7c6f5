"""Joins list items and table cells with the lines above them, so that each can be read by itself.

Example: "See a doctor if:" and "the pain lasts" become "See a doctor if the pain lasts".
"""

from __future__ import annotations

from dataclasses import replace

from pytest_medfaith.claims.context import stands_alone
from pytest_medfaith.claims.measures import begins_with_verb, has_amount
from pytest_medfaith.english import lexicon
from pytest_medfaith.english.grammar import Part, read_clause
from pytest_medfaith.english.lexicon import word_set
from pytest_medfaith.english.phrases import Phrase, borrowed, inserted, read_words, trimmed, written
from pytest_medfaith.english.verbs import finite_verbs, forms, is_adverb, is_content, is_plain_verb

# Last words of a line that its list completes: "Symptoms include".
OPEN_ENDS = word_set(
    "include includes included including if when unless to by with for should must may can is are was were "
    "be that of as you on in from at have has cause causes like such avoid involve involves requires require "
    "through via during after before because contain contains"
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
_PLAIN_OPENINGS = lexicon.DETERMINERS | lexicon.PRONOUNS | lexicon.PREPOSITIONS
_LONGEST_LABEL = 7


def states_fact(intro: Phrase) -> bool:
    """Returns whether an intro states something: "Iron helps in two ways:", but not "Symptoms include:"."""
    lead = trimmed(tuple(word for word in intro if not word.borrowed))
    if not lead or _without_pointer(lead) != lead or lead[-1].lower in OPEN_ENDS:
        return False
    clause = read_clause(lead)
    return clause is not None and bool(clause.subject)


def led_in(lead: Phrase, item: Phrase) -> Phrase:
    """Returns a list item as a statement that can be read without its list.

    "See a doctor if:" and "the pain lasts" give one sentence. An item that is a sentence stays as it is,
    except under a condition that it needs ("In children:"). Else intro, colon and item are joined: "Common
    side effects: nausea". A label is joined with what follows it: "Metformin: lowers glucose" gives
    "Metformin lowers glucose".

    Args:
        lead: the intro of the list, or the heading above it.
        item: the item.
    """
    label, rest = read_label(item)
    if not label:
        return _joined(lead, item, whole=True)
    first = next((word for word in rest if not is_adverb(word)), rest[0])
    verb = "s" in forms(first) and is_plain_verb(first)
    # A labelled item, "Sleep: apnea is common", counts as a name, never as a sentence.
    return _joined(lead, (*label, *_lowered(rest)) if verb else _with_colon(label, rest), whole=False)


def behind_amount(amount: Phrase, item: Phrase) -> Phrase:
    """Returns "500 mg twice a day" for the amount of the item above and the item "Twice a day"."""
    return (*borrowed(trimmed(amount)), *_lowered(item))


def _joined(lead: Phrase, item: Phrase, *, whole: bool) -> Phrase:
    """Returns `item` after its lead; alone where it is a sentence and `whole` allows that."""
    lead = _without_pointer(trimmed(lead))
    if not lead or lead[0].lower in ("what", "how", "why"):
        return item
    last = lead[-1].lower
    if last in OPEN_ENDS:
        joint = inserted(":", spaced=False) if last in ("are", "were", "of") else ()
        return (*borrowed(lead), *joint, *_lowered(item))
    limits = has_amount(written(lead)) or lead[0].lower in lexicon.PREPOSITIONS | lexicon.CONDITIONS
    clause = read_clause(item) if whole and not limits else None
    if (clause is not None and clause.subject) or (begins_with_verb(item) and not limits):
        return item
    return _with_colon(borrowed(lead), item)


def _with_colon(lead: Phrase, rest: Phrase) -> Phrase:
    """Returns `lead`, a colon and `rest`."""
    return (*lead, *inserted(":", spaced=False), *rest)


def _without_pointer(lead: Phrase) -> Phrase:
    """Returns `lead` without words that only point at the list: "Here are", "the following"."""
    lowers = tuple(word.lower for word in lead)
    for opening in _POINTERS:
        if lowers[: len(opening)] == opening and len(lead) > len(opening):
            return lead[len(opening) :]
    for ending in _FOLLOWING:
        if lowers[-len(ending) :] == ending and len(lead) > len(ending):
            return trimmed(lead[: -len(ending)])
    return lead


def _lowered(item: Phrase) -> Phrase:
    """Returns `item` without the capital of a sentence, if its first word is plainly no name."""
    first = item[0]
    plain = first.lower in _PLAIN_OPENINGS or bool(forms(first))
    followed_by_name = item[1:2] and item[1].text[0].isupper()
    if not plain or first.text == "I" or followed_by_name or any(map(str.isupper, first.text[1:])):
        return item
    return (replace(first, text=first.text.lower()), *item[1:])


def read_label(item: Phrase) -> tuple[Phrase, Phrase]:
    """Returns (label, rest) of "Label: rest" or "Label - rest"; ((), item) without a label."""
    marks = (
        index
        for index, word in enumerate(item[: _LONGEST_LABEL + 1])
        if not word.inside and (word.text == ":" or (word.text in "-\u2013—" and word.spaced))
    )
    mark = next(marks, 0)
    label, rest = item[:mark], item[mark + 1 :]
    return (label, rest) if rest and any(map(is_content, label)) and not finite_verbs(label) else ((), item)


def under_label(label: Phrase, sentence: Part) -> Part:
    """Returns a later sentence of a labelled item, after the label where it needs it.

    An order, a phrase and a sentence on "it" need it.
    """
    whole = sentence.clause is not None and sentence.clause.subject and stands_alone(sentence)
    return sentence if not label or whole else Part(_with_colon(borrowed(label), sentence.words))


def read_cells(text: str, start: int, end: int) -> tuple[Phrase, ...]:
    """Returns the words of each cell of the table row `text[start:end]`, without its borders.

    "| Dose | 5 mg |" has two cells: the word "Dose", and the words "5" and "mg".
    """
    borders = [index for index in range(start, end) if text[index] == "|"]
    spans = zip([start, *(border + 1 for border in borders)], [*borders, end], strict=True)
    cells = [read_words(text, first, last) for first, last in spans]
    return tuple(cells[0 if cells[0] else 1 : len(cells) if cells[-1] else -1])


def row_statement(header: tuple[Phrase, ...], cells: tuple[Phrase, ...]) -> Phrase:
    """Returns "Drug: metformin; Dose: 500 mg" for the header (drug, dose) and the cells of a row.

    A cell beyond the header has no title.
    """
    statement: Phrase = ()
    for place, cell in enumerate(cells):
        title = header[place] if place < len(header) else ()
        titled = _with_colon(borrowed(title), cell) if title else cell
        if cell:
            statement = (*statement, *(inserted(";", spaced=False) if statement else ()), *titled)
    return statement
