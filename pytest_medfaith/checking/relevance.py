"""What each retrieved passage, by itself, says of the gold claims of its case.

A passage that entails a gold claim is an r-chunk (Ru et al. 2024, RAGChecker, arXiv:2408.08067). Each pair of
claim and passage is judged by itself. So the judgement of a passage does not depend on the retrievers that
are compared, and the passages of several retrievers can be put together later.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING

from pytest_medfaith.answers.contexts import as_chunks
from pytest_medfaith.metrics.auto_relevance import keyword_grades
from pytest_medfaith.records import Case, Chunk, Claim, Report, Retrieval, VerdictLabel, gold_id

if TYPE_CHECKING:
    from pytest_medfaith.checking.checker import Checker


def judge_hits(
    report: Report, checker: Checker, *, found: Mapping[str, Sequence[Chunk]], cost: Retrieval
) -> Retrieval:
    """Returns `cost` with what the hits of `report` say of its gold claims, and which chunks refute claims.

    Args:
        report: the report of the case, with hits and verdicts.
        checker: judges the pairs.
        found: {id of a claim that was used as a query: its chunks, best first}.
        cost: what the retrieval cost in time.
    """
    chunks = as_chunks(report.hits)
    said = judge_pairs(report.case, chunks, checker)
    refuting = defaultdict(list)
    for (claim_id, chunk_id), label in said.items():
        if label == "refuted":
            refuting[claim_id].append(chunk_id)
    for verdict in report.verdicts:
        if verdict.label == "refuted" and verdict.chunk_id:
            refuting[verdict.claim.id].append(verdict.chunk_id)
    golds = [gold_id(gold) for gold in report.case.gold_claims]
    return cost.with_(
        gold={
            chunk.id: tuple(said[name, chunk.id] == "supported" for name in golds)
            for chunk in chunks
            if golds
        },
        grades=keyword_grades(report.case, chunks),
        refuting={name: tuple(ids) for name, ids in refuting.items()},
        claims={name: tuple(chunk.id for chunk in of_claim) for name, of_claim in found.items()},
    )


def judge_pairs(case: Case, chunks: Sequence[Chunk], checker: Checker) -> dict[tuple[str, str], VerdictLabel]:
    """Returns {(id of a gold claim, chunk id): the label of the verdict by this chunk alone}."""
    pairs = [
        (Claim(id=gold_id(gold), text=gold.text), chunk) for gold, chunk in product(case.gold_claims, chunks)
    ]
    # A strong model reads only a few chunks of each claim. With an id for each pair, a claim has one chunk.
    alone = [(claim.with_(id=f"{claim.id}\n{chunk.id}"), chunk) for claim, chunk in pairs]
    scores = checker.score(alone)
    labels = {}
    for number, (claim, chunk) in enumerate(pairs):
        verdict = checker.decide(claim, scores[number : number + 1], [chunk])
        labels[claim.id, chunk.id] = verdict.label
    return labels
