"""Ranking metrics: pure functions on gains by rank, and their per-case metrics on labels and on r-chunks.

The functions have one shape, `(gains, judged, k) -> float`. `gains` are the grades of the ranked chunks, the
best rank first, 0 where a chunk has no label. `judged` are the grades of all judged chunks, found or not. A
chunk is relevant where its grade is above 0. `k` may be larger than the ranking: as in trec_eval the missing
ranks are not relevant, precision still divides by k, and each metric is 0.0 where nothing is relevant.

`recall@20`, `ndcg@10` and so on read the labels of the case: `meta["qrels"]` ({chunk id or PMID: grade}, 2
decisive, 1 supportive, 0 no), else `references` with grade 1. They rank the report's hits, or its contexts
where no retriever was asked. A chunk takes a single label, that of its id before that of its PMID, and a
label is taken once, at its best rank. A case without a relevant label does not count.

`rchunk.recall@20`, `rchunk.ndcg@10` and so on rank the contexts. The gain of a context is the number of gold
claims that it entails. Only the contexts are judged, so recall and the ideal order are those of the contexts.
A case without gold claims or contexts does not count.

Where contexts are retrieved, and where no answer is judged, they rank the hits instead, and the hits of all
retrievers of the slice are judged (a pool, as TREC has it). `auto.recall@20` and so on have the same pool,
and read grades by keywords (`auto_relevance`). A ranking that is the whole pool has found all of it: then
recall at its length does not apply.

Slice values are means over cases, micro and macro alike, as is usual for ranking metrics.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pytest_medfaith.defaults import CUT_FROM
from pytest_medfaith.errors import DataError, shown
from pytest_medfaith.metrics.auto_relevance import KEY, keyword_grades
from pytest_medfaith.metrics.base import Fraction, Metric, entailed_gold, gold_groups, share

if TYPE_CHECKING:
    from pytest_medfaith.records import Case, Chunk, Report

Gains = Sequence[float]
Labels = Literal["qrels", "rchunk", "auto"]
PREFIXES: Mapping[Labels, str] = {"qrels": "", "rchunk": "rchunk.", "auto": "auto."}


def recall(gains: Gains, judged: Gains, k: int) -> float:
    """Returns relevant chunks among the first k / relevant chunks judged (Manning et al. 2008, 8.4)."""
    relevant = _relevant(judged)
    return _relevant(gains[:k]) / relevant if relevant else 0.0


def precision(gains: Gains, judged: Gains, k: int) -> float:  # noqa: ARG001 - one shape for all five
    """Returns the number of relevant chunks (gain above 0) among the first k, divided by k, 0 to 1.

    Where fewer than k chunks were found, it is divided by k all the same; `judged` does not count. Source:
    Manning et al. 2008, 8.4.
    """
    return _relevant(gains[:k]) / k


def reciprocal_rank(gains: Gains, judged: Gains, k: int) -> float:  # noqa: ARG001 - one shape for all five
    """Returns 1 / rank of the first relevant chunk within the first k, else 0.0 (Voorhees 1999)."""
    return next((1 / rank for rank, gain in enumerate(gains[:k], start=1) if gain > 0), 0.0)


def hit(gains: Gains, judged: Gains, k: int) -> float:  # noqa: ARG001 - one shape for all five
    """Returns 1.0 where a chunk with a gain above 0 is among the first k, else 0.0; `judged` does not count.

    ir-measures calls it Success.
    """
    return float(_relevant(gains[:k]) > 0)


def ndcg(gains: Gains, judged: Gains, k: int) -> float:
    """Returns DCG / ideal DCG of the first k, with linear gain and discount log2(rank + 1), as trec_eval.

    The ideal order ranks all judged chunks. A grade below 0 gains nothing (Järvelin & Kekäläinen 2002).
    """
    ideal = _dcg(sorted(judged, reverse=True), k)
    return _dcg(gains, k) / ideal if ideal else 0.0


def _relevant(gains: Gains) -> int:
    return sum(gain > 0 for gain in gains)


def _dcg(gains: Gains, k: int) -> float:
    return math.fsum(max(gain, 0.0) / math.log2(rank + 1) for rank, gain in enumerate(gains[:k], start=1))


def grades(case: Case) -> dict[str, float]:
    """Returns {chunk id or PMID: grade} of `case`, empty where it has neither qrels nor references.

    Raises:
        DataError: `meta["qrels"]` is no object of finite numbers.
    """
    qrels = case.meta.get("qrels")
    if qrels is None:
        return dict.fromkeys(case.references, 1.0)
    if not isinstance(qrels, Mapping):
        raise _wrong_qrels(case, shown(qrels))
    for name, grade in qrels.items():
        if isinstance(grade, bool) or not isinstance(grade, (int, float)) or not math.isfinite(grade):
            raise _wrong_qrels(case, f"{name!r}: {shown(grade)}")
    return {str(name): float(grade) for name, grade in qrels.items()}


def _wrong_qrels(case: Case, found: str) -> DataError:
    return DataError(
        f"case {case.id!r}: meta.qrels holds {found}, expected {{chunk id or PMID: grade}} with finite "
        "numbers as grades; mend the case, or remove meta.qrels so that its references are used"
    )


def ranked_gains(ranking: Sequence[Chunk], labels: Mapping[str, float]) -> list[float]:
    """Returns the grade of each chunk of `ranking`, 0.0 where it has none.

    A label is taken once, at its best rank. A chunk of a corpus that was cut anew has the label of the chunk
    with which it shares the most text.
    """
    left = dict(labels)
    gains = []
    for chunk in ranking:
        names = (chunk.id, chunk.pmid, chunk.extra.get(CUT_FROM))
        name = next((name for name in names if isinstance(name, str) and name in left), None)
        gains.append(0.0 if name is None else left.pop(name))
    return gains


@dataclass(frozen=True)
class _Judged:
    """A ranking to measure: its gains by rank, and the grades of everything that was judged.

    The last field says whether only the ranking itself was judged.
    """

    gains: Gains
    judged: Gains
    is_whole_pool: bool = False


def _ranking(report: Report) -> Sequence[Chunk]:
    if report.hits or report.searched:
        return [hit.chunk for hit in sorted(report.hits, key=lambda hit: hit.rank)]
    return report.response.contexts


def _labelled_gains(report: Report) -> _Judged | None:
    labels = grades(report.case)
    judged = list(labels.values())
    return _Judged(ranked_gains(_ranking(report), labels), judged) if _relevant(judged) else None


def _rchunk_gains(report: Report) -> _Judged | None:
    if report.contexts_mode != "recorded":
        groups = gold_groups(report)
        entailed_by = {
            name: float(sum(any(golds[place] for place in group) for group in groups))
            for name, golds in report.retrieval.gold.items()
        }
        return _pooled(report, entailed_by) if report.retrieval.pool and report.case.gold_claims else None
    rows = entailed_gold(report)
    if not rows or not report.response.contexts:
        return None
    gains = [float(sum(entailed)) for entailed in zip(*rows, strict=True)]
    return _Judged(gains, gains)


def _auto_gains(report: Report) -> _Judged | None:
    if report.case.meta.get(KEY) is None or (
        report.contexts_mode != "recorded" and not report.retrieval.pool
    ):
        return None
    return _pooled(report, {**report.retrieval.grades, **keyword_grades(report.case, _ranking(report))})


def _pooled(report: Report, labels: Mapping[str, float]) -> _Judged:
    """Returns the gains of the ranking by labels of a pool; each label is taken once, at its best rank."""
    left = dict(labels)
    gains = [left.pop(chunk.id, 0.0) for chunk in _ranking(report)]
    return _Judged(gains, list(labels.values()), is_whole_pool=len(report.retrieval.pool) < 2)


@dataclass(frozen=True, kw_only=True)
class _Ranked:
    function: Callable[[Gains, Gains, int], float]
    definition: str
    source: str


_RANKED = {
    "recall": _Ranked(
        function=recall,
        definition="relevant chunks among the first k / relevant chunks judged",
        source="Manning, Raghavan & Schütze 2008, Introduction to Information Retrieval, 8.4",
    ),
    "precision": _Ranked(
        function=precision,
        definition="relevant chunks among the first k / k",
        source="Manning, Raghavan & Schütze 2008, Introduction to Information Retrieval, 8.4",
    ),
    "mrr": _Ranked(
        function=reciprocal_rank,
        definition="1 / rank of the first relevant chunk within the first k, else 0",
        source="Voorhees 1999, The TREC-8 Question Answering Track Report",
    ),
    "hit": _Ranked(
        function=hit,
        definition="1 where a relevant chunk is among the first k, else 0",
        source="ir-measures (Success), MacAvaney et al. 2022, ECIR",
    ),
    "ndcg": _Ranked(
        function=ndcg,
        definition="DCG / ideal DCG of the first k, gain = grade, discount log2(rank + 1), ideal over "
        "everything judged",
        source="Järvelin & Kekäläinen 2002, ACM TOIS 20(4); gain and discount of trec_eval",
    ),
}
_GAINS: Mapping[Labels, Callable[[Report], _Judged | None]] = {
    "qrels": _labelled_gains,
    "rchunk": _rchunk_gains,
    "auto": _auto_gains,
}
_ON = {
    "qrels": "on the case's qrels or references",
    "rchunk": "on the contexts, or where they are retrieved on the hits of all retrievers of the slice; "
    "grade = gold claims that a passage entails",
    "auto": "on the hits of all retrievers of the slice, grade by the case's keywords = 2 decisive, 1 "
    "supportive",
}
RANKED_NAMES = tuple(_RANKED)


def ranking_metric(base: str, *, k: int | None = None, labels: Labels = "qrels") -> Metric:
    """Returns the metric `base@k`, or `rchunk.base@k`.

    Without `k` the cut-off is the report's k, and the length of the ranking where the report has none.

    Raises:
        ValueError: `k` is below 1, or no ranking metric is called `base`.
    """
    if base not in _RANKED:
        raise ValueError(f"no ranking metric is called {base!r}; expected one of {', '.join(_RANKED)}")
    if k is not None and k < 1:
        raise ValueError(f"{base}@{k} has a cut-off of {k}, expected 1 or more; write for example {base}@10")
    ranked = _RANKED[base]

    def per_case(report: Report) -> Fraction | None:
        found = _GAINS[labels](report)
        if found is None:
            return None
        gains, cut_off = found.gains, k or report.k or max(len(found.gains), 1)
        if base == "recall" and found.is_whole_pool and gains and cut_off >= len(gains):
            return None
        return ranked.function(gains, found.judged, cut_off), 1.0

    return Metric(
        name=f"{PREFIXES[labels]}{base}@{'k' if k is None else k}",
        family="retrieval",
        direction="higher",
        definition=f"{ranked.definition}; {_ON[labels]}",
        source=ranked.source,
        per_case=per_case,
        k=k,
        needs_answer=False,
    )


def _contradiction_mrr(report: Report) -> Fraction | None:
    found, question = report.retrieval, [chunk.id for chunk in _ranking(report)]
    ranks = [
        reciprocal_rank([float(chunk in refuting) for chunk in ranking], (), max(len(ranking), 1))
        for claim, refuting in found.refuting.items()
        for ranking in [found.claims.get(claim, question)]
    ]
    return share(math.fsum(ranks), len(ranks)) if found.pool else None


def _index_bytes(report: Report) -> Fraction | None:
    size = report.retrieval.index_bytes
    return None if size is None else (size, 1.0)


METRICS = (
    *(ranking_metric(base, labels=labels) for labels in PREFIXES for base in _RANKED),
    Metric(
        name="contradiction_mrr",
        family="retrieval",
        direction="higher",
        definition="mean over gold claims and claims of the answer that a hit of any retriever of the slice "
        "refutes: 1 / rank of the first refuting hit of this retriever, else 0; only where contexts are "
        "retrieved or no answer is judged",
        source="Voorhees 1999, The TREC-8 Question Answering Track Report; after Weller et al. 2024, NevIR, "
        "EACL",
        per_case=_contradiction_mrr,
        needs_answer=False,
    ),
    Metric(
        name="index_bytes",
        family="retrieval",
        direction="lower",
        definition="bytes of the retriever's index; only where contexts are retrieved or no answer is judged",
        source="this project",
        per_case=_index_bytes,
        range=(0.0, math.inf),
        needs_answer=False,
    ),
)
