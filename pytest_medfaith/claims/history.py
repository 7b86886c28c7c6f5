"""What the earlier turns of a conversation tell of an answer: what was asked, and what "it" is.

Example: after "Does metformin help?" the question "How much of it?" asks about metformin. Earlier turns are
words before a claim here, never evidence for it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from pytest_medfaith.claims.context import asks_whole
from pytest_medfaith.claims.idle import idle_reason
from pytest_medfaith.claims.questions import is_question
from pytest_medfaith.english.grammar import Part
from pytest_medfaith.english.lexicon import word_set
from pytest_medfaith.english.phrases import read_words
from pytest_medfaith.english.sentences import sentences_of
from pytest_medfaith.english.words import content_keys
from pytest_medfaith.entities.linker import link
from pytest_medfaith.records import Claim

_TOPICS = ("drug", "disease", "gene", "organism")
_MOST_WORDS = 60  # before the question: more would push the claim out of what a model reads
# Words of follow-ups on any topic: "Which drugs should be avoided?" names no topic.
_NO_TOPIC = content_keys(
    """
    drug drugs medicine medication tablet tablets pill treatment treat therapy option choice alternative
    alternatives first second line first-line second-line dose dosage amount maximum minimum limit side effect
    risk danger benefit harm cause symptom sign test diagnosis diagnose prevention prevent doctor hospital
    emergency help work use take taken give given start stop avoid avoided need recommended recommend best
    better worse safe unsafe dangerous common long often much many soon late day week month year time eat
    drink food diet meal alcohol exercise surgery operation guideline evidence study people patient person
    adult else more other another different also still possible happen wait last expect know see contact
    anything something interaction interact contraindication contraindicated vaccine lower higher raise reduce
    i'm we're
    """
)
_GOES_ON = re.compile(r"\W*(?:and|but|or|so|also|then|what about|how about)\b", re.IGNORECASE)
_POINTS = re.compile(
    r"\b(?:it|its|that|this|these|those|they|them|their|one|ones|both|either)\b", re.IGNORECASE
)
# A statement that begins with these asks for something, so a "Yes" after it agrees to nothing.
_ASKS_FOR = word_set("i i'd i'm we please tell explain help thanks thank hello hi")


def asked_in(question: str, turns: Sequence[Any]) -> str:
    """Returns a question with the words of earlier turns that its reader needs before it.

    These are what the user stated ("I am pregnant."). If the question needs it ("How much of it?"), they are
    also the questions back to one that can be read by itself, each with the first sentence of its answer. At
    most 60 words are kept, the latest. A statement becomes a question: "Is it right that ...?". Without turns
    the question comes back unchanged.

    Args:
        question: the last message of the user.
        turns: mappings with role and content, the earliest first.
    """
    if not turns:
        return question
    kept: list[str] = []
    needs = not _is_whole(question)
    for turn in reversed(turns):
        said = [one for one in sentences_of(turn["content"]) if is_question(one) or not idle_reason(one)]
        if turn["role"] == "user":
            asked = [one for one in said if is_question(one)]
            kept[:0] = [one for one in said if one not in asked or needs]
            needs = needs and bool(asked) and not any(map(_is_whole, asked))
        elif needs:
            kept[:0] = [one for one in said if not is_question(one)][:1]
    while kept and sum(len(one.split()) for one in kept) > _MOST_WORDS:
        kept.pop(0)
    return " ".join([*map(_ended, kept), _as_question(question)])


def standalone_question(question: str, turns: Sequence[Any]) -> str:
    """Returns a question with the words of earlier turns that a retriever needs to find what it asks.

    After "How is migraine treated?" the question "And in pregnancy?" becomes "How is migraine treated? And in
    pregnancy?". What the user asked goes before it, back to a question that names its topic. The first
    sentence of the last answer is added if "it" or "that" may mean something of it. Other answers are left
    out, since long answers would drown the question.

    Args:
        question: the last message of the user.
        turns: mappings with role and content, the earliest first.
    """
    asked = [turn["content"] for turn in turns if turn["role"] == "user"]
    if not _goes_on(question):
        return " ".join([*_short([one for turn in asked for one in _stated(turn)]), question])
    if not asked:
        return question
    begin = next((place for place in reversed(range(len(asked))) if not _goes_on(asked[place])), 0)
    answered = [turn["content"] for turn in turns if turn["role"] != "user"]
    pointed = sentences_of(answered[-1])[:1] if answered and _POINTS.search(question) else []
    kept = [" ".join(asked[begin].split()[:_MOST_WORDS]), *asked[begin + 1 :], *pointed]
    return " ".join([*_short(kept), question])


def _short(texts: list[str]) -> list[str]:
    """Returns as many of the first `texts` as have 60 words together, each with a full stop at its end."""
    kept = [text.strip() for text in texts]
    while kept and sum(len(one.split()) for one in kept) > _MOST_WORDS:
        kept.pop()
    return list(map(_ended, kept))


def _stated(message: str) -> list[str]:
    """Returns the sentences in which a user states something, without questions and idle words."""
    return [
        one
        for one in sentences_of(message)
        if not (is_question(one) or one.endswith("?") or idle_reason(one))
    ]


def _goes_on(question: str) -> bool:
    """Returns whether a message asks about what was said before: it names no topic, or only points at it."""
    if _GOES_ON.match(question) or (_POINTS.search(question) and not _is_whole(question)):
        return True
    named = link(question)
    if any(mention.kind in _TOPICS for mention in named):
        return False
    groups = " ".join(question[mention.start : mention.end] for mention in named)
    return content_keys(question) - content_keys(groups) <= _NO_TOPIC


def said_by_user(question: str, turns: Sequence[Any]) -> str:
    """Returns everything that the user said, joined by line ends, the question last; no turn of a model.

    An age or a drug may be named anywhere.

    Args:
        question: the last message of the user.
        turns: mappings with role and content, the earliest first.
    """
    earlier = (turn["content"] for turn in turns if turn["role"] == "user")
    return "\n".join([*earlier, question]) if turns else question


def with_ellipsis(claims: Sequence[Claim], asked: str) -> tuple[Claim, ...]:
    """Returns the claims; a fragment ("Up to 4 g a day.") without a context gets `asked` as its context."""
    return tuple(
        claim if claim.context or _part(claim.text).clause is not None else claim.with_(context=asked)
        for claim in claims
    )


def _is_whole(question: str) -> bool:
    """Returns whether a message can be read without the messages before it."""
    sentences = sentences_of(question)
    return not sentences or asks_whole(_part(sentences[0]))


def _as_question(question: str) -> str:
    """Returns a message that states something as a question: "Is it right that ...?". "Yes." agrees to it."""
    sentences = sentences_of(question)
    if any(map(is_question, sentences)) or "?" in question:
        return question
    stated = [one for one in sentences if not idle_reason(one)]
    if not stated or stated[-1].split()[0].lower().strip(",.!") in _ASKS_FOR:
        return question
    last = stated[-1].rstrip(" .!")
    clause = _part(last).clause
    if clause is None or not clause.subject:
        return question
    return " ".join([*map(_ended, stated[:-1]), f"Is it right that {last[0].lower()}{last[1:]}?"])


def _part(text: str) -> Part:
    """Returns `text` as a part: its words and their clause."""
    return Part(tuple(read_words(text)))


def _ended(sentence: str) -> str:
    """Returns `sentence` with a full stop, if it has no mark at its end."""
    return sentence if sentence.endswith((".", "!", "?")) else f"{sentence}."
