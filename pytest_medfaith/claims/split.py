"""Makes atomic claims of an answer, each with its span, by rules over pySBD sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from pytest_medfaith.claims.asides import split_asides, split_participles
from pytest_medfaith.claims.chatter import is_chatter, skip_openers
from pytest_medfaith.claims.citations import mask_citations, sentence_markers
from pytest_medfaith.claims.clauses import split_clauses
from pytest_medfaith.claims.context import Before, said, stands_alone
from pytest_medfaith.claims.grammar import read_clause
from pytest_medfaith.claims.intros import Intro, compose, join_label, read_label, states_fact, under_label
from pytest_medfaith.claims.layout import Block, Kind, read_layout
from pytest_medfaith.claims.lists import split_lists
from pytest_medfaith.claims.predicates import split_predicates, split_repeated
from pytest_medfaith.claims.refusals import declines
from pytest_medfaith.claims.sentences import Sentence, read_sentences
from pytest_medfaith.claims.tables import read_cells, row_statement
from pytest_medfaith.claims.words import Phrase, read_words, span, written
from pytest_medfaith.records import Claim

_RULES = (split_asides, split_participles, split_predicates, split_repeated, split_lists)
_EDGES = re.compile(r"^(?:[\s,;:\u2013\u2014]|[-.](?!\d))+|(?:[\s,;:.\u2013\u2014]|(?<!\w)-)+$")
_LONGEST_SENTENCE = 150  # words; what is longer is a table, a sequence or no prose, and the rules would guess
_LONGEST_HEADING = 6  # words of a line that heads what follows without being marked as a heading
_RUNNING_TEXT = -1  # the indent of an intro in running text: every list item stands deeper


@dataclass(frozen=True)
class _State:
    """What the words read so far mean for the next.

    `before` is what a later "it" may stand for, `heading` the heading above, `intros` the lines that introduce the open lists,
    outermost first, `header` the titles of the open table's columns.
    """

    before: Before
    heading: Phrase = ()
    intros: tuple[Intro, ...] = ()
    header: tuple[Phrase, ...] = ()


@dataclass(frozen=True)
class _Read:
    """A sentence and its words, openers left out."""

    sentence: Sentence
    words: Phrase


@dataclass(frozen=True)
class _Statement:
    """The words of a claim, the sentence they stand in, and the words before it that a reader needs."""

    sentence: Sentence
    words: Phrase
    context: str = ""


def extract_claims(answer: str, *, question: str | None = None) -> list[Claim]:
    """Returns the atomic claims of `answer` in the order of their spans, with ids c1, c2, ...

    A claim's text is the answer's words: list items carry their intro; openers ("Based on the context,"), greetings, questions,
    refusals and citation markers are gone. A claim that cannot be read by itself ("It lowers glucose.") has the sentence before,
    or at the answer's beginning `question`, as its `context`. `start`, `end` span the words it came from (half-open, in `answer`);
    words carried from elsewhere are not in it. `citations` are its sentence's markers. Text that states nothing has no claims.
    """
    layout = read_layout(mask_citations(answer))
    sentences = read_sentences(layout)
    markers = dict(zip(sentences, sentence_markers(answer, sentences), strict=True))
    made = ((statement, _sentence_text(statement.words)) for statement in _statements(layout.text, sentences, question))
    found = [(*span(one.words), text, markers[one.sentence], one.context) for one, text in made if text]
    found.sort(key=lambda row: row[:2])
    return [
        Claim(id=f"c{number}", text=text, start=start, end=end, citations=cited, context=context)
        for number, (start, end, text, cited, context) in enumerate(found, start=1)
    ]


def _statements(text: str, sentences: Sequence[Sentence], question: str | None) -> Iterator[_Statement]:
    blocks = [(block, list(group)) for block, group in groupby(sentences, key=lambda sentence: sentence.block)]
    asked = " ".join((question or "").split())
    state = _State(Before(asked, asked))
    for place, (block, group) in enumerate(blocks):
        following = blocks[place + 1][0] if place + 1 < len(blocks) else None
        read = [_Read(sentence, read_words(text, skip_openers(text, sentence.start, sentence.end), sentence.end)) for sentence in group]
        state, statements = _read_block(text, replace(block, kind=_kind(block, read, state, following)), read, following, state)
        yield from statements


def _kind(block: Block, read: Sequence[_Read], state: _State, following: Block | None) -> Kind:
    """Returns the kind of `block` by its words too: a short line with no verb heads what follows, a line under an intro is an item."""
    words, last = read[0].words, read[-1].words[-1].text
    states = read_clause(words) is not None
    if block.kind == "heading":
        return "text" if states and last in (".", "!") else "heading"
    if block.kind != "text" or last in (".", "!", "?", ":") or len(read) > 1:
        return block.kind
    if state.intros and (state.intros[-1].indent == _RUNNING_TEXT or not states):
        return "item"
    short = len(words) <= _LONGEST_HEADING and not any(character.isdigit() for word in words for character in word.text)
    return "heading" if short and not states and following is not None else "text"


def _read_block(text: str, block: Block, read: Sequence[_Read], following: Block | None, state: _State) -> tuple[_State, list[_Statement]]:
    if block.kind == "heading":
        before = state.before.followed_by(said(read[0].words), alone=True)
        return replace(state, heading=read[0].words, intros=(), header=(), before=before), []
    if block.kind == "row":
        state, cells = replace(state, intros=()), read_cells(text, block.start, block.end)
        if not state.header:
            return replace(state, header=cells), []
        return state, [_Statement(read[0].sentence, row_statement(state.header, cells))]
    item = block.kind == "item"
    outer = tuple(intro for intro in state.intros if intro.indent < block.indent) if item else ()
    state = replace(state, intros=outer, header=())
    if item:
        label, _ = read_label(read[0].words)
        read = [
            replace(read[0], words=_in_list(read[0].words, state)),
            *(replace(one, words=under_label(label, one.words)) for one in read[1:]),
        ]
    intro = read[-1].words if read[-1].words[-1].text == ":" and following is not None else ()
    stated = read[:-1] if intro and not states_fact(intro) else read
    found: list[_Statement] = []
    before = state.before
    for one in stated:
        statements, before = _atomic(text, one, before)
        found += statements
    if intro:
        state = replace(state, intros=(*outer, Intro(intro, block.indent if item else _RUNNING_TEXT)))
    # What the items of a list say is no part of what its next item, or the text behind it, speaks of.
    return (state if item else replace(state, before=before)), found


def _in_list(words: Phrase, state: _State) -> Phrase:
    """Returns the first sentence of a list item joined with its label and intro."""
    intro = state.intros[-1].words if state.intros else state.heading
    label, rest = read_label(words)
    return compose(intro, join_label(label, rest), labelled=True) if label else compose(intro, words)


def _atomic(text: str, read: _Read, before: Before) -> tuple[list[_Statement], Before]:
    """Returns the atomic statements of a sentence, chatter and refusals left out, and what stands before the next sentence."""
    words = read.words
    if is_chatter(written(words)):
        return [], before
    long = len(words) > _LONGEST_SENTENCE
    found: list[_Statement] = []
    within = before
    for clause in [words] if long else [_without_opener(text, clause) for clause in split_clauses(words)]:
        if is_chatter(written(clause)) or declines(written(clause)):
            continue
        statements = [clause] if long else _apply_rules(clause)
        found += [_Statement(read.sentence, statement, "" if stands_alone(statement) else within.text) for statement in statements]
        within = within.followed_by(said(clause), alone=stands_alone(clause))
    return found, before.followed_by(said(words), alone=stands_alone(words)) if found else before


def _without_opener(text: str, clause: Phrase) -> Phrase:
    """Returns `clause` without an opener such as "note that" at its first own word."""
    first = next((index for index, word in enumerate(clause) if word.own), len(clause))
    if first == len(clause):
        return clause
    start = skip_openers(text, clause[first].start, clause[-1].end)
    return (*clause[:first], *(word for word in clause[first:] if word.start >= start or not word.own))


def _apply_rules(statement: Phrase) -> list[Phrase]:
    statements = [statement]
    for rule in _RULES:
        statements = [part for whole in statements for part in rule(whole)]
    return statements


def _sentence_text(statement: Phrase) -> str:
    """Returns the text of `statement` as a sentence, or nothing where no own word says anything."""
    if not any(word.own and any(map(str.isalnum, word.text)) for word in statement):
        return ""
    text = _EDGES.sub("", written(statement))
    first = text.split(None, 1)[0]
    if first.isalpha() and first.islower():
        text = text[0].upper() + text[1:]
    return text if text.endswith(("!", "?", "…")) else text + "."
