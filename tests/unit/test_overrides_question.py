"""Answers that contradict what the asker says, and answers that take a false premise for granted."""

import dataclasses

import pytest

from pytest_medfaith.checking.overrides.asker import contradicted_fact
from pytest_medfaith.checking.rules import RULE_NAMES
from pytest_medfaith.claims.premises import asker_facts, presupposed
from pytest_medfaith.evaluation import evaluate_case
from pytest_medfaith.records import Case, Chunk, Response
from pytest_medfaith.testing import scripted_checker

CONTRADICTED = [
    ("I am pregnant. Can I take ibuprofen?", "As you are not pregnant, ibuprofen is safe."),
    ("I'm pregnant, can I take ibuprofen?", "Since you are not pregnant, you can take it."),
    ("I am pregnant. Can I take ibuprofen?", "You are not pregnant."),
    ("I am not pregnant. Can I take ibuprofen?", "Because you are pregnant, avoid ibuprofen."),
    ("My eGFR is 25. Can I take metformin?", "Your eGFR is 52, so metformin is fine."),
    ("My eGFR is 25 mL/min. Can I take it?", "With your eGFR of 52 mL/min, metformin is fine."),
    ("I do not smoke. Which vaccine do I need?", "You smoke 20 cigarettes a day."),
    ("I don't smoke. Which vaccine do I need?", "Because you smoke, you need the vaccine."),
    ("I smoke 20 cigarettes a day. Is it safe?", "You do not smoke, so it is safe."),
    ("I am 70 years old. Is aspirin safe?", "You are 40 years old."),
    ("I am 70 years old. Is aspirin safe?", "As you are 40 years old, your risk is low."),
    ("I take 10 mg of warfarin. Is aspirin safe?", "You take 5 mg of warfarin."),
    ("I take warfarin. Is aspirin safe?", "You do not take warfarin, so aspirin is safe."),
    ("I do not take warfarin. Is aspirin safe?", "You take warfarin, so aspirin is risky."),
    ("I have no allergies. Can I take amoxicillin?", "You have an allergy to penicillin."),
    ("I am allergic to penicillin. What helps?", "As you are not allergic to penicillin, take amoxicillin."),
    ("I am not allergic to penicillin. What helps?", "As you are allergic to penicillin, avoid amoxicillin."),
    ("I have asthma. Is propranolol safe?", "You do not have asthma, so propranolol is safe."),
    ("I do not have asthma. Is propranolol safe?", "You have asthma, so propranolol is risky."),
    ("I have diabetes and I take insulin. May I fast?", "You don't take insulin, so fasting is safe."),
    ("I weigh 50 kg. How much may I take?", "You weigh 80 kg, so 4 g a day is the limit."),
    ("I am breastfeeding. Is codeine safe?", "You are not breastfeeding, so codeine is safe."),
    ("I am not breastfeeding. Is codeine safe?", "You are breastfeeding, so codeine is risky."),
    ("My potassium is 6 mmol/L. Is it high?", "Your potassium is 4 mmol/L, which is fine."),
    ("I had a stroke. Is it safe?", "You have had no stroke, so it is safe."),
    (
        "I am immunocompromised. May I be vaccinated?",
        "You are not immunocompromised, so live vaccines are safe.",
    ),
    ("I have never had chickenpox; do I need the shot?", "You have had chickenpox, so no shot is needed."),
    ("I have high blood pressure. Is ibuprofen safe?", "You do not have high blood pressure, so it is safe."),
    ("I do not drink alcohol. Is it safe?", "You drink alcohol daily, so it is not safe."),
    ("I am vegetarian. Do I need B12?", "You are not vegetarian, so you get enough."),
    ("I'm diabetic. Is it safe?", "You're not diabetic, so it is safe."),
    ("I am taking lithium. Is ibuprofen safe?", "You are not taking lithium, so ibuprofen is safe."),
    ("I am not taking lithium. Is ibuprofen safe?", "You are taking lithium, so avoid ibuprofen."),
    ("I have epilepsy. Is bupropion safe?", "You do not have epilepsy; bupropion is safe."),
    ("My blood pressure is 150 mm Hg. Is it high?", "Your blood pressure is 110 mm Hg, so it is fine."),
    ("I have glaucoma. May I take it?", "Given that you do not have glaucoma, it is safe."),
    ("I have no kidney disease. May I take it?", "You have kidney disease, so avoid it."),
    ("I had surgery two weeks ago. May I fly?", "You had surgery six weeks ago, so you may fly."),
    ("I am allergic to nuts. Is it safe?", "You are not allergic to nuts, so it is safe."),
    ("I am dehydrated. Is it safe?", "You are not dehydrated, so it is safe."),
]

AGREED = [
    ("I am pregnant. Can I take ibuprofen?", "As you are pregnant, ibuprofen is not safe."),
    ("I am pregnant. Can I take ibuprofen?", "If you are not pregnant, ibuprofen is safe."),
    ("I am pregnant. Can I take ibuprofen?", "You should not take ibuprofen."),
    ("I am not pregnant. Can I take ibuprofen?", "As you are not pregnant, ibuprofen is an option."),
    ("My eGFR is 25. Can I take metformin?", "Your eGFR is 25, so metformin is unsafe."),
    ("My eGFR is 25. Can I take metformin?", "Metformin is contraindicated below an eGFR of 30."),
    ("My eGFR is 25. Can I take metformin?", "Your eGFR of 25 is below 30."),
    ("I do not smoke. Which vaccine do I need?", "You do not smoke, so your risk is low."),
    ("I do not smoke. Which vaccine do I need?", "People who smoke need the vaccine."),
    ("I smoke 20 cigarettes a day. Is it safe?", "You smoke, which raises your risk."),
    ("I smoke 20 cigarettes a day. Is it safe?", "You smoke a pack of cigarettes a day."),
    ("I smoke 20 cigarettes a day. Is it safe?", "You should smoke no more than 5 cigarettes a day."),
    ("I am 70 years old. Is aspirin safe?", "You are 70, so bleeding is likelier."),
    ("I am 70 years old. Is aspirin safe?", "You are over 60 years old, so bleeding is likelier."),
    ("I am 70 years old. Is aspirin safe?", "Aspirin is not advised above 60 years."),
    ("I take 10 mg of warfarin. Is aspirin safe?", "You take warfarin, which raises bleeding risk."),
    ("I take 10 mg of warfarin. Is aspirin safe?", "You should take 5 mg of warfarin."),
    ("I take 10 mg of warfarin. Is aspirin safe?", "Your usual dose is 5 mg of warfarin."),
    ("I take warfarin. Is aspirin safe?", "You do not take warfarin with food."),
    ("I take warfarin. Is aspirin safe?", "You take warfarin, so aspirin is risky."),
    ("I have no allergies. Can I take amoxicillin?", "You have no allergies, so amoxicillin is an option."),
    ("I am allergic to penicillin. What helps?", "You are allergic to penicillin, so avoid amoxicillin."),
    ("I am allergic to penicillin. What helps?", "You do not have to take amoxicillin."),
    ("I am allergic to penicillin. What helps?", "You are not alone with this allergy."),
    ("I have asthma. Is propranolol safe?", "You have asthma, so propranolol is risky."),
    ("I have asthma. Is propranolol safe?", "Your asthma is not cured by propranolol."),
    ("I have diabetes and I take insulin. May I fast?", "You take insulin, so fasting is risky."),
    ("I weigh 50 kg. How much may I take?", "You weigh 50 kg, so 3 g a day is the limit."),
    ("I weigh 50 kg. How much may I take?", "Your target weight is 60 kg."),
    ("I am breastfeeding. Is codeine safe?", "You are breastfeeding, so codeine is risky."),
    ("My potassium is 6 mmol/L. Is it high?", "Your potassium is 6 mmol/L, which is high."),
    ("My potassium is 6 mmol/L. Is it high?", "Normal potassium is 3.5 to 5 mmol/L."),
    ("I had a stroke. Is it safe?", "You had a stroke, so it is not safe."),
    ("I do not drink alcohol. Is it safe?", "You do not drink alcohol, which helps."),
    ("I do not drink alcohol. Is it safe?", "You do not need to drink alcohol."),
    ("I am vegetarian. Do I need B12?", "You are vegetarian, so you need B12."),
    ("I am taking lithium. Is ibuprofen safe?", "You are taking lithium, so avoid ibuprofen."),
    ("I am taking lithium. Is ibuprofen safe?", "You are not taking ibuprofen now."),
    ("My blood pressure is 150 mm Hg. Is it high?", "Your blood pressure of 150 mm Hg is high."),
    ("Can I take ibuprofen?", "You are not pregnant, so ibuprofen is safe."),
    ("What is the dose of metformin?", "You take 500 mg a day."),
]

PREMISES = {
    "Why does metformin cause weight gain?": "Metformin causes weight gain.",
    "Why do antibiotics cure the flu?": "Antibiotics cure the flu.",
    "How does vitamin C prevent colds?": "Vitamin C prevents colds.",
    "Why is aspirin safe in children with fever?": "Aspirin is safe in children with fever.",
    "Why did the FDA withdraw metformin?": "The FDA withdrew metformin.",
    "When was metformin approved for weight loss?": "Metformin was approved for weight loss.",
    "Since aspirin cures diabetes, how much should I take?": "Aspirin cures diabetes.",
    "Given that vaccines cause autism, which should my child avoid?": "Vaccines cause autism.",
    "Why should statins be stopped in pregnancy?": "Statins should be stopped in pregnancy.",
    "Why is metformin not used in pregnancy?": "Metformin is not used in pregnancy.",
    "How come insulin cures diabetes?": "Insulin cures diabetes.",
}


def contradicted(question, claim):
    return contradicted_fact(claim, asker_facts(question))


@pytest.mark.parametrize(("question", "claim"), CONTRADICTED)
def test_the_answer_contradicts_the_asker(question, claim):
    assert contradicted(question, claim)


@pytest.mark.parametrize(("question", "claim"), AGREED)
def test_the_answer_agrees_with_the_asker(question, claim):
    assert contradicted(question, claim) is None


def test_there_are_forty_of_each():
    assert min(len(CONTRADICTED), len(AGREED)) >= 40


@pytest.mark.parametrize("question", PREMISES)
def test_what_a_question_takes_for_granted(question):
    assert presupposed(question) == PREMISES[question]


@pytest.mark.parametrize(
    "question",
    [
        "",
        "What is the dose of metformin?",
        "Can adults take metformin?",
        "How do I take metformin?",
        "How does it work?",
        "Why is this so?",
        "Does aspirin cure diabetes?",
        "Is it true that aspirin cures diabetes?",
        "Why do I cough?",
        "How much does metformin cost?",
        "When should I call a doctor?",
    ],
)
def test_a_question_that_takes_nothing_for_granted(question):
    assert presupposed(question) == ""


FALSE = "Metformin causes weight gain."
CONTEXT = Chunk(id="c1", text="Metformin lowers weight or leaves it unchanged.")


def asked(answer, *, question="Why does metformin cause weight gain?", premise="contradict", off=()):
    def label(evidence, claim):
        if claim == FALSE:
            if evidence == CONTEXT.text:
                return premise
            return "entail" if "causes weight gain" in evidence else "neutral"
        return "neutral"

    checker = dataclasses.replace(scripted_checker(label), rules=frozenset(RULE_NAMES) - {*off})
    case = Case(id="a", question=question)
    return evaluate_case(case, Response(answer=answer, contexts=(CONTEXT,)), checker=checker).verdicts


def test_a_claim_that_says_the_false_premise_is_refuted():
    second = asked("It raises the appetite of patients. So metformin causes weight gain in adults.")[1]
    assert (second.label, second.reason) == ("refuted", "decided by the rule question")
    assert second.findings[0].message == f"the answer takes for granted what the evidence refutes: {FALSE}"
    assert second.findings[0].chunk_id == "c1"


def test_an_answer_that_goes_along_without_a_word_gets_a_note():
    (verdict,) = asked("It raises the appetite of patients.")
    assert (verdict.label, [(each.rule, each.effect) for each in verdict.findings]) == (
        "unsupported",
        [("question", "note")],
    )


@pytest.mark.parametrize(
    "answer",
    [
        "Metformin does not cause weight gain.",
        "That is a myth. Metformin is neutral for weight in patients.",
        "Contrary to that idea, patients keep their weight with metformin.",
    ],
)
def test_an_answer_that_corrects_the_premise_has_no_finding(answer):
    assert all(finding.rule != "question" for verdict in asked(answer) for finding in verdict.findings)


@pytest.mark.parametrize("premise", ["entail", "neutral"])
def test_a_premise_that_the_evidence_does_not_refute_has_no_finding(premise):
    assert asked("It raises the appetite of patients.", premise=premise)[0].findings == ()


def test_it_can_be_switched_off():
    assert asked("It raises the appetite of patients.", off=["question"])[0].findings == ()


def test_the_pairs_of_the_report_do_not_hold_the_premise():
    case = Case(id="a", question="Why does metformin cause weight gain?")
    checker = dataclasses.replace(scripted_checker(lambda *_: "contradict"), rules=frozenset(RULE_NAMES))
    report = evaluate_case(case, Response(answer="It raises appetite.", contexts=(CONTEXT,)), checker=checker)
    assert {pair.claim_id for pair in report.pairs} == {report.verdicts[0].claim.id}


def test_a_claim_that_contradicts_the_asker_is_refuted_in_a_report():
    question = "I am pregnant. Can I take ibuprofen?"
    (verdict, *_) = asked("You are not pregnant, so ibuprofen is safe for you.", question=question)
    assert verdict.label == "refuted"
    assert "You are pregnant." in verdict.findings[0].message
