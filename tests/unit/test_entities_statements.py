"""What states the same in other names counts once; two different drugs, doses or diseases never do."""

import pytest

from pytest_medfaith.entities.linker import link
from pytest_medfaith.entities.statements import defined_in, first_alike, in_names_of, statement, written_out


def alike(*texts):
    return first_alike(texts, linker=link, defined=defined_in(texts))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Acetaminophen lowers fever.", "Paracetamol lowers fever"),
        ("Tylenol lowers fever", "Acetaminophen lowers fever."),
        ("Smoking can lead to an MI.", "Smoking can lead to a myocardial infarction."),
        ("Smoking can lead to a heart attack", "Smoking can lead to an MI"),
        ("Zestril treats hypertension", "Lisinopril treats high blood pressure"),
        ("Dyspnoea grows with COPD", "Dyspnoea grows with chronic obstructive pulmonary disease"),
        ("Albuterol widens the airways", "Salbutamol widens the airways"),
        ("Avoid furosemide  in gout", "Avoid Lasix in gout."),
    ],
)
def test_a_statement_in_other_names_is_the_same(first, second):
    assert alike(first, second) == (0, 0)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Prednisone treats asthma", "Prednisolone treats asthma"),
        ("Hydroxyzine relieves itching", "Hydralazine relieves itching"),
        ("Type 1 diabetes needs insulin", "Type 2 diabetes needs insulin"),
        ("Diabetes needs insulin", "Type 1 diabetes needs insulin"),
        ("T1DM needs insulin", "T2DM needs insulin"),
        ("Levothyroxine is taken daily", "Liothyronine is taken daily"),
        ("Levothyroxine is taken daily", "Thyroxine is taken daily"),
        ("Famotidine eases heartburn", "Ranitidine eases heartburn"),
        ("Methimazole is avoided early in pregnancy", "Carbimazole is avoided early in pregnancy"),
        ("Wegovy is approved for weight loss", "Ozempic is approved for weight loss"),
        ("Wegovy is approved for weight loss", "Semaglutide is approved for weight loss"),
        ("Percocet harms the liver", "Oxycodone harms the liver"),
        ("Omeprazole protects the stomach", "Esomeprazole protects the stomach"),
        ("Citalopram prolongs QT", "Escitalopram prolongs QT"),
        ("MS runs in families", "Multiple sclerosis runs in families"),
        ("MS eases pain", "Morphine sulfate eases pain"),
        ("MS narrows the valve", "Mitral stenosis narrows the valve"),
        ("CHD is common", "Coronary heart disease is common"),
        ("PE is an emergency", "Pulmonary embolism is an emergency"),
        ("Take 5 mg of paracetamol", "Take 50 mg of acetaminophen"),
        ("Keep potassium < 3.5 with MI", "Keep potassium > 3.5 with a heart attack"),
        ("Paracetamol lowers fever", "Acetaminophen does not lower fever"),
        ("Paracetamol helps patients", "Paracetamol helps volunteers"),
        ("Aspirin is safer than ibuprofen", "Ibuprofen is safer than aspirin"),
        ("Advil is safer than Tylenol", "Acetaminophen is safer than ibuprofen"),
    ],
)
def test_another_drug_disease_dose_or_direction_is_another_statement(first, second):
    assert alike(first, second) == ()


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("Multiple sclerosis (MS) affects nerves", "MS affects nerves", True),
        ("Mitral stenosis (MS) narrows the valve", "MS narrows the valve", True),
        ("Mitral stenosis (MS) affects nerves", "Multiple sclerosis affects nerves", False),
        ("Morphine sulfate (MS) eases pain", "Multiple sclerosis eases pain", False),
        ("Hashimoto encephalopathy (HE) is rare", "HE is rare", True),
    ],
)
def test_letters_mean_what_the_texts_define(first, second, same):
    assert bool(alike(first, second)) == same


def test_letters_with_two_meanings_in_the_texts_stay_letters():
    texts = ["Multiple sclerosis (MS) is rare", "Mitral stenosis (MS) is rare", "MS is rare"]
    assert defined_in(texts) == {}
    assert alike(*texts) == ()


def test_the_first_of_several_is_named_and_equal_words_are_as_many_as_they_are():
    """A RAG that brings a passage twice brought two passages, as before; only other names are the same."""
    texts = ["Tylenol helps", "Zinc helps", "Panadol helps", "Tylenol helps", "Zinc helps"]
    assert alike(*texts) == (0, 1, 0, 0, 4)
    assert alike("Zinc helps", "Zinc helps") == alike() == ()


def test_without_a_linker_nothing_is_the_same():
    texts = ["Tylenol lowers fever", "Paracetamol lowers fever"]
    assert first_alike(texts, linker=lambda _: [], defined={}) == ()


def test_a_short_form_is_written_out_where_it_stands_alone():
    defined = {"PCOS": "polycystic ovary syndrome"}
    assert written_out("Polycystic ovary syndrome (PCOS): PCOS, not PCOSX.", defined) == (
        "polycystic ovary syndrome: polycystic ovary syndrome, not PCOSX."
    )


def test_a_statement_keeps_its_words():
    assert (
        statement("IgA is low  in MI!", linker=link, defined={})
        == "\0iga\0 is low in \0myocardial_infarction\0"
    )


@pytest.mark.parametrize(
    ("claim", "evidence", "told"),
    [
        ("Tylenol lowers fever", "Acetaminophen is given.", "Acetaminophen lowers fever"),
        ("Tylenol lowers fever", "Tylenol is acetaminophen.", "Tylenol lowers fever"),
        ("Take Augmentin", "Co-amoxiclav is first-line.", "Take Co-amoxiclav"),
        ("Smoking causes MI", "A heart attack is an emergency.", "Smoking causes heart attack"),
        ("Give prednisone", "Prednisolone is given.", "Give prednisone"),
        ("Use Wegovy", "Semaglutide is used.", "Use Wegovy"),
        ("MS is treated", "Multiple sclerosis is treated.", "MS is treated"),
        ("Give hydralazine", "Hydroxyzine is given.", "Give hydralazine"),
    ],
)
def test_a_claim_is_said_in_the_names_of_its_evidence(claim, evidence, told):
    assert in_names_of(claim, evidence, linker=link, defined={}) == told


def test_letters_of_the_answer_are_not_those_of_the_evidence():
    """The answer means multiple sclerosis, the passage mitral stenosis: MS in both is no match."""
    defined = {"MS": "multiple sclerosis"}
    told = in_names_of(
        "MS needs surgery", "Mitral stenosis (MS) needs surgery.", linker=link, defined=defined
    )
    assert told == "multiple sclerosis needs surgery"
    told = in_names_of("MS needs rest", "Multiple sclerosis needs rest.", linker=link, defined=defined)
    assert told == "multiple sclerosis needs rest"
