import pytest

from pytest_medfaith.checking.rules.substitution import substitution
from pytest_medfaith.entities.linker import Mention

CLASHES = [
    (
        "Glipizide lowers the amount of glucose the liver makes.",
        ("Metformin lowers the amount of glucose the liver makes."),
        "Glipizide",
        "Metformin",
        ("weaken"),
    ),
    (
        "Propranolol is the first-choice drug for cluster headache.",
        ("Verapamil is the first-choice drug for cluster headache."),
        "Propranolol",
        ("Verapamil"),
        "refute",
    ),
    (
        "Newborns are offered vitamin D to prevent bleeding.",
        ("Newborns are offered vitamin K to prevent bleeding."),
        "vitamin D",
        "vitamin K",
        "weaken",
    ),
    (
        "Warfarin should be stopped before surgery in this group.",
        ("Clopidogrel should be stopped before surgery in this group."),
        "Warfarin",
        ("Clopidogrel"),
        "weaken",
    ),
    (
        "Beta-blockers slow the progression of kidney disease.",
        ("ACE inhibitors slow the progression of kidney disease."),
        "Beta-blockers",
        "ACE inhibitors",
        "weaken",
    ),
    (
        "Smoking is the main cause of asthma in adults.",
        "Smoking is the main cause of COPD in adults.",
        ("asthma"),
        "COPD",
        "refute",
    ),
    (
        "Tamoxifen raises the risk of cervical cancer slightly.",
        ("Tamoxifen raises the risk of endometrial cancer slightly."),
        "cervical cancer",
        ("endometrial cancer"),
        "weaken",
    ),
    (
        "Carriers of BRCA2 have the higher risk of this tumour.",
        ("Carriers of BRCA1 have the higher risk of this tumour."),
        "BRCA2",
        "BRCA1",
        "weaken",
    ),
    (
        "Testing for celiac disease relies on IgE antibodies.",
        ("Testing for celiac disease relies on IgA antibodies."),
        "IgE",
        "IgA",
        "weaken",
    ),
    (
        "Tumours with a KRAS mutation respond to this drug.",
        ("Tumours with a BRAF mutation respond to this drug."),
        "KRAS",
        "BRAF",
        "weaken",
    ),
    (
        "Plasmodium vivax sleeps in the spleen between attacks.",
        ("Plasmodium vivax sleeps in the liver between attacks."),
        "spleen",
        "liver",
        "weaken",
    ),
    (
        "Whooping cough is an illness caused by a virus.",
        "Whooping cough is an illness caused by bacteria.",
        "virus",
        "bacteria",
        "weaken",
    ),
    (
        "The antibiotic is given orally before the procedure.",
        ("The antibiotic is given intravenously before the procedure."),
        "orally",
        "intravenously",
        ("weaken"),
    ),
]

AGREEING = [
    (
        "Biguanides lower the amount of glucose the liver makes.",
        ("Metformin lowers the amount of glucose the liver makes."),
    ),
    (
        "Metformin lowers the amount of glucose the liver makes.",
        ("Biguanides lower the amount of glucose the liver makes."),
    ),
    (
        "Tylenol relieves pain within an hour of a dose.",
        ("Acetaminophen relieves pain within an hour of a dose."),
    ),
    ("High blood pressure is found in one in three adults.", "Hypertension is found in one in three adults."),
    (
        "Letrozole gave more live births than clomiphene.",
        ("More live births were seen with letrozole than with clomiphene."),
    ),
    (
        "Fluoxetine and paroxetine inhibit the enzyme strongly.",
        ("Paroxetine and fluoxetine inhibit the enzyme strongly."),
    ),
    ("Atrial fibrillation raises the risk of stroke.", "AFib raises the risk of stroke."),
    (
        "Obesity and smoking make arrhythmia more likely.",
        ("Being overweight and smoking make arrhythmia more likely."),
    ),
    ("The drug protects the retina of the patient.", "The drug protects the eye of the patient."),
    (
        "Lisinopril is taken once a day in the morning.",
        ("Aspirin prevents clots. Lisinopril is taken once a day in the morning."),
    ),
    ("Insulin is stored in the refrigerator.", "Statins are taken in the evening with water."),
    (
        "Women with PCOS ovulate less often.",
        "Women with polycystic ovary syndrome (PCOS) ovulate less often.",
    ),
]


@pytest.mark.parametrize(("claim", "evidence", "mine", "theirs", "effect"), CLASHES)
def test_a_clash_names_the_two_entities(claim, evidence, mine, theirs, effect):
    (finding,) = substitution(claim, evidence)
    assert (claim[slice(*finding.claim_span)], evidence[slice(*finding.evidence_span)]) == (mine, theirs)
    assert (finding.rule, finding.effect, finding.message) == (
        "substitution",
        effect,
        f"claim says {mine}, evidence says {theirs}",
    )


@pytest.mark.parametrize(("claim", "evidence"), AGREEING)
def test_no_clash(claim, evidence):
    assert substitution(claim, evidence) == []


@pytest.mark.parametrize("text", [text for claim, evidence, *_ in CLASHES for text in (claim, evidence)])
def test_a_text_never_clashes_with_itself(text):
    assert substitution(text, text) == []


def test_another_linker_may_find_the_entities():
    def linker(text):
        start = text.find("zol")
        return [Mention(text[start : start + 5], "drug", start, start + 5)] if start >= 0 else []

    claim, evidence = "Take zolab with food each evening.", "Take zolix with food each evening."
    assert substitution(claim, evidence) == []
    assert [finding.message for finding in substitution(claim, evidence, linker=linker)] == [
        "claim says zolab, evidence says zolix"
    ]
