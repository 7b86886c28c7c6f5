"""Makes atomic claims of an answer, each with its span, and lists what of it no claim was made of."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pytest_medfaith.claims.blocks import read_blocks
from pytest_medfaith.claims.citations import mask_citations, sentence_markers
from pytest_medfaith.claims.layout import read_layout, read_sentences
from pytest_medfaith.claims.statements import Idle, Statement, sentence_text
from pytest_medfaith.english.phrases import span
from pytest_medfaith.english.words import plain_words
from pytest_medfaith.records import Claim, Dropped


@dataclass(frozen=True)
class Reading:
    """The claims of an answer, and what was dropped of it, both in the order of their spans."""

    claims: tuple[Claim, ...]
    dropped: tuple[Dropped, ...]

    @property
    def declines(self) -> bool:
        """Whether the answer only declines: it says nothing to check, and a part of it is a refusal."""
        return not self.claims and any(piece.reason == "refusal" for piece in self.dropped)


def extract_claims(answer: str, *, question: str | None = None) -> list[Claim]:
    """Returns the atomic claims of `answer` in the order of their spans, with ids c1, c2, ...

    A claim's text is the answer's words: list items carry their intro; openers ("Based on the context,"), greetings, questions,
    refusals and citation markers are gone. A claim that cannot be read by itself ("It lowers glucose.") has the sentence before,
    or at the answer's beginning `question`, as its `context`. `start`, `end` span the words it came from (half-open, in `answer`);
    words carried from elsewhere are not in it. `citations` are its sentence's markers. Text that states nothing has no claims, and
    what is said again makes no second claim.
    """
    return list(read_answer(answer, question=question).claims)


def read_answer(answer: str, *, question: str | None = None) -> Reading:
    """Returns the claims that `extract_claims` returns, and the words that none of them checks, each with its reason."""
    layout = read_layout(mask_citations(answer))
    sentences = read_sentences(layout)
    markers = dict(zip(sentences, sentence_markers(answer, sentences), strict=True))
    made = read_blocks(layout.text, sentences, question)
    idle = [(one.start, one.end, one.reason) for one in made if isinstance(one, Idle)]
    claims: list[Claim] = []
    known: set[tuple[str, str]] = set()
    for start, end, text, one in sorted(_texts(made), key=lambda row: row[:3]):
        context = (
            "" if one.context.rstrip(".") in text else one.context
        )  # a list item that carries its intro needs it no second time
        key = (plain_words(text), plain_words(context))
        if key in known:
            idle.append((start, end, "repeated"))
            continue
        known.add(key)
        name = f"c{len(claims) + 1}"
        claims.append(
            Claim(id=name, text=text, start=start, end=end, citations=markers[one.sentence], context=context)
        )
    dropped = (
        Dropped(text=answer[start:end], span=(start, end), reason=reason)
        for start, end, reason in sorted({*layout.skipped, *idle})
    )
    return Reading(tuple(claims), tuple(dropped))


def _texts(made: Iterable[Statement | Idle]) -> list[tuple[int, int, str, Statement]]:
    """Returns start, end and text of each statement that has a word of its own."""
    rows = ((one, sentence_text(one.words)) for one in made if isinstance(one, Statement))
    return [(*span(one.words), text, one) for one, text in rows if text]
