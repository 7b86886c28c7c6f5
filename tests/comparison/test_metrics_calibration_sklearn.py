"""Label metrics against scikit-learn on random data with ties and missing classes."""

import numpy as np
import pytest

from pytest_medfaith.metrics import calibration

sklearn_metrics = pytest.importorskip("sklearn.metrics")
sklearn_calibration = pytest.importorskip("sklearn.calibration")


@pytest.mark.parametrize("classes", [2, 3, 5])
@pytest.mark.parametrize("n", [3, 40, 1000])
def test_agreement_is_that_of_scikit_learn(n, classes):
    for seed in range(20):
        generator = np.random.default_rng(seed)
        labels, predicted = generator.integers(classes, size=(2, n))
        labels[:2] = 0, 1  # scikit-learn warns of a single class
        assert calibration.accuracy(labels, predicted) == pytest.approx(
            sklearn_metrics.accuracy_score(labels, predicted), abs=1e-12
        )
        assert calibration.mcc(labels, predicted) == pytest.approx(
            sklearn_metrics.matthews_corrcoef(labels, predicted), abs=1e-12
        )
        expected = sklearn_metrics.f1_score(labels, predicted, average="macro", zero_division=0)
        assert calibration.f1_macro(labels, predicted) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("decimals", [1, 3, 12])
def test_auc_is_that_of_scikit_learn_with_ties(decimals):
    for seed in range(20):
        generator = np.random.default_rng(seed)
        scores = generator.random(200).round(decimals)
        positive = generator.random(200) < 0.2 + 0.5 * scores
        assert calibration.roc_auc(positive, scores) == pytest.approx(
            sklearn_metrics.roc_auc_score(positive, scores), abs=1e-12
        )


def test_brier_of_two_classes_is_twice_that_of_scikit_learn():
    generator = np.random.default_rng(1)
    positive, chance = generator.integers(2, size=300), generator.random(300)
    both = np.stack([1 - chance, chance], axis=1)
    assert calibration.brier(positive, both) == pytest.approx(
        2 * sklearn_metrics.brier_score_loss(positive, chance), abs=1e-12
    )


def test_brier_of_three_classes_is_its_formula_written_out():
    generator = np.random.default_rng(2)
    labels, probs = generator.integers(3, size=100), generator.dirichlet([1, 1, 1], size=100)
    expected = sum((probs[i, c] - (labels[i] == c)) ** 2 for i in range(100) for c in range(3)) / 100
    assert calibration.brier(labels, probs) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("equal_mass", "strategy"), [(False, "uniform"), (True, "quantile")])
def test_reliability_bins_are_those_of_scikit_learn(equal_mass, strategy):
    generator = np.random.default_rng(3)
    confidence = generator.random(700).round(2)
    correct = generator.random(700) < confidence**1.3
    accuracy, mean = sklearn_calibration.calibration_curve(correct, confidence, n_bins=10, strategy=strategy)
    bars = calibration.reliability(confidence, correct, bins=10, equal_mass=equal_mass)
    assert [bar.accuracy for bar in bars] == pytest.approx(accuracy.tolist(), abs=1e-12)
    assert [bar.confidence for bar in bars] == pytest.approx(mean.tolist(), abs=1e-12)
