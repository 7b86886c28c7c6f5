"""Metrics over the claims of a response: which of them the contexts support, which gold claims it makes.

S, R, U are the claims supported, refuted and unsupported; N = S + R + U. An unscored claim is in none of
them. An abstention makes no claim, so shares of claims do not apply to it; its recall is 0. Without contexts
every claim is unsupported, the contexts recall nothing, and their precision does not apply.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from pytest_medfaith.metrics.base import (
    RAGCHECKER,
    Fraction,
    Metric,
    chunk_groups,
    claim_verdicts,
    distinct_gold,
    entailed_gold,
    entailing_chunks,
    recalled_gold,
    scored_verdicts,
    share,
)
from pytest_medfaith.records.labels import OPEN

if TYPE_CHECKING:
    from pytest_medfaith.records import Report, VerdictLabel

RAGAS = "Es et al. 2023, RAGAS, arXiv:2309.15217"
REFCHECKER = "Hu et al. 2024, RefChecker, arXiv:2405.14486"


def _labelled(label: VerdictLabel) -> Callable[[Report], Fraction | None]:
    def per_case(report: Report) -> Fraction | None:
        scored = scored_verdicts(report)
        return share(sum(verdict.label == label for verdict in scored), len(scored))

    return per_case


def _unscored(report: Report) -> Fraction | None:
    verdicts = claim_verdicts(report)
    return share(sum(verdict.label == "unscored" for verdict in verdicts), len(verdicts))


def _uncertain(report: Report) -> Fraction | None:
    verdicts = claim_verdicts(report)
    if not report.selective:
        return None
    return share(sum(verdict.label == "uncertain" for verdict in verdicts), len(verdicts))


def _conflict(report: Report) -> Fraction | None:
    scored = scored_verdicts(report)
    return share(sum(verdict.conflict for verdict in scored), len(scored))


def _context_utilization(report: Report) -> Fraction | None:
    rows = entailing_chunks(report)
    if rows is None or report.abstained:
        return None
    entailed = [
        any(row) for verdict, row in zip(report.verdicts, rows, strict=True) if verdict.label not in OPEN
    ]
    return share(sum(entailed), len(entailed))


def _claim_recall(report: Report) -> Fraction | None:
    recalled = recalled_gold(report)
    if recalled is None:
        return None
    of_key_claims = [said for gold, said in zip(distinct_gold(report), recalled, strict=True) if gold.key]
    return share(sum(of_key_claims), len(of_key_claims))


def _context_recall(report: Report) -> Fraction | None:
    rows = entailed_gold(report)
    return None if rows is None else share(sum(map(any, rows)), len(rows))


def _context_precision(report: Report) -> Fraction | None:
    rows = entailed_gold(report)
    if not rows:
        return None
    relevant = [any(row) for row in zip(*rows, strict=True)]
    groups = chunk_groups(report)
    return share(sum(any(relevant[place] for place in group) for group in groups), len(groups))


def _abstention(report: Report) -> Fraction | None:
    return float(report.abstained), 1.0


def _unchecked_share(report: Report) -> Fraction | None:
    words = len(report.response.answer.split())
    dropped = sum(len(piece.text.split()) for piece in report.dropped)
    return share(min(words, dropped), words)


METRICS = (
    Metric(
        name="faithfulness",
        family="claims",
        direction="higher",
        definition="S / N: scored claims that the contexts support",
        source=RAGAS,
        per_case=_labelled("supported"),
        part="count",
        whole="claims",
    ),
    Metric(
        name="hallucination",
        family="claims",
        direction="lower",
        definition="R / N: scored claims that the contexts refute",
        source=REFCHECKER,
        per_case=_labelled("refuted"),
        part="count",
        whole="claims",
    ),
    Metric(
        name="unsupported",
        family="claims",
        direction="lower",
        definition="U / N: scored claims that the contexts neither support nor refute",
        source=REFCHECKER,
        per_case=_labelled("unsupported"),
        part="count",
        whole="claims",
    ),
    Metric(
        name="claim_recall",
        family="claims",
        direction="higher",
        definition="key gold claims that the answer entails / key gold claims; 0 for an abstention",
        source="Manes et al. 2024, K-QA (comprehensiveness), arXiv:2401.14493",
        per_case=_claim_recall,
        part="count",
    ),
    Metric(
        name="context_precision",
        family="claims",
        direction="higher",
        definition="contexts that entail at least one gold claim (r-chunks) / contexts",
        source=RAGCHECKER,
        per_case=_context_precision,
        part="count",
    ),
    Metric(
        name="context_utilization",
        family="claims",
        direction="higher",
        definition="scored claims that at least one context entails / N",
        source=RAGCHECKER,
        per_case=_context_utilization,
        part="count",
        whole="claims",
    ),
    Metric(
        name="context_recall",
        family="claims",
        direction="higher",
        definition="gold claims that at least one context entails / gold claims; 0 without contexts",
        source=RAGAS,
        per_case=_context_recall,
        part="count",
    ),
    Metric(
        name="conflict",
        family="claims",
        direction="lower",
        definition="scored claims about which two contexts disagree / N",
        source="Xu et al. 2024, Knowledge Conflicts for LLMs: A Survey, arXiv:2403.08319",
        per_case=_conflict,
        part="count",
        whole="claims",
    ),
    Metric(
        name="unscored",
        family="claims",
        direction="lower",
        definition="claims that the checker could not score / claims, scored or not",
        source="this project",
        per_case=_unscored,
        part="count",
        whole="claims",
    ),
    Metric(
        name="uncertain",
        family="claims",
        direction="lower",
        definition="claims whose verdict is below the certified threshold of `medfaith calibrate --risk` / "
        "claims; does not apply without such a calibration",
        source="Angelopoulos et al. 2021, Learn then Test, arXiv:2110.01052",
        per_case=_uncertain,
        part="count",
        whole="claims",
    ),
    Metric(
        name="unchecked_share",
        family="claims",
        direction="lower",
        definition="words of the answer that no claim was made of (greetings, questions, disclaimers, "
        "repetitions) / words of the answer",
        source="this project",
        per_case=_unchecked_share,
        part="count",
    ),
    Metric(
        name="abstention",
        family="claims",
        direction="lower",
        definition="cases whose answer is a refusal / cases",
        source="Wen et al. 2024, Know Your Limits: A Survey of Abstention in LLMs, arXiv:2407.18418",
        per_case=_abstention,
        part="count",
        either_way=True,
    ),
)
