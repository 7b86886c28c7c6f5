"""Tells questions, which state nothing, from statements that end in a question mark."""

from __future__ import annotations

import re

from pytest_medfaith.english import lexicon
from pytest_medfaith.english.conjugation import verb_forms
from pytest_medfaith.english.lexicon import word_set
from pytest_medfaith.english.words import SPOKEN

_QUESTION_WORDS = word_set("what which who whom whose when where why how")
_AUXILIARIES = lexicon.AUXILIARIES - lexicon.NEGATIONS
# "Why not take 8 g?", "Did you know that 8 g is safe?": such a question states its answer.
_RHETORICAL = re.compile(
    r"(?:why\s+(?:not|don't|wouldn't|shouldn't)|how\s+about|(?:did|do)\s+you\s+(?:know|realise"
    r"|realize)\s+that|did\s+you\s+(?:know|realise|realize)(?!\s+(?:whether|if|what|which|when|where|who|how"
    r"|why|of|about|your|any)\b)|have\s+you\s+heard|who\s+(?:says|said)|"
    r"who\s+(?:would|could|can|does|will|in\s+their\s+right\s+mind)(?:\s+ever)?\s+(?:doubt|deny|dispute"
    r"|question|say|argue|think|object|refuse)|how\s+(?:could|can)\s+(?:anyone|anybody|you|one)\s+(?:doubt"
    r"|deny|dispute|think)|"
    r"(?:what|who)\s+(?:could|can|would)\s+(?:possibly\s+)?be\s+(?:more|less|\w+er)\b|what\s+if"
    r"|what's\s+wrong|what\s+is\s+wrong|what\s+about|(?:are|were)\s+you\s+aware)\b",
    re.IGNORECASE,
)
_REASON_OF = re.compile(
    r"(?:why|how\s+come|for\s+what\s+reason|what\s+makes|what\s+is\s+it\s+that\s+makes)\b"
    r"|how\s+(?:much|many\s+times|far)\s+(?:more|less|fewer|better|worse|\w+er)\b.*\bthan\b",
    re.IGNORECASE,
)
_MARKED = re.compile(r"\?[\"'”’)\]*_]*\s*$")
_BROKEN = re.compile(r"[;:\u2013—]|\s-\s|[.!?](?=\s)")
_BEFORE = re.compile(
    r"(?:and|but|so|or|now|then|well|also|question|q|if\s+(?:so|not|yes))\b[\s,.:)-]*|(?:in|for|with|after"
    r"|before|during|if|when)\b[^,?]*,\s*(?=(?:what|which|who|when|where|why|how|is|are|can|could|should|does"
    r"|do|will|would|may)\b)",
    re.IGNORECASE,
)
_TO_THE_ASSISTANT = re.compile(
    r"(?:can|could|would|will|do|may|might)\s+(?:you|i|we)\s+(?:please\s+)?(?:tell|explain|help|give|describe"
    r"|summari[sz]e|list|provide|say|mind|ask|show|know)\b",
    re.IGNORECASE,
)
_INVERTED = word_set("is are was were can could should does did will would may might")
_PIECES = re.compile(r"[^.!?\r\n]*(?:[.!?](?!\s|$)[^.!?\r\n]*)*[.!?]*[\"'”’)\]*_]*")
_AUXILIARY = "is|are|was|were|can|could|should|does|do|did|will|would|may|might|must|has|have"
# "What is the dose, and can adults take 8 g?"
_ALSO_POLAR = re.compile(
    rf"\b(?:and|or|but)\s+(?:also\s+)?(?:{_AUXILIARY})\s+\w|[,;:\u2013\u2014]\s*(?:{_AUXILIARY})\s+(?:it|they"
    rf"|i|you|we|he|she|this|that|these|those|the|an?|my|there)\b",
    re.IGNORECASE,
)
_TELL = re.compile(
    r"(?:please\s+)?(?:tell|explain|help|give|describe|summari[sz]e|list|provide|say|show|let|find|check"
    r"|advise|confirm|answer|compare|name|outline|discuss|define|state)\b"
    r"|(?:i|we)(?:\s+(?:would|'d)|'d)?\s+(?:like|want|need|wonder|wish|am\s+wondering|was\s+wondering"
    r"|do\s+not|don't)\b|i'm\s+wondering\b",
    re.IGNORECASE,
)
_WHETHER = re.compile(
    r"\b(?:whether|if|(?:do|would|can)\s+you\s+think)\b|\bsay\s+(?!what|which|how|when|why|who|where)"
    r"|[,:]\s*(?:" + _AUXILIARY + r")\s",
    re.IGNORECASE,
)
_JUDGED = re.compile(
    r"(?:(?:un)?safe|ok|okay|fine|all\s+right|possible|allowed|permitted|advisable|harmful|harmless|dangerous"
    r"|good|bad|any|true\s+or\s+false|yes\s+or\s+no)\b",
    re.IGNORECASE,
)
_LONGEST_FRAGMENT = 5  # words: "Side effects of metformin?"


def is_question(sentence: str) -> bool:
    """Returns whether `sentence` asks without stating its answer.

    "Adults may take 8 g, right?" and "Why not take 8 g?" state it, so they are no questions here.
    """
    text = _without_opening(_plain(sentence))
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


def takes_for_granted(question: str) -> bool:
    """Returns whether `question` asks for the reason or the degree of what it says: "Why is 8 g a day safe?".

    Its answer gives the reason. Without an answer it tells its reader that 8 g a day is safe.
    """
    return _REASON_OF.match(_without_opening(_plain(question))) is not None


def is_polar(question: str | None) -> bool:
    """Returns whether "Yes" answers `question`. None and an empty text give False.

    "I am 40. Can I take 8 g?", "Safe in pregnancy?" and "Tell me whether 8 g is safe" are such questions.
    "What is the dose?" and "Can you tell me the dose?" are not.
    """
    return bool(polar_sentences(question or ""))


def polar_sentences(question: str) -> list[str]:
    """Returns the sentences of `question` that "Yes" answers."""
    marked = [piece for piece in _PIECES.findall(question) if _MARKED.search(piece)]
    return list(filter(_awaits_yes, marked or [question]))


def begins_polar(text: str) -> bool:
    """Returns whether `text` begins as a question that "Yes" answers, without a mark: "Can I take it"."""
    words = SPOKEN.findall(_without_opening(_plain(text)).lower())
    return len(words) > _LONGEST_FRAGMENT - 2 and words[0] in _INVERTED and words[1] != "not"


def _awaits_yes(sentence: str) -> bool:
    """Returns whether "Yes" answers `sentence`."""
    text = _without_opening(_plain(sentence))
    words = SPOKEN.findall(text.lower())
    if not words:
        return False
    asked = words[0] in _QUESTION_WORDS or (
        words[0] in lexicon.PREPOSITIONS and words[1:2] and words[1] in _QUESTION_WORDS
    )
    if asked:
        return _ALSO_POLAR.search(text) is not None
    talk = _TO_THE_ASSISTANT.match(text)
    if talk or _TELL.match(text):
        return _WHETHER.search(text) is not None
    if words[0] in _AUXILIARIES | lexicon.NEGATIONS - {"no", "not"}:
        return True
    return (
        _MARKED.search(sentence) is not None
        or _WHETHER.search(text) is not None
        or _JUDGED.match(text) is not None
    )


def _without_opening(text: str) -> str:
    """Returns a question without an opening such as "And" or "In adults,"."""
    opening = _BEFORE.match(text)
    return text[opening.end() :] if opening else text


def _plain(text: str) -> str:
    """Returns `text` with plain apostrophes, without quotes and marks at its ends."""
    return text.replace("\u2019", "'").strip(" \t\r\n\"'“”*_(")
