"""From hedge to certainty: the evidence says may, some, or unclear; the claim says always, cures, or proven."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from pytest_medfaith.checking.rules.frames import Frame, frames
from pytest_medfaith.english.words import Token, share, weight
from pytest_medfaith.records import Finding

# Fitted on the development part of the written pairs (bench/rules.py).
LEAST_SHARED = 0.5  # of the claim's other content words stand in the sentence
LEAST_IN_CLAUSE = 0.4  # of them stand in the clause of the hedge, where all it says alone are words that any sentence may hold

_CERTAIN = re.compile(
    r"\b(?:always|invariably|definitely|definitively|certainly|undoubtedly|unquestionably|guarantee[sd]?|"
    r"cures?|cured|proves?|proved|proven|conclusively|completely|entirely|totally|absolutely|"
    r"every (?:patient|person|case|child|adult|woman|man)|all (?:patients|people|cases|children|adults|"
    r"women|men)|everyone|everybody|without exception|100\s?%|beyond doubt|no doubt|well established|"
    r"firmly established|"
    r"is (?:established|certain|known) (?:to|that)|(?:are|was|were) known to|never)\b",
    re.IGNORECASE,
)
_HEDGED = re.compile(
    r"\b(?:may|might|could|possibly|(?<!as )possible|probably|perhaps|suggests?|suggested|suggestive|"
    r"appears?|appeared|seems?|seemed|likely|some|sometimes|often|usually|generally|tends?|tended|limited|"
    r"uncertain|unclear|"
    r"unknown|inconclusive|insufficient|preliminary|low[- ]certainty|very low certainty|"
    r"not (?:yet )?(?:known|clear|established|proven|certain)|mixed|inconsistent|no firm|helps?|can|most|"
    r"many|partly|in part)\b",
    re.IGNORECASE,
)
# "Fully" is as certain as "completely", but many a "fully" of a claim is no boost: "fully vaccinated people".
_WHOLLY = re.compile(r"\b(?:completely|entirely|totally|absolutely|fully|wholly|thoroughly)\b", re.IGNORECASE)
_KNOWN = re.compile(r"(?:is|are|was|were) known (?:to|that)", re.IGNORECASE)
# Where a hedge ceases to reach back, and to reach on: "Smoking causes cancer, and it can harm the eyes", "may help, but causes a rash".
_NOT_BACK = re.compile(
    r",(?!\d)|;|\bbut\b|\band(?=\s+(?:(?:also|thus|therefore|then|even|in turn|it|they|this|these|he|she|"
    r"that|which)\s+){0,2}$)",
    re.IGNORECASE,
)
_NOT_ON = re.compile(
    r";|,?\s+but\b|,\s+(?:and|while|whereas|although|though|yet|so|which|who)\b", re.IGNORECASE
)
_GOES_ON = re.compile(
    r"[,;]?\s+(?:(?:and|but|while|whereas|although|though|yet|so)\s+)?(?:it|they|this|these|he|she)\b",
    re.IGNORECASE,
)
# "..., in adults, may": what stands between two commas before a verb parts nothing.
_ASIDE = re.compile(r",(?!\d)(?:[^,;]|,(?=\d))*,\s+$")
_VERB = re.compile(r"may|might|could|can|suggest\w*|appear\w*|seem\w*|tend\w*|helps?", re.IGNORECASE)
# "although this evidence was of low certainty" speaks of what stands before it.
_REFERRING = re.compile(
    r"\b(?:(?:this|that|these|those|such)\s+(?:[\w-]+\s+)?|the\s+)(?:evidence|findings?|results?|data|"
    r"links?|associations?|effects?|benefits?|conclusions?)\b",
    re.IGNORECASE,
)
# A hedge of the claim's own, or a denial, takes the certainty back.
_TAKEN_BACK = re.compile(
    r"\b(?:not|no|n't|cannot|may|might|could|unclear|uncertain|unknown|remains?|whether|if|nearly|almost|"
    r"hardly|few|nothing|only|half|quarters?|thirds?|(?:had|have|has) never|never had)\b|n['’]t\b",
    re.IGNORECASE,
)


def certainty(claim: str, evidence: str) -> list[Finding]:
    """Returns a finding where the claim is certain of what the sentence hedges; nothing where the sentence is as certain."""
    booster = _CERTAIN.search(claim)
    if not booster or _TAKEN_BACK.search(claim):
        return []
    for frame in frames(claim, evidence):
        own = [
            index for index, token in enumerate(frame.claim) if booster.start() <= token.start < booster.end()
        ]
        text = evidence[frame.sentence.start : frame.sentence.end]
        if _as_certain(booster[0], text) or share(_wanted(frame, own), frame.sentence.keys) < LEAST_SHARED:
            continue
        hedge = next(
            (found for found in _HEDGED.finditer(text) if _hedges(found, text, frame, booster, own)), None
        )
        if not hedge:
            continue
        start = frame.sentence.start + hedge.start()
        return [
            Finding(
                rule="certainty",
                message=f"claim says {booster[0]!r}, evidence says {hedge[0]!r}",
                claim_span=booster.span(),
                evidence_span=(start, start + len(hedge[0])),
                effect="weaken",
            )
        ]
    return []


def _as_certain(booster: str, text: str) -> bool:
    return bool(_CERTAIN.search(text) or (_WHOLLY.fullmatch(booster) and _WHOLLY.search(text)))


def _hedges(
    hedge: re.Match[str], text: str, frame: Frame, booster: re.Match[str], own: Collection[int]
) -> bool:
    """Returns whether `hedge` speaks of what the claim is certain of: its clause says words of the claim that the rest does not.

    Of "smoking can harm the eyes, and it causes cancer" only the words after the hedge count, as "it" goes on with those before. For "is
    known to" the verb has to come after the hedge: "some" in "smoking causes cancer in some people" takes nothing back.
    """
    opening, closing = _clause(hedge, text)
    start, end, behind = (frame.sentence.start + place for place in (opening, closing, hedge.end()))
    clause = [token for token in frame.sentence.tokens if start <= token.start < end]
    rest = [token for token in frame.sentence.tokens if not start <= token.start < end]
    verb = next((token.key for token in frame.claim if token.start >= booster.end() and token.content), "")
    if _KNOWN.fullmatch(booster[0]) and verb in frame.sentence.keys:
        return any(token.key == verb and token.start >= behind for token in clause)
    said = [token for token in clause if token.start >= behind] if _GOES_ON.match(text, closing) else clause
    wanted = _wanted(frame, own)
    alone = (wanted & _keys(said)) - _keys(rest)
    enough = any(weight(key) == 1 for key in alone) or (
        bool(alone) and share(wanted, _keys(clause)) >= LEAST_IN_CLAUSE
    )
    return enough or bool(_REFERRING.search(text, opening, closing))


def _clause(hedge: re.Match[str], text: str) -> tuple[int, int]:
    """Returns the characters of `text`, half-open, that `hedge` may speak of."""
    ahead = text[: hedge.start()]
    aside = _ASIDE.search(ahead) if _VERB.fullmatch(hedge[0]) else None
    opening = max(
        (found.end() for found in _NOT_BACK.finditer(ahead[: aside.start()] if aside else ahead)), default=0
    )
    closing = _NOT_ON.search(text, hedge.end())
    return opening, closing.start() if closing else len(text)


def _wanted(frame: Frame, own: Collection[int]) -> set[str]:
    """Returns the keys of the claim's content words, those of the booster aside."""
    return {token.key for index, token in enumerate(frame.claim) if token.content and index not in own}


def _keys(tokens: Sequence[Token]) -> set[str]:
    return {token.key for token in tokens if token.content}
