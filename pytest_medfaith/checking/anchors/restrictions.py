"""Restrictions left off: the evidence says "unless" or "only after", and the claim says it of all."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pytest_medfaith.checking.anchors.evidence import Evidence, Missing, is_odd
from pytest_medfaith.english.words import content_keys, evidence_sentences, share

SAME_STATEMENT = 0.75  # of the claim's words are in the sentence apart from its restriction
SAME_LIMITED = 0.6  # of the claim's words are in the sentence, for a claim that widens it
SAID = 0.2  # of the restriction's words are in a claim that states it
_MOST_SHOWN = 80  # characters of a restriction that a note quotes

_VERB = r"(?:is|are|was|were|be|should|can|may|must|has|have|do|does|will|need|needs)"
_RESTRICTED = re.compile(
    rf"(?P<words>\b(?:except(?:ing)?(?: for| in| when| if| that)?|apart from|other than|save for|"
    rf"with the exception of|excluding)\b[^.;,]*?(?=\s+{_VERB}\b|[.,;]|$)"
    r"|\b(?:unless|provided(?: that)?|as long as|so long as|on condition that|"
    r"but not (?:in|for|with|if|when|during|at)|not (?:in|for) (?:those|people|patients|children|women|"
    r"anyone)|"
    r"only (?:if|when|after|once|in|for|with|under|where|by|as|until)|if and only if)\b[^.;]*)",
    re.IGNORECASE,
)
# These words restrict a claim, unless the sentence has them outside its restriction too.
_RESTRICTING = re.compile(
    r"\b(?:unless|except\w*|apart from|other than|save for|exception|excluding|provided|as long as|"
    r"so long as|condition|only|if|when|once|after|until|in (?:some|certain|selected|most)|sometimes|"
    r"usually|generally|certain|some|mostly|normally|outside)\b",
    re.IGNORECASE,
)
# These words say of all what the evidence says of some.
_WIDENING = re.compile(
    r"\b(?:any|every|all|whatever|whenever|regardless|irrespective|everyone|anyone|on (?:its|their) own|"
    r"at any (?:age|time)|as well$|too$)\b(?!\s+(?:other|of the following|day|\d|hours?|minutes?))",
    re.IGNORECASE,
)
_LIMITING = re.compile(
    r"\b(?:who|whose|unless|only|when|if|within|with|before|after|until|once|older|younger|aged|over|under|"
    r"below|above|while|provided|without)\b(?P<words>[^.;,]*)",
    re.IGNORECASE,
)
# What follows these words belongs to the statement, not to its limit.
_ON = re.compile(r"\b(?:with|in|for|and|on)\b", re.IGNORECASE)
_NUMBERS = re.compile(r"\d+")


def missing_limits(claim: str, evidence: Evidence) -> Iterator[Missing]:
    """Yields the word that says of all ("at any time") what the sentence says of those "who" or "when"."""
    found = _WIDENING.search(claim.rstrip(" ."))
    if not found or any(_WIDENING.search(text) for text in evidence.in_order):
        return
    wanted = content_keys(claim)
    if not wanted or share(wanted, content_keys(evidence.nearest)) < SAME_LIMITED:
        return
    for limit in _LIMITING.finditer(evidence.nearest):
        words = _ON.split(limit["words"])[0]
        keys, numbers = content_keys(words), set(_NUMBERS.findall(words))
        if (keys or numbers) and share(keys, wanted) <= SAID and numbers.isdisjoint(_NUMBERS.findall(claim)):
            quoted = limit[0].strip()[:_MOST_SHOWN]
            note = f"the evidence says this {quoted!r}, the claim says {found[0]}"
            yield Missing("restriction", *found.span(), note=note)
            return


def missing_restrictions(claim: str, evidence: Evidence) -> Iterator[Missing]:
    """Yields the claim where its sentence restricts what the claim says of all."""
    restriction = _RESTRICTED.search(evidence.nearest)
    if not restriction:
        return
    rest = evidence.nearest[: restriction.start()] + evidence.nearest[restriction.end() :]
    shared = {found[0].lower() for found in _RESTRICTING.finditer(rest)}
    if any(found[0].lower() not in shared for found in _RESTRICTING.finditer(claim)):
        return
    wanted, words = content_keys(claim), restriction["words"]
    restricting = content_keys(words) - content_keys(rest)
    if not wanted or share(wanted, content_keys(rest)) < SAME_STATEMENT or share(restricting, wanted) > SAID:
        return
    if is_odd(claim) != is_odd(rest) or any(_states_alone(text, wanted, words) for text in evidence.texts):
        return
    quoted = words.strip(" ,")[:_MOST_SHOWN]
    note = f"the evidence says this {quoted!r}, the claim says it of all"
    yield Missing("restriction", 0, len(claim), note=note)


def _states_alone(text: str, wanted: frozenset[str], words: str) -> bool:
    """Returns whether another sentence of the evidence says all of the claim without a restriction."""
    return any(
        words not in text[sentence.start : sentence.end]
        and not _RESTRICTED.search(text, sentence.start, sentence.end)
        and share(wanted, sentence.keys) >= SAME_STATEMENT
        for sentence in evidence_sentences(text)
    )
