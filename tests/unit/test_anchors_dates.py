import pytest

from pytest_medfaith.checking.anchors.dates import missing_dates
from pytest_medfaith.checking.anchors.evidence import Evidence

EVIDENCE = (
    "DAPA-CKD (NCT03036150) randomized 4,304 adults with kidney disease between 2017 and 2018. "
    "The 2023 guideline cites it."
)


def dates(claim, evidence):
    return [missing.finding(claim, evidence) for missing in missing_dates(claim, Evidence((), evidence))]


UNKNOWN = [
    ("A 2019 trial found fewer deaths.", "2019", "weaken"),
    ("The 2021 guideline recommends it.", "2021", "weaken"),
    ("In 1998 the drug was approved.", "1998", "weaken"),
    ("In 2020 deaths fell.", "2020", "weaken"),
    ("The 2019 outpatient registry found fewer deaths.", "2019", "weaken"),
    ("The 2019 measles cases were mild.", "2019", "weaken"),
    ("The adults joined between 2015 and 2018.", "2015", "weaken"),
    ("A trial published in 2031 found fewer deaths.", "2031", "weaken"),
    ("The 2040 guideline recommended it.", "2040", "weaken"),
    ("By 2050 a third of adults will have it.", "2050", "weaken"),
    ("Drug use rose in the 1990s.", "1990", "weaken"),
    ("The EMPA-KIDNEY trial found fewer deaths.", "EMPA-KIDNEY", "weaken"),
    ("CREDENCE trial data show fewer deaths.", "CREDENCE", "weaken"),
    ("In the trial FIDELIO deaths fell.", "FIDELIO", "weaken"),
    ("EMPEROR-Preserved randomized adults with heart failure.", "EMPEROR-Preserved", "weaken"),
    ("The SCORED study found fewer deaths.", "SCORED", "weaken"),
    ("In DECLARE-TIMI, deaths fell.", "DECLARE-TIMI", "weaken"),
    ("Trial NCT01234567 found fewer deaths.", "NCT01234567", "weaken"),
    ("The NCT01234567 trial found fewer deaths.", "NCT01234567", "weaken"),
    ("The drug was tested in ISRCTN12345678.", "ISRCTN12345678", "weaken"),
]

KNOWN = [
    "The 2023 guideline cites the trial.",
    "The adults joined in 2017.",
    "DAPA-CKD randomized adults with kidney disease.",
    "The dapa-ckd trial was large.",
    "The trial took in 2000 patients.",
    "Take 2000 mg a day.",
    "A 2000-calorie diet is enough.",
    "There were about 2000 deaths.",
    "There were 1900 confirmed cases.",
    "The trial enrolled 2000 infants.",
    "Hippocrates described it some 2000 years ago.",
    "Eat 1,900 to 2,100 kcal a day.",
    "COPD trials are rare.",
    "It is studied in 30 trials (as of July 31, 2020).",
    "As of 31 July 2020, it was not approved.",
    "In COVID-19, deaths fell.",
    "NCT 03036150 took in adults with kidney disease.",
    "MRI showed a dorsal signal.",
    "The AKD trial found fewer deaths.",
    "Deaths fell in the trial.",
]


@pytest.mark.parametrize(("claim", "words", "effect"), UNKNOWN)
def test_unknown_to_the_evidence(claim, words, effect):
    (finding,) = dates(claim, EVIDENCE)
    assert (claim[slice(*finding.claim_span)], finding.effect, finding.evidence_span) == (words, effect, None)
    assert finding.rule == "grounding"


@pytest.mark.parametrize("claim", KNOWN)
def test_known_or_no_date_at_all(claim):
    assert dates(claim, EVIDENCE) == []


def test_a_year_within_a_span_or_decade_of_the_evidence_is_known():
    assert dates("It ran in 2012.", "It ran from 2010 to 2014.") == []
    assert dates("It ran in 2012.", "It ran from 2010-14.") == []
    assert dates("It ran in 1994.", "It ran in the 1990s.") == []
    assert dates("It ran in 2019.", "It ran in 2019/20.") == []
    assert dates("It ran in 2020.", "It ran in 2019/20.") == []
    (finding,) = dates("It ran in 2010.", "It ran on 2005/12/31.")
    assert finding.message == "claim says 2010, the evidence names no such year"


@pytest.mark.parametrize(
    "evidence",
    ["It was approved (05/2021).", "It was approved on 12.05.2021.", "It was approved in mid-2021."],
)
def test_a_year_in_any_date_of_the_evidence_is_known(evidence):
    assert dates("It was approved in May 2021.", evidence) == []


def test_a_count_of_the_evidence_with_a_thousand_mark_is_no_unknown_year():
    assert dates("It was tested in 2000 infants.", "It was tested in 2,000 infants.") == []


def test_a_trial_spelled_out_by_the_evidence_is_known():
    assert (
        dates("The SMART trial was stopped.", "The Salmeterol Multicenter Asthma Research Trial was stopped.")
        == []
    )


@pytest.mark.parametrize(
    ("claim", "evidence", "instead"),
    [
        ("It was approved in June 2021.", "It was approved in May 2021.", "May 2021"),
        ("It was approved on 12 May 2021.", "It was approved on 21 May 2021.", "21 May 2021"),
        ("The trial opened in March 2019.", "The trial opened in May 2019 and closed later.", "May 2019"),
    ],
)
def test_another_date_of_the_same_year_is_in_its_place(claim, evidence, instead):
    (finding,) = dates(claim, evidence)
    assert (finding.effect, evidence[slice(*finding.evidence_span)].strip()) == ("refute", instead)


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("It was approved in May 2021.", "It was approved on 21 May 2021."),
        ("It was approved on 21 May 2021.", "It was approved on May 21, 2021."),
        ("It was approved in Sept. 2021.", "It was approved in September 2021."),
        ("It may be taken in May 2021.", "From May 2021 on it may be taken."),
    ],
)
def test_the_same_date_in_another_form_is_known(claim, evidence):
    assert dates(claim, evidence) == []
