"""Ranking metrics on labels and on r-chunks."""

import math

import pytest

from pytest_medfaith.errors import DataError
from pytest_medfaith.metrics import retrieval
from pytest_medfaith.metrics.aggregate import slice_metrics
from pytest_medfaith.metrics.registry import parse_metric
from pytest_medfaith.records import Case, Chunk, Entailments, GoldClaim, Hit, Report, Response


def report(ranking, *, references=(), qrels=None, k=None, as_contexts=False, pmids=None):
    chunks = tuple(Chunk(id=name, text="Some text.", pmid=(pmids or {}).get(name)) for name in ranking)
    return Report(
        case=Case(
            id="case",
            question="Which?",
            references=references,
            meta={} if qrels is None else {"qrels": qrels},
        ),
        response=Response(answer="An answer.", contexts=chunks if as_contexts else ()),
        hits=()
        if as_contexts
        else tuple(Hit(chunk=chunk, rank=rank, score=1 / rank) for rank, chunk in enumerate(chunks, start=1)),
        k=k,
    )


def value(name, of):
    return parse_metric(name).value(of)


def test_the_five_metrics_on_references():
    found = report("abcd", references=("b", "d", "z"))
    assert value("recall@4", found) == 2 / 3
    assert value("recall@3", found) == 1 / 3
    assert value("precision@4", found) == 2 / 4
    assert value("mrr@4", found) == 1 / 2
    assert value("mrr@1", found) == 0
    assert value("hit@1", found) == 0
    assert value("hit@2", found) == 1
    gain = 1 / math.log2(3) + 1 / math.log2(5)
    assert value("ndcg@4", found) == pytest.approx(gain / (1 + 1 / math.log2(3) + 1 / math.log2(4)))


def test_a_cut_off_beyond_the_hits_counts_missing_ranks_as_not_relevant():
    found = report("ab", references=("b",))
    assert value("precision@10", found) == 1 / 10
    assert value("recall@10", found) == 1


def test_qrels_go_before_references_and_grade_the_gain():
    found = report("ab", references=("a",), qrels={"a": 1, "b": 2, "c": 0})
    assert value("ndcg@2", found) == pytest.approx((1 + 2 / math.log2(3)) / (2 + 1 / math.log2(3)))
    assert value("recall@1", found) == 1 / 2


def test_a_reference_may_be_a_pmid_and_is_found_once():
    found = report("abc", references=("777", "c"), pmids={"a": "777", "b": "777"})
    assert value("recall@3", found) == 1
    assert value("precision@3", found) == 2 / 3
    assert value("ndcg@3", found) < 1


def test_a_chunk_takes_the_label_of_its_own_id_before_that_of_its_pmid():
    assert retrieval.ranked_gains(
        [Chunk(id="a", text="x", pmid="7"), Chunk(id="b", text="x", pmid="7")], {"7": 1.0, "a": 2.0}
    ) == [
        2.0,
        1.0,
    ]


def test_hits_are_taken_by_rank_and_contexts_where_there_are_no_hits():
    found = report("ab", references=("b",))
    assert value("mrr@2", found.with_(hits=found.hits[::-1])) == 1 / 2
    assert value("mrr@2", report("ab", references=("b",), as_contexts=True)) == 1 / 2
    assert value("recall@2", report("", references=("b",))) == 0


@pytest.mark.parametrize(("k", "expected"), [(2, 1 / 2), (None, 1 / 4)])
def test_the_letter_k_is_the_reports_own_k_or_the_length_of_the_ranking(k, expected):
    assert value("precision@k", report("abcd", references=("a",), k=k)) == expected


@pytest.mark.parametrize("case", [{}, {"qrels": {"a": 0}}, {"references": ("a",), "qrels": {}}])
def test_a_case_without_a_relevant_label_does_not_count(case):
    assert all(value(f"{base}@5", report("ab", **case)) is None for base in retrieval.RANKED_NAMES)


@pytest.mark.parametrize("qrels", [["a"], {"a": "2"}, {"a": True}, {"a": math.nan}])
def test_qrels_that_are_no_grades_are_an_error(qrels):
    with pytest.raises(
        DataError, match=r"case 'case': meta\.qrels holds .* expected \{chunk id or PMID: grade\}"
    ):
        value("recall@5", report("ab", qrels=qrels))


def rchunk_report(rows, contexts):
    return Report(
        case=Case(
            id="case",
            question="Which?",
            gold_claims=tuple(GoldClaim(id=str(i), text="A fact.") for i in range(len(rows))),
        ),
        response=Response(answer="x", contexts=tuple(Chunk(id=str(i), text="x") for i in range(contexts))),
        entailments=Entailments(chunk_gold=tuple(tuple(mark == "1" for mark in row) for row in rows)),
    )


def test_on_r_chunks_the_gain_is_the_number_of_gold_claims_entailed():
    found = rchunk_report(["001", "101"], 3)
    assert value("rchunk.ndcg@3", found) == pytest.approx((1 + 2 / math.log2(4)) / (2 + 1 / math.log2(3)))
    assert value("rchunk.recall@1", found) == 1 / 2
    assert value("rchunk.precision@3", found) == 2 / 3
    assert value("rchunk.mrr@3", found) == 1


def test_contexts_that_entail_no_gold_claim_are_zero_and_no_gold_or_contexts_none():
    assert (
        value("rchunk.ndcg@2", rchunk_report(["00"], 2))
        == value("rchunk.recall@2", rchunk_report(["00"], 2))
        == 0
    )
    assert value("rchunk.ndcg@2", rchunk_report([], 2)) is None
    assert value("rchunk.ndcg@2", rchunk_report([""], 0)) is None


def test_slice_values_are_means_over_cases_micro_and_macro_alike():
    reports = [report("ab", references=("a",)), report("ab", references=("b", "x", "y", "z"))]
    micro, macro = slice_metrics(reports, names=["recall@2"])
    assert micro["recall@2"].value == macro["recall@2"].value == (1 + 1 / 4) / 2


def test_unknown_bases_and_cut_offs_are_errors():
    with pytest.raises(
        ValueError,
        match="no ranking metric is called 'map'; expected one of recall, precision, mrr, hit, ndcg",
    ):
        retrieval.ranking_metric("map", k=5)
    with pytest.raises(
        ValueError, match="recall@-3 has a cut-off of -3, expected 1 or more; write for example recall@10"
    ):
        retrieval.ranking_metric("recall", k=-3)
