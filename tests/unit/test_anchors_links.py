"""Small words of claim and evidence: those that turn the statement are found, those that agree are not."""

import pytest

from pytest_medfaith.checking.grounding import ground

WAITING = "Avoid driving until you feel well."
INFARCTION = "Do not give flecainide after an infarction."
FREE = "You do not have to take the tablets with food."
BOUND = "You have to take the tablets with food."


@pytest.mark.parametrize(
    ("claim", "evidence", "turned"),
    [
        ("Drive once you feel well.", WAITING, False),
        ("Drive before you feel well.", WAITING, True),
        (
            "After an infarction, do not give flecainide.",
            INFARCTION,
            False,
        ),
        (
            "Before an infarction, do not give flecainide.",
            INFARCTION,
            True,
        ),
        ("You must take the tablets with food.", FREE, True),
        ("You must take the tablets with food.", BOUND, False),
    ],
)
def test_words_that_turn_a_statement_are_found(claim, evidence, turned):
    messages = [finding.message for finding in ground(claim, [evidence], nearest=evidence)]
    assert any(message.startswith("the claim says") for message in messages) is turned, messages
