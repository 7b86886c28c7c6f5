"""The declared values: names, ranges, and the way back from a name."""

import subprocess
import sys

import pytest

from pytest_medfaith.metrics.registry import METRICS, parse_metric

DESIGN_NAMES = (
    *(
        "faithfulness",
        "hallucination",
        "unsupported",
        "claim_recall",
        "context_precision",
        "context_utilization",
        "safety_error_rate",
    ),
    *("guideline_adherence", "citation_support", "citation_coverage", "abstention", "context_recall"),
    *(
        "recall@k",
        "precision@k",
        "mrr@k",
        "hit@k",
        "ndcg@k",
        "latency_p50",
        "latency_p95",
        "unscored",
        "conflict",
    ),
    *(
        "ragchecker.precision",
        "ragchecker.recall",
        "ragchecker.f1",
        "ragchecker.claim_recall",
        "ragchecker.context_precision",
    ),
    *(
        "ragchecker.context_utilization",
        "ragchecker.noise_sensitivity_in_relevant",
        "ragchecker.noise_sensitivity_in_irrelevant",
    ),
    *("ragchecker.hallucination", "ragchecker.self_knowledge", "ragchecker.faithfulness"),
)


def test_every_metric_of_the_design_is_there():
    assert set(DESIGN_NAMES) <= METRICS.keys()


@pytest.mark.parametrize("metric", METRICS.values(), ids=lambda metric: metric.name)
def test_every_metric_is_declared_in_full(metric):
    assert metric.definition
    assert metric.source
    assert metric.range[0] < metric.range[1]
    assert parse_metric(metric.name) is metric


def test_less_is_better_for_errors_noise_refusals_and_time():
    assert {name for name, metric in METRICS.items() if metric.direction == "lower"} == {
        *(
            "hallucination",
            "unsupported",
            "conflict",
            "unscored",
            "abstention",
            "safety_error_rate",
            "latency_p50",
            "latency_p95",
        ),
        "unchecked_share",
        *("ragchecker.noise_sensitivity_in_relevant", "ragchecker.noise_sensitivity_in_irrelevant"),
        *("ragchecker.hallucination", "ragchecker.self_knowledge"),
    }


@pytest.mark.parametrize("name", ["recall@20", "ndcg@1", "rchunk.precision@7", "hit@1000"])
def test_a_ranking_name_parses_back(name):
    metric = parse_metric(name)
    assert metric.name == name
    assert metric.k == int(name.split("@")[1])


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("faithfullness", "no metric is called 'faithfullness'; .* 'faithfulness'"),
        ("nDCG@10", "no metric is called 'nDCG@10'; .* 'ndcg@10'"),
        ("recal@20", "'recall@20'"),
        ("claim_recall@5", "no metric is called 'claim_recall@5'; .* 'claim_recall'"),
        ("recall@0", "recall@0 has a cut-off of 0, expected 1 or more"),
        ("recall@-1", "no metric is called 'recall@-1'; .* 'recall@10'"),
        ("recall@²", "no metric is called"),
        ("recall@٣", "no metric is called"),
        ("zzz", "expected one of faithfulness, hallucination"),
        ("", "expected one of faithfulness, hallucination"),
    ],
)
def test_an_unknown_name_is_an_error_that_says_the_nearest(name, message):
    with pytest.raises(ValueError, match=message):
        parse_metric(name)


def test_the_registry_loads_no_numpy():
    code = "import sys, pytest_medfaith.metrics.registry; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
