"""What a span was given and gave back: the question, the answer and the documents in values of many shapes.

A value is a text, JSON in a text, a list of messages, or an object that holds one of these under a known key.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from pytest_medfaith.answers.foreign import document_fields
from pytest_medfaith.answers.given import ANSWER_KEYS, CONTEXT_KEYS

_QUESTION_KEYS = tuple(
    "question query input user_input user_message prompt text content value inputs messages kwargs "
    "args".split()
)
_ANSWER_KEYS = (
    *ANSWER_KEYS,
    *"output outputs text content completion value message messages generations choices".split(),
)
_ASKING = frozenset(("user", "human", "humanmessage"))
_ANSWERING = frozenset(("assistant", "ai", "model", "aimessage", "aimessagechunk"))
_ROLES = _ASKING | _ANSWERING | {"system", "systemmessage", "developer", "tool", "toolmessage", "function"}
_NO_WORDS = frozenset(
    (
        "tool_call",
        "tool_use",
        "tool_call_response",
        "reasoning",
        "thinking",
        "image",
        "image_url",
        "file",
        "uri",
        "blob",
    )
)
_DEEPEST = 8  # values inside values; real exports have five at most


def at(node: Any, path: str) -> Any:
    """Returns the value under the dotted `path`, None where there is none or it is null.

    Attributes may be flat ({"a.b": 1}), nested ({"a": {"b": 1}}), or flat in nested objects.
    """
    if not isinstance(node, Mapping):
        return None
    if node.get(path) is not None:
        return node[path]
    head, dot, rest = path.partition(".")
    while dot:
        if isinstance(node.get(head), Mapping) and (found := at(node[head], rest)) is not None:
            return found
        more, dot, rest = rest.partition(".")
        head = f"{head}.{more}"
    return None


def listed(attributes: Mapping[str, Any], path: str) -> list[Any]:
    """Returns the items of the list under `path`: a list, JSON of it, or numbered keys; [] where none is.

    The key "path.0.content" with "Hi" gives the item {"content": "Hi"}. Numbers are in order, from any start.
    """
    found = parsed(at(attributes, path))
    if isinstance(found, list):
        return found
    if isinstance(found, Mapping) and found and all(str(key).isdecimal() for key in found):
        return [found[key] for key in sorted(found, key=int)]
    items: dict[int, dict[str, Any]] = {}
    for key, value in attributes.items():
        if match := re.fullmatch(re.escape(path) + r"\.(\d{1,6})\.(.+)", key):
            items.setdefault(int(match[1]), {})[match[2]] = value
    return [items[number] for number in sorted(items)]


def parsed(value: Any) -> Any:
    """Returns the list or object that a JSON text holds; any further value comes back as it is."""
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def question_in(value: Any) -> str:
    """Returns the question in a span's input, such as a user's last message; "" where there is none."""
    return _said(value, _QUESTION_KEYS, _ASKING)


def answer_in(value: Any) -> str:
    """Returns the answer in a span's output, such as a model's last message; "" where there is none."""
    return _said(value, _ANSWER_KEYS, _ANSWERING)


def _said(value: Any, keys: Sequence[str], roles: frozenset[str], *, depth: int = 0) -> str:
    """Returns the text in `value`: itself, the last message of `roles`, or a text under one of `keys`.

    The first of `keys` that leads to a text counts.
    """
    value = parsed(value)
    if isinstance(value, str):
        return value.strip()
    if depth > _DEEPEST or not isinstance(value, (list, Mapping)):
        return ""
    if isinstance(value, list):
        messages = [item for item in value if isinstance(item, Mapping) and _role(item)]
        if messages:
            return next((text for item in reversed(messages) if (text := _message_text(item, roles))), "")
        return _said(value[0], keys, roles, depth=depth + 1) if len(value) == 1 else ""
    if roles is _ANSWERING and (message := _message_text(value, roles)):
        return message
    inner = (_said(value[key], keys, roles, depth=depth + 1) for key in keys if value.get(key))
    return next(filter(None, inner), "")


def _role(message: Mapping[str, Any]) -> str:
    """Returns who wrote a message; "" where the value is no message.

    LangChain writes the role as a type or as the name of a class.
    """
    named = message["id"][-1:] if message.get("lc") and isinstance(message.get("id"), list) else []
    found = (at(message, "message.role"), message.get("role"), *named, message.get("type"))
    return next((role for value in found if (role := str(value).lower()) in _ROLES), "")


def _message_text(message: Mapping[str, Any], roles: frozenset[str]) -> str:
    """Returns the text of a message that one of `roles` wrote; "" for any further value."""
    if _role(message) not in roles:
        return ""
    holders = (message.get(key) for key in ("kwargs", "data", "message"))
    inner: Mapping[str, Any] = next((held for held in holders if isinstance(held, Mapping)), {})
    for holder in (message, inner):
        for key in ("message.content", "content", "message.contents", "contents", "parts"):
            if text := _words(holder.get(key)):
                return text
    numbered = listed(message, "message.contents") or listed(message, "content")
    return _words(numbered)


def _words(content: Any) -> str:
    """Returns the text of a message's content: a text, or blocks of which some hold texts."""
    if isinstance(content, str):
        return content.strip()
    if not isinstance(content, list):
        return ""
    return "".join(_block_text(block) for block in content).strip()


def _block_text(block: Any) -> str:
    if isinstance(block, str):
        return block
    if (
        not isinstance(block, Mapping)
        or str(at(block, "message_content.type") or block.get("type")).lower() in _NO_WORDS
    ):
        return ""
    found = (at(block, "message_content.text"), block.get("text"), block.get("content"))
    return next((text for text in found if isinstance(text, str)), "")


def documents_in(value: Any, *, depth: int = 0) -> list[Any]:
    """Returns the documents in a retriever's output: a list of them, or an object that holds such a list.

    A list comes back as it is, whatever its items are. Of several keys of an object, that of contexts comes
    first. JSON is read first. [] where there is no list, or an empty one. `depth` counts nested objects.
    """
    value = parsed(value)
    if depth > _DEEPEST:
        return []
    if isinstance(value, list):
        return value
    if isinstance(value, Mapping):
        keys = (*CONTEXT_KEYS, "nodes", "results", "hits", "output", "outputs", "value", "content")
        for key in keys:
            if value.get(key) and (found := documents_in(value[key], depth=depth + 1)):
                return found
    return []


def contexts_in(value: Any) -> list[Any]:
    """Returns the contexts beside an answer ({"answer": ..., "context": [...]}); [] where there are none."""
    value = parsed(value)
    for _ in range(_DEEPEST):
        if not isinstance(value, Mapping):
            break
        for key in CONTEXT_KEYS:
            if isinstance(found := parsed(value.get(key)), list) and found:
                return found
        value = next((parsed(value[key]) for key in ("output", "outputs", "value") if value.get(key)), None)
    return []


def looks_retrieved(value: Any) -> bool:
    """Returns whether `value` is what a retriever gives: documents with scores or metadata, and no answer.

    Each item must be such a document. An empty list is not.
    """
    found = [] if isinstance(parsed(value), Mapping) and answer_in(value) else documents_in(value)
    return bool(found) and all(_is_document(item) for item in found)


def _is_document(item: Any) -> bool:
    if not isinstance(item, Mapping) or item.get("role") or item.get("additional_kwargs") is not None:
        return False
    inner = item["kwargs"] if item.get("lc") and isinstance(item.get("kwargs"), Mapping) else item
    keys = ("page_content", "document.content", "score", "metadata", "document.score")
    return any(at(inner, key) is not None for key in keys) and chunk_fields(item) is not None


def chunk_fields(item: Any) -> dict[str, Any] | None:
    """Returns text, id, title and address of a retrieved document; None where it holds no text."""
    item = parsed(item)
    if isinstance(item, Mapping) and isinstance(item.get("document"), str) and "text" not in item:
        item = {**item, "text": item["document"]}
    if isinstance(item, Mapping):
        item = _with_metadata(item)
    fields = document_fields(item) if isinstance(item, (str, Mapping)) else None
    return fields if fields and fields["text"].strip() else None


def _with_metadata(item: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns a document with its metadata as an object, which OpenTelemetry writes as JSON in a text."""
    inner = item["document"] if isinstance(item.get("document"), Mapping) else item
    keys = ("metadata", "document.metadata")
    known = {key: parsed(inner[key]) for key in keys if isinstance(inner.get(key), str)}
    changed = {**inner, **known} if known else inner
    return {**item, "document": changed} if inner is not item else changed


def distinct_chunks(items: Iterable[Any]) -> Iterator[dict[str, Any]]:
    """Yields the chunks of retrieved documents, each text once; an id that several texts have is numbered."""
    texts: dict[str, set[str]] = {}
    seen: set[str] = set()
    for number, item in enumerate(items, start=1):
        fields = chunk_fields(item)
        if fields is None or fields["text"] in seen:
            continue
        seen.add(fields["text"])
        name = fields.get("id") or f"context-{number}"
        known = texts.setdefault(name, set())
        known.add(fields["text"])
        yield {**fields, "id": name if len(known) == 1 else f"{name}#{len(known)}"}
