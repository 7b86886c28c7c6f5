"""The risk of an answer: a pure function of three parts, with overrides and thresholds."""

import pytest

from pytest_medfaith.config import load_settings
from pytest_medfaith.errors import DataError
from pytest_medfaith.metrics.answer_risk import disbelief, overriding, report_risk, risk_of, uncovered
from pytest_medfaith.metrics.risk import METRICS
from pytest_medfaith.records import Case, Chunk, Claim, Finding, Report, Response, Verdict
from pytest_medfaith.records.answer_risk import AnswerRisk, RiskSettings, check_risk

PARTS = {"consistency": 1.0, "retrieval": 0.2, "critic": 0.1}
CLAIM = Claim(id="c1", text="Metformin lowers glucose.")
CHUNK = Chunk(id="a", text="Metformin lowers glucose in diabetes.")


def test_the_parts_are_weighted():
    risk = risk_of(PARTS, RiskSettings())
    assert risk.score == pytest.approx(0.30 * 1.0 + 0.35 * 0.2 + 0.35 * 0.1)
    assert (risk.parts, risk.missing, risk.overrides) == (PARTS, (), ())


def test_missing_parts_weigh_on_the_others_and_are_named():
    risk = risk_of({**PARTS, "consistency": None}, RiskSettings())
    assert risk.score == pytest.approx((0.2 + 0.1) / 2)
    assert risk.missing == ("consistency",)


def test_without_any_part_the_risk_is_full():
    assert risk_of({}, RiskSettings()) == AnswerRisk(
        score=1.0, flag="HIGH", missing=("consistency", "retrieval", "critic")
    )


def test_a_part_whose_weight_is_nothing_does_not_hide_that_nothing_was_measured():
    settings = RiskSettings(consistency=1, retrieval=0, critic=0)
    assert risk_of({"critic": 0.0}, settings).flag == "HIGH"


@pytest.mark.parametrize(
    ("score", "flag"), [(0.0, "LOW"), (0.29, "LOW"), (0.3, "CAUTION"), (0.59, "CAUTION"), (0.6, "HIGH")]
)
def test_flags_begin_at_their_thresholds(score, flag):
    settings = RiskSettings(consistency=0, retrieval=0, critic=1, caution=0.3, high=0.6)
    assert risk_of({"critic": score}, settings).flag == flag


def test_an_override_makes_the_risk_full():
    risk = risk_of(
        {"critic": 0.0, "retrieval": 0.0, "consistency": 0.0}, RiskSettings(), overrides=["future", "future"]
    )
    assert (risk.score, risk.flag, risk.overrides) == (1.0, "HIGH", ("future",))


@pytest.mark.parametrize("part", [{"critic": 1.5}, {"critic": float("nan")}, {"luck": 0.5}])
def test_parts_that_cannot_be(part):
    with pytest.raises(ValueError, match="expected consistency, retrieval, critic, each from 0 to 1 or None"):
        risk_of(part, RiskSettings())


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (RiskSettings(critic=-1), "expected numbers of 0 or more"),
        (RiskSettings(consistency=0, retrieval=0, critic=0), "at least a single one above 0"),
        (RiskSettings(caution=0.7, high=0.6), "0 < caution <= high <= 1"),
        (RiskSettings(caution=0.0), "0 < caution <= high <= 1"),
        (RiskSettings(high=1.2), "0 < caution <= high <= 1"),
    ],
)
def test_settings_that_cannot_be(settings, said):
    with pytest.raises(ValueError, match=said):
        check_risk(settings)


@pytest.mark.parametrize(
    ("label", "score", "expected"),
    [
        ("supported", 0.9, 0.1),
        ("refuted", 0.1, 1.0),
        ("unscored", 0.0, 1.0),
        ("unsupported", 0.2, 0.8),
        ("unsupported", 0.95, 0.5),  # a rule took the support back
    ],
)
def test_the_critic(label, score, expected):
    assert disbelief(Verdict(claim=CLAIM, label=label, score=score)) == pytest.approx(expected)


def test_what_retrieval_left_open():
    assert uncovered("Metformin lowers glucose.", [CHUNK]) == 0.0
    assert uncovered("Metformin lowers glucose.", []) == 1.0
    other = uncovered("Metformin lowers glucose.", [Chunk(id="b", text="Wash your hands.")])
    assert other == 1.0
    assert 0 < uncovered("Metformin raises lactate.", [CHUNK]) < 1
    brand = uncovered("Glucophage lowers glucose.", [CHUNK])
    unknown = uncovered("Warfarin lowers glucose.", [CHUNK])
    assert brand < unknown  # another name of the drug counts as it


def report(*verdicts, **more):
    response = Response(answer="x", contexts=(CHUNK,))
    return Report(case=Case(id="a", question="?"), response=response, verdicts=verdicts, **more)


def test_the_riskiest_claim_gives_the_risk_of_the_answer():
    safe = Verdict(claim=CLAIM, label="supported", score=1.0)
    bad = Verdict(claim=Claim(id="c2", text="Warfarin cures colds."), label="refuted", score=0.9)
    risk = report_risk(report(safe, bad), RiskSettings())
    assert (risk.claim, risk.flag, risk.missing) == ("c2", "HIGH", ("consistency",))
    assert report_risk(report(safe), RiskSettings()).flag == "LOW"


def test_further_answers_are_the_third_part():
    told = {"samples": 2, "agreement": 1.0, "supported": {"c1": 1}}
    risk = report_risk(
        report(Verdict(claim=CLAIM, label="supported", score=1.0), consistency=told), RiskSettings()
    )
    assert (risk.parts["consistency"], risk.missing) == (0.5, ())


@pytest.mark.parametrize(
    ("rule", "overrides"),
    [
        ("future", ["future"]),
        ("trial", ["trial"]),
        ("question", ["question"]),
        ("safety.dose", ["safety.dose"]),
        ("numbers", []),
    ],
)
def test_rules_that_override(rule, overrides):
    finding = Finding(rule=rule, message="m")
    verdict = Verdict(claim=CLAIM, label="supported", score=1.0, findings=(finding,))
    assert overriding(verdict) == overrides
    assert (report_risk(report(verdict), RiskSettings()).flag == "HIGH") == bool(overrides)


def test_a_refusal_has_no_risk():
    assert report_risk(report(abstained=True), RiskSettings()) is None
    assert all(metric.measure(report(abstained=True)) is None for metric in METRICS)


def test_the_metrics_read_the_record():
    told = report(risk=risk_of({"critic": 1.0}, RiskSettings()).to_dict())
    assert [metric.value(told) for metric in METRICS] == [1.0, 1.0]


def test_settings_are_a_table(tmp_path):
    (tmp_path / "medfaith.toml").write_text("[risk]\ncritic = 0.5\nhigh = 0.9\n")
    assert load_settings(tmp_path).risk == RiskSettings(critic=0.5, high=0.9)
    (tmp_path / "medfaith.toml").write_text("k1 = 1.0\n")
    assert load_settings(tmp_path).risk is None
    (tmp_path / "medfaith.toml").write_text("[risk]\nhigh = 0.1\n")
    with pytest.raises(
        DataError, match=r"medfaith.toml: \[risk\]: the thresholds of risk are caution .* and high 0.1"
    ):
        load_settings(tmp_path)
