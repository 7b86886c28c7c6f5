"""The operators that change a sentence and the light rewording: on given sentences and on a corpus."""

import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_medfaith.audit.amounts import dose_down, dose_up, swap_unit
from pytest_medfaith.audit.negate import negate
from pytest_medfaith.audit.operators import OPERATORS
from pytest_medfaith.audit.paraphrase import (
    active_voice,
    front_clause_last,
    last_clause_first,
    paraphrase,
    with_long_form,
)
from pytest_medfaith.audit.statements import statements
from pytest_medfaith.audit.swap import swap_drug, swap_population
from pytest_medfaith.audit.synonyms import with_synonyms
from pytest_medfaith.audit.turn import turn
from pytest_medfaith.audit.years import invent_year
from pytest_medfaith.entities.linker import link
from pytest_medfaith.metrics.audit import AUDIT_KINDS


def changed(operator, sentence, *, evidence=None, seed=0):
    mutation = operator(sentence, evidence or sentence, random.Random(seed))
    return mutation and mutation.text


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("Metformin lowers blood glucose.", "Metformin does not lower blood glucose."),
        ("Statins reduce the risk of stroke.", "Statins do not reduce the risk of stroke."),
        (
            "The trial showed a benefit of early treatment.",
            "The trial did not show a benefit of early treatment.",
        ),
        ("Aspirin is recommended after a heart attack.", "Aspirin is not recommended after a heart attack."),
        (
            "Metformin is not recommended in severe kidney disease.",
            "Metformin is recommended in severe kidney disease.",
        ),
        ("Statins do not raise the risk of cancer.", "Statins raise the risk of cancer."),
        ("Warfarin does not usually affect the kidneys.", "Warfarin usually affects the kidneys."),
        ("Codeine is no longer recommended for children.", "Codeine is recommended for children."),
        ("Sedatives must not be given.", "Sedatives must be given."),
        ("You cannot take ibuprofen with this drug.", "You can take ibuprofen with this drug."),
        ("Aspirin may cause bleeding.", "Aspirin will not cause bleeding."),
        (
            "Metformin may be used in mild kidney disease.",
            "Metformin should not be used in mild kidney disease.",
        ),
        ("Tremor can also occur at high doses.", "Tremor cannot occur at high doses."),
        ("The vaccine is also given to infants.", "The vaccine is not given to infants."),
        ("Insulin is therefore started early.", "Insulin is therefore not started early."),
        ("Patients have fever and cough.", "Patients do not have fever and cough."),
        ("Patients have been treated with insulin.", "Patients have not been treated with insulin."),
        ("There is no cure for asthma.", "There is a cure for asthma."),
        ("There is no evidence of benefit.", "There is evidence of benefit."),
        ("There were no differences between the groups.", "There were differences between the groups."),
        ("There is a vaccine against influenza.", "There is no vaccine against influenza."),
        ("The drug had no effect on survival.", "The drug had an effect on survival."),
        ("Take the tablet with food.", "Do not take the tablet with food."),
    ],
)
def test_negation_is_put_in_or_taken_away_as_english_asks(sentence, expected):
    assert changed(negate, sentence) == expected


@pytest.mark.parametrize(
    "sentence",
    [
        "Some adults get asthma from dust at work.",  # "do not" would be true of other adults
        "About 10% of patients develop a cough.",
        "The drug rarely causes a rash.",
        "It was used only in children.",
        "Women aged 40 to 50 need a mammogram.",  # "aged" is no verb
        # negates the condition
        "When pain is severe or other drugs have not helped, surgery may be offered.",
        "Satisfaction levels reported by patients were good.",
        "A dose of 5 mg.",
    ],
)
def test_negation_leaves_alone_what_it_would_not_turn_round(sentence):
    assert changed(negate, sentence) is None


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("Metformin lowers blood glucose.", "Metformin raises blood glucose."),
        ("Iron tablets are taken to raise hemoglobin.", "Iron tablets are taken to lower hemoglobin."),
        (
            "Mortality was lower with apixaban than with warfarin.",
            "Mortality was higher with apixaban than with warfarin.",
        ),
        ("Blood pressure rose after the infusion.", "Blood pressure fell after the infusion."),
        ("Salmeterol is more effective than placebo.", "Salmeterol is less effective than placebo."),
        ("Infection is the most common adverse effect.", "Infection is the least common adverse effect."),
        ("Patients have an increased risk of stroke.", "Patients have a decreased risk of stroke."),
        ("Pain in the lower back improves with exercise.", "Pain in the lower back worsens with exercise."),
        ("The red zone is below 50% of the best value.", "The red zone is above 50% of the best value."),
    ],
)
def test_a_direction_is_turned_in_its_own_form(sentence, expected):
    assert changed(turn, sentence) == expected


@pytest.mark.parametrize(
    "sentence",
    [
        "The drug does not reduce pain.",  # the opposite would not follow
        "The drug may reduce pain.",
        "The dose is 5 mg or more a day.",
        "Death was due to cardiovascular causes.",  # no verb
        "The drug is given to patients who have lower scores.",  # says which patients
    ],
)
def test_a_direction_that_states_nothing_stays(sentence):
    assert changed(turn, sentence) is None


@pytest.mark.parametrize(
    ("operator", "sentence", "expected"),
    [
        (dose_up, "Albuterol 2.5 mg is given by nebulizer.", "Albuterol 25 mg is given by nebulizer."),
        (dose_up, "Patients received 1,000 mg of iron.", "Patients received 10,000 mg of iron."),
        (dose_up, "The dose is 200 to 400 micrograms.", "The dose is 2000 to 4000 micrograms."),
        (dose_down, "Albuterol 2.5 mg is given by nebulizer.", "Albuterol 0.25 mg is given by nebulizer."),
        (dose_down, "Patients received 1,000 mg of iron.", "Patients received 100 mg of iron."),
        (swap_unit, "Treatment lasts for 1 day.", "Treatment lasts for 1 week."),
        (swap_unit, "The stomach of a newborn holds 10 mL.", "The stomach of a newborn holds 10 L."),
        (dose_up, "Treatment lasts for 6 weeks.", None),
        (dose_up, "The target is 120/80 mm Hg.", None),
        (swap_unit, "A pressure of 65 mm Hg is the target.", None),
        (swap_unit, "Children of 12 years of age take half a tablet.", None),
    ],
)
def test_amounts_change_by_a_slip_of_the_pen(operator, sentence, expected):
    assert changed(operator, sentence) == expected


def test_a_dose_that_the_evidence_names_is_no_mutation():
    assert (
        changed(dose_up, "The dose is 2.5 mg.", evidence="The dose is 2.5 mg. The highest dose is 25 mg.")
        is None
    )


@pytest.mark.parametrize(
    "sentence",
    [
        "Apixaban is given twice daily.",
        "Beta-blockers are used in heart failure.",
        "An ACE inhibitor is started early.",
    ],
)
def test_a_drug_goes_for_one_that_the_evidence_does_not_name(sentence):
    evidence = f"{sentence} Rivaroxaban and calcium channel blockers are others."
    known = {mention.concept for mention in link(evidence)}
    for seed in range(8):
        mutation = swap_drug(sentence, evidence, random.Random(seed))
        names = [mention for mention in link(mutation.text) if mention.kind == "drug"]
        assert len(names) == 1
        assert names[0].concept not in known
        assert mutation.text.split()[-2:] == sentence.split()[-2:]


@pytest.mark.parametrize(
    "sentence",
    ["Budesonide-formoterol is taken as needed.", "Placebo had no effect on pain.", "Exercise helps."],
)
def test_no_half_of_a_name_and_no_drug_without_a_class_is_swapped(sentence):
    assert changed(swap_drug, sentence) is None


def test_an_article_follows_its_new_word():
    texts = {changed(swap_drug, "An ACE inhibitor is started early.", seed=seed) for seed in range(12)}
    assert any(text.startswith("A ") for text in texts)
    assert not any(text.startswith(("An b", "A a", "A A")) for text in texts)


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("The test is used in women.", {"The test is used in men."}),
        ("Newborns may seem restless.", {"Adults may seem restless.", "Adolescents may seem restless."}),
        ("In adults aged 50 or older, aspirin is advised.", {None}),  # children aged 50 are nobody
        ("The test is used in women and men.", {None}),
        ("The test is cheap.", {None}),
    ],
)
def test_a_population_goes_for_one_that_the_evidence_does_not_name(sentence, expected):
    assert {changed(swap_population, sentence, seed=seed) for seed in range(8)} == expected


@pytest.mark.parametrize(
    ("sentence", "pattern"),
    [
        ("In 2020 the agency added a warning.", r"In (?!2020)\d{4} the agency added a warning\."),
        ("The trial was stopped early.", r"In \d{4}, the trial was stopped early\."),
        ("Metformin lowers glucose.", r"Metformin lowers glucose, a.+ \d{4}.*\."),
    ],
)
def test_a_year_is_invented(sentence, pattern):

    assert re.fullmatch(pattern, changed(invent_year, sentence))


@pytest.mark.parametrize(
    ("change", "sentence", "expected"),
    [
        (
            front_clause_last,
            "In adults, amlodipine is started at 5 mg once daily.",
            "Amlodipine is started at 5 mg once daily in adults.",
        ),
        (front_clause_last, "In adults, it is started at 5 mg.", None),  # "it" would lose what it stands for
        (front_clause_last, "In adults, A is given, and B is not.", None),
        (
            last_clause_first,
            "Loop diuretics are needed when the eGFR is low.",
            "When the eGFR is low, loop diuretics are needed.",
        ),
        (last_clause_first, "Dialysis is needed and drugs are stopped when the eGFR is low.", None),
        (active_voice, "Bleeding was reduced by apixaban.", "Apixaban reduced bleeding."),
        (active_voice, "Bleeding was reduced by about 20%.", None),
        (active_voice, "Mortality was lowered by stopping the drug.", None),
    ],
)
def test_order_and_voice_change_where_that_is_safe(change, sentence, expected):
    assert change(sentence, sentence) == expected


def test_short_forms_are_written_out_as_the_evidence_explains_them():
    evidence = "Luteinizing hormone (LH) acts on theca cells. LH rises before ovulation."
    assert (
        with_long_form("LH rises before ovulation.", evidence)
        == "Luteinizing hormone rises before ovulation."
    )
    assert (
        with_long_form("Many patients with COPD smoke.", "")
        == "Many patients with chronic obstructive pulmonary disease smoke."
    )


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("Treatment lasts from five to seven days.", "Treatment lasts from 5 to 7 days."),
        ("Treatment lasts for 6 weeks.", "Treatment lasts for six weeks."),
        ("The rate was 5%.", "The rate was 5 percent."),
        ("Physicians call it a heart attack.", "Doctors call it a myocardial infarction."),
        ("The drug causes nausea and vomiting.", "The drug causes vomiting and nausea."),
    ],
)
def test_words_and_numbers_take_their_other_form_everywhere(sentence, expected):
    assert with_synonyms(sentence, random.Random(0), most=9) == expected


@pytest.mark.parametrize(
    "sentence",
    [
        "Pulmonary hypertension causes breathlessness.",
        "Patients have questions about treatment.",
        "High blood pressure, or hypertension, is common.",
        "The rate was 0.74 (95% CI 0.58 to 0.94).",
        "Treatment lasts from 2 to 4 weeks.",
        "Type 2 diabetes is common.",
    ],
)
def test_words_and_numbers_of_another_sense_stay(sentence):
    assert with_synonyms(sentence, random.Random(0), most=9) == sentence


SENTENCES = [
    "Metformin lowers blood glucose and is taken twice daily with meals.",
    "In adults, amlodipine 5 mg once daily reduces high blood pressure.",
    "The drug was given to 120 women for 6 weeks and was stopped in 2009.",
    "There is no cure for asthma, but inhaled budesonide 200 micrograms prevents attacks.",
    "Older adults may take ibuprofen 400 mg if kidney function is normal.",
]


@given(st.sampled_from(SENTENCES), st.integers(0, 10_000), st.sampled_from(sorted(OPERATORS)))
@settings(deadline=None, max_examples=60)
def test_a_mutation_is_one_changed_span_and_the_same_for_the_same_seed(sentence, seed, kind):
    mutation = OPERATORS[kind](sentence, sentence, random.Random(seed))
    assert mutation == OPERATORS[kind](sentence, sentence, random.Random(seed))
    if mutation is None:
        return
    assert mutation.kind == kind
    assert mutation.text != sentence
    assert mutation.text.endswith(".")
    assert mutation.text[0].isupper()
    assert "  " not in mutation.text
    # The words behind the change are those of the sentence. So are those before it, except an article and a
    # first capital.
    assert sentence.endswith(mutation.text[mutation.end :]) or sentence[1:] in mutation.text
    assert mutation.text[: mutation.start].strip("An ").lower() in sentence.lower()


@given(st.text(max_size=200), st.integers(0, 99))
@settings(deadline=None, max_examples=60)
def test_any_text_is_left_alone_or_changed_without_an_error(text, seed):
    for operator in OPERATORS.values():
        mutation = operator(text, text, random.Random(seed))
        assert mutation is None or 0 <= mutation.start <= mutation.end <= len(mutation.text)
    paraphrase(text, text, random.Random(seed))


def test_every_kind_has_its_operator_but_the_foreign_sentence():
    assert [*OPERATORS, "other_document"] == list(AUDIT_KINDS)


def test_statements_are_whole_sentences_that_stand_alone():
    text = (
        "Asthma is a disease of the airways. It often starts in childhood. What helps? Inhaled drugs (such "
        "as budesonide) prevent attacks. Take two puffs of the inhaler each day. A short one. Symptoms: "
        "cough, wheeze and tight chest are usual."
    )
    assert statements(text) == [
        "Asthma is a disease of the airways.",
        "Inhaled drugs (such as budesonide) prevent attacks.",
    ]
