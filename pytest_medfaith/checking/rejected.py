"""Claims that call a statement false, where the evidence makes this statement.

Example: "It is a myth that NSAIDs raise the risk of bleeding" is refuted by "NSAIDs raise the risk of
bleeding". A model that compares words supports such a claim, since it has all words of the evidence.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from pytest_medfaith.checking.rules import NEGATION
from pytest_medfaith.checking.rules.denials import negations
from pytest_medfaith.english.sentences import sentence_spans
from pytest_medfaith.english.words import content_keys, read_tokens
from pytest_medfaith.records import Chunk, Claim, Finding, Verdict

Ask = Callable[[Claim, Chunk], Verdict]  # the model's verdict on a claim by one text

_AROUND = 200  # characters around a sentence of the evidence, in which the text may reject it
_LEAST_WORDS = 2  # content words that a statement has at least
_SURE = (
    r"(?:(?:simply|actually|completely|totally|entirely|quite|absolutely|clearly|plainly|just|in fact|also"
    r"|all|both|however|of course)\s+)*"
)
_UNTRUE = (
    r"(?:false|untrue|wrong|incorrect|inaccurate|mistaken|unfounded|baseless|erroneous|nonsense"
    r"|not\s+(?:really\s+|at all\s+)?(?:true|correct|right|accurate|so|the case)"
    r"|(?:an?\s+|one\s+)?(?:\w+\s+){0,3}?(?:myths?|misconceptions?|misunderstandings?|fallac(?:y|ies)|hoax"
    r"|old wives['’] tale|urban legend))"
)
_IS = r"(?:['’]s|\s+is|\s+was|\s+are|\s+were|\s+would\s+be)"
_ISNT = r"\s+(?:is|was|are|were|would|do|does|did|has|have|can|will|should)n['’]t"
_NOT_TRUE = rf"(?:{_IS}\s+{_SURE}{_UNTRUE}|{_ISNT}\s+{_SURE}(?:true|correct|right|accurate|so|the case))"
_BELIEF = r"(?:claim|statement|belief|idea|notion|view|assertion|suggestion|rumou?r|advice|assumption|theory)"
_OPENER = r"^\W*(?:(?:but|however|in fact|actually|and|no|also|unfortunately)[,:]?\s+)*"
# In each pattern the statement that is called false is the group "said".
_CALLED_FALSE = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        (
            rf"{_OPENER}(?:it|this|that){_NOT_TRUE}\s+(?:(?:to\s+(?:say|think|believe|claim|assume|suggest)"
            rf"|in\s+saying)\s+)?that\s+(?P<said>.+)$"
        ),
        (
            rf"{_OPENER}(?:it|this|that){_IS}\s+{_SURE}{_UNTRUE}\s+to\s+(?:say|think|believe|claim|assume|suggest)"
            rf"\s+(?P<said>.+)$"
        ),
        rf"{_OPENER}(?:the|this|that|any)\s+(?:\w+\s+){{0,2}}?{_BELIEF}\s+that\s+(?P<said>.+?){_NOT_TRUE}\W*$",
        rf"{_OPENER}that\s+(?P<said>.+?){_NOT_TRUE}\W*$",
        (
            rf"{_OPENER}there(?:['’]s|\s+is)\s+no\s+truth\s+(?:to|in|behind)\s+the\s+{_BELIEF}\s+that\s+"
            r"(?P<said>.+)$"
        ),
        (
            r"^\W*(?:common\s+)?(?:myths?|misconceptions?|fiction)(?:\s+\d+)?\s*[:\u2013\u2014]\s*"
            r"(?P<said>.+)$"
        ),
        (
            rf"^(?P<said>[^,;]+?)(?:,\s+(?:which|but\s+(?:this|that|it))|\s*[;\u2013\u2014]\s*(?:this|that|it))"
            rf"{_NOT_TRUE}\W*$"
        ),
        r"^(?P<said>.+?)\s*\((?:false|untrue|incorrect|a?\s*myth|not true)\)\W*$",
    )
)
# The whole claim rejects what was said before it: "That is a myth."
_REJECTS_WHAT_WAS_SAID = re.compile(
    rf"{_OPENER}(?:"
    rf"(?:(?:this|that|it|these|those|they)|(?:this|that|the)\s+{_BELIEF}){_NOT_TRUE}"
    rf"|{_SURE}{_UNTRUE}"
    rf"|{_SURE}the\s+(?:exact\s+|very\s+)?(?:opposite|reverse|contrary)"
    rf"(?:(?:\s+is|['’]s)\s+(?:true|so|right|correct|the case))?"
    r")\W*$",
    re.IGNORECASE,
)
# "No, they don't" rejects what was said before it, unless that was denied already: "It does not. It doesn't."
_DENIES_WHAT_WAS_SAID = re.compile(
    rf"{_OPENER}(?:it|they)(?:{_ISNT}|['’]s\s+not|\s+cannot"
    r"|\s+(?:is|was|are|were|do|does|did|has|have|can|will|should)\s+not)\W*$",
    re.IGNORECASE,
)
_LONGEST = 1_000  # characters of a claim that is read; a longer one is no single statement
# Words before a statement that somebody else makes: "You may have read that ...".
_SAID_BY = re.compile(
    r"^\W*(?:[\w'’-]+\s+){1,6}?(?:say|says|said|claims?|claimed|believe[sd]?|thinks?|thought|read|heard|told"
    r"|state[sd]?|suggest(?:s|ed)?|assert(?:s|ed)?|warn(?:s|ed)?|argue[sd]?)\s+that\s+",
    re.IGNORECASE,
)
# Evidence with one of these words may itself reject the statement whose words it has.
_EVIDENCE_REJECTS = re.compile(
    r"\b(?:myths?|misconceptions?|false|untrue|incorrect\w*|wrong\w*|erroneous\w*|mistaken\w*|fallac\w+"
    r"|unfounded|baseless|debunk\w*|refut\w*|disprov\w*|opposite|contrary|not (?:true|correct|the case)"
    r"|no longer|used to|once (?:thought|believed)|isn['’]t true|rumou?rs?|hoax)\b",
    re.IGNORECASE,
)


def rejected_statement(claim: Claim) -> str:
    """Returns the statement that `claim` calls false, as a sentence; "" where it calls none false.

    "It is a myth that A causes B" gives "A causes B.". "That is a myth" calls false what was said before it,
    the last sentence of the claim's context.
    """
    text = claim.text.strip()[:_LONGEST]
    if _REJECTS_WHAT_WAS_SAID.match(text):
        said = _said_before(claim)
    elif _DENIES_WHAT_WAS_SAID.match(text):
        said = _said_before(claim)
        said = "" if negations(read_tokens(said)) else said
    else:
        said = next((found["said"] for found in (each.match(text) for each in _CALLED_FALSE) if found), "")
    said = _SAID_BY.sub("", said).strip(" .!;,:\"'“”")
    return f"{said[0].upper()}{said[1:]}." if len(content_keys(said)) >= _LEAST_WORDS else ""


def _said_before(claim: Claim) -> str:
    """Returns the last sentence of the claim's context; "" where it is a question, or without context."""
    spans = sentence_spans(claim.context)
    said = claim.context[slice(*spans[-1])].strip() if spans else ""
    return "" if said.endswith("?") else said


def read_rejected(verdict: Verdict, chunks: Sequence[Chunk], ask: Ask) -> Verdict:
    """Returns `verdict`, refuted where a supported claim calls false what a chunk says.

    The claim "It is a myth that NSAIDs raise the risk of bleeding" is refuted by "NSAIDs raise the risk of
    bleeding".

    Args:
        verdict: the verdict of the model and the rules.
        chunks: the chunks that can be read.
        ask: gives the model's verdict on a claim by one chunk.
    """
    said = rejected_statement(verdict.claim) if verdict.label == "supported" else ""
    if not said:
        return verdict
    for chunk in sorted(chunks, key=lambda chunk: chunk.id != verdict.chunk_id):
        told = ask(verdict.claim.with_(text=said, context=""), chunk)
        start, end = told.span or (0, len(chunk.text))
        around = chunk.text[max(0, start - _AROUND) : end + _AROUND]
        if told.label == "supported" and not _EVIDENCE_REJECTS.search(around):
            return _refuted(verdict, told, said)
    return verdict


def _refuted(verdict: Verdict, told: Verdict, said: str) -> Verdict:
    """Returns the verdict that a claim calls false what the evidence says.

    Args:
        verdict: the verdict on the claim before.
        told: the verdict on the statement that it calls false.
        said: that statement.
    """
    finding = Finding(
        rule=NEGATION,
        message=f"claim calls false what the evidence says: {said}",
        claim_span=(0, len(verdict.claim.text)),
        evidence_span=told.span,
        chunk_id=told.chunk_id,
        effect="refute",
    )
    return told.with_(
        claim=verdict.claim,
        label="refuted",
        supporting=(),
        findings=(finding, *verdict.findings),
        reason=f"decided by the rule {NEGATION}",
    )
