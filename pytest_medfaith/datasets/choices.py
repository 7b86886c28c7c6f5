"""Makes a document of a multiple-choice question, its right answer and the explanation."""

from __future__ import annotations


def answered(question: str, answer: str, explanation: str = "") -> str:
    """Returns the text of a chunk: a question, its right answer, and why it is right where that is known."""
    ended = answer if answer.endswith((".", "!", "?")) else f"{answer}."
    return "\n".join(filter(None, [question, f"Answer: {ended}", explanation]))
