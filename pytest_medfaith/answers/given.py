"""Under which keys answers and contexts are given: this project's own, those of other tools, and those that are only near them.

Tools are known by the shape of what they give, so that none of them is imported.
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
# What deepeval calls context is what an answer should have been based on, beside what it was.
_NOT_RETRIEVED_BESIDE = {"retrieval_context": "context"}
_ABOUT_THE_QUESTION = frozenset(
    ("question", "query", "input", "user_input", "chat_history", "history", "messages", "id")
)
_NEAR = 0.9  # of difflib's ratio: `contxts` is near `contexts`, `content` is not
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
    """Returns `given` with this project's keys, and the key its contexts stood under ("" where it holds none); `said` begins messages.

    Raises:
        DataError: no answer, two keys with contexts, contexts that are null, a key that may hold contexts and is not known.
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
            "the test case has a context, which is what its answer should have been based on, and no retrieval_context; give what it was "
            "based on as retrieval_context, [] where there was nothing"
        )
    if contexts is not None:
        row["contexts"] = row.pop(contexts)
        if row["contexts"] is None:
            raise DataError(
                f"key {contexts!r} is null; expected a list of texts or chunks, [] where the answer had none"
            )
    return row, contexts or ""


def _only(row: Mapping[str, Any], keys: Iterable[str], what: str, said: str) -> str | None:
    """Returns which of `keys` stands in `row`, None where none does; the first, this project's own, has the say where it is there."""
    keys = list(keys)
    found = [key for key in keys if key in row]
    if len(found) > 1 and found[0] != keys[0]:
        raise DataError(
            f"{said} {what} under {' and '.join(map(repr, found))}; give them once, under {found[0]!r}"
        )
    return found[0] if found else None


def refuse_unknown_keys(row: Mapping[str, Any], known: Iterable[str]) -> None:
    """Refuses keys of a RAG's mapping without contexts that may hold them (DataError): it would be judged by other evidence."""
    unknown = sorted(str(key) for key in row if key not in known and key not in _ABOUT_THE_QUESTION)
    if unknown:
        raise DataError(
            f"the RAG callable returned no contexts under a known key, and {', '.join(map(repr, unknown[:5]))}, which is not known; expected "
            f"contexts under one of {', '.join(CONTEXT_KEYS)}; [] says that there were none"
        )


def refuse_near_keys(row: Mapping[str, Any], known: Iterable[str]) -> None:
    """Refuses unknown keys that stand in the place of known ones that are not there (DataError with the right name): nobody would read them."""
    known = list(known)
    for key in row:
        if key not in known and (meant := near_key(str(key), known)) and meant not in row:
            raise DataError(f"key {key!r} is unknown; did you mean {meant!r}?")


def near_key(key: str, known: Iterable[str]) -> str:
    """Returns the known key that `key` looks like: another case, number or spelling, or another tool's name of it; "" where none does."""
    known = list(known)
    for table, name in ((CONTEXT_KEYS, "contexts"), (ANSWER_KEYS, "answer")):
        if name in known and key.lower() in table:
            return name
    if _ABBREVIATED.get(key.lower()) in known:
        return _ABBREVIATED[key.lower()]
    plain = {_plain(name): name for name in known}
    close = difflib.get_close_matches(_plain(key), plain, n=1, cutoff=_NEAR) or [
        name for name in plain if _swapped(_plain(key), name)
    ]
    return plain[close[0]] if close else ""


def _swapped(key: str, name: str) -> bool:
    """Returns whether two neighbouring letters of `name` changed places in `key`: conetxt is near context, content is not."""
    differing = [at for at, (one, other) in enumerate(zip(key, name, strict=False)) if one != other]
    if len(key) != len(name) or len(differing) != 2 or differing[1] != differing[0] + 1:
        return False
    first, second = differing
    return (key[first], key[second]) == (name[second], name[first])


def _plain(key: str) -> str:
    """Returns `key` in small letters without separators and without the s of a plural."""
    return re.sub(r"[\W_]+", "", key).lower().removesuffix("s")


def _text(value: Any, key: str) -> str:
    """Returns the text of an answer under `key`; the only text of a list of replies.

    Raises:
        DataError: it is no text.
    """
    only = value[0] if key == "replies" and isinstance(value, (list, tuple)) and len(value) == 1 else value
    text = text_of(awaited(only, f"the answer, key {key!r},"))
    if not isinstance(text, str):
        raise DataError(
            f"the answer, key {key!r}, is {in_pieces(text) or f'{shown(text)}; expected its text'}"
        )
    return text


def mapping_of(value: Any) -> Mapping[str, Any] | None:
    """Returns answer and contexts of an object that holds them as fields or attributes; None where it holds no answer.

    Raises:
        DataError: all its contexts are None, or it has none, and a field that may hold them is not known.
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
