"""Sentences by hand that only decline or only refer, and look-alikes that say something to check."""

from pathlib import Path

import pytest

from pytest_medfaith.claims.split import extract_claims, is_refusal, read_answer

DATA = Path(__file__).parents[1] / "data" / "refusals"
NO_CLAIM = DATA.joinpath("no_claim.txt").read_text(encoding="utf-8").splitlines()
A_CLAIM = DATA.joinpath("a_claim.txt").read_text(encoding="utf-8").splitlines()


def test_there_are_enough_of_each():
    assert len(set(NO_CLAIM)) == len(NO_CLAIM) >= 60
    assert len(set(A_CLAIM)) == len(A_CLAIM) >= 60


@pytest.mark.parametrize("sentence", NO_CLAIM)
def test_a_sentence_that_only_declines_or_refers_makes_no_claim(sentence):
    assert [claim.text for claim in extract_claims(sentence)] == []
    assert [piece.reason for piece in read_answer(sentence).dropped] != []


@pytest.mark.parametrize("sentence", A_CLAIM)
def test_a_sentence_that_says_something_makes_a_claim(sentence):
    assert extract_claims(sentence) != []


@pytest.mark.parametrize(
    "answer",
    [
        "I don't have enough information to answer this question. Please contact your pharmacy.",
        (
            "The passages don't cover this, so I'd rather not guess. Your best option is to speak to the "
            "team that prescribed it."
        ),
        (
            "I therefore can't give you a safe dose. Please ask your midwife, doctor or pharmacist before "
            "you take it."
        ),
        "Sorry, I can't find a dose in these passages. That is a question for your surgeon.",
    ],
)
def test_an_answer_of_such_sentences_abstains(answer):
    assert is_refusal(answer)
    assert not is_refusal(f"{answer} Take 5 mg.")


def test_an_answer_that_only_refers_abstains():
    assert is_refusal("Please contact your pharmacy.")
    assert not is_refusal("Please contact your pharmacy if the rash spreads.")


@pytest.mark.parametrize("answer", ["Yes.", "Yes, hope this helps.", "No, please ask your pharmacist."])
def test_a_yes_answers_the_question_whatever_stands_behind(answer):
    (claim,) = extract_claims(answer, question="Can adults take 8 g of paracetamol a day?")
    assert (
        claim.text == f"Can adults take 8 g of paracetamol a day? {answer[: 3 if answer[0] == 'Y' else 2]}."
    )


REFUSING = DATA.joinpath("refusing_answers.txt").read_text(encoding="utf-8").splitlines()
SEEMING = DATA.joinpath("seeming_refusals.txt").read_text(encoding="utf-8").splitlines()


def test_there_are_enough_answers_of_each():
    assert len(set(REFUSING)) == len(REFUSING) >= 150
    assert len(set(SEEMING)) == len(SEEMING) >= 150


@pytest.mark.parametrize("answer", REFUSING)
def test_a_way_to_refuse_is_a_refusal(answer):
    assert is_refusal(answer)
    assert not is_refusal(f"{answer} Take 5 mg twice a day.")


@pytest.mark.parametrize("answer", SEEMING)
def test_an_answer_that_only_looks_like_a_refusal_is_none(answer):
    assert not is_refusal(answer)
