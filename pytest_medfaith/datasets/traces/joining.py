"""Joins the spans of a trace into a response: question, answer, and the contexts of the answer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_medfaith.datasets.traces.spans import ANSWERING, AROUND, RERANKING, RETRIEVING, Span
from pytest_medfaith.datasets.traces.values import (
    answer_in,
    chunk_fields,
    contexts_in,
    distinct_chunks,
    question_in,
)


@dataclass(frozen=True, kw_only=True)
class Turn:
    """A question and its answer in a trace, each "" where it was not recorded.

    `textless` counts retrieved documents without a text.
    """

    trace: str
    span: str
    id: str
    question: str
    answer: str
    contexts: tuple[dict[str, Any], ...]
    textless: int = 0
    model: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Returns the row of a responses file, which serves as the row of its case too."""
        return {
            "case_id": self.id,
            "id": self.id,
            "trace_id": self.trace,
            "span_id": self.span,
            "question": self.question,
            "answer": self.answer,
            "contexts": list(self.contexts),
            **({"model": self.model} if self.model else {}),
        }


def turns(spans: Iterable[Span]) -> Iterator[Turn]:
    """Yields the turns of all traces, in the order in which the traces begin in the file.

    A trace is a single turn; where several of its root spans hold an answer, each of these is a turn. Where
    two spans have the same id, the later counts, as in an export that was continued.
    """
    traces: dict[str, dict[object, Span]] = {}
    for span in spans:
        known = traces.setdefault(span.trace, {})
        known[span.id or len(known)] = span
    for trace, known in traces.items():
        yield from _turns_of(trace, sorted(known.values(), key=lambda span: span.start))


def _turns_of(trace: str, spans: Sequence[Span]) -> Iterator[Turn]:
    ids = {span.id for span in spans if span.id}
    roots = [span for span in spans if span.kind == AROUND and span.parent not in ids and _answer_of(span)]
    roots = [span for span in roots if span.id] or roots
    if len(roots) < 2:
        yield _turn(trace, trace, spans)
        return
    for root in roots:
        yield _turn(trace, f"{trace}/{root.id}", _below(root, spans))


def _below(root: Span, spans: Sequence[Span]) -> list[Span]:
    """Returns `root` and all spans below it, in the order of `spans`."""
    children: dict[str, list[Span]] = {}
    for span in spans:
        children.setdefault(span.parent, []).append(span)
    found, left = {id(root): root}, [root]
    while left:
        for child in children.get(left.pop().id, ()):
            if id(child) not in found:
                found[id(child)] = child
                left.append(child)
    return [span for span in spans if id(span) in found]


def _turn(trace: str, name: str, spans: Sequence[Span]) -> Turn:
    """Returns the turn of `spans`.

    Question and answer are those of the outermost span that tells them, else of the last call of a model.
    """
    parents = {span.id: span.parent for span in spans if span.id}
    depths = {id(span): len(_above(span, parents)) for span in spans}
    around = sorted((span for span in spans if span.kind == AROUND), key=lambda span: depths[id(span)])
    calls = [span for span in spans if span.kind == ANSWERING]
    answering = next((span for span in [*around, *reversed(calls)] if _answer_of(span)), None)
    given = (value for span in [*around, *calls] for value in span.inputs)
    documents = _documents(spans, answering)
    return Turn(
        trace=trace,
        span=answering.id if answering else "",
        id=name,
        question=next((question for value in given if (question := question_in(value))), ""),
        answer=_answer_of(answering) if answering else "",
        contexts=tuple(distinct_chunks(documents)),
        textless=sum(chunk_fields(document) is None for document in documents),
        model=next((span.model for span in reversed(calls) if span.model), ""),
    )


def _above(span: Span, parents: Mapping[str, str]) -> list[str]:
    """Returns the ids of the spans around `span`, the nearest first; ends where spans form a circle."""
    found: list[str] = []
    name = span.parent
    while name in parents and name not in found:
        found.append(name)
        name = parents[name]
    return found


def _answer_of(span: Span) -> str:
    if span.failed or span.kind not in (AROUND, ANSWERING):
        return ""
    return next((answer for value in span.outputs if (answer := answer_in(value))), "")


def _documents(spans: Sequence[Span], answering: Span | None) -> list[Any]:
    """Returns the documents that the answer was made from.

    They are what rerankers kept, else what retrievers found, else the contexts beside the answer. Where a
    retriever is inside another retriever, the outer counts: it may have sorted out what the inner found.
    """
    by_id = {span.id: span for span in spans if span.id}
    parents = {name: span.parent for name, span in by_id.items()}
    for kind in (RERANKING, RETRIEVING):
        outer = [
            span
            for span in spans
            if span.kind == kind
            and not any(by_id[name].kind in (RERANKING, RETRIEVING) for name in _above(span, parents))
        ]
        if found := [document for span in outer for document in span.documents]:
            return found
    return [document for value in (answering.outputs if answering else ()) for document in contexts_in(value)]
