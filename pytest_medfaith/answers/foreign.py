"""Reads the objects of RAG tools by their shape: messages, documents, nodes, tables. No tool is imported.

These are LangChain's Document and AIMessage; LlamaIndex's Response, NodeWithScore and TextNode; Haystack's
Document, ChatMessage and GeneratedAnswer; ragas' samples, deepeval's test cases, DSPy's predictions, OpenAI's
completions; and the rows of pandas, polars, pyarrow and Hugging Face.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from typing import Any

from pytest_medfaith.errors import DataError, shown

# The names under which documents have their text, their id and their metadata.
_TEXTS = ("text", "page_content", "content", "long_text", "document.content", "context")
_IDS = ("id", "node_id", "id_", "doc_id", "document.id", "chunk_id")
_BESIDE = ("metadata", "meta", "document.metadata")
_TOLD = ("title", "url", "source")
_NO_TEXT_BLOCKS = frozenset(
    ("thinking", "reasoning", "tool_use", "tool_call", "image", "image_url", "input_image", "audio", "file")
)


def text_of(value: Any) -> Any:
    """Returns the text of a tool's message or completion; any other value unchanged.

    A LangChain message with the content "Take 5 mg." gives "Take 5 mg.".

    Raises:
        DataError: the message has parts, and no part is a text.
    """
    if value is None or isinstance(value, (str, bytes, int, float)):
        return value
    for found in _messages(value):
        content = _get(found, "content")
        if isinstance(content, str):
            return content
        if isinstance(content, (list, tuple)) and not isinstance(found, str):
            return _joined(content, found)
        for name in ("text", "output_text"):
            if isinstance(text := _get(found, name), str):
                return str(text)
    return value


def _messages(value: Any) -> Iterable[Any]:
    """Yields `value`, the message in it (LlamaIndex), and the message of its only choice (OpenAI)."""
    yield value
    choices = _get(value, "choices")
    only = choices[0] if isinstance(choices, (list, tuple)) and len(choices) == 1 else None
    for holder in (value, only):
        message = _get(holder, "message") if holder is not None else None
        if message is not None and not isinstance(message, str):
            yield message


def _joined(blocks: Iterable[Any], message: Any) -> str:
    """Returns the texts of a message's blocks, joined, without what the model only thought.

    Raises:
        DataError: no block has a text.
    """
    texts = []
    for block in blocks:
        text = block if isinstance(block, str) else _get(block, "text")
        if isinstance(text, str) and _get(block, "type") not in _NO_TEXT_BLOCKS:
            texts.append(text)
    if not texts:
        raise DataError(
            f"the answer is {shown(message)} whose content holds no text; expected a message with the "
            "answer's text"
        )
    return "".join(texts)


def _get(value: Any, name: str) -> Any:
    """Returns the entry or the attribute `name`; None where it is missing or a method."""
    if isinstance(value, str):
        return None
    found = value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)
    return None if callable(found) and not isinstance(found, str) else found


def fields_of(value: Any) -> dict[str, Any]:
    """Returns {name: value} of an object's public data: entries, model fields, columns or attributes."""
    if isinstance(value, Mapping):
        return dict(value)
    names: Iterable[str]
    if all(callable(getattr(value, name, None)) for name in ("keys", "items")):  # DSPy, a row of pandas
        return {str(name): found for name, found in value.items()}
    if hasattr(value, "_fields"):
        names = value._fields
    else:
        names = (
            getattr(type(value), "model_fields", None)
            or getattr(type(value), "__dataclass_fields__", None)
            or getattr(value, "__dict__", {})
        )
    return {name.lstrip("_"): found for name in names if not callable(found := getattr(value, name, None))}


def in_pieces(value: Any) -> str:
    """Returns words for a message if `value` gives an answer in pieces, as a generator does; else ""."""
    if inspect.isasyncgen(value) or inspect.isgenerator(value):
        kind = "an async generator" if inspect.isasyncgen(value) else "a generator"
        return f"{kind}, which gives an answer in pieces; expected the whole text, such as ''.join(...)"
    return ""


def document_fields(value: Any) -> dict[str, Any] | None:
    """Returns the text, and the id, title, url and source if it has them, of a tool's document or node.

    None for a value without a text. A plain text is a document, and so is a pair (document, score).
    """
    if isinstance(value, tuple) and len(value) == 2 and isinstance(value[1], (int, float)):
        value = value[0]  # (document, score)
    if isinstance(value, str):
        return {"text": str(value)}
    value = _inner(value)
    text = next((found for name in _TEXTS if isinstance(found := _get(value, name), str)), None)
    if text is None and callable(getattr(value, "get_content", None)):
        text = value.get_content()
    if not isinstance(text, str):
        return None
    beside = next((found for name in _BESIDE if isinstance(found := _get(value, name), Mapping)), {})
    name = next((found for name in _IDS if (found := _get(value, name)) not in (None, "")), None)
    told = {key: str(beside[key]) for key in _TOLD if isinstance(beside.get(key), str)}
    return {"text": text, **({"id": str(name)} if name is not None else {}), **told}


def _inner(value: Any) -> Any:
    """Returns the document in a scored node, or in LangChain's JSON form of a document; else `value`."""
    if isinstance(value, Mapping) and value.get("lc") and isinstance(value.get("kwargs"), Mapping):
        return value["kwargs"]
    for name in ("node", "document"):
        inner = _get(value, name)
        if inner is not None and not isinstance(inner, str):
            return inner
    return value


def is_rows(value: Any) -> bool:
    """Returns whether `value` is iterable, and no callable, text, bytes, mapping, set or iterator.

    Lists, tuples, arrays and tables are rows, empty ones too; a generator is none.
    """
    is_single = (
        callable(value)
        or isinstance(value, (str, bytes, bytearray, Mapping, set, frozenset))
        or hasattr(value, "__next__")
    )
    return not is_single and hasattr(value, "__iter__")


def rows_of(table: Any) -> Iterable[Any]:
    """Returns the rows of a table (pandas, polars, pyarrow, Hugging Face); any other iterable unchanged.

    A data frame gives a dictionary {column: value} for each row. A generator passes.

    Raises:
        DataError: the value has no items (None, a number), or is a text, a mapping or a set.
    """
    for name, arguments in (("to_pylist", ()), ("to_dicts", ()), ("to_dict", ("records",))):
        method = getattr(table, name, None)
        if callable(method) and (name != "to_dict" or hasattr(table, "columns")):
            return method(*arguments)  # type: ignore[no-any-return]
    if isinstance(table, (str, bytes, bytearray, Mapping, set, frozenset)) or not hasattr(table, "__iter__"):
        raise DataError(f"expected a list or a table, got {shown(table)}")
    return table  # type: ignore[no-any-return]
