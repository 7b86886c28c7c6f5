import numpy as np
import pytest

from pytest_medfaith.checking.checker import Checker, load_checker
from pytest_medfaith.checking.relevance import LEAST_SHARE, weighed
from pytest_medfaith.records import LABELS, Chunk, Claim, PairScore

CLAIM = Claim(id="c", text="Iron tablets cause constipation.")  # four content words
NEAR = Chunk(id="near", text="Iron tablets may cause constipation and dark stools.")
HALF = Chunk(id="half", text="Iron tablets are taken on an empty stomach.")
FAR = Chunk(id="far", text="Zinc is found in meat.")


def score(chunk, entail, contradict):
    probs = (entail, round(1 - entail - contradict, 6), contradict)
    label = LABELS[probs.index(max(probs))]
    return PairScore(claim_id="c", chunk_id=chunk.id, probs=probs, label=label, logits=(0.0, 0.0, 0.0), span=(0, 4))


@pytest.mark.parametrize(("chunk", "share"), [(NEAR, 1.0), (HALF, 0.5), (FAR, LEAST_SHARE)])
def test_a_chunk_counts_by_the_words_it_shares_beside_the_nearest(chunk, share):
    weight = share**0.25
    found = weighed(CLAIM, [score(NEAR, 0.8, 0.1), score(chunk, 0.2, 0.6)], [NEAR, chunk], power=0.25)[1]
    assert found.probs == pytest.approx((0.2 * weight, 1 - 0.8 * weight, 0.6 * weight), abs=2e-6)
    assert sum(found.probs) == pytest.approx(1)
    assert found.label == ("contradict" if weight > 0.8 else "neutral")
    assert (found.span, found.logits) == ((0, 4), (0.0, 0.0, 0.0))


@pytest.mark.parametrize("chunk", [NEAR, FAR])
def test_a_chunk_alone_keeps_its_score(chunk):
    assert weighed(CLAIM, [score(chunk, 0.2, 0.6)], [chunk], power=0.25) == [score(chunk, 0.2, 0.6)]


def test_where_no_chunk_shares_a_word_none_counts_less():
    other = FAR.with_(id="other")
    scores = [score(FAR, 0.2, 0.6), score(other, 0.7, 0.1)]
    assert weighed(CLAIM, scores, [FAR, other], power=0.25) == scores


@pytest.mark.parametrize(("power", "label"), [(0.0, "refuted"), (0.25, "supported")])
def test_the_nearest_chunk_decides_against_a_far_one_that_is_little_surer(power, label):
    def says(pairs):
        return np.array([[2.0, 0.0, 0.0] if "constipation" in evidence else [0.0, 0.0, 2.2] for evidence, _ in pairs])

    checker = Checker("says", "s", says, relevance_power=power)
    verdict = checker(CLAIM, [FAR, NEAR])
    assert verdict.label == label
    assert verdict.conflict is (power == 0.0)


def test_the_shipped_student_weighs_its_chunks_and_a_foreign_model_does_not():
    assert load_checker().relevance_power > 0
    assert Checker("x", "x", lambda pairs: np.zeros((len(pairs), 3))).relevance_power == 0
