import pytest

from pytest_medfaith.checking.rules.direction import direction
from pytest_medfaith.english.opposites import directions, opposed

CLASHES = [
    (
        "Metformin raises insulin levels in women with PCOS.",
        ("Metformin lowers insulin levels in women with PCOS."),
        "raises",
        "lowers",
    ),
    (
        "Statins increase the risk of stroke in adults.",
        "Statins reduce the risk of stroke in adults.",
        ("increase"),
        "reduce",
    ),
    (
        "Survival was shorter with the vaccine than without it.",
        ("Survival was longer with the vaccine than without it."),
        "shorter",
        "longer",
    ),
    (
        "Letrozole is the last-line drug for ovulation induction.",
        ("Letrozole is the first-line drug for ovulation induction."),
        "last-line",
        ("first-line"),
    ),
    (
        "Letrozole is the drug of last resort for ovulation induction.",
        ("Letrozole is the first-line drug for ovulation induction."),
        "last resort",
        "first-line",
    ),
    (
        "Over time the disease can strengthen the heart.",
        "Over time the disease can weaken the heart.",
        ("strengthen"),
        "weaken",
    ),
    (
        "Give the antibiotic after the skin incision.",
        "Give the antibiotic before the skin incision.",
        "after",
        "before",
    ),
    (
        "Spironolactone can cause hypokalemia in the elderly.",
        ("Spironolactone can cause hyperkalemia in the elderly."),
        "hypokalemia",
        "hyperkalemia",
    ),
    (
        "Beta-blockers cause tachycardia at high doses.",
        "Beta-blockers cause bradycardia at high doses.",
        ("tachycardia"),
        "bradycardia",
    ),
    (
        "Exercise worsens symptoms of mild depression.",
        "Exercise improves symptoms of mild depression.",
        ("worsens"),
        "improves",
    ),
    (
        "The vaccine causes cervical cancer in most women.",
        ("The vaccine prevents cervical cancer in most women."),
        "causes",
        "prevents",
    ),
    (
        "Clarithromycin stimulates the enzyme CYP3A4.",
        "Clarithromycin inhibits the enzyme CYP3A4.",
        ("stimulates"),
        ("inhibits"),
    ),
    (
        "Adults aged 65 or younger are offered the vaccine.",
        "Adults aged 65 or older are offered the vaccine.",
        "younger",
        "older",
    ),
    (
        "Low-dose heparin is given during the operation.",
        "High-dose heparin is given during the operation.",
        "Low-dose",
        "High-dose",
    ),
    ("Girls are affected more often than boys.", "Boys are affected more often than girls.", "more", "more"),
    (
        "Apixaban caused more bleeding than warfarin.",
        "Warfarin caused more bleeding than apixaban.",
        "more",
        "more",
    ),
    (
        "Hydrocortisone lengthened the stay in intensive care.",
        ("Patients on hydrocortisone had a shorter stay in intensive care."),
        "lengthened",
        "shorter",
    ),
    (
        "Medication should be continued after the ejection fraction has improved, to promote relapse.",
        "Medication should be continued after the ejection fraction has improved, to prevent relapse.",
        "promote",
        "prevent",
    ),
    (
        "In adipose tissue it releases free fatty acids that improve insulin signaling further.",
        "In adipose tissue it releases free fatty acids that impair insulin signaling further.",
        "improve",
        "impair",
    ),
    (
        "Statins decreased mortality in heart failure.",
        "Statins increased mortality in heart failure.",
        ("decreased"),
        "increased",
    ),
    (
        "Patients with sepsis were more likely to die.",
        "Patients with sepsis were less likely to die.",
        "more",
        "less",
    ),
    ("Orlistat promotes fat absorption.", "Orlistat inhibits fat absorption.", "promotes", "inhibits"),
    (
        "Quitting smoking raises the risk of heart disease.",
        ("Quitting smoking lowers the risk of heart disease."),
        "raises",
        "lowers",
    ),
    (
        "Survival was shorter with the vaccine.",
        "Survival was longer with the vaccine than with placebo.",
        ("shorter"),
        "longer",
    ),
    (
        "The drug increased deaths by more than 10% in adults.",
        "The drug reduced deaths in adults.",
        ("increased"),
        ("reduced"),
    ),
    (
        "The hair loss caused by chemotherapy is not permanent.",
        ("The hair loss caused by chemotherapy is not temporary."),
        "permanent",
        "temporary",
    ),
    (
        "Propranolol increased the risk of bleeding.",
        ("Propranolol lowered the risk of bleeding but had no effect on varices."),
        "increased",
        "lowered",
    ),
    (
        "Losing 5 percent of body weight makes periods less regular in women with PCOS.",
        "In women with PCOS, losing 5% of body weight makes periods more regular.",
        "less",
        "more",
    ),
    (
        "Men store up to 1 g of iron, women rarely under 400 mg.",
        ("Men store up to 1 g of iron, women often less than 400 mg."),
        "rarely",
        "often",
    ),
]

AGREEING = [
    (
        "Metformin reduces insulin levels in women with PCOS.",
        ("Metformin lowers insulin levels in women with PCOS."),
    ),
    ("Boys are affected less often than girls.", "Girls are affected more often than boys."),
    ("Warfarin caused more bleeding than apixaban.", "Apixaban caused less bleeding than warfarin."),
    ("Statins did not increase the risk of stroke.", "Statins reduced the risk of stroke."),
    (
        "Adults aged 65 or more are offered the vaccine.",
        ("Adults aged 65 or older are offered the vaccine, and fewer fall ill."),
    ),
    (
        "The drug raises HDL cholesterol in adults.",
        ("The drug raises HDL cholesterol and lowers LDL cholesterol in adults."),
    ),
    (
        "Surgery is a second-line treatment for reflux.",
        ("Surgery for reflux is an option when first-line treatment fails."),
    ),
    (
        "Clomiphene is a second-line drug.",
        ("Letrozole is the first-line drug for ovulation induction; clomiphene is second-line."),
    ),
    ("The dose is halved in kidney failure.", "Halve the dose in kidney failure."),
    ("Stopping the steroid increased relapse.", "The steroid decreased relapse."),
    ("High blood pressure is common in gout.", "Gout is common in people with high blood pressure."),
    (
        "Aspirin more than halved the risk of preeclampsia.",
        "Aspirin lowered the risk of preeclampsia by 62%.",
    ),
    (
        "Fewer fractures occurred on the drug than on placebo.",
        ("The drug lowered the number of fractures against placebo."),
    ),
    ("Sleep is longer after exercise.", "Insulin is given before meals."),
]

# Opposite words of opposite things, or with a negation: neither side reverses the other.
SAME = [
    (
        "Liver damage is rare with short-term use of paracetamol.",
        ("Liver damage is not common with short-term use of paracetamol."),
    ),
    (
        "The hair loss caused by chemotherapy is temporary.",
        ("The hair loss caused by chemotherapy is not permanent."),
    ),
    (
        "Women with asthma should continue their inhaled steroids.",
        ("Women with asthma should not stop their inhaled steroids."),
    ),
    ("Statins decreased mortality in heart failure.", "Statins increased survival in heart failure."),
    (
        "Statins decreased mortality in older adults with heart failure after discharge.",
        ("Statins increased survival in older adults with heart failure after discharge."),
    ),
    (
        "Mortality in heart failure was lower with statins.",
        ("Survival in heart failure was higher with statins."),
    ),
    ("Patients with sepsis were more likely to die.", "Patients with sepsis were less likely to survive."),
    ("Older adults had higher mortality after surgery.", "Older adults had lower survival after surgery."),
    (
        "Grapefruit juice increases blood levels of simvastatin.",
        ("Grapefruit juice decreases the clearance of simvastatin."),
    ),
    ("Orlistat promotes fat excretion.", "Orlistat inhibits fat absorption."),
    (
        "The drug raises the level of HDL in the blood of adults with diabetes.",
        ("The drug lowers the level of LDL in the blood of adults with diabetes."),
    ),
    ("Quitting smoking lowers the risk of heart disease.", "Smoking raises the risk of heart disease."),
    (
        "Smoking cessation reduces the risk of bladder cancer.",
        "Smoking increases the risk of bladder cancer.",
    ),
    (
        "Quitting smoking lowers the risk of heart disease, stroke and lung cancer in adults.",
        ("Smoking raises the risk of heart disease, stroke and lung cancer in adults."),
    ),
    (
        "Rifampicin lowers the anticoagulant effect of warfarin.",
        ("Amiodarone increases the anticoagulant effect of warfarin."),
    ),
    ("Deaths were lower with dexamethasone.", "Deaths were higher with placebo than with dexamethasone."),
    ("Fewer deaths occurred on dexamethasone.", "More deaths occurred on placebo than on dexamethasone."),
    ("Deaths were lower in the dexamethasone group.", "Deaths were higher in the placebo group."),
    ("Deaths with dexamethasone were lower.", "Deaths with placebo were higher."),
]


@pytest.mark.parametrize(("claim", "evidence", "mine", "theirs"), CLASHES)
def test_a_clash_names_the_two_words(claim, evidence, mine, theirs):
    (finding,) = direction(claim, evidence)
    assert (claim[slice(*finding.claim_span)], evidence[slice(*finding.evidence_span)]) == (mine, theirs)
    assert (finding.rule, finding.effect) == ("direction", "refute")


@pytest.mark.parametrize(("claim", "evidence"), AGREEING)
def test_no_clash(claim, evidence):
    assert direction(claim, evidence) == []


@pytest.mark.parametrize(("claim", "evidence"), [*SAME, *(pair[::-1] for pair in SAME)])
def test_opposite_words_of_opposite_things_are_no_clash(claim, evidence):
    assert direction(claim, evidence) == []


@pytest.mark.parametrize("text", [text for claim, evidence, _, _ in CLASHES for text in (claim, evidence)])
def test_a_text_never_clashes_with_itself(text):
    assert direction(text, text) == []


def test_a_reversed_comparison_says_so():
    (finding,) = direction(
        "Girls are affected more often than boys.", "Boys are affected more often than girls."
    )
    assert finding.message == "claim and evidence compare the other way round"


@pytest.mark.parametrize(
    ("word", "other", "anywhere", "in_copies"),
    [
        ("increases", "lowers", True, True),
        ("first", "last", False, True),
        ("hypernatremia", "hyponatremia", True, True),
        ("preoperative", "postoperative", True, True),
        ("increases", "raises", False, False),
        ("hyper", "hypo", False, False),
        ("kidney", "liver", False, False),
    ],
)
def test_opposed(word, other, anywhere, in_copies):
    assert (opposed(word, other), opposed(word, other, in_copies=True)) == (anywhere, in_copies)
    assert opposed(other, word) == anywhere


def test_a_word_may_point_in_more_than_one_way():
    assert directions("earlier").keys() == {"speed", "time"}
    assert directions("tablet") == {}
