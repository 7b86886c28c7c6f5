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
from pytest_medfaith.claims.grammar import read_clause
from pytest_medfaith.claims.intros import Intro, compose, join_label, read_label, states_fact, under_label
from pytest_medfaith.claims.layout import Block, Kind, read_layout
from pytest_medfaith.claims.lists import split_lists
from pytest_medfaith.claims.predicates import split_predicates, split_repeated
from pytest_medfaith.claims.questions import question_topics
from pytest_medfaith.claims.refusals import declines
from pytest_medfaith.claims.sentences import Sentence, read_sentences
from pytest_medfaith.claims.tables import read_cells, row_statement
from pytest_medfaith.claims.topics import Topic, Topics, complete_subject, follow, resolve
from pytest_medfaith.claims.words import Phrase, inserted, read_words, span, written
from pytest_medfaith.records import Claim

_RULES = (split_asides, split_participles, split_predicates, split_repeated, split_lists)
_EDGES = re.compile(r"^(?:[\s,;:\u2013\u2014]|[-.](?!\d))+|(?:[\s,;:.\u2013\u2014]|(?<!\w)-)+$")
_LONGEST_SENTENCE = 150  # words; what is longer is a table, a sequence or no prose, and the rules would guess
_LONGEST_HEADING = 6  # words of a line that heads what follows without being marked as a heading
_RUNNING_TEXT = -1  # the indent of an intro in running text: every list item stands deeper


@dataclass(frozen=True)
class _State:
    """What the words read so far mean for the next.

    `topics` is what pronouns stand for, `heading` the heading above, `intros` the lines that introduce the open lists, outermost
    first, `asked` what the question asks a list of, `header` the titles of the open table's columns.
    """

    topics: Topics
    asked: Phrase = ()
    heading: Phrase = ()
    intros: tuple[Intro, ...] = ()
    header: tuple[Phrase, ...] = ()


@dataclass(frozen=True)
class _Read:
    """A sentence and its words, openers left out."""

    sentence: Sentence
    words: Phrase


_Statement = tuple[Sentence, Phrase]


def extract_claims(answer: str, *, question: str | None = None) -> list[Claim]:
    """Returns the atomic claims of `answer` in the order of their spans, with ids c1, c2, ...

    A claim's text stands alone: pronouns are resolved against the answer or `question`, list items carry their intro, openers
    ("Based on the context,"), greetings, questions, refusals and citation markers are gone. `start`, `end` span the words it
    came from (half-open, in `answer`); words carried from elsewhere are not in it. `citations` are its sentence's markers.
    Text that states nothing has no claims.
    """
    layout = read_layout(mask_citations(answer))
    sentences = read_sentences(layout)
    markers = dict(zip(sentences, sentence_markers(answer, sentences), strict=True))
    made = ((sentence, statement, _sentence_text(statement)) for sentence, statement in _statements(layout.text, sentences, question))
    found = [(*span(statement), text, markers[sentence]) for sentence, statement, text in made if text]
    found.sort(key=lambda row: row[:2])
    return [
        Claim(id=f"c{number}", text=text, start=start, end=end, citations=cited)
        for number, (start, end, text, cited) in enumerate(found, start=1)
    ]


def _statements(text: str, sentences: Sequence[Sentence], question: str | None) -> Iterator[_Statement]:
    blocks = [(block, list(group)) for block, group in groupby(sentences, key=lambda sentence: sentence.block)]
    topics = question_topics(question)
    listed = topics.plural is not None and topics.plural is not topics.main
    state = _State(topics, asked=inserted(*topics.plural.text.split()) if topics.plural and listed else ())
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
        return replace(state, heading=read[0].words, intros=(), header=()), []
    if block.kind == "row":
        state, cells = replace(state, intros=()), read_cells(text, block.start, block.end)
        return (state, [(read[0].sentence, row_statement(state.header, cells))]) if state.header else (replace(state, header=cells), [])
    outer = tuple(intro for intro in state.intros if intro.indent < block.indent) if block.kind == "item" else ()
    state = replace(state, intros=outer, header=())
    topics = state.topics
    if block.kind == "item":
        label, _ = read_label(read[0].words)
        first, topics = _in_list(read[0].words, state)
        read = [replace(read[0], words=first), *(replace(one, words=under_label(label, one.words)) for one in read[1:])]
    intro = read[-1].words if read[-1].words[-1].text == ":" and following is not None else ()
    found: list[_Statement] = []
    for one in read[:-1] if intro and not states_fact(intro) else read:
        statements, topics = _atomic(text, one.words, topics)
        found += [(one.sentence, statement) for statement in statements]
    if intro:
        indent = block.indent if block.kind == "item" else _RUNNING_TEXT
        state = replace(state, intros=(*outer, Intro(resolve(intro, topics), indent)))
        topics = follow(topics, intro)
    return (state if block.kind == "item" else replace(state, topics=topics)), found


def _in_list(words: Phrase, state: _State) -> tuple[Phrase, Topics]:
    """Returns the first sentence of a list item joined with its label and intro, and what pronouns in the item stand for."""
    intro = state.intros[-1].words if state.intros else state.heading or state.asked
    label, rest = read_label(words)
    if not label:
        return compose(intro, words), state.topics
    name = written(label)
    topics = replace(state.topics, singular=Topic(name, plural=False), plural=Topic(name, plural=True))
    resolved = resolve(rest, topics)
    labelled = resolved == rest
    return compose(intro, join_label(label, rest) if labelled else resolved, labelled=labelled), topics


def _atomic(text: str, words: Phrase, topics: Topics) -> tuple[list[Phrase], Topics]:
    """Returns the atomic statements of a sentence, chatter and refusals left out, and what pronouns stand for after it."""
    if len(words) > _LONGEST_SENTENCE:
        return [words], topics
    if is_chatter(written(words)):
        return [], topics
    found: list[Phrase] = []
    before = ""
    for clause in (_without_opener(text, clause) for clause in split_clauses(words)):
        if is_chatter(written(clause)) or declines(written(clause)):
            continue
        of_event = clause[0].lower == "it" and before == "it"  # "it is possible ..., although it is rare": no thing is meant
        statement = clause if of_event else complete_subject(resolve(clause, topics), topics)
        topics, before = follow(topics, statement), statement[0].lower
        found += _apply_rules(statement)
    return found, topics


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
