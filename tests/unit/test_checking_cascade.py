"""The strong model reads, for each claim, the few windows that can decide; the fast model reads all."""

import numpy as np
import pytest

from pytest_medfaith.checking.cascade import Cascade
from pytest_medfaith.checking.checker import Checker
from pytest_medfaith.evaluation import evaluate_case
from pytest_medfaith.records import LABELS, Case, Chunk, Claim, Response

TEXTS = [
    "Iron tablets are best taken on an empty stomach.",
    "Iron tablets often make stools dark.",
    "Zinc is found in meat and beans.",
    "The clinic opens at nine on weekdays.",
    "Parking is free after six in the evening.",
    "Vitamin D is made in the skin.",
]
CHUNKS = [Chunk(id=f"c{number}", text=text) for number, text in enumerate(TEXTS)]


class Model:
    """A scripted model that keeps what it read."""

    def __init__(self, label_of):
        self.label_of = label_of
        self.read = []

    def __call__(self, pairs):
        self.read += pairs
        logits = np.zeros((len(pairs), 3), dtype=np.float32)
        for row, pair in enumerate(pairs):
            label = self.label_of(*pair)
            logits[row] = np.nan if label is None else [6.0 * (label == each) for each in LABELS]
        return logits


def cascade_of(fast, strong, *, cache=None, **reading):
    first = Checker("fast", "fast", fast)
    return Checker("strong", "strong", strong, fast=first, cascade=Cascade(**reading), cache=cache)


def says(label):
    return Model(lambda _evidence, _claim: label)


def test_the_strong_model_decides_and_reads_only_the_windows_that_it_may():
    fast, strong = says("neutral"), Model(lambda evidence, _: "entail" if "empty" in evidence else "neutral")
    verdict = cascade_of(fast, strong, windows=2)("Take iron tablets on an empty stomach.", CHUNKS)
    assert (verdict.label, verdict.chunk_id) == ("supported", "c0")
    assert len(strong.read) == 2
    assert {evidence for evidence, _ in fast.read} >= set(TEXTS)


def test_what_the_fast_student_supports_alone_supports_nothing():
    fast, strong = says("entail"), says("neutral")
    checker = cascade_of(fast, strong, windows=1)
    claim = Claim(id="claim", text="Take iron tablets on an empty stomach.")
    scores = checker.score([(claim, chunk) for chunk in CHUNKS])
    assert {score.label for score in scores} == {"neutral"}
    assert checker.decide(claim, scores, CHUNKS).label == "unsupported"


def test_what_the_fast_student_refutes_is_read_besides():
    fast = Model(lambda evidence, _: "contradict" if "Zinc" in evidence else "neutral")
    strong = Model(lambda evidence, _: "contradict" if "Zinc" in evidence else "neutral")
    verdict = cascade_of(fast, strong, windows=1)(
        "Iron tablets are best taken on an empty stomach at noon.", CHUNKS
    )
    assert "Zinc is found in meat and beans." in {evidence for evidence, _ in strong.read}
    assert (verdict.label, verdict.chunk_id) == ("refuted", "c2")


def test_what_the_strong_model_cannot_score_leaves_the_claim_unscored():
    verdict = cascade_of(says("entail"), says(None))(
        "Iron tablets are best taken on an empty stomach.", CHUNKS[:1]
    )
    assert verdict.label == "unscored"
    verdict = cascade_of(says(None), says("entail"), windows=1)(
        "Iron tablets are taken on an empty stomach.", CHUNKS
    )
    assert verdict.label == "unscored"  # five chunks were read by nobody, and any of them may refute it


def test_a_score_depends_on_the_claims_chunks_and_not_on_other_claims():
    fast, strong = (
        says("neutral"),
        Model(lambda evidence, claim: "entail" if claim[:4] in evidence else "neutral"),
    )
    checker = cascade_of(fast, strong, windows=1)
    pairs = [
        (Claim(id=f"claim-{word}", text=f"{word} is in beans."), chunk)
        for word in ("Iron", "Zinc")
        for chunk in CHUNKS
    ]
    assert checker.score(pairs) == checker.score(pairs[:6]) + checker.score(pairs[6:])


def test_the_windows_of_a_long_chunk_hold_whole_sentences_and_so_many_words():
    filler = [f"Remark {number} is about the garden of the house and its gate." for number in range(60)]
    proof = "Iron tablets are best taken on an empty stomach."
    text = " ".join([*filler[:40], proof, *filler[40:]])
    strong = says("neutral")
    cascade_of(says("neutral"), strong, windows=1, window_words=40)(
        "Take iron tablets on an empty stomach.", [Chunk(id="a", text=text)]
    )
    (window, _claim), *_joined = strong.read
    assert proof in window
    assert window in text
    assert len(window.split()) <= 40
    assert window.endswith(".")


def test_a_second_run_reads_the_cache(tmp_path):
    cache = tmp_path / "kept.sqlite"
    first, second = says("entail"), says("entail")
    verdict = cascade_of(says("neutral"), first, cache=cache)("Iron tablets make stools dark.", CHUNKS)
    assert (
        cascade_of(says("neutral"), second, cache=cache)("Iron tablets make stools dark.", CHUNKS) == verdict
    )
    assert (len(first.read) > 0, second.read) == (True, [])


@pytest.mark.parametrize("reading", [{"windows": 0}, {"window_words": 0}, {"windows": -3}])
def test_a_cascade_that_reads_nothing_is_refused(reading):
    with pytest.raises(ValueError, match="expected at least 1 of 1"):
        Cascade(**reading)


def test_a_reference_answer_takes_no_context_its_place_among_what_is_read():
    """The reference is the likeliest text; ranked beside the contexts it would hide the refuting context."""
    strong = Model(lambda evidence, _: "contradict" if "Zinc" in evidence else "entail")
    checker = cascade_of(says("neutral"), strong, windows=1)
    answer = "Zinc is found in milk and cheese alone."
    case = Case(id="a", question="Where is zinc found?", reference_answer=f"{answer} {answer}")
    response = Response(answer=answer, contexts=(CHUNKS[2],))
    with_reference = evaluate_case(case, response, checker=checker)
    without = evaluate_case(case.with_(reference_answer=None), response, checker=checker)
    assert (
        [verdict.label for verdict in with_reference.verdicts]
        == [verdict.label for verdict in without.verdicts]
        == ["refuted"]
    )
