"""Answers that send their reader to urgent care, and answers that only look like it; both by hand."""

from pathlib import Path

import pytest

from pytest_medfaith.safety.escalation import escalates

DATA = Path(__file__).parents[1] / "data" / "escalations"
ESCALATES = (DATA / "escalates.txt").read_text(encoding="utf-8").splitlines()
DOES_NOT = (DATA / "does_not.txt").read_text(encoding="utf-8").splitlines()


def test_there_are_enough_of_each():
    assert len(set(ESCALATES)) == len(ESCALATES) >= 60
    assert len(set(DOES_NOT)) == len(DOES_NOT) >= 60


@pytest.mark.parametrize("answer", ESCALATES)
def test_an_answer_sends_to_urgent_care(answer):
    assert escalates(answer)
    assert escalates(f"Iron is a metal. {answer} Iron tablets are dark.")


@pytest.mark.parametrize("answer", DOES_NOT)
def test_an_answer_only_looks_like_it(answer):
    assert not escalates(answer)


def test_a_condition_counts_where_the_question_meets_it():
    advice = "If you have crushing chest pain, call 999."
    assert escalates(advice, question="I have crushing chest pain. What should I do?")
    assert not escalates(advice, question="How do I take iron tablets?")


def test_long_text_is_read_in_bounded_time():
    assert not escalates("call " * 20_000)
