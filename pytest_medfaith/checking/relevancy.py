"""Answer relevancy: whether an answer speaks of what was asked. It does not measure what is true.

Example: to "How is gout treated?" an answer on the causes of gout is less relevant than an answer on
allopurinol, however faithful both are. Two values need no LLM. A third asks the teacher (an LLM) as RAGAS
does: Es et al. 2023, arXiv:2309.15217.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pytest_medfaith.checking.readable import unusable_text
from pytest_medfaith.claims.answered import answered_questions
from pytest_medfaith.conversion import Record
from pytest_medfaith.records import Claim
from pytest_medfaith.scoring.similarity import Vectors
from pytest_medfaith.teacher.questioning import question_item

if TYPE_CHECKING:
    from pytest_medfaith.teacher.asking import Teacher

_DECIMALS = 6


@dataclass(frozen=True, kw_only=True)
class Relevancy(Record):
    """How much an answer speaks of its question.

    Attributes:
        agreement: the cosine of the question and the mean of the answer's claims, -1 to 1.
        claims: {claim id: cosine of the question and the most similar question that the claim answers}.
        unread: why the question or some claims count as 0; "" where the encoder reads all of them.
        teacher: the mean cosine of the question and the questions that a teacher wrote for the answer, 0 for
            an answer that evades; None where no teacher was asked, or gave no usable questions.
        generated: the questions that the teacher wrote.
        evasive: True where the teacher finds that the answer evades the question.
        unscored: why the teacher's value is missing; "" where it is not, or no teacher was asked.
    """

    agreement: float
    claims: Mapping[str, float] = field(default_factory=dict)
    unread: str = ""
    teacher: float | None = None
    generated: tuple[str, ...] = ()
    evasive: bool = False
    unscored: str = ""


def relevancy_of(
    question: str,
    answer: str,
    claims: Sequence[Claim],
    *,
    vectors: Vectors,
    teacher: Teacher | None = None,
) -> Relevancy:
    """Returns how much `answer` speaks of `question`.

    What cannot be read counts as 0, so that leaving it out helps no answer to pass: an answer without claims,
    or a claim in a script that the encoder does not know.

    Args:
        question: the question as it can be read alone, with the words of earlier turns that it needs.
        answer: the whole answer, for the teacher.
        claims: the claims of the answer. A refusal has none and should not be measured.
        vectors: the vectors of the sentence encoder.
        teacher: writes the questions that the answer answers; None to ask no teacher.
    """
    told = _offline(question, claims, vectors)
    return told if teacher is None else _with_teacher(told, question, answer, vectors, teacher)


def _offline(question: str, claims: Sequence[Claim], vectors: Vectors) -> Relevancy:
    """Returns the relevancy by the sentence encoder alone, without the teacher's value.

    Claims that cannot be read lower `agreement` by their share.
    """
    why = unusable_text(question, "question", latin_only=True)
    read = [] if why else [one for one in claims if not unusable_text(one.text, "claim", latin_only=True)]
    if not why and len(read) < len(claims):
        why = f"{len(claims) - len(read)} of {len(claims)} claims cannot be read"
    asked = {claim.id: answered_questions(claim) for claim in read}
    vectors.add(
        [question, *(claim.in_context for claim in read), *(one for row in asked.values() for one in row)]
    )
    nearest = {
        claim.id: max((vectors.cosine(question, one) for one in asked.get(claim.id, ())), default=0.0)
        for claim in claims
    }
    agreement = _agreement(question, [claim.in_context for claim in read], vectors)
    share_read = len(read) / len(claims) if claims else 0.0
    return Relevancy(
        agreement=round(agreement * share_read, _DECIMALS),
        claims={name: round(value, _DECIMALS) for name, value in nearest.items()},
        unread=why,
    )


def _agreement(question: str, texts: Sequence[str], vectors: Vectors) -> float:
    """Returns the cosine of the question and the mean vector of `texts`; 0 without texts."""
    import numpy as np

    if not texts:
        return 0.0
    mean: Any = np.mean([vectors.known[text].astype(np.float32) for text in texts], axis=0)
    length = float(np.linalg.norm(mean))
    return float(np.dot(vectors.known[question].astype(np.float32), mean)) / length if length else 0.0


def _with_teacher(
    told: Relevancy, question: str, answer: str, vectors: Vectors, teacher: Teacher
) -> Relevancy:
    """Returns `told` with the teacher's value: the mean cosine over the questions of all samples.

    It is 0 for an empty answer, and missing where a sample gave no usable questions.
    """
    if not answer.strip():
        return told.with_(teacher=0.0, unread=told.unread or "the answer is empty")
    settled = teacher.ask(
        [question_item(answer, sample=number) for number in range(teacher.settings.samples)]
    )
    lost = next((one.why for one in settled if one.value is None), None)
    if lost is not None:
        return told.with_(unscored=f"the teacher gave no usable questions: {lost}")
    values = [one.value for one in settled if one.value is not None]
    generated = tuple(asked for value in values for asked in value.questions)
    vectors.add([question, *generated])
    cosines = [
        0.0 if value.evasive else vectors.cosine(question, asked)
        for value in values
        for asked in value.questions
    ]
    return told.with_(
        teacher=round(sum(cosines) / len(cosines), _DECIMALS),
        generated=generated,
        evasive=sum(value.evasive for value in values) * 2 > len(values),
    )
