"""Recognises sentences that state nothing: a question, a refusal, small talk, advice to ask a doctor."""

from __future__ import annotations

import re

from pytest_medfaith.claims.chatter import chatter_reason, is_bare_answer
from pytest_medfaith.claims.declining import declines
from pytest_medfaith.claims.questions import is_question
from pytest_medfaith.claims.referring import refers

JOINTS = re.compile(
    r"\s*(?:[,;:\u2013\u2014]|\s-)\s+(?:(?:so|but|and|as|since|because|though|therefore)\s+)?|\s+(?:so|but"
    r"|and|as|since|because)\s+",
    re.IGNORECASE,
)
_LONGEST_TALK = 300  # characters: longer sentences state something
_MOSTJOINTS = 6


def idle_reason(text: str) -> str:
    """Returns why `text` states nothing: "question", "refusal" or a kind of chatter; else "".

    "I'm only an AI, so please ask your doctor" has two pieces that state nothing, so it states nothing.
    """
    if is_question(text):
        return "question"
    reason = "refusal" if declines(text) else chatter_reason(text) or ("advice" if refers(text) else "")
    joints = list(JOINTS.finditer(text)) if not reason and len(text) <= _LONGEST_TALK else []
    for joint in joints if len(joints) <= _MOSTJOINTS else ():
        left = text[: joint.start()]
        first = "" if is_bare_answer(left) or not any(map(str.isalnum, left)) else idle_reason(left)
        second = idle_reason(text[joint.end() :]) if first else ""
        if second:
            return "refusal" if "refusal" in (first, second) else first
    return reason
