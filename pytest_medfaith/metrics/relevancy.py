"""Metrics of how far an answer speaks of its question; measured where the setting `relevancy` asks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_medfaith.metrics.base import Fraction, Metric, share

if TYPE_CHECKING:
    from pytest_medfaith.records import Report

RAGAS = "Es et al. 2023, RAGAS, arXiv:2309.15217"


def _agreement(report: Report) -> Fraction | None:
    return (report.relevancy["agreement"], 1.0) if report.relevancy else None


def _questions(report: Report) -> Fraction | None:
    if not report.relevancy:
        return None
    cosines = report.relevancy.get("claims", {}).values()
    return share(sum(cosines) / len(cosines) if cosines else 0.0, 1.0)


def _teacher(report: Report) -> Fraction | None:
    value = report.relevancy.get("teacher")
    return None if value is None else (value, 1.0)


METRICS = (
    Metric(
        name="answer_relevancy",
        family="relevancy",
        direction="higher",
        definition="cosine of the question and the mean of the answer's claims under the sentence encoder; 0 "
        "without claims, does not apply to a refusal; only where `relevancy` is set",
        source=f"this project, after {RAGAS}",
        per_case=_agreement,
        range=(-1.0, 1.0),
    ),
    Metric(
        name="answer_relevancy.questions",
        family="relevancy",
        direction="higher",
        definition="mean over claims of the cosine of the question and the most similar question that rules "
        "build from the claim",
        source=f"this project, after {RAGAS}",
        per_case=_questions,
        range=(-1.0, 1.0),
    ),
    Metric(
        name="answer_relevancy.teacher",
        family="relevancy",
        direction="higher",
        definition="mean cosine of the question and the questions that a teacher makes of the answer; 0 for "
        'an answer that evades; only where `relevancy = "teacher"`',
        source=RAGAS,
        per_case=_teacher,
        range=(-1.0, 1.0),
    ),
)
