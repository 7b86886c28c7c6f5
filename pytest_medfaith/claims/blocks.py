"""Reads an answer block by block: what headings, intros and table headers mean for the lines below them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

from pytest_medfaith.claims.context import Before, said
from pytest_medfaith.claims.intros import (
    OPEN_ENDS,
    Intro,
    compose,
    join_label,
    read_label,
    states_fact,
    under_label,
)
from pytest_medfaith.claims.layout import Block, Kind, Sentence
from pytest_medfaith.claims.measures import has_amount, states
from pytest_medfaith.claims.openers import skip_openers
from pytest_medfaith.claims.questions import is_polar, is_question
from pytest_medfaith.claims.statements import Idle, Read, Statement, Told, idle_reason, read_sentence
from pytest_medfaith.claims.tables import read_cells, row_statement
from pytest_medfaith.english.lexicon import word_set
from pytest_medfaith.english.phrases import Phrase, carried, read_words, written

_LONGEST_HEADING = 6  # words of a line that heads what follows without being marked as a heading
_ASKING = word_set(
    "what how why when where which who"
)  # "How it is built up" heads a text and says nothing by itself
_RUNNING_TEXT = -1  # the indent of an intro in running text: every list item stands deeper


@dataclass(frozen=True)
class _State:
    """What the words read so far mean for the next.

    `heading` is the heading above, `intros` the lines that introduce the open lists, outermost first, `header` the titles of the open
    table's columns.
    """

    told: Told
    heading: Phrase = ()
    intros: tuple[Intro, ...] = ()
    header: tuple[Phrase, ...] = ()


@dataclass
class _Found:
    """The statements and idle parts, and the lead lines (headings, intros, table headers) that the lines below may carry."""

    made: list[Statement | Idle] = field(default_factory=list)
    leads: list[Statement] = field(default_factory=list)


def read_blocks(text: str, sentences: Sequence[Sentence], question: str | None) -> list[Statement | Idle]:
    """Returns the statements of `sentences`, and what of them states nothing.

    Each word of the answer is in at least one of them, but for openers such as "However," and lead-ins that statements carry.
    """
    blocks = [
        (block, list(group)) for block, group in groupby(sentences, key=lambda sentence: sentence.block)
    ]
    asked = " ".join((question or "").split())
    state = _State(
        Told(Before(asked, asked), carried(read_words(asked, 0, len(asked))) if is_polar(asked) else ())
    )
    found = _Found()
    for place, (block, group) in enumerate(blocks):
        following = blocks[place + 1][0] if place + 1 < len(blocks) else None
        read = [
            Read(sentence, read_words(text, skip_openers(text, sentence.start, sentence.end), sentence.end))
            for sentence in group
        ]
        state = _read_block(
            text, replace(block, kind=_kind(block, read, state, following)), read, following, state, found
        )
    return [*found.made, *_unused(found)]


def _unused(found: _Found) -> list[Statement | Idle]:
    """Returns the lead lines that no statement carries: a claim where they say something, else idle."""
    used = {
        word.start for one in found.made if isinstance(one, Statement) for word in one.words if not word.own
    }
    unused = [lead for lead in found.leads if not any(word.start in used for word in lead.words if word.own)]
    return [_unused_lead(lead) for lead in unused]


def _unused_lead(lead: Statement) -> Statement | Idle:
    reason = idle_reason(written(lead.words).rstrip(": "))
    if not reason and _says(lead.words):
        return lead
    return Idle(lead.sentence.start, lead.sentence.end, reason or "heading")


def _says(words: Phrase) -> bool:
    asks = words[0].lower in _ASKING and words[-1].text != "."
    return (states(words) and not asks) or has_amount(written(words))


def _kind(block: Block, read: Sequence[Read], state: _State, following: Block | None) -> Kind:
    """Returns the kind of `block` by its words too: a short line with no verb heads what follows, a line under an intro is an item."""
    words, last = read[0].words, read[-1].words[-1].text
    stated = states(words)
    if block.kind == "heading":
        return "text" if stated and last in (".", "!") else "heading"
    if block.kind != "text" or last in (".", "!", "?", ":") or len(read) > 1:
        return block.kind
    if state.intros and (state.intros[-1].indent == _RUNNING_TEXT or not stated):
        return "item"
    short = len(words) <= _LONGEST_HEADING and not any(
        character.isdigit() for word in words for character in word.text
    )
    return "heading" if short and not stated and following is not None else "text"


def _read_block(
    text: str, block: Block, read: Sequence[Read], following: Block | None, state: _State, found: _Found
) -> _State:
    if block.kind == "heading":
        return _read_heading(read[0], state, found)
    if block.kind == "row":
        return _read_row(text, block, read[0], state, found)
    item = block.kind == "item"
    outer = tuple(intro for intro in state.intros if intro.indent < block.indent) if item else ()
    state = replace(state, intros=outer, header=())
    if item:
        label, _ = read_label(read[0].words)
        first, *others = read
        read = [
            replace(first, words=_in_list(first.words, state)),
            *(replace(one, words=under_label(label, one.words)) for one in others),
        ]
    intro = read[-1].words if _introduces(block, read[-1].words, following) else ()
    told = state.told
    for one in read[:-1] if intro and not states_fact(intro) else read:
        made, told = read_sentence(text, one, told)
        found.made += made
    if intro:
        state = replace(state, intros=(*outer, Intro(intro, block.indent if item else _RUNNING_TEXT)))
        if not states_fact(intro):
            found.leads.append(Statement(read[-1].sentence, intro))
    # What the items of a list say is no part of what its next item, or the text behind it, speaks of.
    return state if item else replace(state, told=told)


def _introduces(block: Block, words: Phrase, following: Block | None) -> bool:
    """Returns whether `words` lead into what follows: they end in a colon, or break off above a list ("Do not take it if you have")."""
    if following is None:
        return False
    deeper = following.kind == "item" and (block.kind != "item" or following.indent > block.indent)
    return words[-1].text == ":" or (deeper and words[-1].lower in OPEN_ENDS)


def _read_heading(read: Read, state: _State, found: _Found) -> _State:
    words = read.words
    asks = is_question(written(words))
    if asks:
        found.made.append(Idle(read.sentence.start, read.sentence.end, "question"))
    else:
        found.leads.append(Statement(read.sentence, words))
    before = state.told.before.followed_by(said(words), alone=True)
    asked = words if asks and is_polar(written(words)) else state.told.asked
    return _State(Told(before, asked), heading=words)


def _read_row(text: str, block: Block, read: Read, state: _State, found: _Found) -> _State:
    cells = read_cells(text, block.start, block.end)
    if state.header:
        found.made.append(Statement(read.sentence, row_statement(state.header, cells)))
        return replace(state, intros=())
    found.leads.append(Statement(read.sentence, row_statement((), cells)))
    return replace(state, intros=(), header=cells)


def _in_list(words: Phrase, state: _State) -> Phrase:
    """Returns the first sentence of a list item joined with its label and intro."""
    intro = state.intros[-1].words if state.intros else state.heading
    label, rest = read_label(words)
    return compose(intro, join_label(label, rest), labelled=True) if label else compose(intro, words)
