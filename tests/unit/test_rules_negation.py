import pytest

from pytest_medfaith.checking.rules.negation import negation

CLASHES = [
    (
        "Warfarin is recommended in pregnancy.",
        "Warfarin is not recommended in pregnancy.",
        "recommended",
        ("not recommended"),
    ),
    (
        "Metformin does not cause weight gain in adults.",
        "Metformin causes weight gain in adults.",
        "not cause",
        "causes",
    ),
    (
        "Antibiotics shorten a viral sore throat.",
        "Antibiotics do not shorten a viral sore throat.",
        "shorten",
        "not shorten",
    ),
    (
        "Aspirin should not be stopped before dental surgery.",
        ("Aspirin should be stopped before dental surgery."),
        "not be stopped",
        "stopped",
    ),
    (
        "Statins never harm the muscles of healthy adults.",
        "Statins harm the muscles of healthy adults.",
        ("never harm"),
        "harm",
    ),
    (
        "The copper coil has no effect on breast milk.",
        "The copper coil has an effect on breast milk.",
        ("no effect"),
        "effect",
    ),
    (
        "Colchicine can be used in severe kidney failure.",
        ("Colchicine is contraindicated in severe kidney failure."),
        "used",
        "contraindicated",
    ),
    (
        "Live vaccines should be avoided in pregnancy.",
        "Live vaccines should be given in pregnancy.",
        "avoided",
        "given",
    ),
    (
        "Grapefruit is safe with simvastatin tablets.",
        "Grapefruit is unsafe with simvastatin tablets.",
        "safe",
        "unsafe",
    ),
    (
        "Levodopa didn't improve tremor in the trial.",
        "Levodopa improved tremor in the trial.",
        ("didn't improve"),
        ("improved"),
    ),
    (
        "Measles vaccine is linked to autism in children.",
        ("Measles vaccine is not linked to autism in children."),
        "linked",
        "not linked",
    ),
    ("Insulin cannot be frozen before use at home.", "Insulin can be frozen before use at home.", None, None),
    (
        "Oxygen is prescribed for breathlessness with normal saturation.",
        ("Oxygen is not prescribed for breathlessness with normal saturation."),
        "prescribed",
        ("not prescribed"),
    ),
    (
        "Hormone patches were tested in women without a uterus.",
        ("Hormone patches were tested in women with a uterus."),
        "without a",
        "with",
    ),
    (  # numbers spelled on one side
        "Adults do not receive prednisone 40 to 50 mg once a day for 5 to 7 days, without tapering.",
        "Adults receive prednisone 40 to 50 mg once daily for five to seven days, without tapering.",
        "not receive",
        "receive",
    ),
    (
        "The USPSTF recommends against screening for thyroid cancer.",
        ("The USPSTF recommends screening for thyroid cancer."),
        "recommends against",
        "recommends",
    ),
    (
        "The USPSTF recommends screening for thyroid cancer.",
        ("The USPSTF recommends against screening for thyroid cancer."),
        "recommends",
        ("recommends against"),
    ),
    (
        "The USPSTF does not recommend against screening.",
        "The USPSTF recommends against screening.",
        ("not recommend"),
        ("recommends"),
    ),
    (
        "Experts advise parents against cough medicine.",
        "Experts advise parents on cough medicine.",
        ("advise parents against"),
        "advise",
    ),
    (
        "Trials did not find a benefit of zinc for the common cold in adults.",
        ("Trials found a benefit of zinc for the common cold in adults."),
        "not find",
        "found",
    ),
    (
        "Treatment with zinc led to shorter colds in adults.",
        ("Treatment with zinc did not lead to shorter colds in adults."),
        "led",
        "not lead",
    ),
    (
        "Five-year survival now exceeds 90% in high-income countries.",
        ("Five-year survival now does not exceed 90% in high-income countries."),
        ("exceeds"),
        ("not exceed"),
    ),
    (
        "Iloprost within 72 hours has no effect on the rate of amputation in severe frostbite.",
        ("Iloprost within 72 hours lowers the rate of amputation in severe frostbite."),
        "no effect",
        "lowers",
    ),
    (
        "There is strong evidence that vitamin C prevents colds.",
        ("There is no evidence that vitamin C prevents colds."),
        "strong",
        "no evidence",
    ),
    (
        "Basal cell carcinoma almost always spreads to other organs.",
        ("Basal cell carcinoma almost never spreads to other organs."),
        "always",
        ("never spreads"),
    ),
    (
        "Women with asthma should stop their inhaled steroids.",
        ("Women with asthma should not stop their inhaled steroids."),
        "stop",
        "not stop",
    ),
    (
        "Stays in hospital were not less frequent with triple therapy than with two drugs.",
        ("Stays in hospital were less frequent with triple therapy than with two drugs."),
        ("not less"),
        "less",
    ),
    (
        "Treatment generally does not start with talk therapy, and medicine may be added later.",
        ("Treatment usually begins with talk therapy, and medicine may be added later."),
        "not start",
        "begins",
    ),
    (
        "Glucosamine is recommended by guidelines for knee pain.",
        ("Glucosamine is not advised by guidelines for knee pain."),
        "recommended",
        ("not advised"),
    ),
]

AGREEING = [
    ("Warfarin is not recommended in pregnancy.", "Warfarin should not be used in pregnancy."),
    ("Warfarin is avoided in pregnancy.", "Warfarin is contraindicated in pregnancy."),
    (
        "In pregnancy, warfarin is avoided because it may harm the fetus.",
        ("Warfarin is avoided in pregnancy because it may harm the fetus."),
    ),
    (
        "The catheter is not changed unless it is blocked or infected.",
        "The catheter is changed only if it is blocked or infected.",
    ),
    ("Apixaban is swallowed with food.", "Apixaban is swallowed with or without food."),
    (
        "Men need a second test even when they have no symptoms.",
        "Men need a second test, no matter if they have symptoms.",
    ),
    (
        "Most cuts have healed by the next visit.",
        ("Any cut that has not healed by the next visit needs a doctor."),
    ),
    (
        "An unhealed cut is treated with silver dressings.",
        ("A cut that has not healed is treated with silver dressings."),
    ),
    ("Take no more than two tablets a day.", "Take two tablets a day at most."),
    ("The drug not only lowers pain but shortens the stay.", "The drug lowers pain and shortens the stay."),
    (
        "The certificate is not yet valid 5 days after the vaccine.",
        ("The certificate is valid 10 days after the vaccine."),
    ),
    (
        "Some tumours are not resistant to the drug.",
        ("Tumours were often, but not always, resistant to the drug."),
    ),
    (
        "Depression was more common with the supplement.",
        ("In adults without depression, the supplement made depression more common."),
    ),
    (
        "Penicillin does not prevent nephritis.",
        ("Penicillin prevents rheumatic fever. It does not prevent nephritis."),
    ),
    ("Take the tablet with orange juice.", "Take the tablet with orange juice, not with tea."),
    ("Lithium lowers the risk of suicide.", "Metformin is not used in type 1 diabetes."),
    ("Vaccination was not associated with microcephaly.", "Vaccination was unrelated to microcephaly."),
]

# Both sides say the same in different words: neither denies the other.
SAME = [
    (
        "The USPSTF recommends against screening for thyroid cancer in adults.",
        ("The USPSTF does not recommend screening for thyroid cancer in adults."),
    ),
    (
        "Experts advise against using cough medicine in young children.",
        ("Experts do not advise using cough medicine in young children."),
    ),
    (
        "The guideline strongly recommends against imaging for back pain.",
        ("The guideline does not recommend imaging for back pain."),
    ),
    (
        "Doctors warn patients against drinking alcohol with metronidazole.",
        ("Doctors warn patients not to drink alcohol with metronidazole."),
    ),
    (
        "Doctors warn against using ibuprofen in late pregnancy.",
        ("Doctors warn of using ibuprofen in late pregnancy."),
    ),
    (
        "There is not enough evidence to recommend screening for thyroid cancer.",
        ("There is insufficient evidence to recommend screening for thyroid cancer."),
    ),
    (
        "There is no strong evidence that zinc shortens colds.",
        ("There is limited evidence that zinc shortens colds."),
    ),
    (
        "There is a lack of evidence that vitamin C prevents colds.",
        ("There is no evidence that vitamin C prevents colds."),
    ),
    (
        "The exact cause of polycystic ovary syndrome is unclear.",
        ("The exact cause of polycystic ovary syndrome is not known."),
    ),
    (
        "The best dose in pregnancy has yet to be established.",
        ("The best dose in pregnancy has not been established."),
    ),
    (
        "All-cause mortality at 30 days was similar in the dexamethasone and usual-care groups.",
        ("All-cause mortality at 30 days did not differ between the dexamethasone and usual-care groups."),
    ),
    (
        "Refrain from drinking alcohol while taking metronidazole.",
        ("Do not drink alcohol while taking metronidazole."),
    ),
    (
        "Pregnant women with asthma should keep using their inhaled steroids.",
        ("Pregnant women with asthma should not stop using their inhaled steroids."),
    ),
    (
        "Vitamin D supplements have little effect on the risk of falls in healthy older adults at home.",
        (
            "Vita"
            "m"
            "in D "
            "suppl"
            "ement"
            "s do "
            "not "
            "have "
            "much "
            "effec"
            "t on "
            "the "
            "risk "
            "of "
            "falls"
            " in "
            "healt"
            "hy "
            "older"
            " adul"
            "ts "
            "at "
            "home."
        ),
    ),
    (
        "Liver damage is rare with short-term use of paracetamol.",
        ("Liver damage is not common with short-term use of paracetamol."),
    ),
    (
        "The vaccine cannot cause influenza in adults.",
        ("It is impossible for the vaccine to cause influenza in adults."),
    ),
    ("Avoiding salt lowers blood pressure in most adults.", "Salt raises blood pressure in most adults."),
]


@pytest.mark.parametrize(("claim", "evidence", "mine", "theirs"), CLASHES)
def test_a_clash_names_the_two_spans(claim, evidence, mine, theirs):
    (finding,) = negation(claim, evidence)
    assert (finding.rule, finding.effect) == ("negation", "refute")
    if mine is not None:
        assert (claim[slice(*finding.claim_span)], evidence[slice(*finding.evidence_span)]) == (mine, theirs)


@pytest.mark.parametrize(("claim", "evidence"), AGREEING)
def test_no_clash(claim, evidence):
    assert negation(claim, evidence) == []


@pytest.mark.parametrize(("claim", "evidence"), [*SAME, *(pair[::-1] for pair in SAME)])
def test_a_denial_in_other_words_is_no_clash(claim, evidence):
    assert negation(claim, evidence) == []


@pytest.mark.parametrize("text", [text for claim, evidence, _, _ in CLASHES for text in (claim, evidence)])
def test_a_text_never_clashes_with_itself(text):
    assert negation(text, text) == []
