"""The declared values: names, ranges, and the way back from a name."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_medfaith.metrics.registry import METRICS, parse_metric

REPO = Path(__file__).parents[2]
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
            "self_contradiction",
            "answer_risk",
            "high_risk",
            "major_hallucination",
            "major_error_rate",
            "conflict",
            "unscored",
            "abstention",
            "safety_error_rate",
            "latency_p50",
            "latency_p95",
        ),
        "unchecked_share",
        "misattribution",
        *("should_have_abstained", "should_have_answered"),
        *(
            f"{name}{group}"
            for name in ("omission", "gold_contradiction")
            for group in ("", ".key", ".major")
        ),
        "nonexistent_citation",
        "index_bytes",
        *(
            f"{step}_p{percent}"
            for step in ("retrieval", "encode", "search", "fuse", "rerank")
            for percent in (50, 95)
        ),
        *("ragchecker.noise_sensitivity_in_relevant", "ragchecker.noise_sensitivity_in_irrelevant"),
        *("ragchecker.hallucination", "ragchecker.self_knowledge"),
    }


@pytest.mark.parametrize("name", ["recall@20", "ndcg@1", "rchunk.precision@7", "hit@1000", "auto.ndcg@5"])
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


# What a contributor writes into the file of a family, and nowhere else.
NEW_METRIC = """

METRICS = (
    *METRICS,
    Metric(
        name="long_claims",
        family="claims",
        direction="lower",
        definition="claims of more than 40 words / claims",
        source="a contributor",
        per_case=lambda report: share(
            sum(len(verdict.claim.text.split()) > 40 for verdict in claim_verdicts(report)),
            len(claim_verdicts(report)),
        ),
        part="count",
        whole="claims",
    ),
)
"""
# Every place that has to know a metric, in a process whose package is the copy.
USED_EVERYWHERE = """
import importlib.util, json, sys
from pathlib import Path

sys.path.insert(0, sys.argv[1])
import pytest_medfaith
assert Path(pytest_medfaith.__file__).is_relative_to(sys.argv[1])
from pytest_medfaith.cards.html import html_report
from pytest_medfaith.cards.json_card import json_card
from pytest_medfaith.evaluation import slice_report
from pytest_medfaith.gates.baseline import read_baseline, write_baseline
from pytest_medfaith.gates.judging import judge_gates
from pytest_medfaith.records import Case, Claim, Report, Response, SliceRun, Verdict

claims = [Claim(id="1", text="Short."), Claim(id="2", text="x " * 50)]
verdicts = [Verdict(claim=claim, label="supported") for claim in claims]
answer = Response(answer="x")
reports = [
    Report(case=Case(id=name, question="?"), response=answer, verdicts=verdicts, contexts_optional=True)
    for name in "ab"
]
report = slice_report(SliceRun(slice="s", retriever="r", checker="c", k=1), reports)
baseline = Path(sys.argv[1]) / "baseline.json"
write_baseline(baseline, [report], signature={})
(entry,) = read_baseline(baseline).slices
gates = ["long_claims <= 0.4", "long_claims no worse than baseline"]
tables = importlib.util.spec_from_file_location("docs_tables", sys.argv[2])
sys.modules["docs_tables"] = module = importlib.util.module_from_spec(tables)
tables.loader.exec_module(module)
print(json.dumps({
    "value": json.loads(json_card([report]))["slices"][0]["metrics"]["long_claims"]["value"],
    "page": "<dt>long_claims</dt><dd>claims of more than 40 words / claims</dd>" in html_report([report]),
    "baseline": list(entry.cases["a"].fractions["long_claims"]),
    "gates": [gate.outcome for gate in judge_gates(gates, report, baseline=entry).gates],
    "docs": "| `long_claims` |" in module.metrics("claims"),
}))
"""


def test_a_new_metric_touches_one_file(tmp_path):
    """One file is written; cards, gates, baseline and tables of the docs follow, as docs/metrics.md says."""
    copied = tmp_path / "pytest_medfaith"
    left_out = shutil.ignore_patterns("__pycache__", "*.onnx", "*.npz", "tokenizer*")
    shutil.copytree(REPO / "pytest_medfaith", copied, ignore=left_out)
    with (copied / "metrics" / "claims.py").open("a", encoding="utf-8") as file:
        file.write(NEW_METRIC)
    run = subprocess.run(
        [sys.executable, "-c", USED_EVERYWHERE, tmp_path, REPO / "docs" / "tables.py"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout) == {
        "value": 0.5,
        "page": True,
        "baseline": [1.0, 2.0],
        "gates": ["fail", "pass"],
        "docs": True,
    }
