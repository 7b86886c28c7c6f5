"""Reads an answer line by line: headings, intros and table headers give the lines below them their meaning.

Example: below "Do not take it if you have", the list item "asthma" is the line "Do not take it if you have
asthma".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Literal

from pytest_medfaith.claims.layout import Block, Kind, Layout, Sentence
from pytest_medfaith.claims.leads import (
    OPEN_ENDS,
    behind_amount,
    led_in,
    read_cells,
    read_label,
    row_statement,
    states_fact,
    under_label,
)
from pytest_medfaith.claims.measures import is_amount_alone, is_timing, states
from pytest_medfaith.claims.openers import skip_openers
from pytest_medfaith.english.grammar import Part
from pytest_medfaith.english.phrases import Phrase, Word, read_words

_LONGEST_HEADING = 6  # words of a line that heads what follows without being marked as a heading
_RUNNING_TEXT = -1  # the indent of an intro in running text: every list item is deeper

# A lead is an intro that states nothing ("Symptoms include:"), or a table header. The lines below repeat its
# words.
Role = Literal["heading", "lead", "row", "item", "text"]


@dataclass(frozen=True)
class Line:
    """A sentence of an answer, and what it says in its place.

    Attributes:
        role: what it is: heading, lead, table row, list item or text.
        sentence: the sentence.
        part: its words, with those of its intro, label or column titles.
    """

    role: Role
    sentence: Sentence
    part: Part


@dataclass(frozen=True)
class _Intro:
    """A line that introduces list items with a greater indent than `indent`."""

    words: Phrase
    indent: int


@dataclass(frozen=True)
class _Above:
    """The lines above a block that give it its meaning.

    Attributes:
        heading: the words of the heading.
        intros: the intros of lists, outermost first.
        header: the titles of the table's columns.
        amount: the words of the item before, if it only says how much: "500 mg" above "twice a day".
    """

    heading: Phrase = ()
    intros: tuple[_Intro, ...] = ()
    header: tuple[Phrase, ...] = ()
    amount: Phrase = ()


def read_lines(layout: Layout) -> list[Line]:
    """Returns the sentences of `layout`, in order, each as a line that can be read in its place.

    Openers such as "However," are left out. Each other word of the answer is in at least one line.
    """
    text = layout.text
    blocks = [(block, list(group)) for block, group in groupby(layout.sentences, key=lambda each: each.block)]
    lines: list[Line] = []
    above = _Above()
    for (block, group), (following, _) in zip(blocks, [*blocks, (None, [])][1:], strict=True):
        parts = [
            Part(read_words(text, skip_openers(text, sentence.start, sentence.end), sentence.end))
            for sentence in group
        ]
        kind = _kind(block, parts, above, following)
        first = group[0]
        if kind == "heading":
            lines.append(Line("heading", first, parts[0]))
            lines += (Line("text", each, part) for each, part in zip(group[1:], parts[1:], strict=True))
            above = _Above(heading=parts[0].words)
        elif kind == "row":
            cells = read_cells(text, block.start, block.end)
            lines.append(
                Line("row" if above.header else "lead", first, Part(row_statement(above.header, cells)))
            )
            above = replace(above, intros=(), header=above.header or cells, amount=())
        else:
            found, above = _read_prose(text, replace(block, kind=kind), parts, above, following)
            lines += (Line(role, each, part) for (role, part), each in zip(found, group, strict=True))
    return lines


def _kind(block: Block, parts: Sequence[Part], above: _Above, following: Block | None) -> Kind:
    """Returns the kind of `block` by its marks and its words.

    A short line without a verb is a heading if lines follow; a line under an intro is an item.

    Args:
        block: the block.
        parts: its sentences.
        above: the lines above it.
        following: the next block; None for the last.
    """
    words, last = parts[0].words, parts[-1].words[-1].text
    stated = states(parts[0])
    if block.kind == "heading":
        return "text" if stated and last in (".", "!") else "heading"
    if block.kind != "text" or last in (".", "!", "?", ":") or len(parts) > 1:
        return block.kind
    if above.intros and (above.intros[-1].indent == _RUNNING_TEXT or not stated):
        return "item"
    short = len(words) <= _LONGEST_HEADING and not any(
        character.isdigit() for word in words for character in word.text
    )
    return "heading" if short and not stated and following is not None else "text"


def _read_prose(
    text: str, block: Block, parts: Sequence[Part], above: _Above, following: Block | None
) -> tuple[list[tuple[Role, Part]], _Above]:
    """Returns (roles and parts of the sentences, what is above the next block) of an item or text."""
    item = block.kind == "item"
    amount: Phrase = ()
    outer = tuple(intro for intro in above.intros if intro.indent < block.indent) if item else ()
    if item:
        label, _ = read_label(parts[0].words)
        lead = outer[-1].words if outer else above.heading
        amount = parts[0].words if is_amount_alone(parts[0].words) else ()
        words = parts[0].words
        if above.amount and is_timing(words):
            words, amount = behind_amount(above.amount, words), above.amount
        parts = [Part(led_in(lead, words)), *(under_label(label, part) for part in parts[1:])]
    found: list[tuple[Role, Part]] = [("item" if item else "text", part) for part in parts]
    last = parts[-1].words
    if following is None or not (
        _introduces(last[-1], block, following) or _is_dosed(text, last, block, following)
    ):
        return found, replace(above, intros=outer, header=(), amount=amount)
    if not states_fact(last):
        found[-1] = ("lead", parts[-1])
    intro = _Intro(last, block.indent if item else _RUNNING_TEXT)
    return found, replace(above, intros=(*outer, intro), header=(), amount=())


def _introduces(last: Word, block: Block, following: Block) -> bool:
    """Returns whether the word `last` leads into what follows: a colon, or an open end above a list.

    Example of an open end: "Do not take it if you have".
    """
    deeper = following.kind == "item" and (block.kind != "item" or following.indent > block.indent)
    return last.text == ":" or (deeper and last.lower in OPEN_ENDS)


def _is_dosed(text: str, last: Phrase, block: Block, following: Block) -> bool:
    """Returns whether the list below a line without a full stop is its dose: "Take metformin", "1.

    500 mg".
    """
    deeper = following.kind == "item" and (block.kind != "item" or following.indent > block.indent)
    if not deeper or last[-1].text in (".", "!", "?"):
        return False
    first = read_words(text, following.start, following.end)
    return bool(first) and (is_amount_alone(first) or is_timing(first))
