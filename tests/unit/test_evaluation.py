"""One case, evaluated: what belongs together stays together, and what cannot be summed up is refused at its case."""

import json

import numpy as np
import pytest

from pytest_medfaith.config import SliceSettings
from pytest_medfaith.errors import DataError
from pytest_medfaith.evaluation import evaluate_case
from pytest_medfaith.records import Case, Chunk, Claim, GoldClaim, Hit, Response
from pytest_medfaith.run.results import Result, plain_report
from pytest_medfaith.run.targets import Target
from pytest_medfaith.testing import scripted_checker

ASPIRIN, IRON = Chunk(id="a", text="Aspirin relieves pain."), Chunk(id="b", text="Iron treats anaemia.")
CHECKER = scripted_checker(lambda evidence, claim: "entail" if claim in evidence else "neutral")


def evaluated(*, case=None, response=None, **arguments):
    case = case or Case(id="case", question="What helps?")
    response = response or Response(case_id="case", answer="Aspirin relieves pain.", contexts=(ASPIRIN, IRON))
    return evaluate_case(case, response, checker=CHECKER, **arguments)


def test_claims_that_share_an_id_are_refused():
    def extractor(_answer, **_):
        return [Claim(id="c", text="Aspirin cures cancer."), Claim(id="c", text="Aspirin relieves pain.")]

    with pytest.raises(DataError, match="case 'case': among its claims one has the id of another, 'c'"):
        evaluated(extractor=extractor)


def test_contexts_that_share_an_id_are_refused_unless_they_are_one():
    twice = Response(case_id="case", answer="Aspirin relieves pain.", contexts=(ASPIRIN, ASPIRIN))
    assert [verdict.label for verdict in evaluated(response=twice).verdicts] == ["supported"]
    with pytest.raises(DataError, match="among its contexts one has the id of another, 'a'"):
        evaluated(response=twice.with_(contexts=(ASPIRIN, IRON.with_(id="a"))))


@pytest.mark.parametrize("name", ["answer", "reference"])
def test_a_context_does_not_pass_for_the_answer_or_its_reference(name):
    response = Response(case_id="case", answer="Aspirin relieves pain.", contexts=(IRON.with_(id=name),))
    with pytest.raises(
        DataError,
        match=f"among its contexts one has an id that stands for the answer and its reference, '{name}'",
    ):
        evaluated(
            response=response,
            case=Case(id="case", question="What helps?", reference_answer="Aspirin relieves pain."),
        )


def test_gold_claims_that_share_an_id_are_refused():
    gold = (GoldClaim(id="g", text="Aspirin cures cancer."), GoldClaim(id="g", text="Aspirin relieves pain."))
    with pytest.raises(DataError, match="among its gold claims one has the id of another, 'g'"):
        evaluated(case=Case(id="case", question="What helps?", gold_claims=gold))


def sent(report):
    settings = SliceSettings(name="pain", cases="gold.jsonl")
    target = Target(settings=settings, case=report.case)
    return Result(run=target.run, report=plain_report(report)).to_row()


def test_numbers_of_numpy_travel_as_plain_ones():
    report = evaluated(hits=[Hit(chunk=ASPIRIN, rank=np.int64(1), score=np.float32(0.5))])
    row = sent(report.with_(response=report.response.with_(latency_ms=np.float64(3.5))))
    assert json.loads(json.dumps(row)) == row
    assert row["report"]["hits"][0]["score"] == 0.5
    assert row["report"]["response"]["latency_ms"] == 3.5


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"meta": {"when": object()}}, "it holds a object"),
        ({"latency_ms": float("nan")}, "cannot be summed up"),
        ({"answer": "Aspirin \ud83d relieves pain."}, "surrogates not allowed"),
    ],
)
def test_what_cannot_travel_is_an_error_of_its_case(change, message):
    report = evaluated()
    with pytest.raises(DataError, match=message) as refused:
        sent(report.with_(response=report.response.with_(**change)))
    assert "case 'case' cannot be summed up" in str(refused.value)
