"""Answers as responses: from a recorded file, from a RAG callable, or as given to an assertion."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Iterable, Mapping, MutableMapping, Sequence
from enum import Enum
from pathlib import Path
from typing import Any, Final

from pytest_medfaith.answers.awaiting import awaited
from pytest_medfaith.answers.contexts import as_chunks
from pytest_medfaith.answers.foreign import in_pieces
from pytest_medfaith.answers.given import (
    ANSWER_KEYS,
    CONTEXT_KEYS,
    answer_and_contexts,
    mapping_of,
    refuse_near_keys,
    refuse_unknown_keys,
)
from pytest_medfaith.answers.row_files import is_table, read_row_file
from pytest_medfaith.answers.row_keys import response_row
from pytest_medfaith.errors import DataError, shown
from pytest_medfaith.records import Chunk, Hit, Response

# The values of a response's `contexts_from`: who gave its contexts.
BY_ANSWER, BY_RETRIEVER = "the answer", "the slice's retriever"
RECORDED, BY_ROWS = "the responses file", "the recorded rows"
_RESPONSE_KEYS = tuple(f.name for f in dataclasses.fields(Response) if f.name != "extra")


class Unsaid(Enum):
    """The default of `contexts`: the caller did not mention them. None means that there are none."""

    UNSAID = "unsaid"

    def __repr__(self) -> str:
        return "UNSAID"


UNSAID: Final = Unsaid.UNSAID
Contexts = Iterable[Any] | None | Unsaid


def read_responses(
    path: Any, chunks: Iterable[Chunk], *, into: MutableMapping[str, Response] | None = None
) -> MutableMapping[str, Response]:
    """Returns {case id: recorded response}; a context that is only an id is looked up in `chunks`.

    Args:
        path: a file of JSON Lines, JSON, CSV or Parquet, with this project's keys or those of ragas and
            deepeval; or a list of mappings, or a table.
        chunks: the chunks of the corpus.
        into: the mapping that gets the responses; a new dict where None.

    Raises:
        DataError: a malformed line, a key that looks like a known key, a case answered twice, or a context id
            that the corpus does not have.
    """
    by_id = {chunk.id: chunk for chunk in chunks}
    given_by = RECORDED if isinstance(path, Path) else BY_ROWS
    responses = {} if into is None else into
    for place, given in read_row_file(path):
        try:
            response = recorded_response(given, by_id, given_by=given_by, from_table=is_table(path))
        except DataError as error:
            raise DataError(f"{place}: {error}") from None
        if not response.case_id:
            raise DataError(f"{place}: field 'case_id' is missing; it says which case this response answers")
        if response.case_id in responses:
            raise DataError(
                f"{place}: case {response.case_id!r} is answered on an earlier line already; keep one "
                "response a case"
            )
        responses[response.case_id] = response
    return responses


def recorded_response(
    given: Mapping[str, Any],
    by_id: Mapping[str, Chunk],
    *,
    given_by: str = RECORDED,
    from_table: bool = False,
) -> Response:
    """Returns the response in a recorded row.

    Args:
        given: the row, with this project's keys or those of ragas and deepeval.
        by_id: {id: chunk}, for contexts that are only ids.
        given_by: who gave the contexts, where the row does not say.
        from_table: True for a row of a table, whose cells may be lists written as text.

    Raises:
        DataError: a key that looks like a known key, an answer that is no text, a context without a text.
    """
    row = {"contexts_from": given_by, **response_row(given, is_table=from_table)}
    refuse_near_keys(row, _RESPONSE_KEYS)
    contexts = row.get("contexts", [])
    if not isinstance(contexts, list):
        raise DataError(
            f"field 'contexts' is {shown(contexts)}, expected a list of chunks or of objects with an id"
        )
    return Response.from_dict(
        {**row, "contexts": as_chunks([_looked_up(context, by_id) for context in contexts])}
    )


def _looked_up(context: Any, by_id: Mapping[str, Chunk]) -> Any:
    """Returns the chunk whose id `context` is; a context with a text comes back unchanged.

    Raises:
        DataError: no chunk has the id.
    """
    if isinstance(context, str):
        return by_id.get(context, context)
    if not isinstance(context, Mapping) or "text" in context:
        return context
    name = str(context.get("id"))
    if name not in by_id:
        raise DataError(
            f"context {name!r} is in no corpus file of this slice; add its corpus, or give the chunk its "
            "text here"
        )
    return by_id[name]


def ask(rag: Callable[..., Any], question: str, history: Sequence[Any] = ()) -> Any:
    """Returns what a RAG callable, plain or async, answers to `question`; its own errors pass through.

    Args:
        rag: the callable: question -> answer, with `history` as a keyword if there are earlier turns.
        question: the question.
        history: the earlier turns; it gets them as a list of messages.

    Raises:
        DataError: there are earlier turns and `rag` takes no `history`; or `rag` is no callable, as where no
            plugin runs an `async def` fixture.
    """
    if not callable(rag):
        found = in_pieces(rag) or ("a coroutine" if inspect.isawaitable(rag) else shown(rag))
        raise DataError(
            f"the fixture medfaith_rag gives {found}; expected a callable that takes the question. An async "
            "def fixture needs a plugin that runs it (pytest-asyncio, anyio); a plain fixture that returns "
            "an async def function needs none"
        )
    if not history:
        return awaited(rag(question))
    if not _takes_history(rag):
        raise DataError(
            f"the case has {len(history)} earlier turns, and medfaith_rag takes no history; expected a "
            f"callable "
            '(question, *, history), or history = "ignore" for the slice'
        )
    return awaited(rag(question, history=[dict(turn) for turn in history]))


def _takes_history(rag: Callable[..., Any]) -> bool:
    """Returns whether a callable has an argument `history`, or takes any keyword."""
    try:
        taken = inspect.signature(rag).parameters
    except (TypeError, ValueError):
        return False
    return "history" in taken or any(one.kind is one.VAR_KEYWORD for one in taken.values())


def as_response(answer: Any, *, case_id: str, hits: Sequence[Hit] = ()) -> Response:
    """Returns what a RAG callable gave back as a Response; a coroutine is awaited.

    Args:
        answer: a Response; a text or message; a mapping with an answer, and contexts under a known key
            (`given.CONTEXT_KEYS`); an object with such attributes; or the pair (answer, contexts).
        case_id: the id of the case that was answered.
        hits: what the retriever found. They are the contexts of an answer that does not mention contexts. The
            response's `contexts_from` says who gave them.

    Raises:
        DataError: any other form, or a mapping without contexts whose unknown keys may hold them.
    """
    answer = awaited(answer)
    if isinstance(answer, Response):
        contexts_from = answer.contexts_from or BY_ANSWER
        return checked_response(answer).with_(case_id=case_id, contexts_from=contexts_from)
    if isinstance(answer, str):
        answer = {"answer": answer}
    if isinstance(answer, tuple) and len(answer) == 2 and not hasattr(answer, "_fields"):
        answer = {"answer": answer[0], "contexts": answer[1]}
    given = answer if isinstance(answer, Mapping) else mapping_of(answer)
    if given is None:
        expected = "expected a Response, an answer text, (answer, contexts) or a mapping with both"
        raise DataError(f"the RAG callable returned {in_pieces(answer) or f'{shown(answer)}; {expected}'}")
    row, key = answer_and_contexts(given)
    refuse_near_keys(row, _RESPONSE_KEYS)
    if key:
        chunks = as_chunks(row["contexts"])
        contexts_from = BY_ANSWER if key == "contexts" else f"{BY_ANSWER}, key {key}"
    else:
        refuse_unknown_keys(row, _RESPONSE_KEYS)
        chunks, contexts_from = [hit.chunk for hit in hits], BY_RETRIEVER
    return Response.from_dict({**row, "case_id": case_id, "contexts": chunks, "contexts_from": contexts_from})


def checked_response(response: Response) -> Response:
    """Returns `response` with a text as its answer and chunks as its contexts; a record takes any value.

    Raises:
        DataError: the answer is no text, or a context is no chunk or has no text.
    """
    answer = awaited(response.answer)
    if not isinstance(answer, str):
        raise DataError(f"the answer is {in_pieces(answer) or f'{shown(answer)}; expected its text'}")
    return response.with_(answer=answer, contexts=tuple(as_chunks(response.contexts)))


def asserted_response(answer: object, contexts: Contexts = UNSAID) -> Response:
    """Returns what an assertion is given as a Response; coroutines are awaited.

    Args:
        answer: a text or message; or a Response, a mapping or another tool's object, which may have contexts.
        contexts: what the answer was based on. The answer's contexts count where this is None or UNSAID.

    Raises:
        ValueError: the answer has another form, or is a text without contexts.
        DataError: the answer is no text, or a context is no chunk or has no text.
    """
    answer, contexts = awaited(answer), awaited(contexts, "contexts")
    is_given = not (contexts is None or contexts is UNSAID)
    if isinstance(answer, Response):
        response = checked_response(answer)
        return response.with_(contexts=tuple(as_chunks(contexts))) if is_given else response
    text, brought = (answer, None) if isinstance(answer, str) else _text_and_contexts(answer)
    if brought is None and contexts is UNSAID:
        raise ValueError(
            "contexts is missing; expected the chunks the answer was based on, as contexts=[...], or "
            "contexts=None to say that there are none"
        )
    chosen = contexts if is_given or brought is None else brought
    return Response(answer=text, contexts=tuple(as_chunks(() if chosen is None else chosen)))


def _text_and_contexts(answer: object) -> tuple[str, Any]:
    """Returns (text, contexts) of an answer; the contexts are None where it has none.

    Raises:
        ValueError: the answer has no known form.
    """
    given = answer if isinstance(answer, Mapping) else mapping_of(answer)
    names_both = (
        given is not None and given.keys() & ANSWER_KEYS.keys() and given.keys() & CONTEXT_KEYS.keys()
    )
    if given is None or (given is answer and not names_both):
        expected = "expected its text, or a Response with text and contexts"
        raise ValueError(f"the answer is {in_pieces(answer) or f'{shown(answer)}; {expected}'}")
    row, key = answer_and_contexts({name: found for name, found in given.items() if found is not None})
    return row["answer"], row["contexts"] if key else None
