"""Earlier turns of a conversation, in the forms in which chats keep them.

Example: `[{"role": "user", "content": "Does metformin help?"}, {"role": "assistant", "content": "Yes."}]`, as
OpenAI's clients take it. A turn here is a mapping with `role`, "user" or "assistant", and `content`, a text.
What a system prompt or a tool said is no turn.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_medfaith.answers.given import ANSWER_KEYS
from pytest_medfaith.errors import DataError, shown

Turn = Mapping[str, Any]
Turns = tuple[Turn, ...]
USER, ASSISTANT = "user", "assistant"
_ROLES = {"user": USER, "human": USER, "assistant": ASSISTANT, "ai": ASSISTANT, "model": ASSISTANT}
_NO_TURNS = {"system", "developer", "tool", "function"}
_EXPECTED = 'expected a list of messages such as {"role": "user", "content": "Does it help?"}'
MESSAGE_KEYS = ("messages", "turns", "user_input")  # this project and OpenAI; deepeval; ragas


def as_turns(messages: Any, what: str = "history") -> Turns:
    """Returns messages as turns, in order, without those of the system and of tools, and without empty ones.

    A turn is {"role": "user" or "assistant", "content": text}. () for no message.

    Args:
        messages: mappings or objects with a role (or a LangChain type) and a content: a text, or parts with
            texts.
        what: the name of the messages in errors.

    Raises:
        DataError: anything else, such as an unknown role.
    """
    if not isinstance(messages, (list, tuple)):
        raise DataError(f"{what} is {shown(messages)}; {_EXPECTED}")
    turns = []
    for place, message in enumerate(messages):
        given = message if isinstance(message, Mapping) else _attributes(message)
        role = given.get("role") or given.get("type")
        if not isinstance(role, str) or role not in _ROLES.keys() | _NO_TURNS:
            raise DataError(
                f"{what}[{place}] is {shown(message)}; {_EXPECTED}, with the role user or assistant"
            )
        text = _text(given.get("content"), f"{what}[{place}]")
        if role in _ROLES and text.strip():
            turns.append({"role": _ROLES[role], "content": text})
    return tuple(turns)


def _attributes(message: Any) -> dict[str, Any]:
    """Returns role, type and content of a message object; None for a missing attribute."""
    return {name: getattr(message, name, None) for name in ("role", "type", "content")}


def _text(content: Any, place: str) -> str:
    """Returns the text of a message's content; parts are joined by line breaks, and None is "".

    Raises:
        DataError: the content is neither a text nor parts.
    """
    if content is None:  # a message that calls a tool
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, (list, tuple)) and all(isinstance(part, (str, Mapping)) for part in content):
        parts = (part if isinstance(part, str) else part.get("text", "") for part in content)
        return "\n".join(part for part in parts if isinstance(part, str))
    raise DataError(f"{place}.content is {shown(content)}; expected a text, or parts with texts")


def with_question(row: Mapping[str, Any], place: str = "") -> dict[str, Any]:
    """Returns a row of cases with `question` and `history` in the place of its messages.

    The last message of the user is the question, and the messages before it are the history. An answer after
    the question is no part of a case.

    Raises:
        DataError: messages beside a question or a history, or no message of the user.
    """
    told = _told(row, place)
    if told is None:
        return _with_turns(row, place)
    key, turns = told
    asked = _last_asked(turns, key, place)
    kept = {name: value for name, value in row.items() if name != key}
    return {**kept, "question": turns[asked]["content"], "history": list(turns[:asked])}


def _last_asked(turns: Turns, key: str, place: str) -> int:
    """Returns the index of the user's last message in `turns`, the messages of the key `key`.

    Raises:
        DataError: no message is the user's.
    """
    asked = [number for number, turn in enumerate(turns) if turn["role"] == USER]
    if not asked:
        raise DataError(
            _at(
                place,
                f"key {key!r} holds no message of the user, so nothing was asked; expected a message with "
                "the role user",
            )
        )
    return asked[-1]


def with_answer(row: Mapping[str, Any], place: str = "") -> dict[str, Any]:
    """Returns a row of responses with `answer` and `history` in the place of its messages.

    The last message must be the assistant's: it is the answer. The history ends before the question. A row
    with an answer comes back unchanged: its messages are a note.

    Raises:
        DataError: messages without an answer at their end, or without a message of the user.
    """
    told = None if any(row.get(key) for key in ANSWER_KEYS) else _told(row, place)
    if told is None:
        return dict(row)
    key, turns = told
    kept = {name: value for name, value in row.items() if name != key}
    if not turns or turns[-1]["role"] != ASSISTANT:
        raise DataError(
            _at(place, f"key {key!r} ends with no message of the assistant, so there is no answer")
        )
    asked = _last_asked(turns, key, place)
    told_ids = kept.get("case_id") or kept.get("id")
    question = {} if told_ids else {"question": turns[asked]["content"]}
    return {**kept, **question, "answer": turns[-1]["content"], "history": list(turns[:asked])}


def _told(row: Mapping[str, Any], place: str) -> tuple[str, Turns] | None:
    """Returns (key of a row's messages, their turns); None where the row has no messages.

    Raises:
        DataError: the row has a question or a history as well, or messages of an unknown form.
    """
    key = next((key for key in MESSAGE_KEYS if isinstance(row.get(key), (list, tuple))), None)
    if key is None:
        return None
    beside = [name for name in ("question", "history") if row.get(name)]
    if beside and key != MESSAGE_KEYS[0]:
        return None
    if beside:
        raise DataError(
            _at(
                place,
                f"the row has both {key!r} and {beside[0]!r}; expected either messages, or a question and "
                "its history",
            )
        )
    try:
        return key, as_turns(row[key], key)
    except DataError as error:
        raise DataError(_at(place, str(error))) from None


def _with_turns(row: Mapping[str, Any], place: str) -> dict[str, Any]:
    """Returns a row with its `history` as turns, if it has one."""
    if not row.get("history"):
        return dict(row)
    try:
        return {**row, "history": list(as_turns(row["history"]))}
    except DataError as error:
        raise DataError(_at(place, str(error))) from None


def _at(place: str, text: str) -> str:
    """Returns `text` after the place that it is about, if there is one."""
    return f"{place}: {text}" if place else text
