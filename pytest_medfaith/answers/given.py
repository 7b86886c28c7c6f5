"""The keys under which answers and contexts are given: this project's, RAG tools', and misspelled keys.

Tools are recognised by the shape of what they give, so that no tool is imported.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from typing import Any

from pytest_medfaith.answers.awaiting import awaited
from pytest_medfaith.answers.foreign import fields_of, in_pieces, text_of
from pytest_medfaith.errors import DataError, shown

# docs/formats.md prints both tables.
ANSWER_KEYS: Mapping[str, str] = {
    "answer": "this project; LangChain (create_retrieval_chain), DSPy",
    "response": "ragas, LlamaIndex",
    "result": "LangChain (RetrievalQA)",
    "actual_output": "deepeval",
    "replies": "Haystack",
}
CONTEXT_KEYS: Mapping[str, str] = {
    "contexts": "this project",
    "retrieved_contexts": "ragas",
    "retrieval_context": "deepeval",
    "context": "LangChain (create_retrieval_chain), DSPy",
    "source_documents": "LangChain (RetrievalQA, ConversationalRetrievalChain)",
    "source_nodes": "LlamaIndex",
    "documents": "Haystack",
    "passages": "",
    "chunks": "",
}
# deepeval's `context` is what an answer should have been based on. Its `retrieval_context` is what the answer
# was based on.
_NOT_RETRIEVED_BESIDE = {"retrieval_context": "context"}
_ABOUT_THE_QUESTION = frozenset(
    ("question", "query", "input", "user_input", "chat_history", "history", "messages", "id")
)
_LEAST_SIMILAR = 0.9  # difflib's ratio: `contxts` is similar to `contexts`, `content` is not
_ABBREVIATED = {
    "ctx": "contexts",
    "ctxs": "contexts",
    "latency": "latency_ms",
    "case": "case_id",
    "question_id": "case_id",
}


def answer_and_contexts(
    given: Mapping[str, Any], *, said: str = "the RAG callable returned"
) -> tuple[dict[str, Any], str]:
    """Returns (`given` with this project's keys, the key that its contexts had); "" without contexts.

    Args:
        given: a mapping with an answer, and perhaps contexts, under known keys.
        said: the first words of messages.

    Raises:
        DataError: no answer, contexts under two keys, or contexts that are null.
    """
    row = dict(given)
    answer = _only(row, ANSWER_KEYS, "an answer", said)
    if answer is None:
        raise DataError(f"{said} {shown(given)}; expected the answer under one of {', '.join(ANSWER_KEYS)}")
    row["answer"] = _text(row.pop(answer), answer)
    for retrieved, wanted in _NOT_RETRIEVED_BESIDE.items():
        if retrieved in row:
            row.pop(wanted, None)
    contexts = _only(row, CONTEXT_KEYS, "contexts", said)
    if contexts == "context" and answer == "actual_output":
        raise DataError(
            "the test case has a context, which is what its answer should have been based on, and no "
            "retrieval_context; give what it was based on as retrieval_context, [] where there was nothing"
        )
    if contexts is not None:
        row["contexts"] = row.pop(contexts)
        if row["contexts"] is None:
            raise DataError(
                f"key {contexts!r} is null; expected a list of texts or chunks, [] where the answer had none"
            )
    return row, contexts or ""


def _only(row: Mapping[str, Any], keys: Iterable[str], what: str, said: str) -> str | None:
    """Returns the key of `keys` that is in `row`; None where none is. This project's key, the first, wins.

    Raises:
        DataError: several other keys are in `row`.
    """
    keys = list(keys)
    found = [key for key in keys if key in row]
    if len(found) > 1 and found[0] != keys[0]:
        raise DataError(
            f"{said} {what} under {' and '.join(map(repr, found))}; give them once, under {found[0]!r}"
        )
    return found[0] if found else None


def refuse_unknown_keys(row: Mapping[str, Any], known: Iterable[str]) -> None:
    """Checks that a RAG's mapping without contexts has no unknown keys, which may hold its contexts.

    Else its answer would be judged by evidence that it never saw.

    Raises:
        DataError: there is an unknown key.
    """
    unknown = sorted(str(key) for key in row if key not in known and key not in _ABOUT_THE_QUESTION)
    if unknown:
        raise DataError(
            "the RAG callable returned no contexts under a known key, and "
            f"{', '.join(map(repr, unknown[:5]))}, which is not known; expected contexts under one of "
            f"{', '.join(CONTEXT_KEYS)}; [] says that there were none"
        )


def refuse_near_keys(row: Mapping[str, Any], known: Iterable[str]) -> None:
    """Checks that no unknown key looks like a missing known key.

    Raises:
        DataError: a key does; the message names the right key.
    """
    known = list(known)
    for key in row:
        if key not in known and (meant := near_key(str(key), known)) and meant not in row:
            raise DataError(f"key {key!r} is unknown; did you mean {meant!r}?")


def near_key(key: str, known: Iterable[str]) -> str:
    """Returns the known key that `key` looks like: "contexts" for "contxts"; "" for none.

    It may differ in case, plural or spelling, or be a tool's name for the same thing.
    """
    known = list(known)
    for table, name in ((CONTEXT_KEYS, "contexts"), (ANSWER_KEYS, "answer")):
        if name in known and key.lower() in table:
            return name
    if _ABBREVIATED.get(key.lower()) in known:
        return _ABBREVIATED[key.lower()]
    plain = {_plain(name): name for name in known}
    close = difflib.get_close_matches(_plain(key), plain, n=1, cutoff=_LEAST_SIMILAR) or [
        name for name in plain if _swapped(_plain(key), name)
    ]
    return plain[close[0]] if close else ""


def _swapped(key: str, name: str) -> bool:
    """Returns whether `key` is `name` with two neighbouring letters swapped: "conetxt" for "context"."""
    differing = [at for at, (given, known) in enumerate(zip(key, name, strict=False)) if given != known]
    if len(key) != len(name) or len(differing) != 2 or differing[1] != differing[0] + 1:
        return False
    first, second = differing
    return (key[first], key[second]) == (name[second], name[first])


def _plain(key: str) -> str:
    """Returns `key` in lower case, without separators and without a plural's s."""
    return re.sub(r"[\W_]+", "", key).lower().removesuffix("s")


def _text(value: Any, key: str) -> str:
    """Returns the text of the answer under `key`; for a list of replies, that of the only reply.

    Raises:
        DataError: the answer is no text.
    """
    only = value[0] if key == "replies" and isinstance(value, (list, tuple)) and len(value) == 1 else value
    text = text_of(awaited(only, f"the answer, key {key!r},"))
    if not isinstance(text, str):
        raise DataError(
            f"the answer, key {key!r}, is {in_pieces(text) or f'{shown(text)}; expected its text'}"
        )
    return text


def mapping_of(value: Any) -> Mapping[str, Any] | None:
    """Returns answer and contexts of an object that has them as attributes; None where it has no answer.

    For an object without contexts the mapping also has its unset contexts or its other lists, which later
    checks refuse.

    Raises:
        DataError: the object is a message without a text.
    """
    if isinstance(value, (str, bytes, int, float, list, set)) or value is None:
        return None
    row = {
        key: found
        for key in (*ANSWER_KEYS, *CONTEXT_KEYS)
        if hasattr(value, key) and not callable(found := getattr(value, key))
    }
    if "documents" in row and isinstance(getattr(value, "data", None), str):  # Haystack's GeneratedAnswer
        row["answer"] = value.data
    told = {key: found for key, found in row.items() if found is not None}
    if not any(key in told for key in ANSWER_KEYS):
        text = text_of(value)
        return {"answer": text} if isinstance(text, str) else None
    if any(key in told for key in CONTEXT_KEYS):
        return told
    unset = [key for key in CONTEXT_KEYS if key in row][:1]
    unknown = {
        name: found for name, found in fields_of(value).items() if isinstance(found, (list, tuple)) and found
    }
    return {**told, **(dict.fromkeys(unset) if unset else unknown)}
