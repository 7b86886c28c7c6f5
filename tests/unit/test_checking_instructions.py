"""Instructions turned into their opposite: the rules alone catch them; the model supports everything.

Each evidence text comes with a claim that it rules out and a claim that says the same in other words.
"""

import dataclasses

import pytest

from pytest_medfaith.checking.rules import RULE_NAMES
from pytest_medfaith.records import Chunk
from pytest_medfaith.testing import scripted_checker

pytestmark = pytest.mark.usefixtures("word_vectors")
SURE = dataclasses.replace(scripted_checker(lambda _evidence, _claim: "entail"), rules=frozenset(RULE_NAMES))

# evidence, a claim against it, a claim that says it
WAYS = [
    (
        "Swallow the rifampicin capsules with food to spare the stomach.",
        "Swallow the rifampicin capsules on an empty stomach.",
        "Swallow the rifampicin capsules with a meal.",
    ),
    (
        "Take bisacodyl at bedtime with a glass of water.",
        "Take bisacodyl in the morning with a glass of water.",
        "Take bisacodyl every night with a glass of water.",
    ),
    (
        "Withdraw gabapentin gradually over at least one week.",
        "Gabapentin can be stopped abruptly.",
        "Gabapentin is stopped slowly, over a week or more.",
    ),
    (
        "Keep the patient lying flat for four hours after the lumbar puncture.",
        "After the lumbar puncture the patient sits upright.",
        "After the lumbar puncture the patient stays flat on the back.",
    ),
    (
        "Start aciclovir at once when encephalitis is suspected; do not wait for the scan.",
        "There is no hurry to start aciclovir when encephalitis is suspected.",
        "Aciclovir is begun immediately when encephalitis is suspected.",
    ),
    (
        "A negative swab alone is not enough to exclude scabies.",
        "A negative swab on its own is enough to exclude scabies.",
        "A negative swab by itself is not enough to exclude scabies.",
    ),
]
JUNCTIONS = [
    (
        "Admit if the creatinine is raised and to above 200 with both ankles swollen.",
        "Admit if the creatinine is above 200 or an ankle is swollen; one of the two suffices.",
        "Admit if the creatinine is raised to above 200 and both ankles are swollen.",
    ),
    (
        "For tinea of the foot use either terbinafine cream or clotrimazole cream.",
        "For tinea of the foot use terbinafine cream and clotrimazole cream together.",
        "For tinea of the foot use terbinafine cream or clotrimazole cream.",
    ),
]
SINGLES = [
    (
        "Offer prophylaxis to children with three or more urinary infections in a year.",
        "Offer prophylaxis to children with a single urinary infection.",
        "Offer prophylaxis to children with at least three urinary infections in a year.",
    ),
    (
        "Hypertension is confirmed by two raised readings on separate days.",
        "One raised reading is enough to confirm hypertension.",
        "Two raised readings on separate days are needed to confirm hypertension.",
    ),
]
DENIALS = [
    (
        "Do not bathe a newborn baby with measles; sponge the skin instead.",
        "Bathing a newborn baby is fine.",
        "A newborn baby is not bathed.",
    ),
    (
        "Ticagrelor must not be combined with clarithromycin.",
        "Ticagrelor is combined with clarithromycin.",
        "Ticagrelor is never combined with clarithromycin.",
    ),
]
AMOUNT_PAIRS = [
    (
        "Give prednisolone 30 mg daily for 5 days, then 20 mg on alternate days for 10 days.",
        "Then comes 20 mg once daily.",
        "Then comes 20 mg every other day.",
    ),
    (
        "Run in glucose 50 % 50 mL or glucose 20 % 125 mL over 15 minutes.",
        "Run in 125 mL of 50% glucose or 50 mL of 20%.",
        "Run in 50 mL of 50% glucose or 125 mL of 20%.",
    ),
    (
        "Econazole 1 % cream twice daily for 14 days, or terbinafine 2 % cream once daily for 7 days.",
        "Use the 2% cream once daily for 14 days.",
        "Use the 2% cream once daily for 7 days.",
    ),
    (
        "Measure the eye pressure every 2 months at first and every 6 months for 3 years after surgery.",
        "After surgery the pressure is measured monthly for 3 years.",
        "After surgery the pressure is measured every half year for 3 years.",
    ),
]
EVERY = [*WAYS, *JUNCTIONS, *SINGLES, *DENIALS, *AMOUNT_PAIRS]


def verdict(claim, evidence):
    return SURE(claim, [Chunk(id="c", text=evidence)])


@pytest.mark.parametrize(("evidence", "against", "_same"), EVERY)
def test_the_opposite_instruction_is_not_supported(evidence, against, _same):
    found = verdict(against, evidence)
    assert found.label in ("unsupported", "refuted")
    assert found.findings


@pytest.mark.parametrize(("evidence", "_against", "same"), EVERY)
def test_the_same_instruction_in_other_words_stays_supported(evidence, _against, same):
    found = verdict(same, evidence)
    assert (found.label, found.findings) == ("supported", ())


@pytest.mark.parametrize(
    ("evidence", "claim"),
    [
        ("Take it one hour before or two hours after a meal.", "Take it two hours after a meal."),
        (
            "Take it one hour before a meal or two hours after.",
            "Take it an hour ahead of a meal or two hours after.",
        ),
        ("Surgery goes ahead at once, without waiting for a scan.", "Surgery does not wait for a scan."),
        ("Taper the dose slowly; in toxicity stop it at once.", "In toxicity the drug is stopped at once."),
        ("Give 1 g three times a day.", "Give a total of 3 g daily."),
        ("The dose is 500 mg to 1 g, three times a day for 5 to 7 days.", "Take 500 mg for 5 days."),
        ("Two doctors have to sign, in an emergency one doctor.", "In an emergency a single doctor signs."),
        (
            "Rule it out with either a scan or a blood test.",
            "A scan together with a second scan is not asked for.",
        ),
    ],
)
def test_what_only_looks_like_an_opposite_stays_supported(evidence, claim):
    assert verdict(claim, evidence).label == "supported"


@pytest.mark.parametrize(
    ("evidence", "claim"),
    [
        ("The usual dose is 25 mg about 1 hour before sex.", "The dose is 25 mg an hour or so ahead of sex."),
        ("Start with 50 mg up to three times daily.", "Begin with 50 mg two or three times daily."),
        ("Antipyretics do not help.", "Paracetamol-type medicines are of no help."),
        ("It holds zinc 25 mg and lutein 6 mg.", "It holds 25 mg of zinc and 6 mg of lutein."),
        ("Eat at most four portions of 50 g.", "At most 200 g (four 50 g portions) are eaten."),
        ("If you skip a meal, leave out that tablet.", "Take one with each meal; no meal, no tablet."),
    ],
)
def test_amounts_and_names_in_the_words_of_an_assistant_are_found(evidence, claim):
    assert verdict(claim, evidence).label == "supported"


def test_a_phrase_with_a_contracted_verb_is_no_fragment():
    claim = "Beyond that you're still welcome."
    assert verdict(claim, "You can ask for a place if you are 70 or over.").findings == ()
