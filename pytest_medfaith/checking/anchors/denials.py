"""Affirming claims whose words the evidence has in a clause that denies them.

Example: "Kissing a newborn is safe once the cream is on" against "Do not kiss a newborn baby; herpes can be
fatal to them".
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pytest_medfaith.checking.anchors.evidence import Evidence, Missing
from pytest_medfaith.checking.rules.denials import negations
from pytest_medfaith.english.words import content_keys, read_tokens, share

# Share of the claim's words that the denied clause must hold, and of the clause's words that the claim must.
COVERED = 0.5
_FEWEST = 2  # words in common
_CLAUSE = re.compile(
    r"[,;:]\s|\s[–—-]\s|[()]|"
    r"\b(?:because|since|as|so that|but|if|unless|when|until|although|while|whereas)\b",
    re.IGNORECASE,
)
# These words of a claim may deny, bound or turn a statement without a plain negation.
_TURNING = re.compile(
    r"\b(?:no|not|never|none|nor|neither|without|avoid\w*|stop\w*|omit\w*|skip\w*|leave|left|leaves|hold|"
    r"withh\w+|rather than|instead|only|unless|except|until|before|paus\w*|refrain\w*|unnecessary|needless|"
    r"dispens\w+|lack\w*|fail\w*|free|rare\w*|unlikely|contraindic\w+|un\w{4,}|in(?:effective|sufficient|"
    r"adequate|appropriate|advisable)|harm\w*|wrong|too|off|away|less|fewer|little|against|out\w*|myth|"
    r"refus\w+|declin\w+|risk\w*|danger\w*|despite|spite|regardless|alone|just|longer|other|anyway|still|"
    r"can't|cannot|won't|mustn't|forbid\w*|ban\w*|bad|discourag\w*|prevent\w*|spare\w*|miss\w*|beyond|apart|"
    r"separate\w*|different|nothing|nobody|impossible|exclud\w*|rule\w*|doubt\w*|might|although|though|"
    r"already|falls?|might|about|larger|smaller|higher|lower)\b",
    re.IGNORECASE,
)
_DENIED = re.compile(
    r"\b(?:do not|don't|must not|mustn't|should not|shouldn't|cannot|can't|never|is not|are not|isn't|aren't|"
    r"not (?:recommended|advised|needed|required|necessary|given|used|offered|suitable)|need not|does not)\b",
    re.IGNORECASE,
)
# A clause with these words denies only a part or a way of the matter: "do not take more than two".
_PARTLY = re.compile(
    r"\bnot (?:only|just|more|less|fewer|later|exceed|before|until|all|every|always|within|above|below|over|"
    r"exclude|rule out|covered)\b|"
    r"\b(?:unless|except|until|only|without|before|after|alone|outside|under|over|"
    r"above|below|other than|start|started|begin)\b|\bby (?:it|them)sel|\d",
    re.IGNORECASE,
)


def missing_denials(claim: str, evidence: Evidence) -> Iterator[Missing]:
    """Yields a `Missing` of the kind "denial" over the whole claim if the deciding sentence denies its words.

    Example: "Kissing a newborn is safe" against "Do not kiss a newborn baby" in `evidence.nearest`. Nothing
    is yielded for a claim that denies or limits something itself.
    """
    wanted = content_keys(claim)
    if len(wanted) < _FEWEST or _TURNING.search(claim) or negations(read_tokens(claim)):
        return
    for clause in _clauses(evidence.nearest):
        if not _DENIED.search(clause) or _PARTLY.search(clause) or len(negations(read_tokens(clause))) != 1:
            continue
        held = content_keys(clause)
        both = min(share(wanted, held), share(held, wanted))
        if both >= COVERED and len(wanted & held) >= _FEWEST:
            yield Missing("denial", 0, len(claim), note=f"the evidence says: {clause.strip(' ,;:')}")
            return


def _clauses(text: str) -> Iterator[str]:
    """Yields the clauses of `text`, parted at marks and at words such as "because" and "but"."""
    start = 0
    for joint in _CLAUSE.finditer(text):
        yield text[start : joint.start()]
        start = joint.start()
    yield text[start:]
