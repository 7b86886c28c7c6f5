import pytest

from pytest_medfaith.checking.rules.negation import negation

CLASHES = [
    ("Warfarin is recommended in pregnancy.", "Warfarin is not recommended in pregnancy.", "recommended", "not recommended"),
    ("Metformin does not cause weight gain in adults.", "Metformin causes weight gain in adults.", "not cause", "causes"),
    ("Antibiotics shorten a viral sore throat.", "Antibiotics do not shorten a viral sore throat.", "shorten", "not shorten"),
    ("Aspirin should not be stopped before dental surgery.", "Aspirin should be stopped before dental surgery.", "not be stopped", "stopped"),
    ("Statins never harm the muscles of healthy adults.", "Statins harm the muscles of healthy adults.", "never harm", "harm"),
    ("The copper coil has no effect on breast milk.", "The copper coil has an effect on breast milk.", "no effect", "effect"),
    ("Colchicine can be used in severe kidney failure.", "Colchicine is contraindicated in severe kidney failure.", "used", "contraindicated"),
    ("Live vaccines should be avoided in pregnancy.", "Live vaccines should be given in pregnancy.", "avoided", "given"),
    ("Grapefruit is safe with simvastatin tablets.", "Grapefruit is unsafe with simvastatin tablets.", "safe", "unsafe"),
    ("Levodopa didn't improve tremor in the trial.", "Levodopa improved tremor in the trial.", "didn't improve", "improved"),
    ("Measles vaccine is linked to autism in children.", "Measles vaccine is not linked to autism in children.", "linked", "not linked"),
    ("Insulin cannot be frozen before use at home.", "Insulin can be frozen before use at home.", None, None),
    ("Oxygen is prescribed for breathlessness with normal saturation.", "Oxygen is not prescribed for breathlessness with normal saturation.", "prescribed", "not prescribed"),
    ("Hormone patches were tested in women without a uterus.", "Hormone patches were tested in women with a uterus.", "without a", "with"),
    (  # numbers spelled on one side
        "Adults do not receive prednisone 40 to 50 mg once a day for 5 to 7 days, without tapering.",
        "Adults receive prednisone 40 to 50 mg once daily for five to seven days, without tapering.",
        "not receive",
        "receive",
    ),
]  # fmt: skip

AGREEING = [
    ("Warfarin is not recommended in pregnancy.", "Warfarin should not be used in pregnancy."),
    ("Warfarin is avoided in pregnancy.", "Warfarin is contraindicated in pregnancy."),
    ("In pregnancy, warfarin is avoided because it may harm the fetus.", "Warfarin is avoided in pregnancy because it may harm the fetus."),
    ("Most cuts have healed by the next visit.", "Any cut that has not healed by the next visit needs a doctor."),
    ("An unhealed cut is treated with silver dressings.", "A cut that has not healed is treated with silver dressings."),
    ("Take no more than two tablets a day.", "Take two tablets a day at most."),
    ("The drug not only lowers pain but shortens the stay.", "The drug lowers pain and shortens the stay."),
    ("The certificate is not yet valid 5 days after the vaccine.", "The certificate is valid 10 days after the vaccine."),
    ("Some tumours are not resistant to the drug.", "Tumours were often, but not always, resistant to the drug."),
    ("Depression was more common with the supplement.", "In adults without depression, the supplement made depression more common."),
    ("Penicillin does not prevent nephritis.", "Penicillin prevents rheumatic fever. It does not prevent nephritis."),
    ("Take the tablet with orange juice.", "Take the tablet with orange juice, not with tea."),
    ("Lithium lowers the risk of suicide.", "Metformin is not used in type 1 diabetes."),
    ("Vaccination was not associated with microcephaly.", "Vaccination was unrelated to microcephaly."),
]  # fmt: skip


@pytest.mark.parametrize(("claim", "evidence", "mine", "theirs"), CLASHES)
def test_a_clash_names_the_two_spans(claim, evidence, mine, theirs):
    (finding,) = negation(claim, evidence)
    assert (finding.rule, finding.effect) == ("negation", "refute")
    if mine is not None:
        assert (claim[slice(*finding.claim_span)], evidence[slice(*finding.evidence_span)]) == (mine, theirs)


@pytest.mark.parametrize(("claim", "evidence"), AGREEING)
def test_no_clash(claim, evidence):
    assert negation(claim, evidence) == []


@pytest.mark.parametrize("text", [text for claim, evidence, _, _ in CLASHES for text in (claim, evidence)])
def test_a_text_never_clashes_with_itself(text):
    assert negation(text, text) == []
