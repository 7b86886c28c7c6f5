"""A checked answer in the fields of MedCAFAS's `POST /predict`, for clients that were written for it.

MedCAFAS is a checker of medical answers: https://github.com/surajpsingh020/medcafas (api.py,
frontend/lib/types.ts).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pytest_medfaith.metrics.answer_risk import report_risk
from pytest_medfaith.records import PairScore, Report, Verdict
from pytest_medfaith.records.answer_risk import AnswerRisk, RiskSettings

_VERDICTS = {"supported": "SUPPORTED", "refuted": "CONTRADICTED"}
_UNSUPPORTED = "UNSUPPORTED"  # also of a claim that could not be scored: `reason` says so
FUTURE = "future"  # the rule against dates that have not come yet


def prediction(report: Report, settings: RiskSettings) -> dict[str, Any]:
    """Returns the answer and its risk in MedCAFAS's fields, without `latency_ms`.

    A part of the risk that was not measured is None in `breakdown`, and named in `breakdown["missing"]`. A
    refusal has the risk 0. An answer that makes no claim, and is no refusal, has the risk 1: nothing of it
    was checked. `settings` hold weights and bounds of the risk.
    """
    risk = report_risk(report, settings) or _without_claims(report)
    labels = [_VERDICTS.get(verdict.label, _UNSUPPORTED) for verdict in report.verdicts]
    scores = [
        round(1 - risk.parts[name], 6) if name in risk.parts else None
        for name in ("consistency", "retrieval")
    ]
    return {
        "question": report.case.question,
        "answer": report.response.answer,
        "risk_flag": risk.flag,
        "risk_score": risk.score,
        "confidence": round(1 - risk.score, 6),
        "explanation": _explanation(report, risk),
        "breakdown": {
            "consistency_score": scores[0],
            "retrieval_score": scores[1],
            **{f"{name}_risk": risk.parts.get(name) for name in ("consistency", "retrieval", "critic")},
            "temporal_risk": 1.0 if list(_temporal(report)) else 0.0,
            "missing": list(risk.missing),
            "overrides": list(risk.overrides),
            "n_claims": len(labels),
            "verdict_counts": {name: labels.count(name) for name in (*_VERDICTS.values(), _UNSUPPORTED)},
        },
        "claim_breakdown": [_claim(verdict, report) for verdict in report.verdicts],
        "temporal_flags": list(_temporal(report)),
        "citations": [
            {
                "source": chunk.source or chunk.id,
                "question": chunk.title,
                "answer": chunk.text,
                "similarity": None,
            }
            for chunk in report.response.contexts
        ],
    }


def _without_claims(report: Report) -> AnswerRisk:
    """Returns the risk of an answer without claims: 0 for a refusal, else 1."""
    if report.abstained:
        return AnswerRisk(score=0.0, flag="LOW")
    return AnswerRisk(score=1.0, flag="HIGH", missing=("consistency", "retrieval", "critic"))


def _explanation(report: Report, risk: AnswerRisk) -> str:
    """Returns a sentence on the riskiest claim, or on why there is none."""
    if report.abstained:
        return "The answer is a refusal: it makes no claim."
    if not report.verdicts:
        return "The answer makes no claim that can be checked, so nothing says that it is right."
    worst = next(
        (verdict for verdict in report.verdicts if verdict.claim.id == risk.claim), report.verdicts[0]
    )
    why = worst.reason or (worst.findings[0].message if worst.findings else "")
    told = f"The riskiest claim is {worst.label}: {worst.claim.text}"
    return f"{told} ({why})" if why else told


def _claim(verdict: Verdict, report: Report) -> dict[str, Any]:
    """Returns a claim with its evidence and scores, in MedCAFAS's fields."""
    texts = {chunk.id: chunk.text for chunk in report.response.contexts}
    evidence = texts.get(verdict.chunk_id, "")
    pairs = [pair for pair in report.pairs if pair.claim_id == verdict.claim.id]
    return {
        "claim": verdict.claim.text,
        "best_evidence": evidence[slice(*verdict.span)] if verdict.span else evidence,
        "entailment": _most(pairs, 0, verdict.score if verdict.label == "supported" else 0.0),
        "contradiction": _most(pairs, 2, verdict.score if verdict.label == "refuted" else 0.0),
        "retrieval_sim": None,
        "verdict": _VERDICTS.get(verdict.label, _UNSUPPORTED),
        "reason": "could not be scored: " + verdict.reason if verdict.label == "unscored" else verdict.reason,
    }


def _most(pairs: list[PairScore], place: int, otherwise: float) -> float:
    """Returns the highest probability at `place` over all pairs; `otherwise` where there are none."""
    return max((pair.probs[place] for pair in pairs), default=otherwise)


def _temporal(report: Report) -> Iterator[dict[str, Any]]:
    """Yields claims about dates that have not come yet, with the year; None where the claim names no year."""
    for verdict in report.verdicts:
        for finding in verdict.findings:
            if finding.rule == FUTURE:
                said = verdict.claim.text[slice(*finding.claim_span)] if finding.claim_span else ""
                year = next((int(word) for word in said.split() if word.isdigit()), None)
                yield {"claim": verdict.claim.text, "year": year, "reason": finding.message}
