"""What a follow-up asks of, read from the earlier turns: the question that a retriever is given."""

import pytest

from pytest_medfaith.claims.history import standalone_question

TURNS = (
    {"role": "user", "content": "How is migraine treated?"},
    {
        "role": "assistant",
        "content": "Triptans such as sumatriptan treat an acute attack. Beta blockers prevent attacks.",
    },
)
TOPIC = "How is migraine treated?"
POINTED = f"{TOPIC} Triptans such as sumatriptan treat an acute attack."


@pytest.mark.parametrize(
    "question",
    [
        *("And in pregnancy?", "What about children?", "And the dose?", "What are the side effects?", "Why?"),
        *("pregnancy?", "In pregnancy?", "I'm pregnant.", "How often?", "Are there alternatives?"),
        *("Which drugs should be avoided?", "When should I see a doctor?", "But what if I have asthma?"),
        "What is the first-line treatment in pregnancy?",
        "Also for my mother, who is 80?",
    ],
)
def test_a_follow_up_is_asked_with_the_topic_of_the_turn_before(question):
    assert standalone_question(question, TURNS) == f"{TOPIC} {question}"


@pytest.mark.parametrize(
    "question",
    [
        *("Is it safe while breastfeeding?", "Can I drink alcohol with it?", "Does it interact with SSRIs?"),
        *("And if that does not help?", "Which one is best?", "Is that also true for men?"),
    ],
)
def test_what_a_follow_up_points_at_may_be_of_the_answer(question):
    assert standalone_question(question, TURNS) == f"{POINTED} {question}"


@pytest.mark.parametrize(
    "question",
    ["How is gout treated?", "How does sumatriptan work?", "Can I take vitamin C?", "What is scurvy?"],
)
def test_a_question_with_a_topic_stands_alone(question):
    assert standalone_question(question, TURNS) == question
    assert standalone_question(question, ()) == question


def test_the_topic_is_looked_for_back_to_the_question_that_names_it():
    turns = (
        {"role": "user", "content": "How is gout treated?"},
        {"role": "assistant", "content": "With allopurinol."},
        *TURNS,
        {"role": "user", "content": "And in pregnancy?"},
        {"role": "assistant", "content": "Paracetamol comes first. " + "More follows. " * 60},
    )
    expected = f"{TOPIC} And in pregnancy? And the dose?"
    assert standalone_question("And the dose?", turns) == expected
    assert standalone_question("Is it safe?", turns) == (
        f"{TOPIC} And in pregnancy? Paracetamol comes first. Is it safe?"
    )


def test_what_the_user_stated_is_kept_and_long_turns_do_not_drown_the_question():
    stated = (
        {"role": "user", "content": "I am pregnant."},
        {"role": "assistant", "content": "Congratulations!"},
    )
    assert standalone_question("How is gout treated?", stated) == "I am pregnant. How is gout treated?"
    long = ({"role": "user", "content": "How is migraine treated " + "very " * 500 + "well?"},)
    said = standalone_question("And in pregnancy?", long)
    assert said.startswith(TOPIC[:-1])
    assert said.endswith("And in pregnancy?")
    assert len(said.split()) < 70


@pytest.mark.parametrize(
    "turns", [({"role": "assistant", "content": "Hello!"},), ({"role": "user", "content": "Hi"},)]
)
def test_turns_without_a_topic_do_no_harm(turns):
    assert standalone_question("How is gout treated?", turns) == "How is gout treated?"
    assert standalone_question("And in pregnancy?", turns).endswith("And in pregnancy?")
