"""Tries confidence thresholds on a finished run: what a RAG that refuses below each would gain and lose.

Each answer has a confidence. At a threshold of 0.8 the answers below 0.8 count as refusals, and the metrics
are those of the rest. Nothing is answered or judged again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pytest_medfaith.errors import DataError
from pytest_medfaith.evaluation import slice_report
from pytest_medfaith.metrics.base import Metric
from pytest_medfaith.metrics.failed import failed_cases, failures_told
from pytest_medfaith.metrics.registry import METRICS
from pytest_medfaith.rag.account import account_of
from pytest_medfaith.records import MetricValue, Report, SliceReport

STEPS = tuple(step / 20 for step in range(21))  # thresholds from 0 to 1
SWEPT = ("faithfulness", "hallucination", "claim_recall")
CONFIDENCE = "confidence"  # the key of a response's `meta`, for a RAG that is not the reference RAG
NOTHING = MetricValue(name="", value=None)


@dataclass(frozen=True, kw_only=True)
class SweepRow:
    """What a threshold makes of a run.

    Attributes:
        threshold: answers with a lower confidence count as refusals.
        answered: how many of `cases` are still answered.
        metrics: of these answers.
    """

    threshold: float
    answered: int
    cases: int
    metrics: Mapping[str, MetricValue]

    @property
    def abstention(self) -> float:
        """The share of cases without an answer."""
        return 1 - self.answered / self.cases


def sweep_rows(
    report: SliceReport, *, declared: Mapping[str, Metric] = METRICS, steps: Sequence[float] = STEPS
) -> list[SweepRow]:
    """Returns a row for each threshold, from the lowest at which every answer of the run is known.

    Answers that the RAG withheld below a threshold of its own have no claims, so rows below it are left out.

    Raises:
        DataError: a case failed or is missing, or an answer has no confidence.
    """
    if not report.reports or report.missing:
        raise DataError(
            f"{report.run}: {len(report.missing)} cases are missing, so the sweep would flatter; run them"
        )
    if failed := failed_cases(report.reports):
        raise DataError(
            f"{report.run}: {failures_told(failed, of=len(report.reports))}; a sweep needs every answer"
        )
    known = [(confidence_of(one), one) for one in report.reports if not one.abstained]
    floor = max((withheld_below(one) for one in report.reports), default=0.0)
    rows = []
    for threshold in (step for step in steps if step >= floor):
        kept = [one for confidence, one in known if confidence >= threshold]
        summed = slice_report(report.run, kept, declared=declared).metrics if kept else {}
        metrics = {name: summed.get(name, NOTHING) for name in SWEPT}
        rows.append(
            SweepRow(threshold=threshold, answered=len(kept), cases=len(report.reports), metrics=metrics)
        )
    return rows


def confidence_of(report: Report) -> float:
    """Returns the confidence of an answer: that of the reference RAG, or `meta["confidence"]` of a response.

    Raises:
        DataError: there is none, or it is no number from 0 to 1.
    """
    account = account_of(report.response)
    given = account.confidence if account else report.response.meta.get(CONFIDENCE)
    if isinstance(given, bool) or not isinstance(given, (int, float)) or not 0 <= given <= 1:
        raise DataError(
            f"case {report.case.id!r} has the confidence {given!r}; expected a number from 0 to 1 in "
            "meta.confidence of its response, as the modes confident and confident-lite of the reference "
            "RAG give it"
        )
    return float(given)


def withheld_below(report: Report) -> float:
    """Returns the threshold below which the reference RAG gave no answer when it ran; 0 for none."""
    account = account_of(report.response)
    if account is None or account.confidence is None or account.threshold is None:
        return 0.0
    return account.threshold if account.confidence < account.threshold else 0.0
