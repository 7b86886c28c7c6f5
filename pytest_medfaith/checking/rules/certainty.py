"""From hedge to certainty: the evidence says may, some, or unclear; the claim says always, cures, or proven."""

from __future__ import annotations

import re
from collections.abc import Collection

from pytest_medfaith.checking.rules.frames import Frame, frames
from pytest_medfaith.checking.rules.text import share
from pytest_medfaith.records import Finding

# Fitted on the development part of the written pairs (bench/rules.py).
LEAST_SHARED = 0.5  # of the claim's other content words stand in the sentence

_CERTAIN = re.compile(
    r"\b(?:always|invariably|definitely|definitively|certainly|undoubtedly|unquestionably|guarantee[sd]?|cures?|cured|proves?|proved|proven|conclusively|completely|entirely|totally|absolutely|"
    r"every (?:patient|person|case|child|adult|woman|man)|all (?:patients|people|cases|children|adults|women|men)|everyone|everybody|without exception|100\s?%|beyond doubt|no doubt|well established|firmly established|"
    r"is (?:established|certain|known) (?:to|that)|(?:are|was|were) known to|never)\b",
    re.IGNORECASE,
)
_HEDGED = re.compile(
    r"\b(?:may|might|could|possibly|possible|probably|perhaps|suggests?|suggested|suggestive|appears?|appeared|seems?|seemed|likely|some|sometimes|often|usually|generally|tends?|tended|limited|uncertain|unclear|"
    r"unknown|inconclusive|insufficient|preliminary|low[- ]certainty|very low certainty|not (?:yet )?(?:known|clear|established|proven|certain)|mixed|inconsistent|no firm|helps?|can|most|many|partly|in part)\b",
    re.IGNORECASE,
)
# A hedge of the claim's own, or a denial, takes the certainty back.
_TAKEN_BACK = re.compile(
    r"\b(?:not|no|n't|cannot|may|might|could|unclear|uncertain|unknown|remains?|whether|if|nearly|almost|hardly|few|nothing|only|half|quarters?|thirds?|(?:had|have|has) never|never had)\b|n['’]t\b",
    re.IGNORECASE,
)


def certainty(claim: str, evidence: str) -> list[Finding]:
    """Returns a finding where the claim is certain of what the sentence hedges; nothing where the sentence is as certain."""
    booster = _CERTAIN.search(claim)
    if not booster or _TAKEN_BACK.search(claim):
        return []
    for frame in frames(claim, evidence):
        own = [index for index, token in enumerate(frame.claim) if booster.start() <= token.start < booster.end()]
        text = evidence[frame.sentence.start : frame.sentence.end]
        hedge = _HEDGED.search(text)
        if _CERTAIN.search(text) or not hedge or _shared(frame, own) < LEAST_SHARED:
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


def _shared(frame: Frame, own: Collection[int]) -> float:
    """Returns which part of the claim's content words, those of the booster aside, the sentence has in any order."""
    return share({token.key for index, token in enumerate(frame.claim) if token.content and index not in own}, frame.sentence.keys)
