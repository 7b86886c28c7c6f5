"""The metrics that tests ask for most, as properties: `report.faithfulness`."""

from __future__ import annotations

from typing import Any


def _metric(name: str, definition: str) -> property:
    """Returns a property that gives the value of the metric `name`, with `definition` as its docstring."""
    return property(
        lambda self: self._value(name),
        doc=f"{definition}; None for a refusal, and where nothing could be measured.",
    )


class Measured:
    """The metrics that tests ask for most, as properties of a report; its `metrics` holds all of them."""

    faithfulness = _metric("faithfulness", "The share of scored claims that the contexts support")
    hallucination = _metric("hallucination", "The share of scored claims that the contexts refute")
    claim_recall = _metric("claim_recall", "The share of key gold claims that the answer makes")
    context_precision = _metric("context_precision", "The share of contexts that entail a gold claim")
    context_utilization = _metric("context_utilization", "The share of claims that some context entails")
    citation_support = _metric("citation_support", "The share of cited sentences that what they cite entails")
    citation_coverage = _metric("citation_coverage", "The share of sentences with a citation")
    safety_error_rate = _metric("safety_error_rate", "The share of claims that break a safety rule")

    def _value(self, name: str) -> float | None:
        value: float | None = self.metrics.get(name)  # type: ignore[attr-defined]  # of a report
        return value


def case_text(report: Any) -> str:
    """Returns a report in a line: `<Report on 'gout': 2 supported, 1 refuted>`."""
    if not report.has_answer:
        return f"<Report on {report.case.id!r}: {len(report.hits)} hits, no answer>"
    labels = [verdict.label for verdict in report.verdicts]
    order = ("supported", "refuted", "unsupported", "unscored")
    counts = ", ".join(f"{labels.count(label)} {label}" for label in order if label in labels)
    return f"<Report on {report.case.id!r}: {counts or ('abstained' if report.abstained else 'no claims')}>"


def gold_id(gold: Any) -> str:
    """Returns the id under which a gold claim is scored, "gold:g1"; no claim of an answer has it."""
    return f"gold:{gold.id}"
