import dataclasses

import pytest

from pytest_medfaith.checking.quotation import quotes
from pytest_medfaith.checking.rules import RULE_NAMES
from pytest_medfaith.records import Chunk
from pytest_medfaith.testing import scripted_checker

SAFE = "Isotretinoin is safe in pregnancy."
ASPIRIN = "Aspirin can be given to children."

# claim, evidence that holds its words and does not say it
TAKEN_BACK = [
    (SAFE, "Myth: isotretinoin is safe in pregnancy. Fact: it causes severe birth defects."),
    (SAFE, "False: isotretinoin is safe in pregnancy."),
    (SAFE, "Isotretinoin is safe in pregnancy is a dangerous myth."),
    (SAFE, "Isotretinoin is safe in pregnancy. This is a dangerous myth."),
    (SAFE, "Isotretinoin is safe in pregnancy. That is not true."),
    (SAFE, "Isotretinoin is safe in pregnancy. False."),
    (SAFE, "Isotretinoin is safe in pregnancy. Wrong! It causes birth defects."),
    (SAFE, "True or false: isotretinoin is safe in pregnancy. The answer is false."),
    (SAFE, "True or false? Isotretinoin is safe in pregnancy. The answer is false."),
    (SAFE, "Is this so? Isotretinoin is safe in pregnancy."),
    (
        SAFE,
        (
            "A dangerous myth goes round on the internet. Isotretinoin is safe in pregnancy. It causes "
            "severe birth defects."
        ),
    ),
    (SAFE, "The following is false:\nIsotretinoin is safe in pregnancy."),
    (SAFE, "Myth\nIsotretinoin is safe in pregnancy.\nFact\nIt causes severe birth defects."),
    (SAFE, "Some websites say:\nIsotretinoin is safe in pregnancy."),
    (
        SAFE,
        (
            "Many people believe this. Isotretinoin is safe in pregnancy. In fact, it causes severe birth "
            "defects."
        ),
    ),
    (SAFE, "People used to think so. Isotretinoin is safe in pregnancy."),
    (SAFE, "Isotretinoin is safe in pregnancy. However, this was the view until 1982."),
    (SAFE, "Isotretinoin is safe in pregnancy. This statement has been retracted."),
    (SAFE, "Isotretinoin is safe in pregnancy? No."),
    (SAFE, "We tested the following statement. Isotretinoin is safe in pregnancy. The data contradict it."),
    (SAFE, "Isotretinoin is safe in pregnancy. This claim was examined in 2020. It does not hold."),
    (SAFE, "Isotretinoin is safe in pregnancy. On the contrary, it causes birth defects."),
    (SAFE, "Isotretinoin is safe in pregnancy. Newer evidence overturned this."),
    (SAFE, "Isotretinoin is safe in pregnancy. ❌"),
    (SAFE, "❌ Isotretinoin is safe in pregnancy."),
    (SAFE, "~~Isotretinoin is safe in pregnancy.~~ It causes birth defects."),
    (SAFE, "Isotretinoin is safe in pregnancy. [Retracted 2019.]"),
    (SAFE, "Isotretinoin is safe in pregnancy. This is nonsense."),
    (SAFE, "Isotretinoin is safe in pregnancy. This is dangerous nonsense."),
    (SAFE, "Isotretinoin is safe in pregnancy. Just kidding, it is not."),
    (SAFE, "Isotretinoin is safe in pregnancy. April fools!"),
    (SAFE, "Isotretinoin is safe in pregnancy. In rabbits at least."),
    (SAFE, "Isotretinoin is safe in pregnancy. Nobody with any knowledge would say so."),
    (SAFE, "Hypothesis 1. Isotretinoin is safe in pregnancy. Result: rejected."),
    (SAFE, "Here is an example of a bad answer. Isotretinoin is safe in pregnancy. Do not copy it."),
    (SAFE, "Suppose the following. Isotretinoin is safe in pregnancy. Then nobody would need a pill."),
    (ASPIRIN, "Aspirin can be given to children over 16 years of age."),
    (ASPIRIN, "Aspirin can be given to children, as long as a specialist has asked for it."),
    (ASPIRIN, "Aspirin can be given to children was the view until 1966."),
    (ASPIRIN, "Never give aspirin to children. It is not the case that aspirin can be given to children."),
    (ASPIRIN, "Aspirin can be given to children. Only if a specialist asks for it, though."),
    (ASPIRIN, "Aspirin can be given to children. But not below the age of 16."),
    (ASPIRIN, "Aspirin can be given to children. Unless they have a fever."),
    (
        "Metformin can be continued with an eGFR of 45.",
        "Metformin can be continued with an eGFR of 45 as long as it is stable.",
    ),
    (
        "Letrozole is given at 25 mg a day.",
        "Letrozole is given at 25 mg a day in error in some clinics; the dose is 2.5 mg.",
    ),
    ("Metformin causes weight gain.", "It is a myth that metformin causes weight gain."),
    ("Vaccines cause autism in children.", "There is no evidence that vaccines cause autism in children."),
    ("Aspirin is safe in pregnancy.", "Aspirin is safe in pregnancy only where a doctor prescribes it."),
]

STATED = [
    (SAFE, "Isotretinoin is safe in pregnancy. These trials lasted a year."),
    (SAFE, "Isotretinoin is safe in pregnancy. The evidence supports its use."),
    (SAFE, "Isotretinoin is safe in pregnancy. It is cheap."),
    (SAFE, "Isotretinoin is safe in pregnancy. It is a capsule."),
    (SAFE, "Isotretinoin is safe in pregnancy. This is important."),
    (SAFE, "Isotretinoin is safe in pregnancy. Take it with food."),
    (SAFE, "Isotretinoin is safe in pregnancy. In a trial it did no harm."),
    (SAFE, "Isotretinoin is safe in pregnancy. It does not cause weight gain."),
    (SAFE, "Some ask. Isotretinoin is safe in pregnancy. Take it with food."),
    (
        "Metformin causes weight loss.",
        "Metformin is taken with meals.\n• Metformin causes weight loss.\n• It may upset the stomach.",
    ),
    (
        "Metformin causes weight loss. It may upset the stomach.",
        "Metformin causes weight loss. It may upset the stomach. It is cheap.",
    ),
    ("metformin causes weight loss", "Metformin causes weight loss. It was approved in 1995."),
    (
        "The dose is 2.5 mg once a day.",
        "Letrozole is a tablet. The dose is 2.5 mg once a day. It does not cause weight gain.",
    ),
]


@pytest.mark.parametrize(("claim", "evidence"), TAKEN_BACK)
def test_words_of_what_is_denied_asked_restricted_or_taken_back_are_no_quotation(claim, evidence):
    assert not quotes(claim, evidence)


@pytest.mark.parametrize(("claim", "evidence"), STATED)
def test_whole_sentences_that_nothing_takes_back_are_a_quotation(claim, evidence):
    assert quotes(claim, evidence)


def test_sentences_of_another_order_are_no_quotation():
    assert not quotes(
        "It may upset the stomach. Metformin causes weight loss.",
        "Metformin causes weight loss. It may upset the stomach.",
    )


def test_a_heading_of_myths_takes_its_sentences_back():
    assert not quotes(SAFE, SAFE, title="Ten myths about acne")


@pytest.mark.parametrize(("claim", "evidence"), TAKEN_BACK[:3])
def test_what_is_no_quotation_is_left_to_the_model(claim, evidence):
    checker = dataclasses.replace(
        scripted_checker(lambda _evidence, _claim: "contradict"), rules=frozenset(RULE_NAMES)
    )
    verdict = checker(claim, [Chunk(id="c", text=evidence)])
    assert verdict.label == "refuted"


def test_a_number_with_another_sign_is_no_quotation():
    assert not quotes("The limit of the score is -5 here.", "The limit of the score is 5 here.")
