"""Overrides in verdicts: they hold beside any evidence, and where there is none."""

import dataclasses

import pytest

from pytest_medfaith.checking.overrides.future import known_years, latest_date
from pytest_medfaith.checking.rules import OVERRIDES, RULE_NAMES
from pytest_medfaith.commands.check_rows import CheckRow, check_rows
from pytest_medfaith.records import Chunk, Claim
from pytest_medfaith.testing import scripted_checker

FUTURE = "A trial published in 2091 found fewer deaths with empagliflozin."
IMPOSSIBLE = "In the trial NCT99999999 empagliflozin lowered the number of deaths."
NAMED = "The EMPA-KIDNEY trial found fewer deaths with empagliflozin."
SIMILAR = "A trial found fewer deaths with empagliflozin."
UNLIKE = "Wash your hands for twenty seconds."


def checker(label, *, off=()):
    return dataclasses.replace(
        scripted_checker(lambda _evidence, _claim: label), rules=frozenset(RULE_NAMES) - {*off}
    )


def verdict(claim, *texts, label="neutral", off=(), year=None):
    chunks = [Chunk(id=f"c{number}", text=text, year=year) for number, text in enumerate(texts)]
    return checker(label, off=off)(claim, chunks)


@pytest.mark.parametrize("label", ["entail", "neutral", "contradict"])
@pytest.mark.parametrize(
    "texts", [(), (UNLIKE,), (SIMILAR,), (UNLIKE, SIMILAR), (FUTURE.replace("2091", "2019"),)]
)
@pytest.mark.parametrize(("claim", "rule"), [(FUTURE, "future"), (IMPOSSIBLE, "trial")])
def test_what_cannot_be_is_refuted_beside_any_evidence_and_without(claim, rule, texts, label):
    judged = verdict(claim, *texts, label=label)
    assert (judged.label, judged.supporting) == ("refuted", ())
    assert rule in [finding.rule for finding in judged.findings if finding.effect == "refute"]


@pytest.mark.parametrize("claim", [FUTURE, IMPOSSIBLE])
def test_what_the_evidence_says_as_well_is_left_to_the_other_rules(claim):
    assert verdict(claim, claim, label="entail").label == "supported"


def test_a_planned_date_of_the_evidence_does_not_make_a_finding_of_it():
    plan = "A trial on empagliflozin and deaths is expected to be published in 2091."
    assert verdict(FUTURE, plan, label="entail").label == "refuted"


def test_a_source_of_next_year_has_come():
    soon = latest_date().year + 1
    claim = f"The {soon} guideline recommends empagliflozin."
    text = "The guideline recommends empagliflozin."
    assert verdict(claim, text, label="neutral").label == "refuted"
    assert latest_date(published=99_999).year <= soon


def test_years_of_plans_are_not_known():
    latest = latest_date()
    assert known_years("The 2091 report names it. The goal is 90 % in 2092.", latest=latest) == {2091}


@pytest.mark.parametrize("texts", [(), (UNLIKE,)])
def test_a_trial_that_no_evidence_names_is_told_and_not_refuted(texts):
    judged = verdict(NAMED, *texts)
    assert judged.label == "unsupported"
    (finding,) = judged.findings
    assert (finding.rule, finding.effect) == ("trial", "weaken")
    assert finding.message == "claim names the trial EMPA-KIDNEY, the evidence does not"


@pytest.mark.parametrize("text", ["EMPA-KIDNEY was stopped early.", "Its name is empa-kidney."])
def test_a_trial_that_the_evidence_names_is_not_told(text):
    assert verdict(NAMED, text).findings == ()


@pytest.mark.parametrize(("claim", "rule"), [(FUTURE, "future"), (IMPOSSIBLE, "trial")])
def test_each_can_be_switched_off(claim, rule):
    judged = verdict(claim, UNLIKE, off=[rule])
    assert (judged.label, judged.findings) == ("unsupported", ())


def test_switched_off_overrides_are_named_in_the_signature():
    medical = sorted(set(RULE_NAMES) - set(OVERRIDES))
    assert checker("entail").rule_signatures == medical
    assert checker("entail", off=["future"]).rule_signatures == sorted([*medical, "no future"])
    assert checker("entail", off=medical).rule_signatures == sorted(OVERRIDES)
    assert checker("entail", off=RULE_NAMES).rule_signatures == []


def test_a_claim_that_cannot_be_read_stays_unscored():
    assert verdict("?!", SIMILAR).label == "unscored"


def test_rows_without_evidence():
    rows = [CheckRow("a", FUTURE, ()), CheckRow("b", SIMILAR, ()), CheckRow("c", FUTURE, (UNLIKE,))]
    first, second, third = check_rows(rows, checker("neutral"))
    assert (first["label"], first["rules"]) == ("contradict", ["future"])
    assert (second["label"], second["reason"]) == ("unscored", "there is no evidence")
    assert (third["label"], third["rules"]) == ("contradict", ["future"])


def test_a_claim_in_full_width_letters():
    claim = Claim(id="a", text="A trial published in \uff12\uff10\uff19\uff11 found fewer deaths.")
    assert verdict(claim, UNLIKE).label == "refuted"
