"""Gives rows of cases and responses this project's keys and an id, whichever tool or table wrote them.

ragas writes `user_input`, `response`, `retrieved_contexts` and `reference`; deepeval `input`,
`actual_output`, `retrieval_context` and `expected_output`. A row is read by these keys if its question has
one of them, and not this project's `question`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from pytest_medfaith.answers.given import ANSWER_KEYS, CONTEXT_KEYS, answer_and_contexts
from pytest_medfaith.answers.turns import with_answer, with_question
from pytest_medfaith.english.words import pieces_of
from pytest_medfaith.errors import DataError, shown

# docs/formats.md prints both tables.
QUESTION_KEYS: Mapping[str, str] = {
    "question": "this project",
    "user_input": "ragas",
    "input": "deepeval",
    "query": "",
}
REFERENCE_KEYS: Mapping[str, str] = {
    "reference_answer": "this project",
    "reference": "ragas",
    "expected_output": "deepeval",
    "ground_truth": "ragas before 0.2",
}
_SLUG_WORDS = 6  # words of the question in an id: enough to tell cases apart by eye, and for pytest's -k
_DIGITS = 6  # hexadecimal, of the hash of the whole question


def case_row(row: Mapping[str, Any], *, place: str = "", is_table: bool = False) -> dict[str, Any]:
    """Returns a row of cases with this project's keys, without what it says of an answer.

    Args:
        row: the row as read. A row with this project's keys comes back unchanged, unless `is_table`.
        place: the file and line, for messages.
        is_table: True for a row of a CSV or Parquet file or a table. Such rows need no id, and their gold
            claims may be texts.

    Raises:
        DataError: the row has no question, or its question is no text.
    """
    row = with_question(row, place)
    if not (is_table or _is_foreign(row)):
        return row
    try:
        question = _question(row)
    except DataError as error:
        raise DataError(f"{place}: {error}" if place else str(error)) from None
    reference = next((row[key] for key in REFERENCE_KEYS if row.get(key)), None)
    left_out = {*QUESTION_KEYS, *REFERENCE_KEYS, *ANSWER_KEYS, *CONTEXT_KEYS, "case_id"}
    kept = {key: value for key, value in row.items() if key not in left_out}
    claims = kept.get("gold_claims")
    if isinstance(claims, (list, tuple)):
        kept["gold_claims"] = [
            {"id": f"g{number}", "text": claim} if isinstance(claim, str) else claim
            for number, claim in enumerate(claims, start=1)
        ]
    name = row.get("id") if row.get("id") not in (None, "") else row.get("case_id")
    told = {"reference_answer": reference} if reference is not None else {}
    return {**kept, "id": _id(name, question), "question": question, **told}


def response_row(row: Mapping[str, Any], *, is_table: bool = False) -> dict[str, Any]:
    """Returns a row of responses with this project's keys; arguments as for `case_row`.

    Raises:
        DataError: the row has no answer, contexts under two keys, or neither an id nor a question.
    """
    row = with_answer(row)
    if not (is_table or _is_foreign(row)):
        return row
    name = row.get("case_id") if row.get("case_id") not in (None, "") else row.get("id")
    case_id = _id(name, "" if name not in (None, "") else _question(row))
    left_out = {*QUESTION_KEYS, *REFERENCE_KEYS, "reference_contexts", "gold_claims", "id", "case_id"}
    kept = {key: value for key, value in row.items() if key not in left_out and value is not None}
    if _is_foreign(row):
        kept, _ = answer_and_contexts(kept, said="the row holds")
    return {**kept, "case_id": case_id}


def _is_foreign(row: Mapping[str, Any]) -> bool:
    """Returns whether the row has the question under a tool's key."""
    return "question" not in row and any(key in row for key in QUESTION_KEYS)


def _question(row: Mapping[str, Any]) -> str:
    """Returns the text of the row's question.

    Raises:
        DataError: the row has no question, or it is no text.
    """
    key = next((key for key in QUESTION_KEYS if row.get(key) is not None), None)
    if key is None:
        raise DataError(
            "the row has no question, and no id that names its case; "
            f"expected a question under {', '.join(QUESTION_KEYS)}"
        )
    question = row[key]
    if isinstance(question, (list, tuple)):
        raise DataError(
            f"the question, key {key!r}, is {shown(question)} turns of a conversation; expected one question"
        )
    if not isinstance(question, str) or not question.strip():
        raise DataError(f"the question, key {key!r}, is {shown(question)}; expected its text")
    return question


def _id(name: object, question: str) -> str:
    """Returns the id of a row as text; without an id, the first words of its question and a hash.

    Example: "what-treats-iron-deficiency-3f2a91".
    """
    if name not in (None, ""):
        return str(int(name)) if isinstance(name, float) and name.is_integer() else str(name)
    words = [word for word, _, _ in pieces_of(question.lower())[:_SLUG_WORDS]]
    plain = " ".join(question.split()).encode()
    return "-".join([*words, hashlib.sha256(plain).hexdigest()[:_DIGITS]])
