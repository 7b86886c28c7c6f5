"""A live RAG, checked as it answers."""

import pytest

from pytest_medfaith import assert_no_hallucination


@pytest.mark.medfaith("medquad-nih", faithfulness_at_least=0.9)
def test_extractive_answers_invent_nothing(medfaith_report):
    assert_no_hallucination(medfaith_report)
