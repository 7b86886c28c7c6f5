"""A restriction left off: the evidence says "unless", "apart from", "only after", and the claim says it of all."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pytest_medfaith.checking.anchors.evidence import Evidence, Missing
from pytest_medfaith.checking.rules.negation import negations
from pytest_medfaith.english.words import content_keys, read_tokens, share

SAME_STATEMENT = 0.75  # of the claim's words that the sentence says apart from its restriction
SAME_LIMITED = 0.6  # of the claim's words that the sentence holds, for a claim that widens it
SAID = 0.2  # of the restriction's words that a claim which states it has at least

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
# What restricts a claim, unless the sentence says it besides its restriction.
_OWN = re.compile(
    r"\b(?:unless|except\w*|apart from|other than|save for|exception|excluding|provided|as long as|"
    r"so long as|condition|only|if|when|once|after|until|in (?:some|certain|selected|most)|sometimes|"
    r"usually|generally|certain|some|mostly|normally|outside)\b",
    re.IGNORECASE,
)


# What says of all what the evidence says of some.
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
_ON = re.compile(r"\b(?:with|in|for|and|on)\b", re.IGNORECASE)  # what follows belongs to the statement
_NUMBERS = re.compile(r"\d+")


def missing_limits(claim: str, evidence: Evidence) -> Iterator[Missing]:
    """Yields the word of `claim` that says of all ("in all adults", "at any time") what its sentence says of those "who ..." or "when ..."."""
    found = _WIDENING.search(claim.rstrip(" ."))
    if (
        not found
        or _WIDENING.search(evidence.nearest)
        or any(_WIDENING.search(text) for text in evidence.texts)
    ):
        return
    wanted = content_keys(claim)
    if not wanted or share(wanted, content_keys(evidence.nearest)) < SAME_LIMITED:
        return
    for limit in _LIMITING.finditer(evidence.nearest):
        words = _ON.split(limit["words"])[0]
        keys, numbers = content_keys(words), set(_NUMBERS.findall(words))
        if (keys or numbers) and share(keys, wanted) <= SAID and numbers.isdisjoint(_NUMBERS.findall(claim)):
            note = f"the evidence says this {limit[0].strip()[:80]!r}, the claim says {found[0]}"
            yield Missing("restriction", *found.span(), note=note)
            return


def missing_restrictions(claim: str, evidence: Evidence) -> Iterator[Missing]:
    """Yields the claim where its sentence restricts what it says of all."""
    match = _RESTRICTED.search(evidence.nearest)
    if not match:
        return
    rest = evidence.nearest[: match.start()] + evidence.nearest[match.end() :]
    shared = {found[0].lower() for found in _OWN.finditer(rest)}
    if any(found[0].lower() not in shared for found in _OWN.finditer(claim)):
        return
    wanted = content_keys(claim)
    restricting = content_keys(match["words"]) - content_keys(rest)
    if not wanted or share(wanted, content_keys(rest)) < SAME_STATEMENT or share(restricting, wanted) > SAID:
        return
    if len(negations(read_tokens(claim))) % 2 != len(negations(read_tokens(rest))) % 2:
        return
    if any(_states_alone(text, wanted, match["words"]) for text in evidence.texts):
        return
    words = match["words"].strip(" ,")
    yield Missing(
        "restriction", 0, len(claim), note=f"the evidence says this {words[:80]!r}, the claim says it of all"
    )


def _states_alone(text: str, wanted: frozenset[str], words: str) -> bool:
    """Returns whether another sentence of the evidence says all of it without a restriction."""
    from pytest_medfaith.english.words import evidence_sentences

    return any(
        words not in text[sentence.start : sentence.end]
        and not _RESTRICTED.search(text, sentence.start, sentence.end)
        and share(wanted, sentence.keys) >= SAME_STATEMENT
        for sentence in evidence_sentences(text)
    )
