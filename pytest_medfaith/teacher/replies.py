"""Reads an LLM's reply into a record: skips reasoning and text around the JSON, and checks every field."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, TypeVar

from pytest_medfaith.conversion import Record
from pytest_medfaith.errors import DataError
from pytest_medfaith.jsonl import refuse_constant

R = TypeVar("R", bound=Record)
_THOUGHT_END = re.compile(r"</(?:think|thinking|reasoning)>", re.IGNORECASE)
_THOUGHT = re.compile(r"<(?:think|thinking|reasoning)>", re.IGNORECASE)


class ReplyError(ValueError):
    """A reply that cannot be used. The message says why, and is sent to the model that is asked again."""


def spoken(text: str) -> str:
    """Returns a reply without the reasoning before it, such as "Yes." for "<think>Hm.</think> Yes.".

    Raises:
        ReplyError: nothing is left, or the reply ends within its reasoning.
    """
    ends = list(_THOUGHT_END.finditer(text))
    said = (text[ends[-1].end() :] if ends else text).strip()
    if _THOUGHT.search(said):
        raise ReplyError("the reply ends within its reasoning")
    if not said:
        raise ReplyError("the reply is empty")
    return said


def read_reply(text: str, kind: type[R]) -> R:
    """Returns the record of type `kind` from the single JSON object in a reply; text around it is skipped.

    Raises:
        ReplyError: there is no object or more than one, a key is in it twice, a number is not finite, or a
            field is missing or of another type.
    """
    said = spoken(text)
    start = said.find("{")
    if start < 0:
        raise ReplyError("the reply holds no JSON object")
    decoder = json.JSONDecoder(object_pairs_hook=_single_keys, parse_constant=refuse_constant)
    try:
        row, end = decoder.raw_decode(said, start)
    except (ValueError, RecursionError) as error:
        raise ReplyError(f"the JSON cannot be read: {error}") from None
    if "{" in said[end:]:
        raise ReplyError("the reply holds more than one JSON object")
    try:
        return kind.from_dict(row)
    except DataError as error:
        raise ReplyError(str(error)) from None


def _single_keys(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Returns the pairs of a JSON object as a dict; ReplyError where a key comes twice."""
    row = dict(pairs)
    if len(row) < len(pairs):
        raise ReplyError("a key is in the JSON object twice")
    return row
