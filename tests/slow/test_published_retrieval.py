"""The figures published with ten breast cancer questions come out from their published runs and keywords.

The report gives hit, MRR, recall and nDCG at 5, 10 and 20 of two runs, by its method `auto_relevance`. All of
them come out to 15 digits; the sixteenth depends on the order of a sum. Two things differ on purpose or are
not there:

* its recall at 20 is 1 by definition, since only the 20 returned documents are judged: here `auto.recall@20`
  of such a ranking does not apply, and the function under it gives the 1;
* its mean latency, 1,584.5 ms, is of no published run: the ten latencies beside the results have a mean of
726.4.
"""

import json
import os
from pathlib import Path

import pytest

from pytest_medfaith.metrics import retrieval
from pytest_medfaith.metrics.aggregate import aggregate
from pytest_medfaith.metrics.auto_relevance import keyword_grades
from pytest_medfaith.metrics.registry import parse_metric
from pytest_medfaith.records import Case, Chunk, Hit, Report, Response

DATA = os.environ.get("MEDFAITH_DATA")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.realdata,
    pytest.mark.skipif(not DATA, reason="MEDFAITH_DATA names no folder with the public data sets"),
]
RUNS = {"baseline": "retrieval_results_baseline.json", "rrf2": "retrieval_results_rrf2.json"}


def published(name):
    return json.loads((Path(DATA) / "breast_cancer_rag" / name).read_text(encoding="utf-8"))


def reports(run):
    """A report a question, its hits the 20 documents that the run returned, its keywords those published."""
    keywords = published("auto_relevance_keywords.json")
    return [
        Report(
            case=Case(id=name, question=row["question"], meta={"relevance_keywords": keywords[name]}),
            response=Response(answer=""),
            hits=tuple(
                Hit(
                    chunk=Chunk(id=hit["id"], title=hit["title"], text=hit["content"]),
                    rank=hit["rank"],
                    score=hit["score"],
                )
                for hit in row["top_20_results"]
            ),
            k=20,
        )
        for name, row in published(RUNS[run]).items()
    ]


def digits(number):
    return f"{number:.15g}"


@pytest.mark.parametrize("run", RUNS)
def test_the_published_figures_come_out(run):
    told = published("evaluation_report.json")[run]["summary"]
    found = reports(run)
    assert len(found) == 10
    figures = {(base, k): value for base in told for k, value in told[base].items()}
    assert len(figures) == 12
    for (base, k), value in figures.items():
        per_case = [parse_metric(f"auto.{base}@{k}").value(report) for report in found]
        if (base, k) == ("recall", "20"):
            assert per_case == [None] * 10
            per_case = [_recall(report, 20) for report in found]
        assert digits(sum(per_case) / 10) == digits(value), (run, base, k)


def _recall(report, k):
    grades = list(keyword_grades(report.case, [hit.chunk for hit in report.hits]).values())
    return retrieval.recall(grades, grades, k)


def test_the_slice_value_is_the_published_mean():
    micro, _ = aggregate(parse_metric("auto.ndcg@10"), reports("rrf2"), resamples=100)
    assert micro.value == pytest.approx(0.7207284123867093, abs=1e-10)


def test_the_published_mean_latency_is_of_another_run():
    latencies = [row["latency_ms"] for row in published(RUNS["rrf2"]).values()]
    assert published("evaluation_report.json")["rrf2"]["avg_latency_ms"] == pytest.approx(1584.517, abs=1e-3)
    assert sum(latencies) / len(latencies) == pytest.approx(726.371, abs=1e-3)
