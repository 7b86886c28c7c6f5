"""The isotonic calibration's curves against scikit-learn's isotonic regression, a label against the rest."""

import numpy as np
import pytest

from pytest_medfaith.calibration.isotonic import fit_isotonic

sklearn_isotonic = pytest.importorskip("sklearn.isotonic", reason="comes with the extra train")


def test_each_curve_is_that_of_scikit_learn():
    rng = np.random.default_rng(3)
    probs = rng.dirichlet([1, 1, 1], size=400).round(2)  # with ties
    truth = np.array([rng.choice(3, p=row / row.sum()) for row in probs])
    least = 1 / (len(probs) + 2)
    grid = np.linspace(0, 1, 101)
    for column, curve in enumerate(fit_isotonic(probs, truth).curves):
        theirs = sklearn_isotonic.IsotonicRegression(out_of_bounds="clip").fit(
            probs[:, column], truth == column
        )
        ours = np.interp(grid, *zip(*curve, strict=True))
        assert np.allclose(
            ours, np.clip(theirs.predict(grid), least, 1 - least), atol=0.01
        )  # the clip bends one step's slope
