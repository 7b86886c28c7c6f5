"""The pool: the hits of all compared retrievers, judged together.

Measured by its own hits alone, a retriever has found everything there is. Its recall means something only
where other retrievers may have found what it missed (Sparck Jones & van Rijsbergen 1975; TREC).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from pytest_medfaith.metrics.aggregate import case_metrics
from pytest_medfaith.metrics.base import Metric
from pytest_medfaith.metrics.registry import METRICS
from pytest_medfaith.records import Report, gold_id


def pool_reports(reports: Sequence[Report], *, declared: Mapping[str, Metric] = METRICS) -> list[Report]:
    """Returns the reports on one case by several retrievers, each judged over the hits of all of them.

    Args:
        reports: of the case, one for each retriever that is done.
        declared: the metrics by name; they are measured anew.
    """
    gold = {name: entailed for report in reports for name, entailed in report.retrieval.gold.items()}
    grades = {name: grade for report in reports for name, grade in report.retrieval.grades.items()}
    pool, pooled = tuple(sorted({report.retriever for report in reports})), []
    for report in reports:
        retrieval = report.retrieval.with_(
            gold=gold, grades=grades, refuting=_refuting(report, reports), pool=pool
        )
        joined = report.with_(retrieval=retrieval)
        pooled.append(joined.with_(metrics=case_metrics(joined, declared=declared)))
    return pooled


def _refuting(report: Report, reports: Sequence[Report]) -> dict[str, tuple[str, ...]]:
    """Returns {claim id of `report`: chunks that refute it}, by what any of the reports says.

    A RAG that answers anew for each retriever may make other claims; those are left out.
    """
    claims_of_report = _claim_texts(report)
    chunks: dict[str, dict[str, None]] = defaultdict(dict)
    for other in reports:
        texts = _claim_texts(other)
        for claim, refuting in other.retrieval.refuting.items():
            if claim in claims_of_report and claims_of_report[claim] == texts.get(claim):
                chunks[claim] |= dict.fromkeys(refuting)
    return {claim: tuple(sorted(found)) for claim, found in sorted(chunks.items())}


def _claim_texts(report: Report) -> dict[str, str]:
    golds = {gold_id(gold): gold.text for gold in report.case.gold_claims}
    return golds | {verdict.claim.id: verdict.claim.in_context for verdict in report.verdicts}
