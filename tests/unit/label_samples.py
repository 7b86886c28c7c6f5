"""Slice reports with many claims, and labels of them, for the tests of labels."""

from __future__ import annotations

import random
from collections.abc import Iterable

from pytest_medfaith.labels.rows import LabelRow
from pytest_medfaith.records import Case, Chunk, Claim, Report, Response, SliceReport, Verdict


def many_claims(counts: dict[str, int], *, slice_name: str = "pcos", seed: int = 1) -> SliceReport:
    """Returns a slice with `counts` claims of each verdict, five claims a case, scores between 0.5 and 1."""
    source = random.Random(seed)
    labels = [label for label, count in counts.items() for _ in range(count)]
    source.shuffle(labels)
    reports = [
        _report(f"case-{start // 5}", labels[start : start + 5], source) for start in range(0, len(labels), 5)
    ]
    return SliceReport(slice=slice_name, retriever="rrf", checker="fast", k=5, reports=tuple(reports))


def _report(case_id: str, labels: Iterable[str], source: random.Random) -> Report:
    chunk = Chunk(
        id=f"{case_id}-a", text=f"The evidence of {case_id}. Metformin lowers insulin.", title="Medicines"
    )
    answer, verdicts = "", []
    for number, label in enumerate(labels):
        text = f"Claim {number} of {case_id} says something."
        claim = Claim(id=f"c{number}", text=text, start=len(answer), end=len(answer) + len(text))
        answer += f"{text} "
        verdicts.append(
            Verdict.from_dict(
                {"claim": claim, "label": label, "score": source.uniform(0.5, 1), "chunk_id": chunk.id}
            )
        )
    return Report(
        case=Case(id=case_id, question=f"What of {case_id}?", slice="pcos"),
        response=Response(case_id=case_id, answer=answer, contexts=(chunk,)),
        verdicts=tuple(verdicts),
        checker="fast",
        retriever="rrf",
        k=5,
    )


def label_row(**changes: object) -> LabelRow:
    """Returns a label of a refuted claim, with `changes`."""
    row = {
        "slice": "pcos",
        "case_id": "case-0",
        "claim": "Claim 0.",
        "key": "0123456789abcdef",
        "label": "refuted",
        "verdict": "supported",
        "checker": "fast@0123456789abcdef",
        "stratum": "supported near",
        "weight": 2.5,
    }
    return LabelRow.from_dict(row | changes)
