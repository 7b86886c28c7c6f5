"""Makes atomic claims of an answer, each with its span, by rules over pySBD sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from pytest_medfaith.claims import lexicon
from pytest_medfaith.claims.asides import split_asides, split_participles
from pytest_medfaith.claims.chatter import declines, is_chatter, skip_openers
from pytest_medfaith.claims.citations import mask_citations, sentence_markers
from pytest_medfaith.claims.clauses import split_clauses, split_predicates, split_repeated
from pytest_medfaith.claims.grammar import is_content, read_clause
from pytest_medfaith.claims.intros import Intro, compose, join_label, read_label
from pytest_medfaith.claims.layout import Block, read_layout
from pytest_medfaith.claims.lists import split_lists
from pytest_medfaith.claims.sentences import Sentence, read_sentences
from pytest_medfaith.claims.topics import Topic, Topics, complete_subject, follow, question_topics, resolve
from pytest_medfaith.claims.words import Phrase, carried, inserted, read_words, span, written
from pytest_medfaith.records import Claim

_RULES = (split_asides, split_participles, split_predicates, split_repeated, split_lists)
_LONGEST_SENTENCE = 150  # words; what is longer is a table, a sequence or no prose, and the rules would guess
_SHORT_HEADING = 6  # words


@dataclass(frozen=True)
class _State:
    """What the words read so far mean for the next: what pronouns stand for, the heading, and the intros of open lists."""

    topics: Topics
    heading: Phrase = ()
    intros: tuple[Intro, ...] = ()
    asked: Phrase = ()
    header: tuple[Phrase, ...] = ()


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
    found: list[tuple[int, int, str, tuple[str, ...]]] = []
    for sentence, statement in _statements(layout.text, sentences, question):
        text = _as_claim(statement)
        if text:
            found.append((*span(statement), text, markers[sentence]))
    found.sort(key=lambda row: row[:2])
    return [Claim(id=f"c{n}", text=text, start=start, end=end, citations=cited) for n, (start, end, text, cited) in enumerate(found, start=1)]


def _statements(text: str, sentences: Sequence[Sentence], question: str | None) -> Iterator[tuple[Sentence, Phrase]]:
    blocks = [(block, list(group)) for block, group in groupby(sentences, key=lambda sentence: sentence.block)]
    topics = question_topics(question)
    state = _State(topics, asked=inserted(*topics.plural.text.split()) if topics.plural and " of " in topics.plural.text else ())
    for place, (block, group) in enumerate(blocks):
        following = blocks[place + 1][0] if place + 1 < len(blocks) else None
        read = [(sentence, _read_sentence(text, sentence)) for sentence in group]
        kind = _kind(block, [words for _, words in read], state, following)
        if kind == "heading":
            state = replace(state, heading=read[0][1], intros=(), header=())
            continue
        if kind == "row":
            state, statements = _row_statements(text, group, state)
        else:
            state, statements = _block_statements(text, read, replace(block, kind=kind), following, replace(state, header=()))
        yield from statements


def _read_sentence(text: str, sentence: Sentence) -> Phrase:
    return read_words(text, skip_openers(text, sentence.start, sentence.end), sentence.end)


def _kind(block: Block, read: Sequence[Phrase], state: _State, following: Block | None) -> str:
    """Returns the kind of `block` by its words too: a short line with no verb heads what follows, a line under an intro is an item."""
    words, last = read[0], read[-1][-1].text
    single = len(read) == 1
    has_verb = read_clause(words).main is not None
    if block.kind == "heading":
        return "text" if has_verb and last in ".!" else "heading"
    if block.kind != "text" or last in ".!?:":
        return block.kind
    if single and following is not None and not has_verb and len(words) <= _SHORT_HEADING and not any(char.isdigit() for word in words for char in word.text):
        return "heading" if not state.intros else "item"
    return "item" if single and state.intros and state.intros[-1].indent < 0 else "text"


def _row_statements(text: str, group: Sequence[Sentence], state: _State) -> tuple[_State, list[tuple[Sentence, Phrase]]]:
    """Reads a table row as one statement, each cell behind its column's heading; the first row of a table holds the headings."""
    cells = _cells(text, group[0].start, group[-1].end)
    if not state.header:
        return replace(state, header=tuple(cells)), []
    row: list[Phrase] = []
    for place, cell in enumerate(cells):
        title = state.header[place] if place < len(state.header) else ()
        row.append((*carried(title), *_mark(":"), *cell) if title else cell)
    return state, [(group[0], tuple(word for place, cell in enumerate(row) for word in (*(_mark(";") if place else ()), *cell)))]


def _mark(text: str) -> Phrase:
    return tuple(replace(word, spaced=False) for word in inserted(text))


def _cells(text: str, start: int, end: int) -> list[Phrase]:
    borders = [found.start() for found in re.finditer(r"\|", text[start:end])]
    cuts = zip([start, *(start + border + 1 for border in borders)], [*(start + border for border in borders), end], strict=True)
    return [cell for first, last in cuts if (cell := read_words(text, first, last))]


def _block_statements(
    text: str, read: Sequence[tuple[Sentence, Phrase]], block: Block, following: Block | None, state: _State
) -> tuple[_State, list[tuple[Sentence, Phrase]]]:
    if block.kind == "text":
        state = replace(state, intros=())
    else:
        state = replace(state, intros=tuple(intro for intro in state.intros if intro.indent < block.indent))
    found: list[tuple[Sentence, Phrase]] = []
    topics = state.topics
    for place, (sentence, words) in enumerate(read):
        if block.kind == "item" and place == 0:
            words, topics = _in_list(words, state)
        if place == len(read) - 1 and words[-1].text == ":" and following is not None and following.kind in ("item", "text"):
            indent = block.indent if block.kind == "item" else -1
            state = replace(state, intros=(*state.intros, Intro(resolve(words, topics), indent)))
            topics = follow(topics, words)
            break
        statements, topics = _atomic(text, words, topics)
        found += [(sentence, statement) for statement in statements]
    return (state if block.kind == "item" else replace(state, topics=topics)), found


def _in_list(words: Phrase, state: _State) -> tuple[Phrase, Topics]:
    """Returns the first sentence of a list item joined with its label and intro, and what pronouns in the item stand for."""
    label, rest = read_label(words)
    topics = state.topics
    labelled = False
    if label:
        topics = replace(topics, singular=Topic(written(label), plural=False), plural=Topic(written(label), plural=True))
        resolved = resolve(rest, topics)
        labelled = resolved == rest
        words = join_label(label, rest) if labelled else resolved
    intro = state.intros[-1].words if state.intros else state.heading or state.asked
    return compose(intro, words, labelled=labelled), topics


def _atomic(text: str, words: Phrase, topics: Topics) -> tuple[list[Phrase], Topics]:
    """Returns the atomic statements of a sentence, chatter and refusals left out, and what pronouns stand for after it."""
    found: list[Phrase] = []
    if len(words) > _LONGEST_SENTENCE:
        return [words], topics
    if is_chatter(written(words)):
        return found, topics
    before = ""
    for clause in (_opened(text, clause) for clause in split_clauses(words)):
        if is_chatter(written(clause)) or declines(written(clause)):
            continue
        event = clause[0].lower == "it" and before == "it"  # "it is possible ..., although it is rare": no thing is meant
        statement = clause if event else complete_subject(resolve(clause, topics), topics)
        topics, before = follow(topics, statement), statement[0].lower
        found += _apply_rules(statement)
    return found, topics


def _opened(text: str, clause: Phrase) -> Phrase:
    """Returns `clause` without an opener such as "note that" at its first own word."""
    first = next((index for index, word in enumerate(clause) if word.own), len(clause))
    if first == len(clause) or len(clause[first].text) < clause[first].end - clause[first].start:
        return clause
    start = skip_openers(text, clause[first].start, clause[-1].end)
    return (*clause[:first], *(word for word in clause[first:] if word.start >= start or not word.own))


def _apply_rules(statement: Phrase) -> list[Phrase]:
    statements = [statement]
    for rule in _RULES:
        statements = [part for whole in statements for part in rule(whole)]
    return statements


def _as_claim(statement: Phrase) -> str:
    """Returns the text of `statement` as a sentence, or nothing where no own word says anything."""
    if not any(word.own and any(map(str.isalnum, word.text)) for word in statement):
        return ""
    text = written(statement).strip(" ,;:–—-.")
    first = text.split(None, 1)[0]
    if first.isalpha() and first.islower():
        text = text[0].upper() + text[1:]
    return text if text.endswith(("!", "?", "…")) else text + "."
