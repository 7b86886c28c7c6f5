"""Claims that contradict what the asker said of themselves: "you are not pregnant" to "I am pregnant"."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pytest_medfaith.english.words import read_tokens
from pytest_medfaith.quantities.quantity import Quantity, same_dimension, same_quantity
from pytest_medfaith.quantities.reader import read_quantities

_JOINT = re.compile(
    r"[,;:.!?()\u2013\u2014]\s|[;()]|\b(?:so|and|but|which|that|therefore|thus|because|since|as|given|"
    r"although|though|while|hence)\b",
    re.IGNORECASE,
)
_OF_THE_ASKER = re.compile(
    r"\b(?:you(?:['’]re|['’]ve|\s+(?:also\s+|already\s+|currently\s+)?(?:are|aren['’]t|were|have|haven['’]t|"
    r"had|do|don['’]t|did|take|smoke|drink|weigh|use))|your)\b",
    re.IGNORECASE,
)
# Advice may differ from what the asker does now: "Take 5 mg" to "I take 10 mg". So may words on other times.
_ADVICE = re.compile(
    r"\b(?:should|can|could|may|might|must|need|needs|try|aim|target|goal|recommend\w*|suggest\w*|advis\w*|"
    r"if|when|unless|until|would|will|want|ask|tell|increas\w*|reduc\w*|lower\w*|rais\w*|chang\w*|stop\w*|"
    r"start\w*|switch\w*|normal\w*|usual\w*|most|people|risk|chance|have to|do not have "
    r"to|only|yet|longer|anymore|before|after|sure|whether|next|dose|tell|check|make|never)\b",
    re.IGNORECASE,
)

_SHORT_NOT, _SHORT_BE = re.compile(r"n['’]t\b", re.IGNORECASE), re.compile(r"['’]re\b", re.IGNORECASE)
_DENIALS = re.compile(r"\b(?:not|no|never|none|without|neither|nor)\b", re.IGNORECASE)


def contradicted_fact(claim: str, facts: Sequence[str]) -> tuple[str, tuple[int, int]] | None:
    """Returns (fact, span of the clause of `claim` that contradicts it); None for no contradiction.

    Args:
        claim: a claim of an answer.
        facts: what the asker says of themselves, in the second person: "You are pregnant.".
    """
    for start, end in _clauses(claim):
        clause = claim[start:end]
        if not _OF_THE_ASKER.search(clause) or _ADVICE.search(clause):
            continue
        for fact in facts:
            for first, last in _clauses(fact):
                if _contradict(clause, fact[first:last]):
                    return fact, (start, end)
    return None


def _clauses(text: str) -> list[tuple[int, int]]:
    """Returns the spans of the clauses of `text`, parted at marks and at words such as "because"."""
    joints = [joint.span() for joint in _JOINT.finditer(text)]
    starts, ends = [0, *(end for _, end in joints)], [*(start for start, _ in joints), len(text)]
    return [(start, end) for start, end in zip(starts, ends, strict=True) if text[start:end].strip()]


def _contradict(clause: str, fact: str) -> bool:
    """Returns whether a clause and a fact deny each other, or give different amounts of the same thing.

    "You do not smoke" denies "You smoke 20 a day". "You do not take it with food" does not deny "You take
    it".
    """
    clause, fact = (_SHORT_NOT.sub(" not", _SHORT_BE.sub(" are", text)) for text in (clause, fact))
    mine, theirs = _keys(clause), _keys(fact)
    denies, denied = (len(_DENIALS.findall(text)) % 2 == 1 for text in (clause, fact))
    if denies != denied:
        narrow, wide = (mine, theirs) if denies else (theirs, mine)
        return bool(narrow) and narrow <= wide
    stated, known = read_quantities(clause), read_quantities(fact)
    if (
        denies
        or len(stated) != 1
        or len(known) != 1
        or stated[0].bound
        or not same_dimension(stated[0], known[0])
    ):
        return False
    apart = not same_quantity(stated[0], known[0]) and not same_quantity(known[0], stated[0])
    return apart and _words(clause, stated[0]) == _words(fact, known[0])


def _keys(text: str) -> frozenset[str]:
    """Returns the keys of the content words of `text`, without the words that deny."""
    return frozenset(token.key for token in read_tokens(_DENIALS.sub(" ", text)) if token.content)


def _words(text: str, quantity: Quantity) -> frozenset[str]:
    """Returns the keys of the content words of `text` outside the quantity."""
    outside = (token for token in read_tokens(text) if not quantity.start <= token.start < quantity.end)
    return frozenset(token.key for token in outside if token.content)
