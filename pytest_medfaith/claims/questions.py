"""Reads what a question asks about, for the answer that begins with "It"."""

from __future__ import annotations

import re

from pytest_medfaith.claims import lexicon
from pytest_medfaith.claims.topics import LONGEST_TOPIC, Topic, Topics, looks_plural, owner_kind

_ARTICLE = r"(?:the\s+|an?\s+)?"
_NAME = (
    r"((?!(?:i|you|we|it|they|he|she|there|this|that|my|your|someone|people|anyone|one|just|not|only|also|still|always|ever|any)\b)"
    r"[\w\u2019'-]+(?:\s+[\w\u2019'-]+){0,3}?)"
)
_NOUN_OF = re.compile(
    r"\b((?:(?:common|main|possible|usual|recommended|typical|early|first-line|standard|best)\s+)*"
    r"(?:(?:side|adverse)\s+effects?|symptoms?|signs?|causes?|treatments?|risks?|benefits?|uses?|dos(?:e|age)|complications?|diagnosis|prognosis|"
    r"risk\s+factors?|mechanism\s+of\s+action)"
    rf"\s+(?:of|for))\s+{_ARTICLE}([^?,.;]+?)(?:\s+(?:in|for|during)\s[^?]*)?\s*\?",
    re.IGNORECASE,
)
_DOES_NAME = re.compile(
    rf"\b(?:does|do|did|can|could|will|would|may|should)\s+{_ARTICLE}{_NAME}\s+(?:be\s+)?(?:(?:also|ever|still)\s+)?(\w+)\b", re.IGNORECASE
)
_IS_NAME = re.compile(
    rf"\b(?:is|are|was|were)\s+{_ARTICLE}{_NAME}\s+{_ARTICLE}"
    r"(?:safe|effective|approved|contagious|dangerous|harmful|recommended|indicated|known|taken|given|\w+ed)\b",
    re.IGNORECASE,
)
_WHAT_IS = re.compile(rf"\bwhat\s+(?:is|are|was|were)\s+{_ARTICLE}([^?,.;]+?)(?:\s+(?:used\s+for|for|in)\b[^?]*)?\s*\?", re.IGNORECASE)


def question_topics(question: str | None) -> Topics:
    """Returns what `question` asks about; empty where that is not plain.

    "What are the side effects of metformin?" is about metformin, and a "they" in its answer stands for the side effects.
    """
    asked = (question or "").strip().rstrip("?") + "?"
    noun_of = _NOUN_OF.search(asked)
    if noun_of:
        return _topics_of_noun(*noun_of.groups())
    name = _asked_name(asked)
    if name is None or len(name.split()) > LONGEST_TOPIC:
        return Topics()
    topic = Topic(name, looks_plural(name))
    return Topics(None if topic.plural else topic, topic if topic.plural else None, topic)


def _topics_of_noun(noun_of: str, owner: str) -> Topics:
    noun = noun_of.rsplit(None, 1)[0]
    main = Topic(owner, looks_plural(owner), owner_kind(noun))
    asked = Topic(f"the {noun_of} {owner}", looks_plural(noun))
    return Topics(main if asked.plural else asked, asked if asked.plural else None, main)


def _asked_name(question: str) -> str | None:
    does = _DOES_NAME.search(question)
    if does and "base" in lexicon.verb_forms().get(does[2].lower(), ()):
        return does[1]
    found = _IS_NAME.search(question) or _WHAT_IS.search(question)
    return found[1] if found else None
