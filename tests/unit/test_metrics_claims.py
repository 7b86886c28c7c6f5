from pytest_medfaith.errors import DataError
from pytest_medfaith.metrics.aggregate import case_metrics
from pytest_medfaith.metrics.base import Metric
from pytest_medfaith.metrics.registry import METRICS
from pytest_medfaith.records import Case, Chunk, Claim, Entailments, GoldClaim, Report, Response, Verdict

import pytest


def _report(labels="", *, contexts=2, gold="", rows=None, gold_rows=None, recalled=None, **changes):
    """`labels` has one of S R U ? a claim, `gold` one of k (key) o (other) a gold claim; rows are strings of 0 and 1."""
    words = {"S": "supported", "R": "refuted", "U": "unsupported", "?": "unscored"}
    matrix = lambda lines: tuple(tuple(mark == "1" for mark in line) for line in lines)  # noqa: E731
    return Report(
        case=Case(
            id="case", question="Which?", gold_claims=tuple(GoldClaim(id=f"g{i}", text="A fact.", key=k == "k") for i, k in enumerate(gold))
        ),
        response=Response(answer="An answer.", contexts=tuple(Chunk(id=f"c{i}", text="Some text.") for i in range(contexts))),
        verdicts=tuple(Verdict(claim=Claim(id=str(i), text="A claim."), label=words[label]) for i, label in enumerate(labels)),
        entailments=Entailments(
            chunk_claims=matrix(rows if rows is not None else ["0" * contexts] * len(labels)),
            chunk_gold=matrix(gold_rows if gold_rows is not None else ["0" * contexts] * len(gold)),
            answer_gold=matrix([recalled if recalled is not None else "0" * len(gold)])[0],
        ),
        **changes,
    )
