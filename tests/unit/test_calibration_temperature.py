import numpy as np
import pytest
from sklearn.metrics import f1_score

from pytest_medfaith.calibration.temperature import calibrate, fit_temperature, fit_thresholds
from pytest_medfaith.checking.policy import Thresholds, decide, decide_all
from pytest_medfaith.records import LABELS, Claim, PairScore
from pytest_medfaith.scoring.pairs import softmax_rows

CLAIM = Claim(id="c", text="Iron helps.")


def sample(n, *, sharpness, seed=0):
    """Returns logits that say the truth with honest odds, then multiplied by `sharpness`."""
    rng = np.random.default_rng(seed)
    honest = rng.normal(scale=1.5, size=(n, 3))
    probs = np.exp(honest) / np.exp(honest).sum(axis=1, keepdims=True)
    labels = [LABELS[rng.choice(3, p=row)] for row in probs]
    return honest * sharpness, labels


@pytest.mark.parametrize("sharpness", [0.5, 1.0, 3.0])
def test_the_temperature_undoes_over_and_under_confidence(sharpness):
    logits, labels = sample(6000, sharpness=sharpness)
    truth = np.array([LABELS.index(label) for label in labels])
    assert fit_temperature(logits, truth) == pytest.approx(sharpness, rel=0.1)


def test_a_calibration_holds_the_temperature_of_its_pairs():
    logits, labels = sample(600, sharpness=3.0)
    truth = np.array([LABELS.index(label) for label in labels])
    assert calibrate(logits, labels).temperature == round(fit_temperature(logits, truth), 4) > 2


def test_a_wanted_precision_is_reached_with_the_lowest_threshold():
    logits, labels = sample(6000, sharpness=1.0)
    fitted = calibrate(logits, labels, precision=0.9)
    powers = np.exp(logits / fitted.temperature)
    probs = powers / powers.sum(axis=1, keepdims=True)
    for column, threshold in ((0, fitted.entail_threshold), (2, fitted.contradict_threshold)):
        chosen = probs[:, column] >= threshold
        assert np.mean([labels[i] == LABELS[column] for i in np.flatnonzero(chosen)]) >= 0.9
        looser = probs[:, column] >= threshold - 0.02
        assert np.mean([labels[i] == LABELS[column] for i in np.flatnonzero(looser)]) < 0.905


def as_policy(probs: np.ndarray, thresholds: Thresholds) -> list[int]:
    """Returns label indices of probabilities (n, chunks, 3), as `decide` gives them."""
    verdicts = [
        decide(
            CLAIM,
            [
                PairScore(claim_id="c", chunk_id=str(i), probs=tuple(row), label="neutral")
                for i, row in enumerate(rows)
            ],
            thresholds,
        )
        for rows in probs
    ]
    return [("supported", "unsupported", "refuted").index(verdict.label) for verdict in verdicts]


@pytest.mark.parametrize(
    "thresholds",
    [
        Thresholds(),
        Thresholds(entail=0.3, contradict=0.35, odds=1.4),
        Thresholds(entail=0.3, contradict=0.2, odds=0.7),
    ],
)
def test_decided_is_the_policy_for_one_chunk_and_for_several(thresholds):
    rng = np.random.default_rng(1)
    probs = np.vstack(
        [
            [[0.6, 0.3, 0.1], [0.4, 0.5, 0.1], [0.1, 0.2, 0.7], [0.45, 0.1, 0.45]],
            rng.dirichlet([1, 1, 1], size=200),
        ]
    )
    assert decide_all(probs, Thresholds())[:4].tolist() == [0, 1, 2, 1]
    assert decide_all(probs, thresholds).tolist() == as_policy(probs[:, None], thresholds)
    several = rng.dirichlet([1, 1, 1], size=(200, 4))
    assert decide_all(several, thresholds).tolist() == as_policy(several, thresholds)
    assert len(set(as_policy(several, thresholds))) > 1


def test_the_odds_are_the_highest_that_cost_a_standard_error_at_most():
    logits, labels = sample(3000, sharpness=1.0)
    probs, truth = softmax_rows(logits), np.array([LABELS.index(label) for label in labels])

    def f1(thresholds):
        return f1_score(truth, decide_all(probs, thresholds), average="macro")

    doubtful = logits.copy()
    doubtful[truth == 0] = np.log(
        [0.42, 0.10, 0.48]
    )  # what a model is never sure of costs nothing to read as support
    doubtful[truth == 2] = np.log([0.10, 0.10, 0.80])
    doubtful[truth == 1] = np.log([0.10, 0.80, 0.10])
    assert fit_thresholds(softmax_rows(doubtful[:600]), truth[:600]).odds == 2.0
    fitted = fit_thresholds(probs, truth)
    best = max(
        f1(Thresholds(entail=e / 100, contradict=c / 100)) for e in range(20, 60, 4) for c in range(20, 60, 4)
    )
    standard_error = (best * (1 - best) / len(labels)) ** 0.5
    assert best - standard_error < f1(fitted) < best
    assert fit_thresholds(probs, truth, precision=0.8).odds == 1.0


def test_a_threshold_that_is_best_on_a_narrow_peak_alone_is_not_taken():
    supported, refuted = [[0.765, 0.235, 0.0]] * 40, [[0.0, 0.1, 0.9]] * 40
    neutral = [[0.44, 0.56, 0.0]] * 39 + [
        [0.75, 0.25, 0.0]
    ]  # 0.76 leaves the last of them out, and 0.78 all that is supported
    truth = np.repeat([0, 1, 2], 40)
    assert 0.44 < fit_thresholds(np.array(supported + neutral + refuted), truth).entail < 0.74


def test_thresholds_are_fitted_on_claims_where_they_are_given_and_the_temperature_on_pairs():
    logits, labels = sample(600, sharpness=2.0)
    of_claims, their_labels = sample(400, sharpness=1.0, seed=1)
    claims = of_claims.reshape(200, 2, 3)
    fitted = calibrate(logits, labels, claims=(claims, their_labels[::2]))
    assert (fitted.temperature, fitted.n) == (calibrate(logits, labels).temperature, 200)
    expected = fit_thresholds(
        softmax_rows(claims / fitted.temperature),
        np.array([LABELS.index(label) for label in their_labels[::2]]),
    )
    assert (
        Thresholds(
            entail=fitted.entail_threshold,
            contradict=fitted.contradict_threshold,
            odds=fitted.contradict_odds,
        )
        == expected
    )
    assert calibrate(logits, labels, claims=(logits[:, None], labels)) == calibrate(logits, labels)


def test_a_label_without_pairs_and_an_unreachable_precision_are_named():
    with pytest.raises(
        ValueError, match=r"2 pairs with labels \['entail', 'neutral'\]; expected as many labels as pairs"
    ):
        calibrate([[1, 0, 0], [0, 1, 0]], ["entail", "neutral"])
    rng = np.random.default_rng(0)
    labels = [LABELS[i] for i in rng.integers(0, 3, 300)]
    with pytest.raises(ValueError, match=r"no threshold reaches a precision of 0\.99 for entail"):
        calibrate(rng.normal(size=(300, 3)) * 0.01, labels, precision=0.99)
