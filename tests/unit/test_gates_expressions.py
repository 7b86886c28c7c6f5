import pytest
from pytest_medfaith.gates.expressions import judge_gate, parse_gate
from pytest_medfaith.records import MetricValue, SliceReport


def report(value, low=None, high=None, *, missing=()):
    metric = MetricValue(name="hallucination", value=value, low=low, high=high, n=10)
    return SliceReport(slice="iron", retriever="bm25", checker="default", k=5, metrics={"hallucination": metric}, missing=missing)


@pytest.mark.parametrize(
    ("expression", "value", "low", "high", "outcome"),
    [
        ("hallucination <= 0.05", 0.05, 0.01, 0.2, "pass"),
        ("hallucination <= 5%", 0.0501, 0.01, 0.2, "fail"),
        ("hallucination <= 0.05 at 95%", 0.02, 0.0, 0.04, "pass"),
        ("hallucination <= 0.05 at 95%", 0.02, 0.0, 0.06, "fail"),
        ("hallucination <= 0.05 at 95%", 0.02, None, None, "inconclusive"),
        ("hallucination >= 0.01 at 95 %", 0.05, 0.02, 0.06, "pass"),
    ],
)
def test_a_gate_is_judged_on_the_value_or_on_the_far_end_of_the_interval(expression, value, low, high, outcome):
    result = judge_gate(parse_gate(expression), report(value, low, high))
    assert (result.outcome, result.value) == (outcome, value)


def test_what_could_not_be_measured_never_passes():
    result = judge_gate(parse_gate("hallucination <= 1"), report(None))
    assert (result.outcome, result.message) == ("fail", "hallucination could not be measured on this slice, so nothing says that it passes")


def test_a_slice_cut_short_never_passes():
    result = judge_gate(parse_gate("hallucination <= 0.5"), report(0.1, missing=("iron-2",)))
    assert result.outcome == "fail"
    assert "did not finish: iron-2" in result.message


@pytest.mark.parametrize(
    ("expression", "place"),
    [("hallucination < 0.05", 13), ("hallucination <= low", 16), ("hallucination <= 0.05 sometimes", 21), ("halucination <= 0.05", 0)],
)
def test_a_gate_that_does_not_parse_points_at_the_place(expression, place):
    with pytest.raises(ValueError, match="this gate does not parse") as caught:
        parse_gate(expression)
    assert f"\n  {expression}\n  {' ' * place}^\n" in str(caught.value)
