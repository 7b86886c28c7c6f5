"""Answers that contradict their question, or accept a premise of it that the evidence refutes.

Examples: "As you are not pregnant, it is safe" to "I am pregnant. Can I take it?". "It increases appetite" to
"Why does metformin cause weight gain?", where the evidence says that it lowers weight.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_medfaith.checking.overrides.asker import contradicted_fact
from pytest_medfaith.checking.rules import QUESTION
from pytest_medfaith.claims.premises import asker_facts, presupposed
from pytest_medfaith.english.letters import plain_letters
from pytest_medfaith.english.struck import without_struck
from pytest_medfaith.english.words import content_keys, share
from pytest_medfaith.records import Chunk, Claim, Finding, Verdict

if TYPE_CHECKING:
    from pytest_medfaith.checking.checker import Checker

_MOST_CHARACTERS = 4_000  # of a question, as of a claim
_CORRECTED = re.compile(
    r"\b(?:myth|misconception|contrary to|incorrect|not true|untrue|false|no evidence|mistaken|premise)\b",
    re.IGNORECASE,
)
_DENIAL = re.compile(
    r"\b(?:not|no|never|nor|neither|cannot|without|rather than|instead)\b|n['’]t\b", re.IGNORECASE
)
SAME_MATTER = 0.5  # the share of the premise's words, at least, that a claim which denies it holds


@dataclass(frozen=True)
class Asked:
    """A question, the answer to it and the contexts of the answer."""

    question: str
    answer: str
    contexts: Sequence[Chunk]


def with_question(verdicts: Sequence[Verdict], asked: Asked, checker: Checker) -> list[Verdict]:
    """Returns `verdicts` after the rule `question` compared the answer with its question.

    The rule looks for two errors:

    - A claim contradicts what the asker says of themselves. The question says "I am pregnant", the claim "As
      you are not pregnant". The claim is refuted.
    - The answer accepts a false premise. The question asks "Why does metformin cause weight gain?", the
      contexts refute that it does, and the answer does not correct it. Where the answer states the premise,
      the claim most similar to it is refuted. Where the answer is silent, the first claim gets a note.

    A checker with a `judge` in place of its model, such as the teacher, is not asked about the premise.

    Args:
        verdicts: on the claims of the answer, in order. An unscored claim stays unscored.
        asked: the question, the answer and the contexts.
        checker: judges the premise. Where its rules lack `question`, the verdicts are returned as they are.
    """
    question = plain_letters(asked.question[:_MOST_CHARACTERS])
    if QUESTION not in checker.rules or not question.strip():
        return list(verdicts)
    facts = asker_facts(question)
    judged = [_against_facts(verdict, facts) for verdict in verdicts]
    premise = Claim(id="question", text=presupposed(question))
    if not (premise.text and judged and asked.contexts) or checker.judge:
        return judged
    refuting = checker(premise, asked.contexts)
    answer = without_struck(asked.answer)
    if refuting.label != "refuted" or _corrects(premise.text, answer, judged):
        return judged
    said = checker(premise, [Chunk(id="answer", text=answer)])
    if said.label == "refuted":
        return judged
    return _accepting(judged, premise.text, refuting, says_it=said.label == "supported")


def _against_facts(verdict: Verdict, facts: Sequence[str]) -> Verdict:
    """Returns `verdict`, refuted if its claim contradicts what the asker says of themselves.

    Args:
        verdict: on a claim of the answer.
        facts: see `contradicted_fact`.
    """
    found = contradicted_fact(plain_letters(verdict.claim.text), facts)
    if found is None:
        return verdict
    message = f"the answer contradicts the question, which says: {found[0]}"
    return _refuted(verdict, Finding(rule=QUESTION, message=message, claim_span=found[1], effect="refute"))


def _corrects(premise: str, answer: str, verdicts: Sequence[Verdict]) -> bool:
    """Returns whether the answer calls something wrong ("myth"), or one of its claims denies the premise."""
    wanted = content_keys(premise)
    return bool(_CORRECTED.search(answer)) or any(
        _DENIAL.search(each.claim.text) and share(wanted, content_keys(each.claim.in_context)) >= SAME_MATTER
        for each in verdicts
    )


def _accepting(verdicts: list[Verdict], premise: str, refuting: Verdict, *, says_it: bool) -> list[Verdict]:
    """Returns `verdicts` with a finding that the answer accepts a false premise.

    Args:
        verdicts: on the claims of the answer; not empty.
        premise: what the question takes for granted.
        refuting: the verdict on the premise.
        says_it: True where the answer states the premise. Then the claim most similar to it is refuted; else
            the first claim gets a note.
    """
    wanted = content_keys(premise)
    shares = [share(wanted, content_keys(verdict.claim.text)) for verdict in verdicts]
    place = shares.index(max(shares)) if says_it else 0
    message = f"the answer takes for granted what the evidence refutes: {premise}"
    finding = Finding(
        rule=QUESTION, message=message, chunk_id=refuting.chunk_id, effect="refute" if says_it else "note"
    )
    verdict = verdicts[place]
    changed = _refuted(verdict, finding) if says_it else verdict.with_(findings=(*verdict.findings, finding))
    return [*verdicts[:place], changed, *verdicts[place + 1 :]]


def _refuted(verdict: Verdict, finding: Finding) -> Verdict:
    """Returns `verdict` as refuted, with the finding. A refuted or unscored verdict gets the finding only."""
    if verdict.label in ("refuted", "unscored"):
        return verdict.with_(findings=(*verdict.findings, finding))
    return verdict.with_(
        label="refuted",
        supporting=(),
        findings=(finding, *verdict.findings),
        reason=f"decided by the rule {QUESTION}",
    )
