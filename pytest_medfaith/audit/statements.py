"""Finds sentences that can be claims: whole statements that are understood without another sentence."""

from __future__ import annotations

import re

from pytest_medfaith.audit.mutation import clause_of
from pytest_medfaith.english.lexicon import word_set
from pytest_medfaith.english.sentences import sentences_of

FEWEST_WORDS, MOST_WORDS = 6, 40

_POINTING = word_set(
    "it its they their them he she his her this these those that such there here we our i my you your both "
    "neither another others however also thus therefore then instead otherwise similarly moreover and but "
    "or so if note see which who what how why"
)
_THERE = re.compile(r"There (?:is|are|was|were)\b")
_BROKEN = re.compile(r"[?!|\n•]|https?:|\.\.|\s-\s|:\s|^\W|\(\s|\d\.\s")


def statements(text: str) -> list[str]:
    """Returns the sentences of `text` that have subject and verb and do not point back."""
    return list(filter(is_statement, sentences_of(text)))


def is_statement(sentence: str) -> bool:
    """Returns whether `sentence` can be a claim by itself: whole, of 6 to 40 words, with subject and verb.

    It begins with a capital, but not with a word that points back ("It", "However"), ends with a full stop,
    and holds no question, colon, list mark, address or open bracket. An order ("Take it with some food.") is
    no statement.
    """
    words = sentence.split()
    if not (
        FEWEST_WORDS <= len(words) <= MOST_WORDS and sentence.endswith(".") and sentence[0].isupper()
    ) or _BROKEN.search(sentence):
        return False
    if (words[0].lower().strip(",") in _POINTING and not _THERE.match(sentence)) or sentence.count(
        "("
    ) != sentence.count(")"):
        return False
    clause = clause_of(sentence)
    return clause is not None and clause.form != "base"
