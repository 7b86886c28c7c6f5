"""Ranking metrics against ir-measures on random runs, graded labels among them."""

import random

import pytest

from pytest_medfaith.metrics import retrieval
from pytest_medfaith.metrics.aggregate import aggregate
from pytest_medfaith.metrics.pooling import pool_reports
from pytest_medfaith.metrics.registry import parse_metric
from pytest_medfaith.records import Case, Chunk, GoldClaim, Hit, Report, Response, Retrieval

ir_measures = pytest.importorskip("ir_measures")

MEASURES = {"recall": "R", "precision": "P", "mrr": "RR", "hit": "Success", "ndcg": "nDCG"}
CUTOFFS = (1, 3, 5, 10, 50)


def random_reports(seed, *, top_grade):
    """Rankings of 0 to 30 chunks of 40 over random labels; some labels are never found, some are 0."""
    generator = random.Random(seed)
    names = [f"c{i}" for i in range(40)]
    for number in range(25):
        ranking = generator.sample(names, generator.randint(0, 30))
        qrels = {
            name: generator.randint(0, top_grade)
            for name in generator.sample(names, generator.randint(1, 12))
        }
        yield Report(
            case=Case(
                id=f"q{number}",
                question="Which?",
                meta={"qrels": {**qrels, generator.choice(names): top_grade}},
            ),
            response=Response(answer="x"),
            hits=tuple(
                Hit(chunk=Chunk(id=name, text="x"), rank=rank, score=1 / rank)
                for rank, name in enumerate(ranking, start=1)
            ),
        )


@pytest.mark.parametrize("top_grade", [1, 2, 4])
@pytest.mark.parametrize("base", retrieval.RANKED_NAMES)
def test_ranking_metrics_agree_with_ir_measures(base, top_grade):
    reports = list(random_reports(top_grade, top_grade=top_grade))
    qrels = {each.case.id: each.case.meta["qrels"] for each in reports}
    run = {each.case.id: {hit.chunk.id: hit.score for hit in each.hits} for each in reports}
    for k in CUTOFFS:
        measure = ir_measures.parse_measure(f"{MEASURES[base]}@{k}")
        theirs = {row.query_id: row.value for row in ir_measures.iter_calc([measure], qrels, run)}
        metric = parse_metric(f"{base}@{k}")
        ours = {each.case.id: metric.value(each) for each in reports}
        assert ours == pytest.approx({**dict.fromkeys(ours, 0.0), **theirs}, abs=1e-9)
        micro, macro = aggregate(metric, reports, resamples=10)
        expected = ir_measures.calc_aggregate([measure], qrels, run)[measure]
        assert (micro.value, macro.value) == pytest.approx((expected, expected), abs=1e-9)


def found_by(retriever, case, generator):
    """What a retriever found of 40 chunks; a chunk entails the same gold claims for every retriever."""
    names = generator.sample([f"c{i}" for i in range(40)], generator.randint(0, 20))
    entailed = {name: tuple((int(name[1:]) * (7 + i)) % 5 == 0 for i in range(3)) for name in names}
    return Report(
        case=case,
        response=Response(answer=""),
        hits=tuple(
            Hit(chunk=Chunk(id=name, text="x"), rank=rank, score=1 / rank)
            for rank, name in enumerate(names, start=1)
        ),
        searched=True,
        retriever=retriever,
        contexts_mode="none",
        retrieval=Retrieval(gold=entailed),
    )


@pytest.mark.parametrize("base", retrieval.RANKED_NAMES)
def test_r_chunks_over_a_pool_agree_with_ir_measures_over_the_same_judgements(base):
    generator = random.Random(base)
    golds = tuple(GoldClaim(id=str(i), text="x") for i in range(3))
    for number in range(25):
        case = Case(id=f"q{number}", question="Which?", gold_claims=golds)
        pooled = pool_reports([found_by(name, case, generator) for name in "abc"])
        grades = {name: sum(entailed) for each in pooled for name, entailed in each.retrieval.gold.items()}
        for each in pooled:
            run = {case.id: {hit.chunk.id: hit.score for hit in each.hits}}
            for k in CUTOFFS:
                measure = ir_measures.parse_measure(f"{MEASURES[base]}@{k}")
                theirs = [row.value for row in ir_measures.iter_calc([measure], {case.id: grades}, run)]
                ours = parse_metric(f"rchunk.{base}@{k}").value(each)
                assert ours == pytest.approx(theirs[0] if theirs else 0.0, abs=1e-9)
