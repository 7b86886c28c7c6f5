"""Label metrics by hand-worked values, their edges and their intervals."""

import numpy as np
import pytest

from pytest_medfaith.metrics import calibration
from pytest_medfaith.metrics.checker_scores import LABEL_METRICS, score_checker

LABELS = ("entail", "neutral", "contradict")


def test_risk_is_the_chance_of_not_being_entailed():
    assert calibration.risk_scores([[0.7, 0.2, 0.1], [0.0, 0.5, 0.5]]).tolist() == pytest.approx([0.3, 1.0])


def test_brier_of_three_classes():
    assert calibration.brier([0, 2], [[1.0, 0.0, 0.0], [0.5, 0.5, 0.0]]) == pytest.approx(
        (0 + 0.25 + 0.25 + 1) / 2
    )


def test_auc_counts_ties_half():
    assert calibration.roc_auc([True, False, True, False], [0.9, 0.5, 0.5, 0.1]) == (1 + 1 + 0.5 + 1) / 4


def test_ece_and_reliability_of_two_bins():
    confidence, correct = [0.6, 0.8, 0.3, 0.5], [1, 0, 0, 1]
    assert calibration.ece(confidence, correct, bins=2) == pytest.approx(abs(1 - 1.4) / 4 + abs(1 - 0.8) / 4)
    low, high = calibration.reliability(confidence, correct, bins=2)
    assert (low.low, low.high, low.n, low.confidence, low.accuracy) == (0.0, 0.5, 2, 0.4, 0.5)
    assert (high.n, high.confidence, high.accuracy) == (2, pytest.approx(0.7), 0.5)


def test_bins_of_equal_mass_hold_equal_numbers():
    confidence = np.linspace(0.9, 1.0, 40)
    bars = calibration.reliability(confidence, np.ones(40, dtype=bool), bins=4, equal_mass=True)
    assert [bar.n for bar in bars] == [10, 10, 10, 10]
    assert len(calibration.reliability(confidence, np.ones(40, dtype=bool), bins=4)) == 1


def test_bins_of_the_ece_are_those_of_the_diagram():
    generator = np.random.default_rng(0)
    confidence, correct = generator.random(500), generator.random(500) < 0.6
    for equal_mass in (False, True):
        bars = calibration.reliability(confidence, correct, equal_mass=equal_mass)
        expected = sum(bar.n * abs(bar.accuracy - bar.confidence) for bar in bars) / 500
        assert calibration.ece(confidence, correct, equal_mass=equal_mass) == pytest.approx(expected)


def test_empty_input_is_none_and_not_nan():
    assert calibration.accuracy([], []) is calibration.f1_macro([], []) is calibration.mcc([], []) is None
    assert calibration.brier([], []) is calibration.ece([], []) is calibration.roc_auc([], []) is None
    assert calibration.reliability([], []) == ()
    assert calibration.ece([], [], equal_mass=True) is None


def test_one_class_has_no_auc_and_an_mcc_of_zero():
    assert calibration.roc_auc([True, True], [0.1, 0.2]) is None
    assert calibration.mcc([1, 1, 1], [1, 0, 1]) == 0.0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: calibration.accuracy([0, 1], [0]), r"\(2,\) labels stand against \(1,\) predictions"),
        (lambda: calibration.f1_macro([0.5], [0]), r"classes are \[0\.5\], expected whole numbers"),
        (
            lambda: calibration.brier([3], [[1.0, 0.0, 0.0]]),
            "labels run from 3 to 3, expected class indices from 0 to 2",
        ),
        (
            lambda: calibration.brier([0], [[2.0, -1.0, 0.0]]),
            r"probs row 0 is \[2\.0, -1\.0, 0\.0\], expected .*; apply a softmax",
        ),
        (lambda: calibration.brier([0], [[float("nan")] * 3]), "probs row 0 is"),
        (lambda: calibration.risk_scores([0.2, 0.8]), r"probs has shape \(2,\), expected \(n, classes\)"),
        (lambda: calibration.roc_auc([True], [float("nan")]), "scores hold nan, expected finite numbers"),
        (lambda: calibration.roc_auc([2, 0], [0.1, 0.2]), "flags hold .*2.*, expected booleans"),
        (lambda: calibration.roc_auc([True], [0.1, 0.2]), r"\(1,\) flags stand against \(2,\) scores"),
        (lambda: calibration.ece([1.5], [True]), r"confidence runs from 1\.5 to 1\.5, expected 0 to 1"),
        (lambda: calibration.ece([0.5], [True], bins=0), "bins is 0, expected 1 or more"),
        (
            lambda: score_checker(["supported"], [[1, 0, 0]]),
            "labels hold 'supported', expected entail, neutral, contradict",
        ),
        (
            lambda: score_checker(["entail"], [[0.5, 0.5]]),
            "probs has 2 columns, expected 3; order them entail, neutral, contradict",
        ),
        (
            lambda: score_checker(["entail"], [[1, 0, 0]], predicted=[]),
            r"\(1,\) labels stand against \(0,\) predictions",
        ),
        (
            lambda: score_checker(["entail"], [[1, 0, 0]], groups=["a", "b"]),
            "2 groups stand against 1 labels",
        ),
    ],
)
def test_wrong_input_is_an_error(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def sample(n, *, seed=0):
    generator = np.random.default_rng(seed)
    truth = generator.integers(3, size=n)
    logits = generator.normal(size=(n, 3)) + 1.5 * np.eye(3)[truth]
    probs = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    return [LABELS[i] for i in truth], truth, probs


def test_every_label_metric_has_its_value_and_an_interval_around_it():
    labels, truth, probs = sample(300)
    scores = score_checker(labels, probs, resamples=500)
    predicted = probs.argmax(axis=1)
    expected = {
        "risk": calibration.risk_scores(probs).mean(),
        "ece": calibration.ece(probs.max(axis=1), predicted == truth),
        "brier": calibration.brier(truth, probs),
        "roc_auc": calibration.roc_auc(truth != 0, calibration.risk_scores(probs)),
        "f1": calibration.f1_macro(truth, predicted),
        "accuracy": calibration.accuracy(truth, predicted),
        "mcc": calibration.mcc(truth, predicted),
    }
    assert {name: score.value for name, score in scores.items()} == pytest.approx(expected, abs=1e-9)
    assert scores.keys() == LABEL_METRICS.keys()
    for name in expected.keys() - {
        "ece"
    }:  # the resampled ECE is biased upwards, its interval may stand above the value
        assert scores[name].low < scores[name].value < scores[name].high
    assert all(score.n == 300 for score in scores.values())


def test_intervals_are_those_of_resampled_pairs():
    labels, truth, probs = sample(120, seed=4)
    scores = score_checker(labels, probs, resamples=2000)
    generator = np.random.default_rng(9)
    drawn = [generator.integers(120, size=120) for _ in range(2000)]
    risks, predicted = calibration.risk_scores(probs), probs.argmax(axis=1)
    written_out = {
        "f1": [calibration.f1_macro(truth[rows], predicted[rows]) for rows in drawn],
        "mcc": [calibration.mcc(truth[rows], predicted[rows]) for rows in drawn],
        "roc_auc": [calibration.roc_auc(truth[rows] != 0, risks[rows]) for rows in drawn],
        "brier": [calibration.brier(truth[rows], probs[rows]) for rows in drawn],
    }
    for name, draws in written_out.items():
        assert (scores[name].low, scores[name].high) == pytest.approx(
            tuple(np.quantile(draws, [0.025, 0.975])), abs=0.015
        )


def test_labels_chosen_by_thresholds_count_for_agreement_and_not_for_calibration():
    labels, _, probs = sample(50)
    plain, chosen = (
        score_checker(labels, probs, resamples=50),
        score_checker(labels, probs, predicted=labels, resamples=50),
    )
    assert (chosen["accuracy"].value, chosen["f1"].value, chosen["mcc"].value) == (1.0, 1.0, 1.0)
    assert (chosen["ece"], chosen["brier"], chosen["roc_auc"]) == (
        plain["ece"],
        plain["brier"],
        plain["roc_auc"],
    )


def test_pairs_of_one_group_are_drawn_together():
    labels, _, probs = sample(40, seed=2)
    alone = score_checker(labels, probs)["accuracy"]
    copied = score_checker(labels * 4, np.tile(probs, (4, 1)), groups=list(range(40)) * 4)["accuracy"]
    blind = score_checker(labels * 4, np.tile(probs, (4, 1)))["accuracy"]
    assert (copied.low, copied.high) == (alone.low, alone.high)
    assert blind.high - blind.low < 0.7 * (alone.high - alone.low)


def test_scores_are_deterministic_and_one_group_has_no_interval():
    labels, _, probs = sample(30)
    assert score_checker(labels, probs) == score_checker(labels, probs)
    single = score_checker(labels, probs, groups=["same"] * 30)["accuracy"]
    assert single.value is not None
    assert single.low is single.high is None


def test_no_pairs_measure_nothing():
    assert all(score.value is None and score.n == 0 for score in score_checker([], []).values())
