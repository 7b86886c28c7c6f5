"""Claim, citation, safety and latency metrics of single reports."""

import math

import pytest

from pytest_medfaith.errors import DataError
from pytest_medfaith.metrics.aggregate import case_metrics, slice_metrics
from pytest_medfaith.metrics.base import Metric
from pytest_medfaith.metrics.citations import cited_contexts
from pytest_medfaith.metrics.registry import METRICS
from pytest_medfaith.records import (
    Case,
    Chunk,
    Claim,
    Entailments,
    Finding,
    GoldClaim,
    Report,
    Response,
    Verdict,
)

LABELS = {"S": "supported", "R": "refuted", "U": "unsupported", "?": "unscored"}
OVER_CLAIMS = (
    "faithfulness",
    "hallucination",
    "unsupported",
    "conflict",
    "unscored",
    "context_utilization",
    "citation_coverage",
)


def bits(lines):
    return tuple(tuple(mark == "1" for mark in line) for line in lines)


def verdict(label, **changes):
    return Verdict(claim=Claim(id="claim", text="A claim."), label=LABELS[label], **changes)


def report(verdicts=(), *, contexts=2, gold="", rows=None, gold_rows=None, recalled=None, **changes):
    """Each of `gold` is k (a key gold claim) or o; rows are lines of 0 and 1, a mark for each context."""
    chunks = (
        tuple(Chunk(id=f"c{i}", text="Some text.") for i in range(contexts))
        if isinstance(contexts, int)
        else contexts
    )
    return Report(
        case=Case(
            id="case",
            question="Which?",
            gold_claims=tuple(
                GoldClaim(id=f"g{i}", text="A fact.", key=k == "k") for i, k in enumerate(gold)
            ),
        ),
        response=Response(answer="An answer.", contexts=chunks),
        verdicts=tuple(verdict(v) if isinstance(v, str) else v for v in verdicts),
        entailments=Entailments(
            chunk_claims=bits(["0" * len(chunks)] * len(verdicts) if rows is None else rows),
            chunk_gold=bits(["0" * len(chunks)] * len(gold) if gold_rows is None else gold_rows),
            answer_gold=bits(["0" * len(gold) if recalled is None else recalled])[0],
        ),
        **changes,
    )


def pcos_report():
    diagonal = ["0" * i + "1" + "0" * (9 - i) for i in range(5)]
    return report(
        "SSRRS",
        contexts=10,
        gold="kkkkk",
        recalled="11001",
        gold_rows=diagonal,
        rows=[diagonal[0], diagonal[1], "0" * 10, "0" * 10, diagonal[4]],
    )


def test_the_worked_pcos_example_comes_out_to_the_digit():
    expected = {
        "context_precision": 0.50,
        "faithfulness": 0.60,
        "hallucination": 0.40,
        "claim_recall": 0.60,
        "context_utilization": 0.60,
    }
    assert case_metrics(pcos_report(), names=expected) == expected
    micro, macro = slice_metrics([pcos_report()], names=expected)
    assert (
        {name: value.value for name, value in micro.items()}
        == {name: value.value for name, value in macro.items()}
        == expected
    )


def test_an_unscored_claim_is_counted_by_unscored_alone():
    values = case_metrics(report("SRU?", rows=["10", "00", "00", "11"]))
    assert (values["faithfulness"], values["hallucination"], values["unsupported"]) == (1 / 3, 1 / 3, 1 / 3)
    assert values["unscored"] == 1 / 4
    assert values["context_utilization"] == 1 / 3


def test_a_report_whose_claims_are_all_unscored_has_no_faithfulness():
    values = case_metrics(report("??"))
    assert values["unscored"] == 1
    assert "faithfulness" not in values
    assert "context_utilization" not in values


def test_an_abstention_has_no_faithfulness_and_recalls_nothing():
    values = case_metrics(report(gold="ko", gold_rows=["10", "00"], abstained=True))
    assert values["abstention"] == 1
    assert values["claim_recall"] == 0
    assert (values["context_precision"], values["context_recall"]) == (0.5, 0.5)
    assert values.keys().isdisjoint(OVER_CLAIMS)


def test_an_abstention_without_entailments_recalls_nothing_either():
    refusal = report(gold="k", abstained=True).with_(entailments=Entailments())
    assert case_metrics(refusal, names=["claim_recall", "context_recall"]) == {"claim_recall": 0}


def test_without_contexts_claims_are_unsupported_and_context_precision_does_not_apply():
    values = case_metrics(report("UU", contexts=0, gold="k", recalled="1"))
    assert (
        values["unsupported"],
        values["faithfulness"],
        values["context_utilization"],
        values["context_recall"],
    ) == (1, 0, 0, 0)
    assert "context_precision" not in values


def test_a_report_that_never_measured_entailments_without_contexts_reads_the_same():
    bare = report("U", contexts=0, gold="k").with_(entailments=Entailments())
    assert case_metrics(bare, names=["context_utilization", "context_recall"]) == {
        "context_utilization": 0,
        "context_recall": 0,
    }


def test_claim_recall_reads_key_claims_and_context_recall_all_of_them():
    values = case_metrics(report("S", gold="kko", recalled="101", gold_rows=["00", "01", "01"]))
    assert values["claim_recall"] == 1 / 2
    assert values["context_recall"] == 2 / 3
    assert values["context_precision"] == 1 / 2


def test_gold_without_a_key_claim_has_no_claim_recall():
    assert "claim_recall" not in case_metrics(report("S", gold="o", recalled="1"))


def test_conflict_is_the_share_of_scored_verdicts_in_conflict():
    assert (
        case_metrics(report([verdict("S", conflict=True), verdict("R"), verdict("?", conflict=True)]))[
            "conflict"
        ]
        == 1 / 2
    )


def test_what_nobody_measured_is_absent_and_not_zero():
    bare = report("SS", gold="k").with_(entailments=Entailments())
    measured = case_metrics(bare)
    assert measured["faithfulness"] == 1
    assert measured.keys().isdisjoint(
        {"claim_recall", "context_recall", "context_precision", "context_utilization", "citation_support"}
    )


@pytest.mark.parametrize(
    ("name", "field", "value", "message"),
    [
        (
            "context_utilization",
            "chunk_claims",
            bits(["11"]),
            "chunk_claims is 1 rows of 2, expected 2 response claims by 2 contexts",
        ),
        (
            "context_utilization",
            "chunk_claims",
            bits(["11", "1"]),
            "2 rows of 1 or 2, expected 2 response claims by 2 contexts",
        ),
        (
            "context_precision",
            "chunk_gold",
            bits(["1"]),
            "case 'case': .*chunk_gold is 1 rows of 1, expected 1 gold claims by 2 contexts",
        ),
        (
            "claim_recall",
            "answer_gold",
            (True, False),
            "answer_gold is 2 long, expected 1 gold claims; make the report anew",
        ),
    ],
)
def test_entailments_out_of_line_are_an_error(name, field, value, message):
    crooked = report("SU", gold="k")
    crooked = crooked.with_(entailments=crooked.entailments.with_(**{field: value}))
    with pytest.raises(DataError, match=message):
        METRICS[name].value(crooked)


@pytest.mark.parametrize("fraction", [(math.nan, 1.0), (1.0, 0.0), (1.0, math.inf)])
def test_a_metric_that_answers_no_number_is_an_error(fraction):
    broken = Metric(
        name="broken",
        family="claims",
        direction="higher",
        definition="",
        source="",
        per_case=lambda _: fraction,
    )
    with pytest.raises(ValueError, match=r"metric 'broken' of case 'case' is .* let per_case return None"):
        broken.value(report("S"))


# citations


@pytest.mark.parametrize(
    ("marker", "expected"),
    [
        ("1", {0}),
        ("[2]", {1}),
        ("3", set()),
        ("0", set()),
        ("c1", {1}),
        ("PMID 31415926", {0, 2}),
        ("[pmid:31415926]", {0, 2}),
        ("31415926", {0, 2}),
        ("PMID 2", set()),
        ("²", set()),
        ("", set()),
    ],
)
def test_a_marker_points_to_contexts_by_number_pmid_or_id(marker, expected):
    contexts = [
        Chunk(id="c0", text="x", pmid="31415926"),
        Chunk(id="c1", text="x"),
        Chunk(id="c2", text="x", pmid="31415926"),
    ]
    assert cited_contexts([marker], contexts[:2] if marker == "3" else contexts) == expected


def cited(label, *citations):
    return Verdict(claim=Claim(id="claim", text="A claim.", citations=citations), label=LABELS[label])


def test_citation_support_asks_the_cited_chunks_and_coverage_all_claims():
    verdicts = [
        cited("S", "1"),
        cited("S", "2"),
        cited("S", "9"),
        cited("S", "1", "2"),
        cited("S"),
        cited("?", "1"),
    ]
    values = case_metrics(report(verdicts, rows=["10", "10", "11", "01", "11", "11"]))
    assert values["citation_support"] == 2 / 4
    assert values["citation_coverage"] == 5 / 6


def test_an_answer_without_citations_has_coverage_zero_and_no_support():
    values = case_metrics(report("SS"))
    assert values["citation_coverage"] == 0
    assert "citation_support" not in values


def test_a_citation_without_contexts_supports_nothing():
    assert case_metrics(report([cited("U", "1")], contexts=0))["citation_support"] == 0


# safety and authority


def test_safety_error_rate_counts_claims_and_not_findings_or_other_rules():
    dose, triage = (
        Finding(rule="safety.dose", message="too much"),
        Finding(rule="safety.triage", message="too late"),
    )
    unsafe = verdict("S", findings=(dose, triage))
    assert (
        case_metrics(report([unsafe, verdict("R", findings=(Finding(rule="numbers", message="differ"),))]))[
            "safety_error_rate"
        ]
        == 1 / 2
    )


def test_a_dangerous_claim_counts_even_unscored():
    unsafe = verdict("?", findings=(Finding(rule="safety.dose", message="too much"),))
    assert case_metrics(report([unsafe, "S", "?"]))["safety_error_rate"] == 1 / 2


def authorities(*names):
    return tuple(Chunk(id=f"c{i}", text="x", authority=name) for i, name in enumerate(names))


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        ([verdict("S", supporting=("c0", "c1"))], 1.0),
        ([verdict("S", supporting=("c1",))], 0.4),
        ([verdict("S", supporting=("c2",))], 0.7),
        ([verdict("S", supporting=("c3",))], 0.4),
        ([verdict("S", chunk_id="c2")], 0.7),
        ([verdict("S", supporting=("elsewhere",))], 0.0),
        ([verdict("S", supporting=("c0",)), verdict("R", supporting=("c0",)), "U", "U", "?"], 0.25),
    ],
)
def test_guideline_adherence_weighs_the_best_supporting_source(verdicts, expected):
    assert (
        case_metrics(report(verdicts, contexts=authorities("guideline", "site", "cohort", None)))[
            "guideline_adherence"
        ]
        == expected
    )


def test_guideline_adherence_does_not_apply_where_no_source_states_its_authority():
    assert "guideline_adherence" not in case_metrics(report("S", contexts=2))


def test_guideline_adherence_is_zero_without_contexts():
    assert case_metrics(report("U", contexts=0))["guideline_adherence"] == 0


# latency


def test_latency_quantiles_are_over_the_responses_that_say_how_long_they_took():
    reports = [
        report("S").with_(response=Response(answer="x", latency_ms=ms))
        for ms in (10.0, 20.0, 30.0, 40.0, None)
    ]
    micro, macro = slice_metrics(reports, names=["latency_p50", "latency_p95"])
    assert (micro["latency_p50"].value, micro["latency_p50"].n) == (25.0, 4)
    assert micro["latency_p95"].value == pytest.approx(38.5)
    assert micro == macro
    assert micro["latency_p50"].low < 25.0 < micro["latency_p50"].high
