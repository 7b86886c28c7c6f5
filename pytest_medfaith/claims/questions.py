"""Tells questions, which state nothing, from statements that end in a question mark."""

from __future__ import annotations

import re

from pytest_medfaith.english import lexicon
from pytest_medfaith.english.conjugation import verb_forms
from pytest_medfaith.english.lexicon import word_set
from pytest_medfaith.english.words import SPOKEN

_QUESTION_WORDS = word_set("what which who whom whose when where why how")
_AUXILIARIES = (
    lexicon.MODALS | lexicon.SINGULAR_AUXILIARIES | lexicon.PLURAL_AUXILIARIES | lexicon.OTHER_AUXILIARIES
) - lexicon.NEGATIONS
# "Why not take 8 g?", "Did you know that 8 g is safe?": the answer is taken for granted.
_RHETORICAL = re.compile(
    r"(?:why\s+(?:not|don't|wouldn't|shouldn't)|how\s+about|(?:did|do)\s+you\s+(?:know|realise|realize)(?:\s+that)?|have\s+you\s+heard|who\s+(?:says|said)|"
    r"what\s+if|what's\s+wrong|what\s+is\s+wrong|what\s+about|(?:are|were)\s+you\s+aware)\b",
    re.IGNORECASE,
)
_MARKED = re.compile(r"\?[\"'”’)\]*_]*\s*$")
_BROKEN = re.compile(r"[;:\u2013—]|\s-\s|[.!?](?=\s)")
_BEFORE = re.compile(
    r"(?:and|but|so|or|now|then|well|also|question|q|if\s+(?:so|not|yes))\b[\s,.:)-]*|(?:in|for|with|after|before|during|if|when)\b[^,?]*,\s*(?=(?:what|which|who|when|where|why|how|is|are|can|could|should|does|do|will|would|may)\b)",
    re.IGNORECASE,
)
_TO_THE_ASSISTANT = re.compile(
    r"(?:can|could|would|will|do|may|might)\s+(?:you|i|we)\s+(?:please\s+)?(?:tell|explain|help|give|describe|summari[sz]e|list|provide|say|mind|ask|show|know)\b",
    re.IGNORECASE,
)
_LONGEST_FRAGMENT = 5  # words: "Side effects of metformin?"


def is_question(sentence: str) -> bool:
    """Returns whether `sentence` asks, and takes no answer for granted: not "Adults may take 8 g, right?" or "Why not take 8 g?"."""
    text = _BEFORE.sub("", _plain(sentence), count=1)
    if not _MARKED.search(text) or _RHETORICAL.match(text) or _BROKEN.search(text.rstrip("?\"')* ")):
        return False
    words = SPOKEN.findall(text.lower())
    if not words:
        return True
    if words[0] in _QUESTION_WORDS | _AUXILIARIES or (
        words[0] in lexicon.PREPOSITIONS and words[1:2] and words[1] in _QUESTION_WORDS
    ):
        return True
    stated = any(
        word in _AUXILIARIES or verb_forms().get(word, frozenset()) & {"base", "s", "past"} for word in words
    )
    return len(words) <= _LONGEST_FRAGMENT and not stated and not re.search(r"\d", text)


def is_polar(question: str | None) -> bool:
    """Returns whether "Yes" answers `question`, so that it says what the question asks."""
    text = _BEFORE.sub("", _plain(question or ""), count=1)
    first = re.match(r"[^\W_]+(?:['][^\W_]+)?", text)
    return (
        first is not None
        and first[0].lower() in _AUXILIARIES | lexicon.NEGATIONS - {"no", "not"}
        and not _TO_THE_ASSISTANT.match(text)
    )


def _plain(text: str) -> str:
    return text.replace("\u2019", "'").strip(" \t\r\n\"'“”*_(")
