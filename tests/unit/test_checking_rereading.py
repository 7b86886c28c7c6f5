"""Claims that need two sentences, of one chunk or of two, are decided on both together and say so."""

from __future__ import annotations

from pytest_medfaith.checking.rereading import joined_parts
from pytest_medfaith.commands.check_rows import CheckRow, check_rows
from pytest_medfaith.records import Chunk
from pytest_medfaith.testing import containment_checker, scripted_checker

FILLER = " ".join(
    f"The ward kept record number {n} in a cabinet beside the pharmacy and nobody read it again."
    for n in range(24)
)
DRUG = "Zolmetrex is a kinase blocker."
EFFECT = "Every kinase blocker can harm the retina."
CLAIM = "Zolmetrex can harm the retina."


def test_two_sentences_of_one_long_chunk_decide_together():
    chunk = Chunk(id="a", text=f"{DRUG} {FILLER} {EFFECT}")
    verdict = containment_checker()(CLAIM, [chunk])
    assert (verdict.label, verdict.joint, verdict.supporting) == ("supported", True, ("a",))
    assert chunk.text[slice(*verdict.span)] == DRUG
    assert "2 sentences of a" in verdict.reason


def test_two_chunks_decide_together_and_neither_counts_as_supporting_alone():
    verdict = containment_checker()(CLAIM, [Chunk(id="a", text=DRUG), Chunk(id="b", text=EFFECT)])
    assert (verdict.label, verdict.joint, verdict.supporting) == ("supported", True, ())
    assert "a and b" in verdict.reason


def test_a_claim_that_one_sentence_decides_is_not_joint():
    verdict = containment_checker()(CLAIM, [Chunk(id="a", text=CLAIM), Chunk(id="b", text=EFFECT)])
    assert (verdict.label, verdict.joint) == ("supported", False)


def test_joined_sentences_can_refute():
    def label_of(evidence: str, _claim: str) -> str:
        return "contradict" if "kinase blocker." in evidence and "harm" in evidence else "neutral"

    verdict = scripted_checker(label_of)(
        "Zolmetrex does no harm to the retina.", [Chunk(id="a", text=DRUG), Chunk(id="b", text=EFFECT)]
    )
    assert (verdict.label, verdict.joint) == ("refuted", True)


def test_sentences_that_add_no_word_are_not_joined():
    assert (
        joined_parts(CLAIM, [Chunk(id="a", text=EFFECT), Chunk(id="b", text="The retina is examined.")]) == []
    )


def test_sentences_of_one_window_were_read_together_already():
    assert joined_parts(CLAIM, [Chunk(id="a", text=f"{DRUG} {EFFECT}")]) == []


def test_check_rows_say_that_a_verdict_is_joint():
    joined, plain = check_rows(
        [CheckRow(1, CLAIM, (DRUG, EFFECT)), CheckRow(2, CLAIM, (CLAIM,))], containment_checker()
    )
    assert (joined["label"], joined["joint"], joined["evidence_index"]) == ("entail", True, 0)
    assert (plain["label"], "joint" in plain) == ("entail", False)


def test_undecided_together_stays_unsupported():
    verdict = scripted_checker(lambda _evidence, _claim: "neutral")(
        CLAIM, [Chunk(id="a", text=DRUG), Chunk(id="b", text=EFFECT)]
    )
    assert (verdict.label, verdict.joint) == ("unsupported", False)
