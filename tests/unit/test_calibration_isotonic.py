import numpy as np
import pytest

from pytest_medfaith.calibration.isotonic import Isotonic, fit_isotonic

PROBS = np.random.default_rng(0).dirichlet([1, 1, 1], size=500)
TRUTH = np.array(
    [np.random.default_rng(i).choice(3, p=row**2 / (row**2).sum()) for i, row in enumerate(PROBS)]
)
FITTED = fit_isotonic(PROBS, TRUTH)


def test_probabilities_stay_probabilities_and_never_reach_0():
    for row in [*PROBS[:50], (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)]:
        meant = FITTED(row)
        assert sum(meant) == pytest.approx(1, abs=2e-6)
        assert min(meant) > 0


def test_a_curve_rises_and_comes_nearer_to_what_happened():
    def error(probs):
        return float(((probs - np.eye(3)[TRUTH]) ** 2).sum(axis=1).mean())

    assert error(np.array([FITTED(row) for row in PROBS])) < error(PROBS) - 0.01
    for curve in FITTED.curves:
        assert [meant for _, meant in curve] == sorted(meant for _, meant in curve)


def test_curves_go_to_a_file_and_back_and_sign_what_they_say():
    again = Isotonic.from_dict(FITTED.to_dict())
    assert (again, again.signature) == (FITTED, FITTED.signature)
    assert fit_isotonic(PROBS[:100], TRUTH[:100]).signature != FITTED.signature


@pytest.mark.parametrize(
    ("points", "message"),
    [
        (None, "isotonic.entail is None, expected points"),
        ([], "isotonic.entail is .., expected points"),
        ([[0.1, 0.5], [0.2, 0.4]], "that rise"),
        ([[0.1, "x"]], "that rise"),
        ([[0.1, 0.0], [0.2, 0.4]], "neither 0 nor 1"),
        ([[-1, 0.2], [0.2, 0.4]], "leaves 0 to 1"),
    ],
)
def test_points_that_are_no_curve_are_refused(points, message):
    with pytest.raises(ValueError, match=message):
        Isotonic.from_dict({**FITTED.to_dict(), "entail": points})
