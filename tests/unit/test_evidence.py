"""Whose contexts a case is judged by, and what a checker says of each hit alone."""

import pytest

from pytest_medfaith.checking.relevance import judge_hits
from pytest_medfaith.errors import DataError
from pytest_medfaith.evaluation import evaluate_case, retrieval_report
from pytest_medfaith.evidence import Evidence, query_of
from pytest_medfaith.metrics.pooling import pool_reports
from pytest_medfaith.records import Case, Chunk, Claim, GoldClaim, Hit, Report, Response, Retrieval, Verdict
from pytest_medfaith.testing import scripted_checker

ASPIRIN = Chunk(id="aspirin", text="Aspirin relieves pain.")
IRON = Chunk(id="iron", text="Iron treats anaemia.")
ZINC = Chunk(id="zinc", text="Zinc never treats colds.")
CASE = Case(
    id="case",
    question="What helps?",
    gold_claims=(
        GoldClaim(id="1", text="Iron treats anaemia."),
        GoldClaim(id="2", text="Zinc treats colds."),
    ),
)
ANSWER = Response(
    case_id="case",
    answer="Aspirin relieves pain. Zinc treats colds.",
    contexts=(IRON,),
    contexts_from="the responses file",
)


def label(evidence, claim):
    if claim in evidence:
        return "entail"
    return "contradict" if claim.replace("treats", "never treats") in evidence else "neutral"


CHECKER = scripted_checker(label)


def ranked(*chunks):
    return [Hit(chunk=chunk, rank=rank, score=1 / rank) for rank, chunk in enumerate(chunks, start=1)]


def judged(evidence, hits=None):
    return evaluate_case(CASE, ANSWER, checker=CHECKER, hits=hits, retriever="r", evidence=evidence, k=3)


def labels(report):
    return [(verdict.label, verdict.chunk_id) for verdict in report.verdicts]


def test_recorded_contexts_are_left_as_they_are():
    report = judged(Evidence(), hits=ranked(ASPIRIN, ZINC))
    assert report.response == ANSWER
    assert [label for label, _ in labels(report)] == ["unsupported", "unsupported"]
    assert (report.contexts_mode, report.retrieval) == ("recorded", Retrieval())


def test_retrieved_contexts_are_the_hits_of_the_question():
    report = judged(Evidence(mode="retrieved"), hits=ranked(ASPIRIN, ZINC))
    assert report.response.contexts == (ASPIRIN, ZINC)
    assert report.response.contexts_from == "the slice's retriever, in place of the responses file"
    assert labels(report) == [("supported", "aspirin"), ("refuted", "zinc")]


def test_each_claim_is_judged_by_what_is_found_for_it():
    found = {"Aspirin relieves pain.": [IRON], "Zinc treats colds.": [IRON, ZINC]}
    asked = []

    def search(query):
        asked.append(query)
        return ranked(*found[query])

    report = judged(Evidence(mode="per-claim", search=search), hits=ranked(ASPIRIN))
    assert asked == list(found)
    # Aspirin is a context of neither claim: only the question found it.
    assert report.response.contexts == (IRON, ZINC)
    assert [label for label, _ in labels(report)] == ["unsupported", "refuted"]
    assert {(pair.claim_id, pair.chunk_id) for pair in report.pairs if pair.claim_id == "c1"} - {
        ("c1", "reference")
    } == {("c1", "iron")}
    assert report.entailments.chunk_gold == ((True, False), (False, False))
    assert report.retrieval.claims == {"c1": ("iron",), "c2": ("iron", "zinc")}
    assert report.retrieval.refuting == {"c2": ("zinc",)}
    assert report.retrieval.gold == {"aspirin": (False, False)}


def test_a_claim_for_which_nothing_is_found_is_unsupported_whatever_other_claims_find():
    found = {"Aspirin relieves pain.": [], "Zinc treats colds.": [ASPIRIN]}
    report = judged(Evidence(mode="per-claim", search=lambda query: ranked(*found[query])), hits=[])
    assert [verdict.reason for verdict in report.verdicts] == [
        "the retriever found nothing for it",
        "no chunk entails or contradicts it",
    ]
    assert [label for label, _ in labels(report)] == ["unsupported", "unsupported"]


@pytest.mark.parametrize("mode", ["retrieved", "per-claim"])
def test_without_a_retriever_nothing_is_judged(mode):
    with pytest.raises(
        DataError, match=f"case 'case': its claims are to be judged by {mode} contexts, and there"
    ):
        judged(Evidence(mode=mode))


def test_two_texts_under_one_id_are_refused():
    other = ASPIRIN.with_(text="Aspirin thins blood.")
    with pytest.raises(
        DataError, match=r"case 'case': the retriever gave chunks .* two contexts have the id"
    ):
        judged(Evidence(mode="retrieved"), hits=ranked(ASPIRIN, other))
    with pytest.raises(DataError, match="two contexts have the id 'aspirin'"):
        retrieval_report(CASE, ranked(ASPIRIN, other), checker=CHECKER)


def test_a_query_holds_the_words_that_the_claim_needs():
    assert query_of(Claim(id="c", text="It lowers glucose.")) == "It lowers glucose."
    in_context = Claim(id="c", text="It lowers glucose.", context="Metformin is a biguanide.")
    assert query_of(in_context) == "Metformin is a biguanide. It lowers glucose."


def without_answer(*chunks, retriever="r"):
    return retrieval_report(CASE, ranked(*chunks), checker=CHECKER, retriever=retriever, k=3)


def test_every_hit_is_judged_by_every_gold_claim():
    report = without_answer(ASPIRIN, IRON, ZINC)
    assert report.retrieval.gold == {"aspirin": (False, False), "iron": (True, False), "zinc": (False, False)}
    assert report.retrieval.refuting == {"gold:2": ("zinc",)}
    assert (report.has_answer, report.abstained, report.verdicts) == (False, False, ())
    assert repr(report) == "<Report on 'case': 3 hits, no answer>"
    assert Report.from_dict(report.to_dict()) == report


def test_what_is_said_of_a_hit_does_not_depend_on_the_other_hits():
    many = [Chunk(id=f"copy-{number}", text="Iron treats anaemia.") for number in range(20)]
    alone = {chunk.id: without_answer(chunk).retrieval.gold[chunk.id] for chunk in (*many, ZINC)}
    assert without_answer(*many[:2], ZINC).retrieval.gold == {
        name: alone[name] for name in ("copy-0", "copy-1", "zinc")
    }
    twenty = judge_hits(without_answer(*many, ZINC), CHECKER, found={}, cost=Retrieval())
    assert sum(entailed for entailed, _ in twenty.gold.values()) == 3  # k is 3
    whole = Report(case=CASE, response=ANSWER, hits=tuple(ranked(*many, ZINC)))
    assert judge_hits(whole, CHECKER, found={}, cost=Retrieval()).gold == alone


def test_a_plain_callable_judges_each_hit_alone():
    asked = []

    def judge(claim, chunks):
        asked.append((claim.id, [chunk.id for chunk in chunks]))
        return Verdict(
            claim=claim, label="supported" if label(chunks[0].text, claim.text) == "entail" else "refuted"
        )

    from dataclasses import replace

    report = retrieval_report(CASE, ranked(IRON, ZINC), checker=replace(CHECKER, judge=judge))
    assert report.retrieval.gold == {"iron": (True, False), "zinc": (False, False)}
    assert asked == [(claim, [chunk]) for claim in ("gold:1", "gold:2") for chunk in ("iron", "zinc")]


def test_a_pool_holds_what_any_retriever_found():
    first, second = pool_reports(
        [without_answer(IRON, ASPIRIN, retriever="a"), without_answer(ZINC, retriever="b")]
    )
    assert first.retrieval.pool == second.retrieval.pool == ("a", "b")
    assert first.retrieval.gold == second.retrieval.gold
    measured = ("rchunk.recall@k", "rchunk.ndcg@k", "contradiction_mrr")
    assert [first.metrics[name] for name in measured] == [1.0, 1.0, 0.0]
    assert [second.metrics[name] for name in measured] == [0.0, 0.0, 1.0]


def test_nothing_is_measured_over_a_pool_before_it_is_whole():
    report = without_answer(IRON)
    assert not {name for name in report.metrics if name.startswith(("rchunk.", "auto.", "contradiction"))}


def test_claims_of_other_answers_are_not_mixed_up():
    said = [
        judged(Evidence(mode="retrieved"), hits=ranked(ZINC)),
        evaluate_case(
            CASE,
            ANSWER.with_(answer="Iron treats anaemia. Aspirin relieves pain."),
            checker=CHECKER,
            hits=ranked(IRON),
            evidence=Evidence(mode="retrieved"),
        ),
    ]
    first, second = pool_reports(said)
    assert first.retrieval.refuting == {"c2": ("zinc",), "gold:2": ("zinc",)}
    assert second.retrieval.refuting == {"gold:2": ("zinc",)}  # its second claim is another one
