"""Gate expressions: what parses, in which unit, and what is refused at which place."""

import pytest

from pytest_medfaith.gates.expressions import (
    BaselineGate,
    BoundGate,
    compared_metrics,
    parse_gate,
    unscored_allowed,
)


@pytest.mark.parametrize(
    ("expression", "metric", "at_least", "bound", "sure"),
    [
        ("hallucination <= 0.05", "hallucination", False, 0.05, False),
        ("hallucination<=5%", "hallucination", False, 0.05, False),
        ("hallucination <= 7 %", "hallucination", False, 0.07, False),
        ("  faithfulness  >=  .8  at  95 % ", "faithfulness", True, 0.8, True),
        ("faithfulness >= 80% at 95%", "faithfulness", True, 0.8, True),
        ("hallucination <= 1e-05", "hallucination", False, 1e-05, False),
        ("recall@20 >= 0.7", "recall@20", True, 0.7, False),
        ("rchunk.ndcg@5 >= 1", "rchunk.ndcg@5", True, 1.0, False),
        ("latency_p95 <= 200ms", "latency_p95", False, 200.0, False),
        ("latency_p95 <= 0.2 s", "latency_p95", False, 200.0, False),
        ("latency_p50 <= 150", "latency_p50", False, 150.0, False),
    ],
)
def test_a_bound_is_read_in_the_unit_of_its_metric(expression, metric, at_least, bound, sure):
    gate = parse_gate(expression)
    assert gate == BoundGate(
        expression=expression.strip(), metric=metric, at_least=at_least, bound=bound, sure=sure
    )


@pytest.mark.parametrize(
    ("expression", "metric", "margin"),
    [
        ("hallucination no worse than baseline", "hallucination", 0.0),
        ("hallucination no worse than baseline by 0.02", "hallucination", 0.02),
        (" faithfulness no  worse than baseline by 2% ", "faithfulness", 0.02),
        ("latency_p95 no worse than baseline by 20ms", "latency_p95", 20.0),
    ],
)
def test_a_comparison_with_the_baseline_is_read_with_its_margin(expression, metric, margin):
    gate = parse_gate(expression)
    assert gate == BaselineGate(expression=expression.strip(), metric=metric, margin=margin)
    assert compared_metrics([gate, parse_gate("claim_recall >= 0.5")]) == {metric}


@pytest.mark.parametrize(
    ("expression", "place", "said"),
    [
        ("hallucination < 0.05", 14, "expected <=, >= or 'no worse than baseline'"),
        ("hallucination == 0.05", 14, "expected <=, >="),
        ("hallucination", 13, "expected <=, >="),
        ("hallucination <= low", 17, "expected a number such as 0.05 or 5%"),
        ("hallucination <= -0.05", 17, "expected a number"),
        ("hallucination <= nan", 17, "expected a number"),
        ("hallucination <= 0.05.1", 17, "expected a number"),
        ("hallucination <= 0.05 sometimes", 22, "expected the end, or 'at 95%'"),
        ("hallucination <= 0.05sometimes", 21, "expected the end"),
        ("hallucination <= 0.05 at 90%", 25, "expected 95%"),
        ("hallucination <= 5", 17, "hallucination ranges from 0 to 1, so this bound says nothing"),
        ("hallucination <= 5ms", 18, "hallucination is a share"),
        ("latency_p95 <= 5%", 16, "latency_p95 is a time, in ms or s"),
        ("latency_p95 <= fast", 15, "expected a time such as 200ms"),
        ("hallucination no worse then baseline", 23, "expected 'than'"),
        ("hallucination no worse than baseline 0.02", 37, "expected the end"),
        ("hallucination no worse than baseline by", 39, "expected a number"),
        ("hallucination no worse than baseline by 2", 40, "so this allows everything"),
        ("hallucination no worse than baseline by 0.02 at 95%", 45, "expected the end"),
        ("halucination <= 0.05", 0, "such as 'hallucination'"),
        ("  recall@0 >= 0.05", 2, "expected 1 or more"),
        ("", 0, "expected the name of a metric"),
    ],
)
def test_a_gate_that_does_not_parse_points_at_the_place(expression, place, said):
    with pytest.raises(ValueError, match="this gate does not parse") as caught:
        parse_gate(expression)
    assert f"\n  {expression}\n  {' ' * place}^\n" in str(caught.value)
    assert said in str(caught.value)


def test_an_infinite_bound_is_none():
    with pytest.raises(ValueError, match="this bound says nothing"):
        parse_gate("latency_p95 <= 1e999")


def test_the_strictest_gate_on_unscored_holds_and_one_against_the_baseline_states_no_share():
    assert (
        unscored_allowed(map(parse_gate, ["unscored <= 0.2", "unscored <= 0.1", "faithfulness >= 0.8"]))
        == 0.1
    )
    assert unscored_allowed([parse_gate("unscored no worse than baseline")]) == 0


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("faithfulness <= 0.05", "points the wrong way; expected faithfulness >= NUMBER"),
        ("ndcg@10 <= 100%", "points the wrong way; expected ndcg@10 >= NUMBER"),
        ("recall@5 <= 0.1", "points the wrong way"),
        ("hallucination >= 0.1", "points the wrong way; expected hallucination <= NUMBER"),
        ("hallucination >= 0", "points the wrong way"),
        ("latency_p95 >= 200ms", "points the wrong way"),
        ("unsupported >= 0.5 at 95%", "points the wrong way"),
        ("claim_recall <= 1", "points the wrong way"),
        ("safety_error_rate >= 0", "points the wrong way"),
        ("unscored >= 0.0", "points the wrong way"),
        ("audit.recall <= 0.9", "points the wrong way"),
        ("ragchecker.f1 <= 0.9", "points the wrong way"),
        ("hallucination <= 1", "no value of hallucination fails this gate"),
        ("hallucination <= 100%", "no value of hallucination fails this gate"),
        ("hallucination <= 99.999999999999%", "no value of hallucination fails this gate"),
        ("faithfulness >= 0", "no value of faithfulness fails this gate"),
        ("faithfulness >= 0.0 at 95%", "no value of faithfulness fails this gate"),
        ("faithfulness >= 1e-400", "no value of faithfulness fails this gate"),
        ("abstention <= 1", "no value of abstention fails this gate"),
        ("abstention >= 0", "no value of abstention fails this gate"),
        ("latency_p95 <= 1e300", "more than a day"),
        ("latency_p95 no worse than baseline by 1e12", "more than a day"),
    ],
)
def test_a_gate_that_nothing_fails_or_that_points_the_wrong_way_is_refused(expression, said):
    with pytest.raises(ValueError, match="this gate does not parse") as caught:
        parse_gate(expression)
    assert said in str(caught.value)


def test_abstention_may_be_bounded_from_both_sides():
    assert parse_gate("abstention >= 0.9").at_least
    assert not parse_gate("abstention <= 0.9").at_least
