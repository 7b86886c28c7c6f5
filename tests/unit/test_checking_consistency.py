"""Self-consistency: the samples of a RAG, what they say of an answer, and the metrics."""

import pytest

from pytest_medfaith.answers.sampling import (
    asked_samples,
    sampled_response,
    takes_temperature,
    temperatures_of,
)
from pytest_medfaith.checking.consistency import consistency_of, semantic_agreement
from pytest_medfaith.errors import DataError
from pytest_medfaith.evaluation import evaluate_case, slice_report
from pytest_medfaith.metrics.registry import METRICS, parse_metric
from pytest_medfaith.records import Case, Chunk, Claim, Response, SliceRun
from pytest_medfaith.scoring.similarity import Vectors
from pytest_medfaith.testing import containment_checker, scripted_checker

SAMPLES = ("Letrozole is taken once a day. It is a tablet.", "It is a tablet.", "")
CLAIMS = [Claim(id="a", text="Letrozole is taken once a day."), Claim(id="b", text="It is a tablet.")]


class Vector(Vectors):
    """Vectors with a cosine of 1 for equal texts and of 0 for others; nothing is embedded."""

    def add(self, texts):
        list(texts)

    def cosine(self, first, second):
        return float(first == second)


def test_claims_are_looked_for_in_each_sample():
    told = consistency_of(
        CLAIMS, "Letrozole is taken once a day. It is a tablet.", SAMPLES, containment_checker()
    )
    assert (told.samples, told.supported, told.is_same) == (3, {"a": 1, "b": 2}, False)
    assert told.refuted == {"a": 0, "b": 0}


def test_samples_that_say_otherwise_are_counted():
    checker = scripted_checker(lambda *_: "contradict")
    told = consistency_of(CLAIMS, "x", SAMPLES, checker)
    assert (told.supported, told.refuted) == (
        {"a": 0, "b": 0},
        {"a": 2, "b": 2},
    )  # the empty sample says nothing


def test_without_samples_there_is_nothing_to_compare():
    assert consistency_of(CLAIMS, "x", (), containment_checker()) is None


def test_a_plain_callable_judges_samples():
    from pytest_medfaith.checking.judge import as_checker

    judge = as_checker(lambda claim, chunks: "supported" if claim.text in chunks[0].text else "unsupported")
    assert consistency_of(CLAIMS, "x", SAMPLES, judge).supported == {"a": 1, "b": 2}


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        (["One. Two.", "One. Two."], 1.0),
        (["One. Two.", "Two. One."], 1.0),
        (["One. Two.", "One."], 2 / 3),
        (["One.", "Two."], 0.0),
        (["One.", "One.", "Two."], 1 / 3),
        (["One.", ""], 0.0),
        (["", ""], 0.0),
        (["One."], 1.0),
    ],
)
def test_agreement_is_the_mean_over_pairs_and_sentences(answers, expected):
    assert semantic_agreement(answers, vectors=Vector()) == pytest.approx(expected, abs=1e-6)


def test_paraphrases_agree_more_than_other_matters():
    dose = "Take metformin with meals twice a day."
    near = semantic_agreement([dose, "Metformin is taken two times daily with food."], vectors=Vectors())
    far = semantic_agreement([dose, "Wash your hands for twenty seconds."], vectors=Vectors())
    assert -1 <= far < near <= 1


def report(samples, *, answer="Letrozole is taken once a day. It is a tablet."):
    context = Chunk(id="c", text="Letrozole is taken once a day. It is a tablet.")
    response = Response(answer=answer, contexts=(context,), samples=samples)
    return evaluate_case(Case(id="a", question="How?"), response, checker=containment_checker())


def test_the_metrics_of_a_case():
    metrics = report(SAMPLES).metrics
    assert metrics["self_consistency"] == pytest.approx(2 / 6)  # "It" of the second sample is nobody
    assert metrics["self_contradiction"] == 0
    assert 0 < metrics["self_agreement"] < 1


def test_a_case_without_samples_has_no_such_metric_and_no_such_key():
    plain = report(())
    assert not {"self_consistency", "self_contradiction", "self_agreement"} & plain.metrics.keys()
    assert "consistency" not in plain.to_dict()
    assert "samples" not in plain.response.to_dict()


def test_a_refusal_has_an_agreement_and_no_claims():
    metrics = report(("It is a tablet.",), answer="I don't know.").metrics
    assert "self_consistency" not in metrics
    assert metrics["self_agreement"] < 1


def test_the_slice_adds_up_pairs():
    run = SliceRun(slice="mini", retriever="", checker="containment", k=1)
    metrics = slice_report(run, [report(SAMPLES)]).metrics
    assert metrics["self_consistency"].value == pytest.approx(2 / 6)


def test_the_metrics_are_in_gates_by_their_names():
    for name in ("self_consistency", "self_contradiction", "self_agreement"):
        assert parse_metric(name) is METRICS[name]


def test_temperatures():
    assert temperatures_of(0, (0, 0.8, 0.8)) == ()
    assert temperatures_of(2, (0, 0.8, 0.8)) == (0, 0.8)
    assert temperatures_of(5, (0, 0.8)) == (0, 0.8, 0.8, 0.8, 0.8)


@pytest.mark.parametrize(
    ("samples", "temperatures", "said"),
    [
        (1, (0,), "consistency is 1; expected 2 or more"),
        (3, (), r"temperatures is \[\]; expected"),
        (3, (0, 3), r"temperatures is \[0, 3\]; expected numbers from 0 to 2"),
        (3, (0, float("nan")), "expected numbers from 0 to 2"),
    ],
)
def test_temperatures_that_cannot_be(samples, temperatures, said):
    with pytest.raises(DataError, match=said):
        temperatures_of(samples, temperatures)


def test_a_rag_with_a_temperature_is_given_it():
    def rag(question, *, temperature=1.0):
        return f"{question} at {temperature}"

    assert asked_samples(rag, "Q", (0, 0.8)) == ["Q at 0", "Q at 0.8"]
    assert asked_samples(rag, "Q", ()) == ["Q at 1.0"]


def test_an_async_rag_is_awaited_each_time():
    async def rag(question, temperature):
        return f"{question} at {temperature}"

    assert asked_samples(rag, "Q", (0, 0.8)) == ["Q at 0", "Q at 0.8"]


def test_a_rag_without_a_temperature_is_asked_as_often():
    asked = []
    assert asked_samples(lambda question: asked.append(question) or str(len(asked)), "Q", (0, 0.8, 0.8)) == [
        "1",
        "2",
        "3",
    ]
    assert not takes_temperature(lambda _question, **_options: "")
    assert not takes_temperature(str)


def test_each_sample_knows_the_earlier_turns():
    def rag(question, *, history, temperature):
        return f"{question} {history[0]['content']} {temperature}"

    turns = [{"role": "user", "content": "I am pregnant."}]
    assert asked_samples(rag, "Q", (0, 0.8), history=turns) == ["Q I am pregnant. 0", "Q I am pregnant. 0.8"]


def test_what_is_no_callable_is_one_message():
    with pytest.raises(DataError, match="the fixture medfaith_rag gives 5"):
        asked_samples(5, "Q", (0, 0.8))


def test_the_first_answer_is_the_response_and_the_others_are_its_samples():
    context = {"id": "c", "text": "It is a tablet."}
    response = sampled_response([("It is a tablet.", [context]), "It is a pill."], case_id="a")
    assert (response.answer, response.samples, response.contexts[0].id) == (
        "It is a tablet.",
        ("It is a pill.",),
        "c",
    )
    assert sampled_response(["It is a tablet."], case_id="a").samples == ()


def test_equal_samples_are_told():
    told = consistency_of(CLAIMS, SAMPLES[1], (SAMPLES[1], f" {SAMPLES[1]}"), containment_checker())
    assert told.is_same
