"""Metrics of broken safety rules, and of the authority of sources that support claims."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from pytest_medfaith.entities.authority import authority_of
from pytest_medfaith.metrics.base import (
    Fraction,
    Metric,
    claim_verdicts,
    misaligned,
    scored_verdicts,
    share,
)
from pytest_medfaith.records.labels import OPEN

if TYPE_CHECKING:
    from pytest_medfaith.records import Authority, Chunk, Report, Verdict

SAFETY_PREFIX = "safety."

# The order is that of the evidence pyramid. The steps are this project's: a cohort is weaker than a trial,
# and a narrative review or a web page counts less than half a guideline.
AUTHORITY_WEIGHTS: Mapping[Authority, float] = {
    "guideline": 1.0,
    "systematic_review": 1.0,
    "rct": 1.0,
    "cohort": 0.7,
    "review": 0.4,
    "site": 0.4,
}
UNSTATED_WEIGHT = min(AUTHORITY_WEIGHTS.values())  # a chunk of unknown authority counts as the weakest


def breaks_safety_rule(verdict: Verdict) -> bool:
    """Returns whether the claim breaks a safety rule: it has a finding such as `safety.dose`."""
    return any(finding.rule.startswith(SAFETY_PREFIX) for finding in verdict.findings)


def _safety_error_rate(report: Report) -> Fraction | None:
    # The rules need no checker, so a dangerous claim counts even where the checker could not score it.
    judged = [
        verdict
        for verdict in claim_verdicts(report)
        if verdict.label not in OPEN or breaks_safety_rule(verdict)
    ]
    return share(sum(map(breaks_safety_rule, judged)), len(judged))


def weights_of(chunks: Sequence[Chunk]) -> dict[str, float]:
    """Returns {chunk id: weight of its authority, 0 to 1}; a guideline weighs most."""
    authorities = {chunk.id: authority_of(chunk) for chunk in chunks}
    return {
        chunk_id: AUTHORITY_WEIGHTS[authority] if authority else UNSTATED_WEIGHT
        for chunk_id, authority in authorities.items()
    }


def _guideline_adherence(report: Report) -> Fraction | None:
    contexts = report.response.contexts
    if contexts and not any(map(authority_of, contexts)):
        return None
    weights = weights_of(contexts)
    renamed = _renamed(report)
    best = []
    for verdict in scored_verdicts(report):
        said_by = [*renamed.get(verdict.claim.id, ())]
        if verdict.label == "supported":
            said_by += verdict.supporting or (verdict.chunk_id,)
        best.append(max((weights.get(chunk_id, 0.0) for chunk_id in said_by), default=0.0))
    return share(sum(best), len(best))


def _renamed(report: Report) -> dict[str, list[str]]:
    """Returns {claim id: ids of contexts that support it once its drugs and diseases are called as in them}.

    A claim that the evidence denies has none.

    Raises:
        DataError: the report's entailments have another shape.
    """
    rows, names = report.entailments.renamed_claims, [chunk.id for chunk in report.response.contexts]
    if rows and (len(rows) != len(report.verdicts) or any(len(row) != len(names) for row in rows)):
        shape = f"{len(report.verdicts)} response claims by {len(names)} contexts"
        raise misaligned(report, "renamed_claims", f"{len(rows)} rows", shape)
    return {
        verdict.claim.id: [name for name, said in zip(names, row, strict=True) if said]
        for verdict, row in zip(report.verdicts, rows, strict=False)
        if verdict.label != "refuted"
    }


METRICS = (
    Metric(
        name="safety_error_rate",
        family="safety",
        direction="lower",
        definition="claims that break a safety rule (dose, contraindication, interaction, triage, "
        "population) / N; an unscored claim that breaks one counts in both",
        source="this project",
        per_case=_safety_error_rate,
        part="count",
        whole="claims",
    ),
    Metric(
        name="guideline_adherence",
        family="safety",
        direction="higher",
        definition="sum over supported claims of the weight of their best supporting source (guideline, "
        "systematic_review, rct 1.0; cohort 0.7; review, site, unknown 0.4) / N; a source also supports a "
        "claim that it states in other names of the same drug or disease; does not apply where no context "
        "states its authority, nor title, address or corpus tell it",
        source="this project; order of evidence after Murad et al. 2016, New evidence pyramid, "
        "Evid Based Med 21:125",
        per_case=_guideline_adherence,
        whole="claims",
    ),
)
