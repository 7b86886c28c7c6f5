import pytest

from pytest_medfaith.checking.rules.certainty import certainty

CLASHES = [
    ("Zinc lozenges always shorten a cold.", "Zinc lozenges may shorten a cold.", "always", "may"),
    (
        "Vinegar is proven to lower fasting glucose.",
        "Vinegar might lower fasting glucose.",
        "proven",
        "might",
    ),
    ("The diet cures migraine in adults.", "The diet can ease migraine in adults.", "cures", "can"),
    (
        "It is well established that nuts prevent stroke.",
        ("Observational data suggest that nuts prevent stroke."),
        "well established",
        "suggest",
    ),
    (
        "The pill guarantees regular periods.",
        "The pill usually gives regular periods.",
        "guarantees",
        ("usually"),
    ),
    (
        "Antibiotics are definitely needed for mild diverticulitis.",
        ("Antibiotics are sometimes needed for mild diverticulitis."),
        "definitely",
        ("sometimes"),
    ),
    (
        "Everyone with the rash recovers fully.",
        "Most people with the rash recover fully.",
        "Everyone",
        "Most",
    ),
    (
        "All patients respond to prednisolone.",
        "Many patients respond to prednisolone.",
        "All patients",
        "Many",
    ),
    ("Gentamicin never damages the kidneys.", "Gentamicin can damage the kidneys.", "never", "can"),
    (
        "The trial proved that sweeteners cause diabetes.",
        ("Sweeteners possibly cause diabetes, the trial showed."),
        "proved",
        "possibly",
    ),
    ("Coffee completely prevents gout.", "Coffee is likely to prevent gout.", "completely", "likely"),
    (
        "Teenagers are known to lose bone on the injection.",
        ("It is unknown whether teenagers lose bone on the injection."),
        "are known to",
        "unknown",
    ),
    ("Zinc always shortens a cold.", "In some people, zinc shortens a cold.", "always", "some"),
    (
        "Zinc lozenges always shorten a cold.",
        "Zinc lozenges, in 1,500 adults, may shorten a cold.",
        "always",
        "may",
    ),
    ("Zinc always helps.", "Zinc may help, but causes a rash.", "always", "may"),
    (
        "Ganglions never give rise to pain.",
        "Ganglions are harmless and may press on a nerve and cause pain.",
        "never",
        "may",
    ),
    ("Zinc is known to shorten a cold.", "Zinc lozenges may shorten a cold.", "is known to", "may"),
    (
        "Zinc is proven to shorten a cold.",
        ("Zinc shortened a cold, although this evidence was of low certainty."),
        "proven",
        "low certainty",
    ),
]

AGREEING = [
    ("Zinc lozenges may always help.", "Zinc lozenges may help."),
    ("Zinc lozenges shorten a cold.", "Zinc lozenges may shorten a cold."),
    ("Zinc lozenges always shorten a cold.", "Zinc lozenges always shorten a cold, some doctors say."),
    ("Zinc lozenges always shorten a cold.", "Zinc lozenges shorten a cold."),
    ("It is not proven that zinc shortens a cold.", "Zinc may shorten a cold."),
    ("Nothing cures the common cold.", "Some say that zinc cures the common cold."),
    ("Surgery is the only cure for this tumour.", "Surgery may remove this tumour."),
    ("Nearly all patients respond to prednisolone.", "Most patients respond to prednisolone."),
    ("About half of children never have another seizure.", "Some children have another seizure."),
    ("Patients who had never taken the drug did well.", "Most patients who took the drug did well."),
    ("The vaccine always contains aluminium.", "Some people dislike needles."),
    ("Whether it always helps is unclear.", "It may help."),
    ("Antibiotics are always started in sepsis.", "Antibiotics are started in sepsis as soon as possible."),
    ("Smoking is known to cause lung cancer.", "Smoking causes lung cancer, and it can also harm the eyes."),
    ("Smoking is known to cause lung cancer.", "Smoking causes lung cancer in some people."),
    ("Smoking is proven to cause lung cancer.", "Smoking can harm the eyes, and it causes lung cancer."),
    (
        "Naloxone completely reverses opioid overdose.",
        "Naloxone fully reverses opioid overdose and can restore breathing.",
    ),
    (
        "Naloxone completely reverses opioid overdose.",
        "Naloxone reverses opioid overdose and can restore breathing.",
    ),
    ("Naloxone completely reverses opioid overdose.", "Naloxone can fully reverse opioid overdose."),
    ("HIV is never spread by hugging.", "HIV does not spread by hugging, but can be spread by blood."),
]


@pytest.mark.parametrize(("claim", "evidence", "mine", "theirs"), CLASHES)
def test_a_clash_names_the_certain_word_and_the_hedge(claim, evidence, mine, theirs):
    (finding,) = certainty(claim, evidence)
    assert (claim[slice(*finding.claim_span)], evidence[slice(*finding.evidence_span)]) == (mine, theirs)
    assert (finding.rule, finding.effect) == ("certainty", "weaken")


@pytest.mark.parametrize(("claim", "evidence"), AGREEING)
def test_no_clash(claim, evidence):
    assert certainty(claim, evidence) == []
