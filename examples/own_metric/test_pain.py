import pytest


@pytest.mark.medfaith("pain")
def test_an_answer_names_few_brands(medfaith_report):
    assert medfaith_report.metrics["brand_names"] <= 0.5
