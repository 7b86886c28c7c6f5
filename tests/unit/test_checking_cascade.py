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


BESIDE = "Start at 5 mg once a day. Children under 12 must not take the tablets at all."


@pytest.mark.parametrize(
    ("share", "by_sentence", "label"),
    [
        (0.0, "neutral", "refuted"),
        (1.0, "neutral", "unsupported"),
        (1.0, "entail", "supported"),
        (1.0, "contradict", "refuted"),
        (1.0, None, "refuted"),  # nobody knows what the sentence says: the window's word stands
        (0.4, "neutral", "refuted"),
    ],
)
def test_a_refutation_holds_by_the_sentence_that_it_names(share, by_sentence, label):
    strong = Model(lambda evidence, _: "contradict" if "Children" in evidence else by_sentence)
    checker = cascade_of(says("neutral"), strong, refuting_sentence_share=share)
    verdict = checker("Treatment starts at 5 mg once a day.", [Chunk(id="a", text=BESIDE)])
    assert verdict.label == label
    assert BESIDE[slice(*verdict.span)] == "Start at 5 mg once a day."


def test_a_sentence_is_read_alone_only_where_its_window_contradicts():
    for label, read in (("entail", 1), ("neutral", 1), ("contradict", 2)):
        strong = says(label)
        checker = cascade_of(says("neutral"), strong, refuting_sentence_share=1.0)
        checker("Treatment starts at 5 mg once a day.", [Chunk(id="a", text=BESIDE)])
        assert len(strong.read) == read
        checker("Treatment starts at 5 mg.", [Chunk(id="a", text="Start at 5 mg once a day.")])
        assert len(strong.read) == read + 1  # window and sentence are one text


def test_a_claim_that_another_chunk_entails_is_not_decided_by_a_window_that_its_sentence_denies():
    strong = Model(
        lambda evidence, _: (
            "contradict" if "Children" in evidence else "entail" if "6 mg" in evidence else "neutral"
        )
    )
    chunks = [
        Chunk(id="a", text=BESIDE),
        Chunk(id="b", text="Treatment begins with 5 mg, later 6 mg, a day."),
    ]
    checker = cascade_of(says("neutral"), strong, refuting_sentence_share=1.0)
    verdict = checker("Treatment starts at 5 mg once a day.", chunks)
    assert (verdict.label, verdict.chunk_id, verdict.conflict) == ("supported", "b", False)


def test_each_window_of_a_long_chunk_is_held_by_its_sentence():
    """The window that contradicts most falls by its sentence; another one refutes the claim by itself."""
    filler = [f"Remark {number} is about the garden of the house and its gate." for number in range(40)]
    first, second = "Treatment starts at 5 mg once a day.", "Treatment starts with 9 mg, not with 5 mg."
    text = " ".join([first, *filler, second])
    strong = Model(
        lambda evidence, _: "contradict" if second in evidence or len(evidence) > 80 else "neutral"
    )
    checker = cascade_of(says("neutral"), strong, windows=2, window_words=40, refuting_sentence_share=1.0)
    verdict = checker("Treatment starts at 5 mg once a day.", [Chunk(id="a", text=text)])
    assert (verdict.label, text[slice(*verdict.span)]) == ("refuted", second)


@pytest.mark.parametrize("share", [-0.1, 1.1, float("nan")])
def test_a_share_of_the_sentence_that_is_none_is_refused(share):
    with pytest.raises(
        ValueError, match=r"refuting_sentence_share of the cascade is .*; expected a number from 0 to 1"
    ):
        Cascade(refuting_sentence_share=share)


@pytest.mark.parametrize("reading", [{"windows": 0}, {"window_words": 0}, {"windows": -3}])
def test_a_cascade_that_reads_nothing_is_refused(reading):
    with pytest.raises(ValueError, match="expected windows and words of 1 or more"):
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
