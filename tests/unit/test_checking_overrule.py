import pytest

from pytest_medfaith.checking.loading import load_checker
from pytest_medfaith.checking.rules import RULES
from pytest_medfaith.errors import DataError
from pytest_medfaith.records import Chunk
from pytest_medfaith.testing import scripted_checker

RIGHT = Chunk(id="right", text="Letrozole is started at 25 mg once a day for five days.")
WRONG = Chunk(
    id="wrong", text="Women take it early. For PCOS, letrozole is started at 2.5 mg once a day for five days."
)
CLAIM = "Letrozole is started at 25 mg once a day for five days."


def checker(label, *, rules=frozenset(RULES)):
    import dataclasses

    return dataclasses.replace(
        scripted_checker(label if callable(label) else lambda _evidence, _claim: label), rules=rules
    )


@pytest.mark.parametrize("model_says", ["entail", "neutral", "contradict"])
def test_a_clash_makes_the_claim_refuted_whatever_the_model_says(model_says):
    verdict = checker(model_says)(CLAIM, [WRONG])
    assert (verdict.label, verdict.supporting) == ("refuted", ())


def test_the_finding_names_both_spans_in_claim_and_chunk():
    verdict = checker("entail")(CLAIM, [WRONG])
    (finding,) = verdict.findings
    assert (CLAIM[slice(*finding.claim_span)], WRONG.text[slice(*finding.evidence_span)]) == (
        "25 mg",
        "2.5 mg",
    )
    assert (finding.rule, finding.chunk_id, verdict.chunk_id) == ("numbers", "wrong", "wrong")
    assert (verdict.reason, finding.message) == (
        "decided by the rule numbers",
        "claim says 25 mg, evidence says 2.5 mg",
    )


def test_a_clean_chunk_keeps_the_claim_supported_and_says_that_another_disagrees():
    verdict = checker("entail")(CLAIM, [WRONG, RIGHT])
    assert (verdict.label, verdict.chunk_id, verdict.supporting, verdict.conflict) == (
        "supported",
        "right",
        ("right",),
        True,
    )


def test_rules_that_are_off_say_nothing():
    assert checker("entail", rules=frozenset(RULES) - {"numbers"})(CLAIM, [WRONG]).label == "supported"


def test_a_sentence_that_does_not_speak_of_the_claim_cannot_clash():
    chunk = Chunk(id="other", text="Metformin is started at 500 mg once a day.")
    assert (
        checker("neutral")("Letrozole tablets come in packs of 30 for women with PCOS.", [chunk]).label
        == "unsupported"
    )


def test_an_unknown_rule_to_switch_off_is_named():
    with pytest.raises(
        DataError, match="no rule is named 'number'; the rules that can be switched off are numbers, "
    ):
        load_checker(rules_off=["number"])


@pytest.mark.parametrize("model_says", ["neutral", "contradict"])
def test_what_stands_in_the_evidence_word_for_word_is_supported(model_says):
    verdict = checker(model_says)("for PCOS letrozole is started at 2.5 mg once a day for five days", [WRONG])
    assert (verdict.label, verdict.supporting, verdict.reason) == (
        "supported",
        ("wrong",),
        "quoted from the evidence",
    )


def test_of_chunks_that_share_as_much_the_order_does_not_decide():
    same = [Chunk(id=f"c{n}", text="Metformin is started once a day.") for n in range(3)]
    clash = Chunk(id="clash", text="Metformin is started at 500 mg once a day.")
    verdicts = [
        checker("neutral")("Metformin is started at 5 g once a day.", chunks)
        for chunks in ([clash, *same], [*same, clash])
    ]
    assert [verdict.label for verdict in verdicts] == ["refuted", "refuted"]


def test_a_year_that_one_of_two_joined_chunks_names_is_known():
    claim = "Remdesivir was approved by the FDA for hospitalized adults with COVID-19 in October 2020."
    texts = [
        "Remdesivir was approved by the FDA for hospitalized adults with COVID-19.",
        "The FDA approval of remdesivir came in October 2020.",
    ]
    both = checker(
        lambda evidence, _claim: "entail" if all(text in evidence for text in texts) else "neutral"
    )
    verdict = both(claim, [Chunk(id=str(n), text=text) for n, text in enumerate(texts)])
    assert (verdict.label, verdict.joint) == ("supported", True)


def test_a_chunk_farther_from_the_claim_does_not_outweigh_a_clash():
    far = Chunk(id="far", text="Women with PCOS often have high insulin levels.")
    clash = Chunk(id="clash", text="Metformin lowers insulin levels in women with PCOS.")
    verdict = checker("entail")("Metformin raises insulin levels in women with PCOS.", [far, clash])
    assert (verdict.label, verdict.chunk_id) == ("refuted", "clash")
