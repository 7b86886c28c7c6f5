"""Hand-written claims of each kind of anchor: the rules alone catch wrong claims and let true claims pass.

The model is scripted. A model that supports everything shows which errors the rules catch, and which true
claims they take back. A model that refutes everything near its threshold shows which true claims are
acquitted.
"""

import dataclasses
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from pytest_medfaith.checking.policy import Thresholds
from pytest_medfaith.checking.rules import RULE_NAMES
from pytest_medfaith.jsonl import read_rows
from pytest_medfaith.records import Chunk
from pytest_medfaith.testing import scripted_checker

pytestmark = pytest.mark.usefixtures("word_vectors")
CASES = Path(__file__).parents[1] / "data" / "anchors"
SURE = dataclasses.replace(scripted_checker(lambda _evidence, _claim: "entail"), rules=frozenset(RULE_NAMES))
DOUBTING = dataclasses.replace(
    SURE,
    score_texts=lambda texts: np.log(np.array([(0.3, 0.2, 0.5) for _ in texts], dtype=np.float32)),
    thresholds=Thresholds(entail=0.5, contradict=0.3, odds=1.0),
)
# kind: at most so many errors supported, true claims not supported, and true claims still refuted in doubt.
# The numbers may only become smaller.
MOST = {
    "age-band": (1, 0, 10),
    "age": (4, 0, 17),
    "any-all": (1, 1, 22),
    "arrow-table": (6, 2, 28),
    "bounds": (4, 0, 11),
    "comparison": (3, 1, 18),
    "concession": (0, 0, 19),
    "date-year": (1, 0, 36),
    "decimal": (0, 0, 3),
    "duration-units": (0, 1, 2),
    "duration": (4, 0, 0),
    "exponent": (0, 0, 8),
    "frequency": (2, 0, 2),
    "greek": (2, 0, 19),
    "interval": (3, 2, 4),
    "label-row": (4, 1, 12),
    "laboratory": (1, 0, 7),
    "mass": (0, 0, 4),
    "multiplication": (1, 0, 8),
    "name": (4, 0, 21),
    "natural-frequency": (2, 2, 7),
    "order": (5, 1, 17),
    "per-kg": (5, 0, 20),
    "percent": (4, 0, 13),
    "quantifier": (4, 1, 26),
    "range-bound": (1, 1, 5),
    "restriction": (6, 1, 34),
    "roman": (1, 0, 33),
    "route": (2, 0, 27),
    "sign": (0, 0, 18),
    "small-word": (13, 0, 70),
    "temperature-pressure": (2, 1, 11),
    "threshold": (0, 0, 3),
    "trial-gene": (2, 0, 21),
    "volume": (1, 0, 22),
}


@cache
def cases(kind):
    return [row for _, row in read_rows(CASES / f"{kind}.jsonl")]


def label(checker, row):
    return checker(row["claim"], [Chunk(id="c", text=row["evidence"])]).label


def with_label(kind, checker, *, true, said):
    """Returns the ids of the cases with true, or wrong, claims where `said` holds of the verdict's label."""
    return [
        row["id"] for row in cases(kind) if (row["label"] == "entail") == true and said(label(checker, row))
    ]


def test_every_kind_has_bounds_and_cases_of_both_labels():
    assert {path.stem for path in CASES.glob("*.jsonl")} == MOST.keys()
    for kind in MOST:
        labels = [row["label"] for row in cases(kind)]
        assert min(labels.count("entail"), len(labels) - labels.count("entail")) >= 15, kind
        assert len({row["id"] for row in cases(kind)}) == len(labels), kind


@pytest.mark.parametrize("kind", MOST)
def test_errors_are_not_supported(kind):
    passed = with_label(kind, SURE, true=False, said=lambda verdict: verdict == "supported")
    assert len(passed) <= MOST[kind][0], passed


@pytest.mark.parametrize("kind", MOST)
def test_true_claims_stay_supported(kind):
    wrong = with_label(kind, SURE, true=True, said=lambda verdict: verdict != "supported")
    assert len(wrong) <= MOST[kind][1], wrong


@pytest.mark.parametrize("kind", MOST)
def test_doubts_about_true_claims_are_acquitted(kind):
    held = with_label(kind, DOUBTING, true=True, said=lambda verdict: verdict == "refuted")
    assert len(held) <= MOST[kind][2], held


def test_doubting_refutes_without_rules():
    refuting = dataclasses.replace(DOUBTING, rules=frozenset())
    assert label(refuting, cases("mass")[0]) == "refuted"
