"""From hedge to certainty: the evidence says may, some or unclear, the claim says always, cures or proven."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pytest_medfaith.checking.rules.frames import Frame, frames
from pytest_medfaith.english.words import Token, share, weight
from pytest_medfaith.records import Finding

# Fitted on the development part of the written pairs (bench/rules.py).
LEAST_SHARED = 0.5  # of the claim's content words apart from the certain word are in the sentence
LEAST_IN_CLAUSE = (
    0.4  # of them are in the clause of the hedge, if it alone has only words that any sentence may hold
)

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
# "Fully" is as certain as "completely", but in "fully vaccinated people" it claims no certainty: only
# evidence has it.
_WHOLLY = re.compile(r"\b(?:completely|entirely|totally|absolutely|fully|wholly|thoroughly)\b", re.IGNORECASE)
_KNOWN = re.compile(r"(?:is|are|was|were) known (?:to|that)", re.IGNORECASE)
# A hedge says nothing of words before these: "smoking causes cancer, and it can harm the eyes". It says
# nothing of words behind those of _NOT_ON: "may help, but causes a rash".
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
# Words between two commas before a verb do not part the sentence: "aspirin, in adults, may help".
_ASIDE = re.compile(r",(?!\d)(?:[^,;]|,(?=\d))*,\s+$")
_VERB = re.compile(r"may|might|could|can|suggest\w*|appear\w*|seem\w*|tend\w*|helps?", re.IGNORECASE)
# "Although this evidence was of low certainty" hedges what comes before it.
_REFERRING = re.compile(
    r"\b(?:(?:this|that|these|those|such)\s+(?:[\w-]+\s+)?|the\s+)(?:evidence|findings?|results?|data|"
    r"links?|associations?|effects?|benefits?|conclusions?)\b",
    re.IGNORECASE,
)
# A hedge or a denial in the claim takes its certainty back.
_TAKEN_BACK = re.compile(
    r"\b(?:not|no|n't|cannot|may|might|could|unclear|uncertain|unknown|remains?|whether|if|nearly|almost|"
    r"hardly|few|nothing|only|half|quarters?|thirds?|(?:had|have|has) never|never had)\b|n['’]t\b",
    re.IGNORECASE,
)


def certainty(claim: str, evidence: str) -> list[Finding]:
    """Returns a finding (effect "weaken") where the claim is certain of what the evidence hedges, else [].

    Example: "X cures Y" against "X may help with Y".
    """
    certain = _CERTAIN.search(claim)
    if not certain or _TAKEN_BACK.search(claim):
        return []
    for frame in frames(claim, evidence):
        sentence = evidence[frame.sentence.start : frame.sentence.end]
        wanted = {
            token.key
            for token in frame.claim
            if token.content and not certain.start() <= token.start < certain.end()
        }
        as_certain = _CERTAIN.search(sentence) or (_WHOLLY.fullmatch(certain[0]) and _WHOLLY.search(sentence))
        if as_certain or share(wanted, frame.sentence.keys) < LEAST_SHARED:
            continue
        for hedge in _HEDGED.finditer(sentence):
            if _hedges(hedge, sentence, frame, certain, wanted):
                start = frame.sentence.start + hedge.start()
                return [
                    Finding(
                        rule="certainty",
                        message=f"claim says {certain[0]!r}, evidence says {hedge[0]!r}",
                        claim_span=certain.span(),
                        evidence_span=(start, start + len(hedge[0])),
                        effect="weaken",
                    )
                ]
    return []


def _hedges(
    hedge: re.Match[str], sentence: str, frame: Frame, certain: re.Match[str], wanted: set[str]
) -> bool:
    """Returns whether `hedge` speaks of what the claim is certain of.

    It does where its clause has words of the claim that the rest of the sentence lacks. In "smoking can harm
    the eyes, and it causes cancer" only the words after the hedge count, since "it" continues the words
    before. For "is known to" the verb has to come after the hedge: "smoking causes cancer in some people"
    does not hedge that it does.

    Args:
        hedge: the match of the hedge in `sentence`.
        sentence: the text of the sentence.
        frame: claim and sentence.
        certain: the match of the certain word in the claim.
        wanted: the keys of the claim's other content words.
    """
    opening, closing = _reach(hedge, sentence)
    start, end, behind = (frame.sentence.start + place for place in (opening, closing, hedge.end()))
    clause = [token for token in frame.sentence.tokens if start <= token.start < end]
    rest = [token for token in frame.sentence.tokens if not start <= token.start < end]
    verb = next((token.key for token in frame.claim if token.start >= certain.end() and token.content), "")
    if _KNOWN.fullmatch(certain[0]) and verb in frame.sentence.keys:
        return any(token.key == verb and token.start >= behind for token in clause)
    goes_on = _GOES_ON.match(sentence, closing)
    hedged = [token for token in clause if token.start >= behind] if goes_on else clause
    only_hedged = (wanted & _content_keys(hedged)) - _content_keys(rest)
    enough = any(weight(key) == 1 for key in only_hedged) or (
        bool(only_hedged) and share(wanted, _content_keys(clause)) >= LEAST_IN_CLAUSE
    )
    return enough or bool(_REFERRING.search(sentence, opening, closing))


def _reach(hedge: re.Match[str], sentence: str) -> tuple[int, int]:
    """Returns the half-open span of `sentence` that `hedge` may speak of."""
    ahead = sentence[: hedge.start()]
    aside = _ASIDE.search(ahead) if _VERB.fullmatch(hedge[0]) else None
    ends = (found.end() for found in _NOT_BACK.finditer(ahead[: aside.start()] if aside else ahead))
    closing = _NOT_ON.search(sentence, hedge.end())
    return max(ends, default=0), closing.start() if closing else len(sentence)


def _content_keys(tokens: Sequence[Token]) -> set[str]:
    """Returns the keys (stems) of the content words among `tokens`."""
    return {token.key for token in tokens if token.content}
