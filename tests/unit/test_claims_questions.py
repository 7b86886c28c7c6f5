"""A question states nothing, unless it takes for granted what it says."""

import pytest

from pytest_medfaith.claims.questions import is_question
from pytest_medfaith.claims.split import read_answer

TRUE = "Metformin is taken with meals."
GRANTED = [
    "Did you know that isotretinoin is safe in pregnancy?",
    "Do you know that isotretinoin is safe in pregnancy?",
    "Did you know isotretinoin is safe in pregnancy?",
    "Who would doubt that adults can take 10 g of paracetamol a day?",
    "How can anyone deny that isotretinoin is safe in pregnancy?",
    "Why is isotretinoin safe in pregnancy?",
    "Why can adults take 8 g of paracetamol a day?",
    "How come isotretinoin is safe in pregnancy?",
    "What makes isotretinoin safe in pregnancy?",
    "What could be safer than isotretinoin in pregnancy?",
    "How much better is isotretinoin than nothing in pregnancy?",
]
ASKED = [
    "Do you know your dose?",
    "Do you know whether it is safe?",
    "Did you know what was in it?",
    "Why is this important?",
    "Why is that?",
    "What would be the dose?",
    "Why?",
    "Would you like to know more?",
    "In children, is it safe?",
    "Is there anything else you would like to know now?",
]


@pytest.mark.parametrize("question", GRANTED)
def test_what_a_question_takes_for_granted_is_a_claim(question):
    assert [claim.text for claim in read_answer(f"{TRUE} {question}").claims] == [TRUE, question]


@pytest.mark.parametrize("question", ASKED)
def test_what_only_asks_is_dropped(question):
    read = read_answer(f"{TRUE} {question}")
    assert [claim.text for claim in read.claims] == [TRUE]
    assert [piece.reason for piece in read.dropped] == ["question"]


def test_an_answered_question_is_the_context_of_its_answer():
    (_, claim) = read_answer(f"{TRUE} {GRANTED[5]} It is not absorbed.").claims
    assert (claim.text, claim.context) == ("It is not absorbed.", GRANTED[5])


def test_what_was_asked_is_not_said_by_who_repeats_it():
    assert read_answer(GRANTED[5], question=GRANTED[5]).claims == ()


def test_words_within_a_word_begin_no_question():
    assert not is_question("Did you know that 8 g is safe?")
