"""The extractor "teacher": an LLM splits an answer, and nothing that the rules find is lost or made up.

What it leaves out, or words so that a number or a "not" is gone, becomes a claim by the rules of
`claims.split`, since a claim that nobody checks would pass. Claims that the answer does not make are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from pytest_medfaith.claims.covering import completed, numbers_of
from pytest_medfaith.claims.split import extract_claims
from pytest_medfaith.english.struck import without_struck
from pytest_medfaith.english.words import content_keys, share
from pytest_medfaith.records import Claim
from pytest_medfaith.teacher.asking import Teacher
from pytest_medfaith.teacher.extraction import EXTRACT_PROMPT, extraction_item
from pytest_medfaith.teacher.quotes import find_quote
from pytest_medfaith.teacher.replies import ReplyError
from pytest_medfaith.teacher.settings import LlmSettings, asking_signature

SAID = 0.7  # of a claim's words that the answer or the question must hold


def teacher_extractor(teacher: Teacher) -> Callable[..., list[Claim]]:
    """Returns the extractor `(answer, *, question) -> claims` that asks `teacher`."""
    return partial(taught_claims, teacher)


def extractor_signature(settings: LlmSettings) -> str:
    """Returns a text that names what decides the claims: model, prompt, temperature and seed."""
    return asking_signature(settings, EXTRACT_PROMPT)


def taught_claims(teacher: Teacher, answer: str, *, question: str | None = None) -> list[Claim]:
    """Returns the claims of `answer` in the order of their spans, with ids c1, c2, ...

    A claim's span is that of its words, if the answer has them; else that of the most similar claim by the
    rules. If the rules find no claim, the teacher is not asked.

    Raises:
        TeacherError: the teacher gave no usable claims, also when asked again.
    """
    ruled = extract_claims(answer, question=question)
    if not ruled:
        return []
    shown = without_struck(answer)
    check = partial(check_said, answer=shown, question=question or "")
    taught = teacher.ask_one(extraction_item(shown, question or "", check=check))
    return completed([placed(text, shown, ruled) for text in taught], ruled)


def check_said(claims: Sequence[str], *, answer: str, question: str) -> None:
    """Checks that the answer makes these claims.

    Args:
        claims: the claims of a model.
        answer: the answer.
        question: what it answers.

    Raises:
        ReplyError: answer and question have less than the share SAID of a claim's words, or lack one of its
            numbers.
    """
    source = f"{question}\n{answer}"
    keys, numbers = content_keys(source), numbers_of(source)
    for number, claim in enumerate(claims, start=1):
        wanted = content_keys(claim)
        if not wanted or share(wanted, keys) < SAID:
            raise ReplyError(f"the answer does not make claim {number}; use the answer's words")
        if not numbers_of(claim) <= numbers:
            raise ReplyError(f"a number of claim {number} is not in the answer")


def placed(text: str, answer: str, ruled: Sequence[Claim]) -> Claim:
    """Returns a claim of a model with span and citations: those of its words, or of the most similar claim.

    Args:
        text: the claim, which may be in other words than the answer.
        answer: the answer.
        ruled: the claims by the rules, at least one.

    Returns:
        A claim with the id "". The span is that of `text` in the answer, if it is there word for word, else
        that of the rules' claim that shares most of its words.
    """
    nearest = max(
        ruled, key=lambda claim: (share(content_keys(text), content_keys(claim.text)), -claim.start)
    )
    start, end = find_quote(text, answer) or (nearest.start, nearest.end)
    cited = next((claim for claim in ruled if claim.start < end and start < claim.end), nearest)
    return Claim(id="", text=text, start=start, end=end, citations=cited.citations)
