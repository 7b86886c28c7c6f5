import pytest

from pytest_medfaith.checking.rules.population import population

CLASHES = [
    (
        "The vaccine halved hospital stays in children.",
        "The vaccine halved hospital stays in adults.",
        ("children"),
        "adults",
    ),
    (
        "Topiramate lowers headache days in adults.",
        "Topiramate lowers headache days in adolescents.",
        "adults",
        "adolescents",
    ),
    (
        "Dexamethasone shortens croup in older adults.",
        "Dexamethasone shortens croup in infants.",
        ("older adults"),
        "infants",
    ),
    (
        "Iron tablets are advised daily for men with fatigue.",
        ("Iron tablets are advised daily for women with fatigue."),
        "men",
        "women",
    ),
    (
        "Calcium lowers blood pressure in women at risk.",
        "Calcium lowers blood pressure in men at risk.",
        ("women"),
        "men",
    ),
    (
        "Aromatase inhibitors work alone in premenopausal patients.",
        ("Aromatase inhibitors work alone in postmenopausal patients."),
        ("premenopausal"),
        ("postmenopausal"),
    ),
    (
        "Screening by CT lowered deaths in nonsmokers.",
        "Screening by CT lowered deaths in smokers.",
        ("nonsmokers"),
        ("smokers"),
    ),
    (
        "Fasting lengthens the life of patients by a tenth.",
        "Fasting lengthens the life of mice by a tenth.",
        "patients",
        "mice",
    ),
    (
        "The gene protects people from cerebral malaria.",
        ("Loss of the gene protects mice from cerebral malaria."),
        "people",
        "mice",
    ),
    (
        "Doxycycline is used for acne in pregnant patients.",
        ("Doxycycline is used for acne in nonpregnant patients."),
        "pregnant",
        "nonpregnant",
    ),
    (
        "Ibuprofen is safe during pregnancy.",
        "Ibuprofen is safe outside pregnancy.",
        "pregnancy",
        ("outside pregnancy"),
    ),
    (
        "Hormones help hot flushes in premenopausal women.",
        "Hormones help hot flushes in postmenopausal women.",
        "premenopausal",
        "postmenopausal",
    ),
    (
        "Aspirin is advised to pregnant women at risk.",
        "Aspirin is advised to non-pregnant women at risk.",
        ("pregnant women"),
        "non-pregnant women",
    ),
    ("Boys need two doses of the vaccine.", "Girls need two doses of the vaccine.", "Boys", "Girls"),
    (
        "The scan is offered yearly to former smokers.",
        "The scan is offered yearly to nonsmokers.",
        ("former smokers"),
        "nonsmokers",
    ),
    (
        "Give no aspirin to adults with flu.",
        "Some adults need a scan. Give no aspirin to children with flu.",
        "adults",
        "children",
    ),
    (
        "Adults with apnea are graded by events per hour.",
        "Children with apnea are graded by events per hour.",
        "Adults",
        "Children",
    ),
]

AGREEING = [
    ("The vaccine halved hospital stays in children.", "The vaccine halved hospital stays in infants."),
    ("The vaccine halved hospital stays in infants.", "The vaccine halved hospital stays in children."),
    ("The vaccine halved hospital stays.", "The vaccine halved hospital stays in adults."),
    (
        "The vaccine halved hospital stays in adults.",
        "The vaccine halved hospital stays in children and adults.",
    ),
    ("The vaccine halved hospital stays in women.", "The vaccine halved hospital stays in adults."),
    (
        "Men have no benefit from the narrow needle.",
        "The benefit from the narrow needle was confined to women.",
    ),
    ("Older adults fall more often at night.", "Elderly people fall more often at night."),
    ("Pregnant women need more iron.", "Iron needs rise during pregnancy in women."),
    (
        "For a man of 40, the clinic favours doxycycline.",
        "Unless the patient is pregnant, the clinic favours doxycycline.",
    ),
    ("The drug is safe for postpartum women.", "The drug is safe for nonpregnant women."),
    ("The drug is safe for premenopausal women.", "The drug is safe for pregnant women."),
    (
        "Children with asthma use a spacer.",
        "Adults should wash the inhaler. Children with asthma use a spacer.",
    ),
    (
        "Give no aspirin to adults with flu.",
        "Give no aspirin to children with flu. Nor do adults with flu get any aspirin.",
    ),
    ("Babies sleep on the back.", "Newborns are put to sleep on the back."),
    ("People with gout avoid beer.", "Adults with gout avoid beer."),
    ("Adults drink two litres of water.", "Infants are weighed every week."),
]


@pytest.mark.parametrize(("claim", "evidence", "mine", "theirs"), CLASHES)
def test_a_clash_names_the_two_populations(claim, evidence, mine, theirs):
    (finding,) = population(claim, evidence)
    assert (claim[slice(*finding.claim_span)], evidence[slice(*finding.evidence_span)]) == (mine, theirs)
    assert (finding.rule, finding.effect) == ("population", "weaken")


@pytest.mark.parametrize(("claim", "evidence"), AGREEING)
def test_no_clash(claim, evidence):
    assert population(claim, evidence) == []
