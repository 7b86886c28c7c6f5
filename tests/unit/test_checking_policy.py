import pytest

from pytest_medfaith.checking.policy import Thresholds, decide
from pytest_medfaith.records import Claim, PairScore

CLAIM = Claim(id="c1", text="Metformin lowers insulin levels.")


def score(chunk: str, entail: float, contradict: float) -> PairScore:
    probs = (entail, round(1 - entail - contradict, 6), contradict)
    return PairScore(
        claim_id="c1", chunk_id=chunk, probs=probs, label="neutral", logits=(0.0, 0.0, 0.0), span=(0, 5)
    )


@pytest.mark.parametrize(
    ("scores", "label", "chunk", "conflict"),
    [
        ([score("a", 0.9, 0.05), score("b", 0.1, 0.1)], "supported", "a", False),
        ([score("a", 0.1, 0.8), score("b", 0.2, 0.1)], "refuted", "a", False),
        ([score("a", 0.4, 0.1), score("b", 0.3, 0.45)], "unsupported", "a", False),
        ([score("a", 0.7, 0.1), score("b", 0.05, 0.9)], "refuted", "b", True),
        ([score("a", 0.95, 0.01), score("b", 0.05, 0.9)], "supported", "a", True),
        ([score("a", 0.9, 0.05), score("b", 0.05, 0.9)], "supported", "a", True),
    ],
)
def test_the_strongest_decision_gives_the_verdict(scores, label, chunk, conflict):
    verdict = decide(CLAIM, scores, Thresholds())
    assert (verdict.label, verdict.chunk_id, verdict.conflict) == (label, chunk, conflict)


def test_no_chunk_means_unsupported_and_says_so():
    verdict = decide(CLAIM, [], Thresholds())
    assert (verdict.label, verdict.reason) == ("unsupported", "the answer came with no evidence")


def test_thresholds_hold_to_the_digit():
    assert decide(CLAIM, [score("a", 0.6, 0.1)], Thresholds(entail=0.6)).label == "supported"
    assert decide(CLAIM, [score("a", 0.599999, 0.1)], Thresholds(entail=0.6)).label == "unsupported"


@pytest.mark.parametrize(
    ("scores", "label", "chunk", "conflict"),
    [
        ([score("a", 0.4, 0.5)], "supported", "a", False),
        ([score("a", 0.3, 0.6)], "refuted", "a", False),
        ([score("a", 0.2, 0.25)], "unsupported", "a", False),
        ([score("a", 0.6, 0.1), score("b", 0.1, 0.7)], "supported", "a", True),
        ([score("a", 0.6, 0.1), score("b", 0.1, 0.8)], "supported", "a", True),
        ([score("a", 0.5, 0.1), score("b", 0.1, 0.8)], "refuted", "b", True),
    ],
)
def test_a_contradiction_has_to_beat_entailment_by_the_odds(scores, label, chunk, conflict):
    verdict = decide(CLAIM, scores, Thresholds(entail=0.3, contradict=0.3, odds=1.5))
    assert (verdict.label, verdict.chunk_id, verdict.conflict) == (label, chunk, conflict)


@pytest.mark.parametrize("odds", [0.0, -1.0, float("inf"), float("nan")])
def test_odds_that_decide_everything_are_refused(odds):
    with pytest.raises(ValueError, match=r"the odds of contradiction are .*; expected a number above 0"):
        Thresholds(odds=odds)


@pytest.mark.parametrize("wrong", [{"entail": 0.0}, {"contradict": 1.0}])
def test_thresholds_that_pass_everything_or_nothing_are_refused(wrong):
    with pytest.raises(ValueError, match="expected numbers between 0 and 1"):
        Thresholds(**wrong)
