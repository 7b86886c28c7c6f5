"""Bold labels that end in a full stop: "**INR 9, patient well.** Hold the drug"."""

import pytest

from pytest_medfaith.claims.premises import presupposed
from pytest_medfaith.claims.split import extract_claims


@pytest.mark.parametrize(
    ("answer", "texts"),
    [
        (
            "**CRP 30, no fever.** Repeat the test in two days [1].",
            ["CRP 30, no fever: Repeat the test in two days."],
        ),
        ("**Step 2 – airway.** Give oxygen by mask.", ["Step 2 – airway: Give oxygen by mask."]),
        ("**Take 5 mg.** Swallow it whole.", ["Take 5 mg.", "Swallow it whole."]),
        ("**Stage 3 is severe.** Admit the child.", ["Stage 3 is severe.", "Admit the child."]),
        (
            "**Type 2 diabetes affects adults.** It is common.",
            ["Type 2 diabetes affects adults.", "It is common."],
        ),
    ],
)
def test_a_bold_label_goes_with_its_sentence_and_a_bold_statement_is_a_claim(answer, texts):
    claims = extract_claims(answer, question="What should be done?")
    assert [claim.text for claim in claims] == texts
    assert all(answer[claim.start : claim.end].strip() for claim in claims)


@pytest.mark.parametrize(
    "talk",
    ["Let me walk you through the evidence.", "Here is a step-by-step summary.", "Here's an overview."],
)
def test_leads_into_a_summary_are_no_claims(talk):
    assert [claim.text for claim in extract_claims(f"{talk} Aspirin thins the blood.")] == [
        "Aspirin thins the blood."
    ]


@pytest.mark.parametrize(
    ("answer", "citations"),
    [("Pressure is back to normal [2].", ("2",)), ("Sodium was 130 (normal [135, 145]).", ())],
)
def test_a_single_number_behind_normal_cites_and_an_interval_does_not(answer, citations):
    assert [claim.citations for claim in extract_claims(answer)] == [citations]


def test_a_second_question_is_not_taken_for_granted():
    question = "How does age change the dose of digoxin, and what should be done in kidney disease?"
    assert presupposed(question) == "Age changes the dose of digoxin."
