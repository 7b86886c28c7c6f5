"""Recorded answers of an assistant, checked claim by claim.

Some answers say what their evidence does not say. Their tests fail.
"""

import pytest

from pytest_medfaith import assert_faithfulness


@pytest.mark.medfaith("medquad-nih")
def test_patient_answers_stay_faithful(medfaith_report):
    assert_faithfulness(medfaith_report, at_least=0.8, hallucination_at_most=0.05)


@pytest.mark.medfaith("bioasq-summary")
def test_scientific_answers_stay_faithful(medfaith_report):
    assert_faithfulness(medfaith_report, at_least=0.8, hallucination_at_most=0.05)
