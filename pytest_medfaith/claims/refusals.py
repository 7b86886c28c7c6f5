"""Tells an answer that only declines from one that says something."""

from __future__ import annotations

from pytest_medfaith.claims.chatter import declines, is_chatter, parts_of
from pytest_medfaith.claims.citations import mask_citations
from pytest_medfaith.claims.layout import read_layout
from pytest_medfaith.claims.sentences import read_sentences


def is_refusal(answer: str) -> bool:
    """Returns whether `answer` only declines: "I don't know", "The documents provided do not mention this".

    Greetings, questions and the advice to ask a doctor beside it change nothing. An answer that states anything else is no
    refusal, and neither is a statement about what is unknown ("It is not known whether X causes Y"), nor an empty answer.
    """
    layout = read_layout(mask_citations(answer))
    parts = [part for sentence in read_sentences(layout) for part in parts_of(layout.text[sentence.start : sentence.end])]
    declined = [declines(part) for part in parts]
    return any(declined) and all(refused or is_chatter(part) for refused, part in zip(declined, parts, strict=True))
