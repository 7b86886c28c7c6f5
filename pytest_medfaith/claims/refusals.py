"""Tells an answer that only declines from an answer that says something."""

from __future__ import annotations

from pytest_medfaith.claims.split import read_answer


def is_refusal(answer: str) -> bool:
    """Returns whether `answer` only declines: "I don't know", "The documents provided do not mention this".

    Greetings, questions and the advice to ask a doctor beside it change nothing. An answer that states anything else is no
    refusal, and neither is a statement about what is unknown ("It is not known whether X causes Y"), nor an empty answer.
    """
    return read_answer(answer).declines
