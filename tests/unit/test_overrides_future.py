"""Dates that have not come: findings dated there are refuted, plans are not.

The clock here is in June 2026.
"""

from datetime import date

import pytest

from pytest_medfaith.checking.overrides.future import future_findings, latest_date

TODAY = date(2026, 6, 15)

FUTURE = [
    "A trial published in 2031 found fewer deaths.",
    "The 2040 guideline recommended it.",
    "A 2031 randomised trial found that aspirin may prevent cancer.",
    "According to a 2035 study, metformin cures diabetes.",
    "According to the 2035 ESC guideline, statins are first-line.",
    "In 2031, the FDA approved the drug for children.",
    "The FDA approved it in March 2031.",
    "The drug was approved by the EMA on 12 May 2030.",
    "Researchers showed in 2029 that zinc shortens colds.",
    "The vaccine was withdrawn in 2033.",
    "A 2034 meta-analysis of 12 trials showed no benefit.",
    "The 2045 WHO report names it an essential medicine.",
    "The guidelines of 2038 advise against it.",
    "The guideline from 2038 advises against it.",
    "Letrozole is superior (Smith et al., 2031).",
    "Letrozole is superior (Legro and Diamond, 2031).",
    "This was confirmed by Nissen et al. (2041).",
    "It lowers mortality (Lancet 2032; 405:12-20).",
    "A review published in the Lancet in 2032 found no benefit.",
    "As a 2030 Cochrane review concluded, it does not help.",
    "Since 2031 the drug has been banned in Europe.",
    "In 2052, deaths from stroke fell by a third.",
    "The trial was completed in 2044.",
    "The trial enrolled 4,000 adults in 2039.",
    "The label was updated in January 2030 to warn of lactic acidosis.",
    "A 2031 survey found that adults could not name their drugs.",
    "The 2031 trial reported that patients should take it at night.",
    "The 2028 KDIGO update recommended SGLT2 inhibitors for all.",
    "A cohort study from 2036 found a higher risk of fracture.",
    "The study, published in 2037, was large.",
    "The drug received approval in 2030.",
    "In late 2031 the outbreak began in Lagos.",
    "The 2027 trial found fewer strokes.",
    "It was discovered in 2099.",
    "Dapagliflozin was licensed for this use in 2032.",
    "The paper of 2031 was retracted.",
    "The 2033 consensus statement endorsed it.",
    "A study in 2041 demonstrated remission in 9 of 10 patients.",
    "The 2060 census counted 90 million people with dementia.",
    "A trial published in December 2026 found fewer deaths.",
    "On 20 November 2026 the FDA approved it.",
    "The 2031 trial that was planned to last a year found no harm.",
]

NOT_FUTURE = [
    "A trial published in 2026 found fewer deaths.",
    "A trial published in June 2026 found fewer deaths.",
    "On 3 June 2026 the FDA approved it.",
    "The 2026 guideline recommends metformin.",
    "A trial published in August 2026 found fewer deaths.",
    "The 2019 trial found fewer deaths.",
    "The guideline is due for review in 2029.",
    "The guideline will be reviewed in March 2029.",
    "Next review: 2029.",
    "Planned review date: June 2028.",
    "The guideline was published in 2021 and is scheduled for review in 2031.",
    "Published in 2024, the guideline will be updated in 2029.",
    "The guideline is to be reviewed in 2029.",
    "The 2029 review is due in spring.",
    "The next guideline, planned for 2028, will cover children.",
    "The trial is expected to report in 2028.",
    "The trial is ongoing and ends in 2030.",
    "The trial is recruiting adults until 2031.",
    "The estimated completion date of the trial is December 2030.",
    "A 2021 study estimated that 783 million adults would have diabetes in 2045.",
    "The study estimates 783 million adults with diabetes in 2045.",
    "By 2050 a third of adults will have it.",
    "By 2050, 153 million people are predicted to live with dementia, a 2022 study found.",
    "A 2022 study found that 153 million people could live with dementia in 2050.",
    "The WHO aims to end tuberculosis by 2035.",
    "The 2030 Agenda for Sustainable Development was adopted in 2015.",
    "The 2030 target is 90 % coverage.",
    "Prevalence was projected to double in 2040.",
    "The patent on the drug expires in 2031.",
    "The licence is valid until 2032.",
    "The report puts the cost at 1 trillion dollars in 2050.",
    "A 2020 analysis put the cost at 1 trillion dollars in 2050.",
    "The trial enrolled 2050 patients.",
    "The diet of 2030 kcal was tested.",
    "The survey reached 2100 households.",
    "The cohort was followed from 2019 to 2029.",
    "The strategy runs from 2024 through 2030.",
    "It was shown to lower blood pressure.",
    "Eliminating malaria in 35 countries by 2030 is a goal of the strategy that was endorsed in 2015.",
    "The vaccine is to be introduced in 2028.",
    "Results are to be published in 2029.",
    "The results should be published in 2029.",
    "The planned 2031 update is to cover children.",
    "The 2031 trial will recruit adults.",
    "The upcoming 2029 guideline may change this.",
    "The deadline for the report was set for 2030.",
    "A trial is planned in 2030.",
    "People born in the 2030s will live longer.",
]


def years(text, *, today=TODAY, published=0):
    return [found.year for found in future_findings(text, latest=latest_date(today, published=published))]


@pytest.mark.parametrize("claim", FUTURE)
def test_a_finding_of_a_time_that_has_not_come(claim):
    assert len(years(claim)) == 1


@pytest.mark.parametrize("claim", NOT_FUTURE)
def test_plans_and_dates_that_have_come(claim):
    assert years(claim) == []


def test_there_are_forty_of_each():
    assert min(len(FUTURE), len(NOT_FUTURE)) >= 40
