"""The extractor "teacher": an LLM splits an answer, and nothing that the rules find is lost or made up.

What it leaves out, and what it words so that a number or a "not" is gone, becomes a claim by the rules of
`claims.split`: a claim that nobody checks would pass. What the answer does not say is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial

from pytest_medfaith.claims.split import extract_claims
from pytest_medfaith.english.words import content_keys, read_tokens, share
from pytest_medfaith.records import Claim
from pytest_medfaith.teacher.asking import Teacher
from pytest_medfaith.teacher.extraction import EXTRACT_PROMPT, extraction_item
from pytest_medfaith.teacher.quotes import find_quote
from pytest_medfaith.teacher.replies import ReplyError
from pytest_medfaith.teacher.settings import LlmSettings, asking_signature

SAID = 0.7  # of a claim's words that the answer or the question must hold
_COVERED = 0.8  # of the words of a claim by the rules that the teacher's claims must hold
_NEGATION = re.compile(r"\b(?:not|no|never|none|without|cannot|nor|neither)\b|n['\u2019]t\b", re.IGNORECASE)


def teacher_extractor(teacher: Teacher) -> Callable[..., list[Claim]]:
    """Returns the extractor `(answer, *, question) -> claims` that asks `teacher`."""
    return partial(taught_claims, teacher)


def extractor_signature(settings: LlmSettings) -> str:
    """Returns what decides the claims: model, prompt, temperature and seed."""
    return asking_signature(settings, EXTRACT_PROMPT)


def taught_claims(teacher: Teacher, answer: str, *, question: str | None = None) -> list[Claim]:
    """Returns the claims of `answer` in the order of their spans, with ids c1, c2, ...

    A claim's span is that of its words in the answer where they stand there, else of the claims that the rules
    find nearest. Where the rules find no claim, nothing is asked.

    Raises:
        TeacherError: the teacher gave no usable claims, also when asked again.
    """
    ruled = extract_claims(answer, question=question)
    if not ruled:
        return []
    check = partial(check_said, answer=answer, question=question or "")
    taught = teacher.ask_one(extraction_item(answer, question or "", check=check))
    placed = [_placed(text, answer, ruled) for text in taught]
    kept = [*placed, *(claim for claim in ruled if not covers(placed, claim))]
    ordered = sorted(kept, key=lambda claim: (claim.start, claim.end, claim.text))
    return [claim.with_(id=f"c{number}") for number, claim in enumerate(ordered, start=1)]


def check_said(claims: Sequence[str], *, answer: str, question: str) -> None:
    """Refuses claims that the answer does not make.

    Raises:
        ReplyError: less than SAID of a claim's words stand in answer and question, or a number stands in
            neither.
    """
    source = f"{question}\n{answer}"
    keys, numbers = content_keys(source), numbers_of(source)
    for number, claim in enumerate(claims, start=1):
        wanted = content_keys(claim)
        if not wanted or share(wanted, keys) < SAID:
            raise ReplyError(f"the answer does not make claim {number}; use the answer's words")
        if not numbers_of(claim) <= numbers:
            raise ReplyError(f"a number of claim {number} is not in the answer")


def numbers_of(text: str) -> frozenset[str]:
    """Returns the numbers of `text` as they are written."""
    return frozenset(token.lower for token in read_tokens(text) if token.lower[0].isdigit())


def covers(taught: Sequence[Claim], ruled: Claim) -> bool:
    """Returns whether the teacher's claims near a claim by the rules say what it says, with numbers and "not"."""
    near = [claim for claim in taught if claim.start < ruled.end and ruled.start < claim.end]
    keys = {key for claim in near for key in content_keys(claim.text)}
    numbers = {number for claim in near for number in numbers_of(claim.text)}
    negated = [bool(_NEGATION.search(claim.text)) for claim in near]
    same = any(negated) if _NEGATION.search(ruled.text) else not all(negated)
    wanted = content_keys(ruled.text)
    return bool(near) and same and numbers_of(ruled.text) <= numbers and share(wanted, keys) >= _COVERED


def _placed(text: str, answer: str, ruled: Sequence[Claim]) -> Claim:
    """Returns a claim of the teacher with span and citations: those of its words, or of the nearest claim."""
    nearest = max(
        ruled, key=lambda claim: (share(content_keys(text), content_keys(claim.text)), -claim.start)
    )
    start, end = find_quote(text, answer) or (nearest.start, nearest.end)
    cited = next((claim for claim in ruled if claim.start < end and start < claim.end), nearest)
    return Claim(id="", text=text, start=start, end=end, citations=cited.citations)
