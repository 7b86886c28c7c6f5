"""Restrictions that the claim leaves out: the evidence says "unless", the claim says it of all."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pytest_medfaith.checking.anchors.evidence import Evidence, Missing, is_odd
from pytest_medfaith.english.stems import word_key
from pytest_medfaith.english.words import content_keys, evidence_sentences, share
from pytest_medfaith.quantities.numerals import read_numerals

SAME_STATEMENT = 0.75  # of the claim's words that the sentence holds outside its restriction
SAME_LIMITED = 0.6  # of the words of a claim with "any" or "all" that the sentence holds
SAID = 0.2  # of the restriction's words: a claim with more of them states the restriction
SAID_IN_PART = 0.4  # the same for a whole condition ("unless ...")
_MOST_SHOWN = 80  # characters of a restriction that a note quotes

_VERB = r"(?:is|are|was|were|be|should|can|may|must|has|have|do|does|will|need|needs)"
_RESTRICTED = re.compile(
    rf"(?P<words>^only (?:if|when|after|once)\b[^.;]*?(?=\s+{_VERB}\b)"
    rf"|^(?:unless|provided(?: that)?|as long as|so long as)\b[^.;,]*"
    rf"|\b(?:except(?:ing)?(?: for| in| when| if| that)?|apart from|other than|save for|"
    rf"with the exception of|excluding)\b[^.;,]*?(?=\s+{_VERB}\b|[.,;]|$)"
    r"|\b(?:unless|provided(?: that)?|as long as|so long as|on condition that|"
    r"but not (?:in|for|with|if|when|during|at)|not (?:in|for) (?:those|people|patients|children|women|"
    r"anyone)|"
    r"only (?:if|when|after|once|in|for|with|under|where|by|as|until)|if and only if)\b[^.;]*)",
    re.IGNORECASE,
)
# These words restrict a claim, except where the sentence has them outside its restriction too.
_RESTRICTING = re.compile(
    r"\b(?:unless|except\w*|apart from|other than|save for|exception|excluding|provided|as long as|"
    r"so long as|condition|only|if|when|once|after|until|in (?:some|certain|selected|most)|sometimes|"
    r"usually|generally|certain|some|mostly|normally|outside)\b",
    re.IGNORECASE,
)
# A claim with these words says of all what the evidence says of some.
_WIDENING = re.compile(
    r"\b(?:any|every|all|whatever|whenever|regardless|irrespective|everyone|anyone|on (?:its|their) own|"
    r"at any (?:age|time)|as well$|too$)\b(?!\s+(?:other|of the following|day|\d|hours?|minutes?))",
    re.IGNORECASE,
)
_LIMITS = (
    r"who|whose|unless|only|when|if|within|with|before|after|until|once|older|younger|aged|over|under|below|"
    r"above|while|provided|without|(?:as|so) long as|except|apart from|other than|excluding"
)
_LIMITING = re.compile(
    rf"\b(?P<limit>{_LIMITS})\b(?P<words>(?:(?!\b(?:{_LIMITS})\b)[^.;,])*)",
    re.IGNORECASE,
)
# All words after these are the limit.
_CONDITIONS = frozenset(
    ("unless", "provided", "as long as", "so long as", "except", "apart from", "other than", "excluding")
)
_ONLY_AFTER = re.compile(
    r"(?:only (?:if|when|after|once|where|until)|provided|(?:as|so) long as)\b", re.IGNORECASE
)
_EVEN = re.compile(
    r"\b(?:even (?:if|when|in|with|during|after|though|for)|including|also (?:in|for|when|if)|as well$|too$)",
    re.IGNORECASE,
)
_WITHOUT = re.compile(r"\b(?:before|without|even without|whether or not)\b", re.IGNORECASE)
_EARLY = re.compile(
    r"\b(?:straight (?:after|away)|immediately|at once|right away|from the (?:(?:first|very first|same) )?"
    r"(?:day|start|outset|beginning)|as soon as (?:it is|they are) diagnosed|while\b[^.;,]*\bstill)\b",
    re.IGNORECASE,
)
_EXCEPTING = re.compile(
    r"\b(?:unless|except\w*|apart from|other than|save for|excluding|provided|as long as|so long as|only|"
    r"not until|until)\b",
    re.IGNORECASE,
)
# What follows these words belongs to the statement, not to its limit.
_ON = re.compile(r"\b(?:with|in|for|and|on)\b", re.IGNORECASE)
_NUMBERS = re.compile(r"\d+")
_OF_AGE = frozenset(map(word_key, "age aged old year years month months".split()))


def missing_limits(claim: str, evidence: Evidence) -> Iterator[Missing]:
    """Yields a `Missing` of the kind "restriction" for "at any time" or "all" where the evidence has a limit.

    Example: "any patient may take it" where the deciding sentence (`evidence.nearest`) says "patients who are
    older than 60 may take it". Nothing is yielded if the claim states the limit, or if a text of the evidence
    has such a word too.
    """
    found = _WIDENING.search(claim.rstrip(" ."))
    if not found or any(_WIDENING.search(text) for text in evidence.in_order):
        return
    wanted = content_keys(claim) - content_keys(found[0]) - _OF_AGE
    if not wanted or share(wanted, content_keys(evidence.nearest)) < SAME_LIMITED:
        return
    for limit in _LIMITING.finditer(evidence.nearest):
        is_condition = limit["limit"].lower() in _CONDITIONS
        if is_condition and _is_restricted(claim):
            continue
        words = limit["words"] if is_condition else _ON.split(limit["words"])[0]
        keys, numbers = content_keys(words) - _OF_AGE, set(_NUMBERS.findall(words))
        numbers |= {f"{numeral.value:g}" for numeral in read_numerals(words)}
        most = SAID_IN_PART if is_condition else SAID
        if (keys or numbers) and share(keys, wanted) <= most and numbers.isdisjoint(_NUMBERS.findall(claim)):
            quoted = limit[0].strip()[:_MOST_SHOWN]
            note = f"the evidence says this {quoted!r}, the claim says {found[0]}"
            yield Missing("restriction", *found.span(), note=note)
            return


def missing_restrictions(claim: str, evidence: Evidence) -> Iterator[Missing]:
    """Yields a `Missing` of the kind "restriction" where the claim leaves out or crosses a restriction.

    The deciding sentence, `evidence.nearest`, says "unless fever sets in". "X may be given" leaves this out,
    and "X may be given even when fever sets in" crosses it.
    """
    restriction = _RESTRICTED.search(evidence.nearest)
    if not restriction:
        return
    rest = evidence.nearest[: restriction.start()] + evidence.nearest[restriction.end() :]
    if found := _crossed(claim, restriction["words"].strip(" ,"), rest):
        quoted = restriction["words"].strip(" ,")[:_MOST_SHOWN]
        note = f"the evidence says this {quoted!r}, the claim says {found[0]}"
        yield Missing("restriction", *found.span(), note=note)
        return
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


def _crossed(claim: str, words: str, rest: str) -> re.Match[str] | None:
    """Returns the match of the words with which the claim crosses a restriction, or None.

    "Even when fever sets in" crosses "unless fever sets in". "Before any culture" and "straight away" cross
    "only after two cultures".

    Args:
        claim: the text of the claim.
        words: the restriction.
        rest: the sentence without the restriction.
    """
    wanted, restricting = content_keys(claim), content_keys(words) - content_keys(rest)
    if not wanted or not restricting or _is_restricted(claim) or is_odd(claim) != is_odd(rest):
        return None
    if share(wanted - restricting, content_keys(rest)) < SAME_LIMITED:
        return None
    if _ONLY_AFTER.match(words):
        if (found := _WITHOUT.search(claim)) and share(
            restricting, content_keys(claim[found.end() :])
        ) > SAID:
            return found
        return _EARLY.search(claim) if share(restricting, wanted) < SAME_STATEMENT else None
    return _EVEN.search(claim) if share(restricting, wanted) >= SAME_LIMITED else None


def _is_restricted(claim: str) -> bool:
    """Returns whether the claim has a word for an exception: "unless", "only", "until"."""
    return bool(_EXCEPTING.search(claim))


def _states_alone(text: str, wanted: frozenset[str], words: str) -> bool:
    """Returns whether another sentence of `text` says the claim without a restriction.

    Args:
        text: a text of the evidence.
        wanted: the keys of the claim's content words.
        words: the restriction of the deciding sentence.
    """
    return any(
        words not in text[sentence.start : sentence.end]
        and not _RESTRICTED.search(text, sentence.start, sentence.end)
        and share(wanted, sentence.keys) >= SAME_STATEMENT
        for sentence in evidence_sentences(text)
    )
