"""What a question takes for granted, and what the asker says of themselves.

"Why does metformin cause weight gain?" takes for granted that metformin causes weight gain. "I am pregnant.
Can I take it?" says that the asker is pregnant.
"""

from __future__ import annotations

import re

from pytest_medfaith.english.conjugation import in_form, noun_verbs, verb_forms
from pytest_medfaith.english.sentences import sentence_spans
from pytest_medfaith.english.words import content_keys

_MOST_CHARACTERS = 400  # of a sentence; a longer sentence is no single premise
_LEAST_WORDS = 2  # content words that a premise has at least
_DONE = re.compile(r"(?:why|how(?:\s+come)?)\s+(does|do|did)\s+(.+?)\s*\?*$", re.IGNORECASE)
_BEING = re.compile(
    r"(?:why|how\s+come|when|since\s+when)\s+(is|are|was|were|has|have|can|must|should)\s+(.+?)\s*\?*$",
    re.IGNORECASE,
)
_HOW_COME = re.compile(r"how\s+come\s+(.+?)\s*\?*$", re.IGNORECASE)
_GIVEN = re.compile(
    r"(?:since|because|given\s+that|considering\s+that|now\s+that|knowing\s+that|seeing\s+that|"
    r"i\s+(?:know|have\s+heard|heard|have\s+read|read)\s+that)\s+(.+?),?\s+(?:(?:so|and|but)\s+)?"
    r"(?:which|what|who|when|where|why|how|can|may|should|is|are|does|do|will|would|could)\b.*\?$",
    re.IGNORECASE,
)
_OF_THE_ASKER = re.compile(r"\b(?:i|i['’]\w+|my|me|we|our|you|your|us|mine)\b", re.IGNORECASE)
_OPEN = re.compile(r"\b(?:if|whether|or|it|they|this|that|these|those)\b", re.IGNORECASE)
_PREDICATE = re.compile(
    r"(?:not|never|so|more|less|better|worse|best|only|always|usually|often|the|a|an|safe|unsafe|effective|"
    r"ineffective|dangerous|harmful|harmless|contraindicated|first-line|second-line|bad|good|toxic|superior|"
    r"inferior|necessary|useful|useless|associated|linked|common|rare|curable|contagious|addictive|essential|"
    r"in|of|for|to|on|at|with)$",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"[,;]\s+(?:(?:and|so|but)\s+)?(?:can|may|should|is|are|what|which|how|do|does|will|would|could|when"
    r"|why)\b.*$",
    re.IGNORECASE,
)
_SECOND_PERSON = (
    (re.compile(r"\bi['’]m\b|\bi\s+am\b", re.IGNORECASE), "you are"),
    (re.compile(r"\bi['’]ve\b|\bi\s+have\b", re.IGNORECASE), "you have"),
    (re.compile(r"\bi\s+was\b", re.IGNORECASE), "you were"),
    (re.compile(r"\b(?:i|we)\b", re.IGNORECASE), "you"),
    (re.compile(r"\b(?:my|our)\b", re.IGNORECASE), "your"),
    (re.compile(r"\b(?:me|us)\b", re.IGNORECASE), "you"),
)


# "How does X change Y, and what should be done?" asks twice, and takes only the first part for granted.
_SECOND_QUESTION = re.compile(
    r",?\s+(?:and|or)\s+(?:what|how|when|where|which|who|why|should|can|could|is|are|do|does)\b.*$",
    re.IGNORECASE | re.DOTALL,
)


def presupposed(question: str) -> str:
    """Returns the statement that `question` takes for granted; "" for none, or if it is about the asker.

    "Why does metformin cause weight gain?" gives "Metformin causes weight gain.".
    """
    for start, end in sentence_spans(question):
        sentence = _SECOND_QUESTION.sub("", question[start:end].strip())
        if len(sentence) <= _MOST_CHARACTERS and (stated := _stated(sentence)):
            too_vague = len(content_keys(stated)) < _LEAST_WORDS
            if not (too_vague or _OF_THE_ASKER.search(stated) or _OPEN.search(stated)):
                return f"{stated[0].upper()}{stated[1:].rstrip(' .?')}."
    return ""


def _stated(sentence: str) -> str:
    """Returns what a sentence takes for granted, without a full stop; "" for none."""
    if found := _GIVEN.match(sentence):
        return found[1]
    if found := _DONE.match(sentence):
        return _with_verb(found[1].lower(), found[2].split())
    if found := _BEING.match(sentence):
        return _with_auxiliary(found[1].lower(), found[2].split())
    found = _HOW_COME.match(sentence)
    return found[1] if found else ""


def _with_verb(auxiliary: str, words: list[str]) -> str:
    """Returns "iron causes nausea" for "does" and "iron cause nausea"; "" without a verb."""
    verbs = [
        place
        for place, word in enumerate(words)
        if place and "base" in verb_forms().get(word.lower(), frozenset())
    ]
    sure = [place for place in verbs if words[place].lower() not in noun_verbs()] or verbs
    if not sure:
        return ""
    place, form = sure[0], {"does": "s", "do": "base", "did": "past"}[auxiliary]
    if words[place - 1].lower() == "not":
        return " ".join([*words[: place - 1], auxiliary, *words[place - 1 :]])
    verb = in_form(words[place].lower(), form) or words[place]
    return " ".join([*words[:place], verb, *words[place + 1 :]])


def _with_auxiliary(auxiliary: str, words: list[str]) -> str:
    """Returns "iron is safe" for "is" and "iron safe"; "" where the verb's place is unclear."""
    for place, word in enumerate(words):
        forms = verb_forms().get(word.lower(), frozenset())
        verbal = forms & {"part", "ing"} and "base" not in forms
        modal = auxiliary in ("can", "must", "should")
        bare = modal and (word.lower() == "be" or ("base" in forms and word.lower() not in noun_verbs()))
        if place and (verbal or bare or _PREDICATE.match(word)):
            preposition = word.lower() in ("of", "for", "in", "to", "on", "at", "with")
            return "" if preposition else " ".join([*words[:place], auxiliary, *words[place:]])
    return ""


def asker_facts(question: str) -> list[str]:
    """Returns what the asker says of themselves, in the second person, in order; [] for nothing.

    Only sentences with "I", "my", "we" or "our" count. A question at their end is left out; a sentence that
    is a question as a whole ("Can I take it if I am pregnant?") tells nothing.

    "I am pregnant. Can I take it?" gives "You are pregnant.".
    """
    facts = []
    for start, end in sentence_spans(question):
        sentence = question[start:end].strip()
        said = _ASKS.sub("", sentence) if sentence.endswith("?") else sentence
        if not said.endswith("?") and re.search(r"\b(?:i|i['’]\w+|my|our|we)\b", said, re.IGNORECASE):
            for pattern, told in _SECOND_PERSON:
                said = pattern.sub(told, said)
            facts.append(f"{said[0].upper()}{said[1:].rstrip(' .')}.")
    return facts
