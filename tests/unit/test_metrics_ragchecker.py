"""The RAGChecker identities, its edges, and its metrics over reports."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_medfaith.errors import DataError
from pytest_medfaith.metrics.aggregate import case_metrics
from pytest_medfaith.metrics.ragchecker import ragchecker_metrics
from pytest_medfaith.records import Case, Chunk, Claim, Entailments, GoldClaim, Report, Response, Verdict

NAMES = (
    *(
        "precision",
        "recall",
        "f1",
        "claim_recall",
        "context_precision",
        "context_utilization",
        "noise_sensitivity_in_relevant",
    ),
    *("noise_sensitivity_in_irrelevant", "hallucination", "self_knowledge", "faithfulness"),
)


def measure(a, b, r, g):
    return ragchecker_metrics(
        answer_entails_claims=a, response_entails_gold=b, chunks_entail_claims=r, chunks_entail_gold=g
    )


@st.composite
def queries(draw):
    m, n, k = (draw(st.integers(low, 6)) for low in (0, 0, 0))
    flags = [draw(st.lists(st.booleans(), min_size=size, max_size=size)) for size in (m, n, m * k, n * k)]
    return (
        np.array(flags[0], dtype=bool),
        np.array(flags[1], dtype=bool),
        np.array(flags[2], dtype=bool).reshape(m, k),
        np.array(flags[3], dtype=bool).reshape(n, k),
    )


@settings(max_examples=300, deadline=None, database=None)
@given(queries())
def test_the_identities_hold(query):
    values = measure(*query)
    assert tuple(values) == NAMES
    assert all(value is None or 0 <= value <= 1 for value in values.values())
    if len(query[0]):
        assert values["faithfulness"] + values["hallucination"] + values["self_knowledge"] == pytest.approx(
            1, abs=1e-12
        )
        if len(query[1]):
            noise = values["noise_sensitivity_in_relevant"] + values["noise_sensitivity_in_irrelevant"]
            assert noise + values["hallucination"] == pytest.approx(1 - values["precision"], abs=1e-12)


def test_a_worked_query():
    values = measure([1, 0, 0, 0, 1], [1, 0], [[1, 0], [1, 1], [0, 1], [0, 0], [0, 0]], [[1, 0], [0, 0]])
    assert values == {
        "precision": 0.4,
        "recall": 0.5,
        "f1": pytest.approx(4 / 9),
        "claim_recall": 0.5,
        "context_precision": 0.5,
        "context_utilization": 1.0,
        "noise_sensitivity_in_relevant": 0.2,
        "noise_sensitivity_in_irrelevant": 0.2,
        "hallucination": 0.2,
        "self_knowledge": 0.2,
        "faithfulness": 0.6,
    }


def absent(values):
    return {name for name, value in values.items() if value is None}


def test_no_response_claims_leave_what_is_about_them_unmeasured():
    values = measure([], [True], [], [[True, False]])
    assert absent(values) == {
        *("precision", "f1", "noise_sensitivity_in_relevant", "noise_sensitivity_in_irrelevant"),
        *("hallucination", "self_knowledge", "faithfulness"),
    }
    assert (values["recall"], values["context_precision"]) == (1.0, 0.5)


def test_no_gold_claims_leave_what_is_about_them_unmeasured():
    values = measure([True], [], [[True, False]], [])
    assert absent(values) == {
        *("recall", "f1", "claim_recall", "context_precision", "context_utilization"),
        *("noise_sensitivity_in_relevant", "noise_sensitivity_in_irrelevant"),
    }
    assert (values["precision"], values["faithfulness"]) == (1.0, 1.0)


def test_without_chunks_no_claim_is_faithful():
    values = measure([True, False], [True], [[], []], [[]])
    assert absent(values) == {"context_precision", "context_utilization"}
    assert (
        values["faithfulness"],
        values["self_knowledge"],
        values["hallucination"],
        values["claim_recall"],
    ) == (0.0, 0.5, 0.5, 0.0)


def test_nothing_at_all_measures_nothing():
    assert absent(measure([], [], [], [])) == set(NAMES)


def test_without_a_reference_answer_what_needs_it_is_unmeasured():
    assert absent(measure(None, [True], [[True]], [[True]])) == {
        *(
            "precision",
            "f1",
            "noise_sensitivity_in_relevant",
            "noise_sensitivity_in_irrelevant",
            "hallucination",
            "self_knowledge",
        ),
    }


def test_nothing_right_has_an_f1_of_zero():
    assert measure([False], [False], [[True]], [[True]])["f1"] == 0.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ([1], [1], [[1, 0]], [[1, 0, 1]]),
            (
                r"chunks_entail_claims is \(1, 2\) and chunks_entail_gold \(1, 3\), expected \(M, K\) and "
                r"\(N, K\)"
            ),
        ),
        (
            ([], [1], np.zeros((0, 3), bool), [[1]]),
            r"chunks_entail_claims is \(0, 3\) and chunks_entail_gold \(1, 1\)",
        ),
        (
            ([1, 1], [1], [[1]], [[1]]),
            (
                r"answer_entails_claims is \(2,\) and chunks_entail_claims \(1, 1\), expected \(M,\) and "
                r"\(M, K\)"
            ),
        ),
        (
            ([1], [1, 0], [[1]], [[1]]),
            r"response_entails_gold is \(2,\) and chunks_entail_gold \(1, 1\), expected \(N,\) and \(N, K\)",
        ),
        (
            ([1], [1], [1], [[1]]),
            r"chunks_entail_claims has shape \(1,\), expected a boolean array of shape \(rows, chunks\)",
        ),
        (
            ([[1]], [1], [[1]], [[1]]),
            r"answer_entails_claims has shape \(1, 1\), expected a boolean array of shape \(claims,\)",
        ),
        (([1], [1], [[1, 0], [1]], [[1]]), "chunks_entail_claims has rows of different lengths"),
        (
            ([0.7], [1], [[1]], [[1]]),
            (
                r"answer_entails_claims holds \[0\.7\], expected .*; turn scores into booleans by a "
                r"threshold first"
            ),
        ),
        (([1], ["yes"], [[1]], [[1]]), "response_entails_gold holds"),
        (([1], [None], [[1]], [[1]]), "response_entails_gold holds"),
        (([1], [float("nan")], [[1]], [[1]]), "response_entails_gold holds"),
    ],
)
def test_wrong_arrays_are_errors(arguments, message):
    with pytest.raises(ValueError, match=message):
        measure(*arguments)


def report(labels, *, reference=(True, False), gold=1, abstained=False, answer_gold=(True,)):
    """Two contexts; the first entails the first claim and every gold claim."""
    return Report(
        case=Case(
            id="case",
            question="Which?",
            gold_claims=tuple(GoldClaim(id=str(i), text="A fact.") for i in range(gold)),
        ),
        response=Response(answer="x", contexts=(Chunk(id="a", text="x"), Chunk(id="b", text="x"))),
        verdicts=tuple(
            Verdict(claim=Claim(id=str(i), text="A claim."), label=label) for i, label in enumerate(labels)
        ),
        entailments=Entailments(
            chunk_claims=tuple((i == 0, False) for i in range(len(labels))),
            chunk_gold=((True, False),) * gold,
            answer_gold=answer_gold,
            reference_claims=reference,
        ),
        abstained=abstained,
    )


def ragchecker(of):
    return {
        name.removeprefix("ragchecker."): value
        for name, value in case_metrics(of).items()
        if name.startswith("ragchecker.")
    }


def test_a_report_gives_the_eleven_metrics():
    values = ragchecker(report(["supported", "unsupported"]))
    assert values == measure([1, 0], [1], [[1, 0], [0, 0]], [[1, 0]])


def test_reports_do_not_take_each_others_values():
    first, second = (
        report(["supported", "unsupported"]),
        report(["supported", "unsupported"], reference=(False, False)),
    )
    precisions = [ragchecker(each)["precision"] for each in (first, second, first)]
    assert precisions == [0.5, 0.0, 0.5]


def test_an_unscored_claim_is_left_out():
    assert ragchecker(report(["supported", "unscored"]))["faithfulness"] == 1.0
    assert ragchecker(report(["supported", "unscored"]))["precision"] == 1.0


def test_a_report_without_reference_or_with_an_abstention_leaves_metrics_out():
    assert "precision" not in ragchecker(report(["supported", "unsupported"], reference=None))
    refusal = ragchecker(report([], reference=None, abstained=True))
    assert refusal == {
        "recall": 0.0,
        "claim_recall": 1.0,
        "context_precision": 0.5,
        "context_utilization": 0.0,
    }


def test_what_nobody_measured_is_left_out():
    bare = report(["supported", "unsupported"]).with_(entailments=Entailments(reference_claims=(True, False)))
    assert ragchecker(bare) == {}


def test_a_reference_of_another_length_is_an_error():
    with pytest.raises(DataError, match="reference_claims is 1 long, expected 2 response claims"):
        ragchecker(report(["supported", "unsupported"], reference=(True,)))
