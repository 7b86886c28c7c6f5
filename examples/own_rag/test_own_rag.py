"""A live RAG, checked as it answers."""

import pytest

from pytest_medfaith import assert_faithfulness


@pytest.mark.medfaith("medquad-nih", faithfulness_at_least=0.9)
def test_extractive_answers_invent_nothing(medfaith_report):
    """A copied sentence is faithful. The bound leaves room for a claim or two that the checker misreads."""
    assert_faithfulness(medfaith_report, at_least=0.6)
