"""Groups that the evidence sets apart, where the claim says of one group what the evidence denies of it.

Example: "X may be given in adults, but not in children" does not support "X may be given in children".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pytest_medfaith.checking.anchors.evidence import Evidence, Missing, denials
from pytest_medfaith.checking.rules.denials import NOT, REFUSING, negations
from pytest_medfaith.english.words import content_keys, evidence_sentences, read_tokens, share

SAID = 0.8  # of the claim's words that the sentence holds
# The denying part is "but not in children", the affirming part "X may be given in adults".
DENIED = 0.75  # of the words that only the denying part has: at least so many are in the claim
DENIED_IN_PART = 0.6  # the same for a denying part without a verb
AFFIRMED = 0.7  # of the words that only the affirming part has: at most so many are in the claim
_MOST_SHOWN = 80  # characters of the denying part that a note quotes

# Where a sentence turns to another group, or to another matter.
_TURN = re.compile(
    r"(?P<full>;\s+(?:but|and|however,?)?|,\s+(?:but|and|while|whereas|although|though|yet)\b|\s(?=but\b))"
    r"|(?P<part>,\s+(?=with no\b)|\s(?=(?:rather than|instead of|and not|and never)\b)"
    r"|,\s+(?=(?:not|never)\b)"
    r"|\s(?=who (?:were|was|did|do|had|have|are) not\b))",
    re.IGNORECASE,
)
# "Women were not included", "no data for women" and "without benefit in women" leave a group out.
_LEFT_OUT = re.compile(
    r"\b(?:took|taking|had|have) no part(?: in (?:the|this) \w+)?|"
    r"\b(?:was|were|are|is|been) (?:not|never) (?:included|studied|tested|enrolled|treated|eligible|examined|"
    r"assessed|evaluated|recruited|part)(?: (?:in|of) (?:the|this) \w+)?|"
    r"\b(?:was|were|are) (?:excluded|left out)(?: (?:from|of) (?:the|this) \w+)?|"
    r"\b(?:with )?no (?:data|evidence|information|results|effect|benefit)\b"
    r"(?: (?:exist|were given|was seen))?|"
    r"\b(?:rather than|instead of|and not|and never|not|never)\b"
    r"(?=\s+(?:in|into|by|to|under|on|through|with|the|an?)\b)",
    re.IGNORECASE,
)
_REPLACING = re.compile(r"(?:rather than|instead of)\b", re.IGNORECASE)
_REASON = re.compile(r",|\b(?:because|since|as they|as it)\b", re.IGNORECASE)
_EXAMPLES = re.compile(r"^.*\b(?:such as|including|for example|like)\b", re.IGNORECASE | re.DOTALL)
# Two denials in the denying part, or a bound, may affirm.
_UNCLEAR = re.compile(
    r"\b(?:until|unless|except|before|without|only|than(?<!rather than)|longer|if|because|since|differ\w*)\b",
    re.IGNORECASE,
)
# A claim with one of these words may tell the two groups apart as the evidence does.
_APART = re.compile(
    r"\b(?:than|rather|unlike|except\w*|apart|exclu\w+|only|unless|whereas|while|but|instead|lack\w*|leav\w+|"
    r"left|oppos\w+|differ\w*|contrast|alternative|other\w*|similar\w*|same|equal\w*|alike|comparable|"
    r"equivalent|places?|prefer\w*|favou?r\w*|un(?!der|it|ion|iv|if|til)\w+|non-?\w+|in(?:effective|appropriate|sufficient|active|curable|"
    r"adequate|eligible)|stop\w*|risk\w*|danger\w*|harm\w*|caution|cautious\w*|if|reserv\w+|replac\w+|"
    r"restrict\w*|limit\w*|refus\w*|withh\w+|switch\w*|contra\w*|where|what|dis\w+|"
    r"question(?:s|ed|able)?)\b|\?",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Contrast:
    """Two parts of a sentence, one of which denies: "X may be given in adults", "but not in children".

    Attributes:
        denied: the keys (stems) of words that only the denying part has: "children".
        affirmed: the keys of words that only the affirming part has: "adults".
        words: the text of the denying part.
        is_part: True where the denying part has no verb: "rather than the buttock".
    """

    denied: frozenset[str]
    affirmed: frozenset[str]
    words: str
    is_part: bool


def missing_contrasts(claim: str, evidence: Evidence) -> Iterator[Missing]:
    """Yields a `Missing` of the kind "contrast" for a claim that affirms what the evidence denies of a group.

    "X may be given in children" against the deciding sentence (`evidence.nearest`) "X may be given in adults,
    but not in children". The span is the whole claim. Nothing is yielded for a claim that itself denies or
    tells groups apart, or if another sentence of the evidence says the claim without a denial. A claim that
    turns both parts ("stopped, not tapered" for "tapered, not stopped") is always yielded.
    """
    if turned := _turned_contrast(claim, evidence.nearest):
        note = f"the evidence sets this apart: {turned.words.strip(' ,;.')[:_MOST_SHOWN]!r}"
        yield Missing("contrast", 0, len(claim), note=note, refutes=True)
        return
    if denials(claim):
        return
    apart = frozenset().union(*(content_keys(found[0]) or {found[0]} for found in _APART.finditer(claim)))
    wanted = content_keys(claim)
    if not wanted or share(wanted, content_keys(evidence.nearest)) < SAID:
        return
    for contrast in read_contrasts(evidence.nearest):
        if not apart <= contrast.denied:
            continue
        if share(contrast.denied, wanted) < (DENIED_IN_PART if contrast.is_part else DENIED):
            continue
        if not contrast.is_part and share(contrast.affirmed, wanted) > AFFIRMED:
            continue
        if any(_affirms(text, wanted, evidence.nearest) for text in evidence.texts):
            continue
        note = f"the evidence sets this apart: {contrast.words.strip(' ,;.')[:_MOST_SHOWN]!r}"
        yield Missing("contrast", 0, len(claim), note=note)
        return


def _turned_contrast(claim: str, sentence: str) -> Contrast | None:
    """Returns the contrast of `sentence` whose denied words the claim affirms, and the other way; or None."""
    for mine in read_contrasts(claim):
        for theirs in read_contrasts(sentence):
            crossed = mine.denied & theirs.affirmed and mine.affirmed & theirs.denied
            if crossed and not mine.denied & theirs.denied:
                return theirs
    return None


def read_contrasts(sentence: str) -> Iterator[Contrast]:
    """Yields a `Contrast` for each turn (", but", "rather than") between a denying and an affirming part."""
    for turn in _TURN.finditer(sentence):
        ahead, behind = sentence[: turn.start()], sentence[turn.end() :]
        if turn["part"] is not None:
            behind = _REASON.split(behind, maxsplit=1)[0]
        parts = ((behind, ahead),) if turn["part"] is not None else ((behind, ahead), (ahead, behind))
        for denying, affirming in parts:
            leaves = turn["part"] is not None and bool(_REPLACING.match(denying))
            if not (leaves or _denies(denying)) or _denies(affirming) or _UNCLEAR.search(denying):
                continue
            is_part = turn["part"] is not None or bool(_LEFT_OUT.search(denying))
            group = _EXAMPLES.sub("", _LEFT_OUT.sub(" ", _REPLACING.sub(" ", denying)))
            denied, affirmed = _told(group), _told(affirming)
            if denied - affirmed:
                yield Contrast(denied - affirmed, affirmed - denied, denying, is_part)


def _denies(text: str) -> bool:
    """Returns whether `text` denies an odd number of times, or leaves out: "women were not included"."""
    return bool(_LEFT_OUT.search(text)) or denials(text) % 2 == 1


def _told(text: str) -> frozenset[str]:
    """Returns the keys of the content words of `text`, without the words that deny."""
    return frozenset(
        token.key for token in read_tokens(text) if token.content and token.lower not in NOT | REFUSING
    )


def _affirms(text: str, wanted: frozenset[str], nearest: str) -> bool:
    """Returns whether `text` has a sentence outside `nearest` that says the claim without a denial.

    Args:
        text: a text of the evidence.
        wanted: the keys of the claim's content words.
        nearest: the sentence that decided.
    """
    return any(
        text[sentence.start : sentence.end] not in nearest
        and not negations(sentence.tokens)
        and share(wanted, sentence.keys) >= SAID
        for sentence in evidence_sentences(text)
    )
