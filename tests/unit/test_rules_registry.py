import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_medfaith.checking.rules import RULES, apply_rules
from pytest_medfaith.records import Finding

CLAIM = "Letrozole is started at 25 mg once a day for women with PCOS."
EVIDENCE = "Letrozole is started at 2.5 mg once a day for women with PCOS."


def test_every_rule_that_fires_names_itself():
    claims = {
        "numbers": (CLAIM, EVIDENCE),
        "negation": ("Aspirin is not given here.", "Aspirin is given here."),
        "direction": ("Statins raise the risk of stroke.", "Statins lower the risk of stroke."),
        "substitution": (
            "Aspirin lowers the fever within hours.",
            "Ibuprofen lowers the fever within hours.",
        ),
        "population": ("The shot works in children.", "The shot works in adults."),
        "certainty": ("Zinc always shortens a cold.", "Zinc may shorten a cold."),
    }
    assert list(claims) == list(RULES)
    for name, (claim, evidence) in claims.items():
        assert {finding.rule for finding in apply_rules(claim, evidence)} == {name}
        assert apply_rules(claim, evidence, off={name}) == []


def test_an_unknown_name_to_switch_off_is_an_error():
    with pytest.raises(
        ValueError,
        match="no rule is named 'number'; the rules that can be switched off are: numbers, negation, ",
    ):
        apply_rules(CLAIM, EVIDENCE, off={"number"})


def test_the_rest_of_the_source_takes_a_finding_back():
    assert [finding.rule for finding in apply_rules(CLAIM, EVIDENCE)] == ["numbers"]
    assert (
        apply_rules(
            CLAIM, EVIDENCE.replace("for women with PCOS", "by women"), context="Letrozole 25 mg is given."
        )
        == []
    )


def test_the_rest_of_the_source_adds_no_finding():
    assert apply_rules(CLAIM, "Letrozole is a tablet.", context=EVIDENCE) == []


def test_a_users_own_rule_can_be_added():
    def shout(claim, _evidence):
        return [Finding(rule="shout", message="capitals")] if claim.isupper() else []

    assert [
        finding.rule for finding in apply_rules("TAKE IT", "Take it.", rules={**RULES, "shout": shout})
    ] == ["shout"]


@pytest.mark.parametrize(
    "text", ["", " \n\t", "\x00\x07", "…", "二甲双胍降低血糖。", "метформин снижает сахар", "a" * 5_000]
)
def test_text_that_is_no_claim_gives_no_finding(text):
    assert apply_rules(text, EVIDENCE) == []
    assert apply_rules(CLAIM, text) == []


@pytest.mark.parametrize(
    "text",
    ["1" * 100_000, "5 to " * 20_000, "(((a (" * 16_000],
    ids=["digits", "range without end", "brackets"],
)
def test_100_000_characters_of_evidence_take_seconds_at_most(text):
    began = time.process_time()
    apply_rules(CLAIM, text)
    assert time.process_time() - began < 40  # reading the range was quadratic, and took minutes


@settings(deadline=None, max_examples=40)
@given(st.text(max_size=120), st.text(max_size=240))
def test_any_two_texts_give_spans_within_them(claim, evidence):
    for finding in apply_rules(claim, evidence):
        assert finding.claim_span is not None
        assert 0 <= finding.claim_span[0] < finding.claim_span[1] <= len(claim)
        assert finding.evidence_span is None or 0 <= finding.evidence_span[0] < finding.evidence_span[
            1
        ] <= len(evidence)


@settings(deadline=None, max_examples=40)
@given(
    st.lists(
        st.sampled_from(
            [
                *CLAIM.split(),
                "not",
                "may",
                "always",
                "children",
                "or",
                "more",
                "than",
                "12",
                "%",
                "metformin",
                "before",
            ]
        ),
        max_size=25,
    )
)
def test_no_text_clashes_with_itself(words):
    text = " ".join(words)
    assert apply_rules(text, text) == []
