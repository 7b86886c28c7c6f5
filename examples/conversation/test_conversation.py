"""A conversation, checked turn by turn: what the user says is no evidence, and "it" is read in its place."""

import json
from pathlib import Path

import pytest

from pytest_medfaith import assert_faithfulness, load_checker
from pytest_medfaith.conversations import check_conversation

MESSAGES = json.loads(Path(__file__).with_name("conversation.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def conversation():
    return check_conversation(MESSAGES, checker=load_checker("fast"))


def test_the_first_two_answers_are_backed(conversation):
    for report in conversation.reports[:2]:
        assert_faithfulness(report, at_least=1.0)


def test_the_user_s_claim_does_not_back_the_answer_that_repeats_it(conversation):
    with pytest.raises(AssertionError, match="10 g of paracetamol"):
        assert_faithfulness(conversation.reports[2], at_least=1.0)


def test_the_conversation_as_a_whole(conversation):
    with pytest.raises(AssertionError, match="faithfulness is"):
        assert_faithfulness(conversation, at_least=1.0)
