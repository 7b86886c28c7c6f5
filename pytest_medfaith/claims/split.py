"""Makes atomic claims of an answer, each with its span, and lists the words of it that are in no claim.

The steps, in order: citations, layout and sentences are read; sentences become lines that can be read in
their place; the rules split each line; what is left becomes claims.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from pytest_medfaith.claims.asides import split_asides, split_participles
from pytest_medfaith.claims.asked import (
    Answer,
    Told,
    agrees,
    asks_unsaid_amount,
    is_verdict,
    read_answer_of,
    without_label,
)
from pytest_medfaith.claims.blocks import Line, read_lines
from pytest_medfaith.claims.chatter import is_emphasis
from pytest_medfaith.claims.citations import read_citations
from pytest_medfaith.claims.clauses import split_clauses
from pytest_medfaith.claims.context import names_its_matter, stands_alone
from pytest_medfaith.claims.idle import idle_reason
from pytest_medfaith.claims.layout import Sentence, read_layout
from pytest_medfaith.claims.lists import split_lists
from pytest_medfaith.claims.measures import has_amount, states
from pytest_medfaith.claims.openers import skip_openers
from pytest_medfaith.claims.predicates import split_predicates, split_repeated
from pytest_medfaith.claims.questions import is_question, takes_for_granted
from pytest_medfaith.english.grammar import Part
from pytest_medfaith.english.lexicon import word_set
from pytest_medfaith.english.phrases import borrowed, read_words, span
from pytest_medfaith.english.struck import struck_spans
from pytest_medfaith.english.words import plain_words
from pytest_medfaith.records import Chunk, Claim, Dropped

Rule = Callable[[Part], list[Part]]

# Each rule takes a part of a sentence and returns the parts that it splits it into, or the same part where it
# finds nothing to split. The rules of sentences run first. What they return is talk or a statement, and tells
# what a later "it" may mean.
SENTENCE_RULES: tuple[Rule, ...] = (split_clauses,)
STATEMENT_RULES: tuple[Rule, ...] = (
    split_asides,
    split_participles,
    split_predicates,
    split_repeated,
    split_lists,
)

_LONGEST_SENTENCE = 150  # words; a longer sentence is a table or no prose, and the rules would guess
_ASKING = word_set("what how why when where which who")  # "How it is built up" heads a text and says nothing
_EDGES = re.compile(r"^(?:[\s,;:\u2013\u2014]|[-.](?!\d))+|(?:[\s,;:.\u2013\u2014]|(?<!\w)-)+$")


@dataclass(frozen=True)
class Reading:
    """The claims of an answer, and what was dropped of it, both in the order of their spans."""

    claims: tuple[Claim, ...]
    dropped: tuple[Dropped, ...]

    @property
    def declines(self) -> bool:
        """True where the answer only declines: it states nothing, and a part refuses or sends to a doctor.

        "Yes. I'm not sure." agrees to something, so it is False.
        """
        declined = any(piece.reason in ("refusal", "advice") for piece in self.dropped)
        return not self.claims and declined and not any(agrees(piece.text) for piece in self.dropped)


@dataclass(frozen=True)
class _Statement:
    """What a claim is made of.

    Attributes:
        sentence: the sentence that it is from.
        part: its words.
        context: the words before it that its reader needs; "" for none.
    """

    sentence: Sentence
    part: Part
    context: str = ""


@dataclass(frozen=True)
class _Idle:
    """A span of the answer that states nothing.

    Attributes:
        start: its first character.
        end: the character after it.
        reason: why it states nothing, "greeting" for example.
        granted: for a question, the statement that it takes for granted; it counts if no claim answers it.
    """

    start: int
    end: int
    reason: str
    granted: _Statement | None = None


_Made = _Statement | _Idle


def extract_claims(
    answer: str, *, question: str | None = None, contexts: Sequence[Chunk] = ()
) -> list[Claim]:
    """Returns the atomic claims of `answer` in the order of their spans, with ids c1, c2, ...

    A claim's text is the answer's words. List items have the words of their intro before them. Openers
    ("Based on the context,"), greetings, questions, refusals, citation markers and struck-out words are left
    out. A claim that cannot be read by itself ("It lowers glucose.") has the sentence before as its
    `context`, or `question` at the answer's beginning. `start` and `end` span its words (half-open, in
    `answer`), without words from elsewhere. `citations` are the markers of its sentence. Text that states
    nothing has no claims, and a repeated statement makes no second claim.

    Args:
        answer: the answer.
        question: what it answers.
        contexts: what the answer was given. Ids, titles and addresses are markers only where a context has
            them.
    """
    return list(read_answer(answer, question=question, contexts=contexts).claims)


def is_refusal(answer: str, *, contexts: Sequence[Chunk] = ()) -> bool:
    """Returns whether `answer` only declines: "I don't know", "Please check your local formulary".

    Greetings and questions beside it do not matter. An answer that states anything else is no refusal. Nor is
    a statement about what is unknown ("It is not known whether X causes Y"), nor an empty answer.
    """
    return read_answer(answer, contexts=contexts).declines


def read_answer(answer: str, *, question: str | None = None, contexts: Sequence[Chunk] = ()) -> Reading:
    """Returns the claims of `answer`, as `extract_claims` does, and what was dropped, with the reasons.

    Claims have the ids "c1", "c2", ... by their spans. A claim that says again what an earlier claim says, in
    the same context, is dropped as "repeated". An empty answer has neither.
    """
    cited = read_citations(answer, contexts)
    layout = read_layout(cited.text)
    made = _split_lines(layout.text, read_lines(layout), question)
    struck = {(start, end, "struck out") for start, end in struck_spans(answer)}
    markers = dict(zip(layout.sentences, cited.markers_of(layout.sentences), strict=True))
    idle = {(one.start, one.end, one.reason) for one in made if isinstance(one, _Idle)}
    claims: list[Claim] = []
    known: set[tuple[str, str]] = set()
    for start, end, text, statement in sorted(_texts(made), key=lambda row: row[:3]):
        # A list item that carries its intro needs it no second time.
        context = "" if statement.context.rstrip(".") in text else statement.context
        key = (plain_words(text), plain_words(context))
        if key in known:
            idle.add((start, end, "repeated"))
            continue
        known.add(key)
        claims.append(
            Claim(
                id=f"c{len(claims) + 1}",
                text=text,
                start=start,
                end=end,
                citations=markers[statement.sentence],
                context=context,
            )
        )
    dropped = (
        Dropped(text=answer[start:end], span=(start, end), reason=reason)
        for start, end, reason in sorted({*struck, *layout.skipped, *idle})
    )
    return Reading(tuple(claims), tuple(dropped))


def _split_lines(text: str, lines: Sequence[Line], question: str | None) -> list[_Made]:
    """Returns the statements in the `lines` of `text`, and the spans that state nothing."""
    told = Told.by(" ".join((question or "").split()))
    made: list[_Made] = []
    leads: list[tuple[Line, Told]] = []
    for _, block in groupby(lines, key=lambda line: line.sentence.block):
        first, *others = block
        before = told
        for line in (first, *others):
            if line.role in ("item", "text"):
                found, told = _split_line(text, line, told)
                made += found
            elif line.role == "row":
                answer = read_answer_of(text, line, told, "") if told.fresh and told.asked else None
                found, after = _answered(line, answer, told, "") if answer else ([], told)
                made += found or [_Statement(line.sentence, line.part)]
                told = replace(after, fresh=False)
            else:
                found, after = _read_lead(text, line, told)
                made += found
                leads += [] if found else [(line, told)]
                told = after
        if first.role == "item":
            told = before.behind_list(told)
    return [*_granted(made), *_unused(leads, made)]


def _grants(question: Part, told: Told) -> bool:
    """Returns whether `question` states something that nobody asked: "Why is 8 g a day safe?"."""
    asked = plain_words(told.before.text)
    alone = takes_for_granted(question.text) and names_its_matter(question)
    return alone and plain_words(question.text) not in asked


def _granted(made: Sequence[_Made]) -> Iterator[_Made]:
    """Yields `made`, with what a question takes for granted in its place if no statement answers it."""
    contexts = [one.context for one in made if isinstance(one, _Statement)]
    for one in made:
        granted = one.granted if isinstance(one, _Idle) else None
        answered = granted and any(granted.part.text in context for context in contexts)
        yield granted if granted and not answered else one


def _read_lead(text: str, line: Line, told: Told) -> tuple[list[_Made], Told]:
    """Returns (a lead line's question, or its yes or no; what is told before the next line)."""
    reason = idle_reason(line.part.text)
    answer = read_answer_of(text, line, told, reason)
    if answer is not None:
        return _answered(line, answer, told, reason)
    asks = line.role == "heading" and is_question(line.part.text)
    idle = [_Idle(line.sentence.start, line.sentence.end, "question")] if asks else []
    return [*idle], told if line.role == "lead" and not asks else told.headed(line.part)


def _answered(line: Line, answer: Answer, told: Told, reason: str) -> tuple[list[_Made], Told]:
    """Returns (the claim of a yes or no together with its question, what is told before the next line).

    If it answers no question, it is idle, with `reason` or "no checkable content".
    """
    if answer.taken_back:
        words = (*borrowed(read_words(answer.taken_back)), *answer.words)
        return [_Statement(line.sentence, Part(words))], told
    if not told.asked or answer.affirms in told.answered:
        idle = "no checkable content" if agrees(line.part.text) else reason or "no checkable content"
        return [_Idle(line.sentence.start, line.sentence.end, idle)], told
    statement = _Statement(line.sentence, Part((*told.asked, *answer.words)), told.behind)
    return [statement], told.answered_by(answer)


def _split_line(text: str, line: Line, told: Told) -> tuple[list[_Made], Told]:
    """Returns (the statements and idle parts of a line, what is told before the next line)."""
    whole, sentence = without_label(text, line.part, told), line.sentence
    reason = idle_reason(whole.text) or _sets_a_tone(whole)
    answer = read_answer_of(text, line, told, reason)
    if answer is not None:
        return _answered(line, answer, told, reason)
    if reason:
        asks = reason == "question"
        granted = _Statement(sentence, whole) if asks and _grants(whole, told) else None
        return [_Idle(sentence.start, sentence.end, reason, granted)], told.asking(whole) if asks else told
    long = len(whole.words) > _LONGEST_SENTENCE
    made: list[_Made] = []
    before = told.before
    for clause in [whole] if long else _without_openers(text, _run(SENTENCE_RULES, whole)):
        reason = "" if clause is whole else idle_reason(clause.text)
        if reason:
            made.append(_Idle(*span(clause.words), reason))
            continue
        parts = [clause] if long else _run(STATEMENT_RULES, clause)
        made += [_Statement(sentence, part, "" if stands_alone(part) else before.text) for part in parts]
        before = before.followed_by(clause, alone=stands_alone(clause))
    contexts = [one.context for one in made if isinstance(one, _Statement)]
    agreed = asks_unsaid_amount(text, sentence.start, whole, told, contexts)
    if agreed:
        made.insert(0, _Statement(sentence, Part((*told.asked, *agreed)), told.behind))
    return made, told.stated(whole)


def _sets_a_tone(item: Part) -> str:
    """Returns why an item with its intro states nothing: "The main points: Be patient."; "" if it may."""
    own = tuple(word for word in item.words if not word.borrowed and word.text != ":")
    return "no checkable content" if own and own != item.words and is_emphasis(Part(own).text) else ""


def _run(rules: Iterable[Rule], whole: Part) -> list[Part]:
    """Returns the parts that the rules, one after the other, split `whole` into."""
    parts = [whole]
    for rule in rules:
        parts = [part for one in parts for part in rule(one)]
    return parts


def _without_openers(text: str, parts: Iterable[Part]) -> Iterator[Part]:
    """Yields `parts` without an opener such as "note that" before their own words."""
    for part in parts:
        words = part.words
        first = next((index for index, word in enumerate(words) if not word.borrowed), len(words))
        begin = words[first].start if first < len(words) else 0
        start = skip_openers(text, begin, words[-1].end) if first < len(words) else 0
        kept = (word for word in words[first:] if word.start >= start or word.borrowed)
        yield part if start == begin else Part((*words[:first], *kept))


def _unused(leads: Iterable[tuple[Line, Told]], made: Iterable[_Made]) -> Iterator[_Made]:
    """Yields the lead lines that no statement repeats: a statement where they say something, else idle."""
    statements = [one for one in made if isinstance(one, _Statement)]
    used = {word.start for one in statements for word in one.part.words if word.borrowed}
    for lead, told in leads:
        part, sentence = lead.part, lead.sentence
        if any(word.start in used for word in part.words if not word.borrowed):
            continue
        reason = idle_reason(part.text.rstrip(": "))
        asks = part.words[0].lower in _ASKING and part.words[-1].text != "."
        says = (states(part) and not asks) or has_amount(part.text)
        stated = _Statement(sentence, part)
        if told.asked and told.fresh and is_verdict(part):
            yield _Statement(sentence, Part((*told.asked, *part.words)), told.behind)
        else:
            yield stated if says and not reason else _Idle(sentence.start, sentence.end, reason or "heading")


def _texts(made: Iterable[_Made]) -> Iterator[tuple[int, int, str, _Statement]]:
    """Yields (start, end, text, statement) of each statement with words of its own."""
    for one in made:
        if not isinstance(one, _Statement):
            continue
        words = one.part.words
        if not any(not word.borrowed and any(map(str.isalnum, word.text)) for word in words):
            continue
        text = _EDGES.sub("", one.part.text)
        first = text.split(None, 1)[0]
        if first.rstrip(",:").replace("-", "").isalpha() and first.islower():
            text = text[0].upper() + text[1:]
        yield *span(words), text if text.endswith(("!", "?", "…")) else text + ".", one
