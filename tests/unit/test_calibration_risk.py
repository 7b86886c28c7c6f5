"""`medfaith calibrate --tune`: thresholds of risk, found by grid, with figures of other documents."""

import dataclasses

import pytest

from pytest_medfaith.audit.results import UNCHANGED
from pytest_medfaith.calibration.risk_tuning import (
    GRID,
    KINDS,
    RiskItem,
    risk_items,
    risk_metrics,
    tune,
    tuning_text,
)
from pytest_medfaith.checking.rules import RULE_NAMES
from pytest_medfaith.errors import DataError
from pytest_medfaith.records import Chunk
from pytest_medfaith.records.answer_risk import RiskSettings
from pytest_medfaith.testing import scripted_checker


def items(right, wrong, *, documents=40):
    """Returns items over many documents; right answers score `right`, wrong answers score `wrong`."""
    made = [RiskItem(UNCHANGED, f"d{n}", right[n % len(right)]) for n in range(documents)]
    return made + [RiskItem("negation", f"d{n}", wrong[n % len(wrong)]) for n in range(documents)]


def test_thresholds_part_right_from_wrong():
    found = tune(items([0.1, 0.2], [0.7, 0.9]), RiskSettings(), seed=0)
    assert 0.2 < found.settings.caution <= found.settings.high <= 0.7
    assert found.fitted + found.kept_out == 80
    values = {name: value.value for name, value in found.metrics.items()}
    assert (values["accuracy"], values["precision"], values["recall"], values["f1"], values["roc_auc"]) == (
        1,
    ) * 5
    assert found.flags["HIGH"][0] == found.flags["LOW"][1] == 0


def test_caution_begins_where_nearly_all_wrong_answers_are_found():
    found = tune(items([0.1], [0.3, 0.8, 0.8, 0.8]), RiskSettings(), seed=0)
    assert found.settings.caution <= 0.3


def test_scores_that_say_nothing_have_an_area_of_a_half():
    metrics = risk_metrics(items([0.5], [0.5]), high=0.5, seed=0)
    assert metrics["roc_auc"].value == 0.5
    assert metrics["precision"].value == 0.5
    assert metrics["recall"].value == 1.0


def test_the_figures_against_the_formulas_written_out():
    rows = items([0.1, 0.6], [0.4, 0.9], documents=20)
    flagged = [row for row in rows if row.score >= 0.5]
    hits = sum(row.is_wrong for row in flagged)
    metrics = risk_metrics(rows, high=0.5, seed=1)
    precision, recall = hits / len(flagged), hits / 20
    assert metrics["precision"].value == pytest.approx(precision)
    assert metrics["recall"].value == pytest.approx(recall)
    assert metrics["f1"].value == pytest.approx(2 * precision * recall / (precision + recall))
    pairs = [
        (w.score > r.score) + 0.5 * (w.score == r.score)
        for w in rows
        if w.is_wrong
        for r in rows
        if not r.is_wrong
    ]
    assert metrics["roc_auc"].value == pytest.approx(sum(pairs) / len(pairs))
    assert all(one.low <= one.value <= one.high for name, one in metrics.items() if name != "ece")


def test_too_few_answers_are_an_error():
    with pytest.raises(DataError, match="expected 10 or more of both: take a larger corpus"):
        tune(items([0.1], [0.9], documents=8), RiskSettings(), seed=0)


def test_the_same_seed_gives_the_same_thresholds():
    rows = items([0.1, 0.4], [0.3, 0.9])
    assert tune(rows, RiskSettings(), seed=3) == tune(rows, RiskSettings(), seed=3)
    assert tune(rows, RiskSettings(), seed=3).settings.high in GRID


def test_items_are_sentences_with_planted_errors():
    texts = [
        "Metformin lowers blood glucose in adults with diabetes.",
        "Aspirin reduces the risk of stroke in older adults.",
        "Ibuprofen increases blood pressure in many adults with kidney disease.",
    ]
    chunks = [Chunk(id=f"c{n}", text=f"{text} It is given by mouth.") for n, text in enumerate(texts)]
    checker = dataclasses.replace(scripted_checker(lambda *_: "entail"), rules=frozenset(RULE_NAMES))
    made = risk_items(checker, chunks, RiskSettings(), limit=5, seed=0)
    assert {item.kind for item in made} > {UNCHANGED, "negation"}
    assert {item.kind for item in made} <= {UNCHANGED, *KINDS}
    negated = [item.score for item in made if item.kind == "negation"]
    right = [item.score for item in made if not item.is_wrong]
    assert min(negated) > max(right)  # the rule negation refutes what the scripted model believes


def test_the_text_can_be_pasted():
    text = tuning_text(tune(items([0.1], [0.9]), RiskSettings(critic=0.5), seed=0))
    assert "[tool.medfaith.risk]\nconsistency = 0.3\nretrieval = 0.35\ncritic = 0.5\ncaution = " in text
    assert "consistency was not measured here" in text
