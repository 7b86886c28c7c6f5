"""Rules of severity: claims graded by hand, files that cannot be read, the project's rules, people's labels.

`severity_claims.jsonl` holds the claims that the shipped rules were written for.
`severity_claims_apart.jsonl` was written before the rules, and `severity_claims_fresh.jsonl` holds claims of
LLM-written pairs (CC BY 4.0) that were graded by hand before a rule had read them. No rule is fitted to these
two.
"""

import json
from collections import Counter
from pathlib import Path

import pytest
from unit.label_samples import label_row

from pytest_medfaith.checking.rules import RULES, active_rules, chunk_findings
from pytest_medfaith.english.words import content_keys, evidence_sentences, share
from pytest_medfaith.errors import DataError
from pytest_medfaith.evaluation import evaluate_case, slice_report
from pytest_medfaith.gates.entry import case_baseline
from pytest_medfaith.gates.judging import judge_gates
from pytest_medfaith.labels.rows import label_key
from pytest_medfaith.labels.severity import risks_of, with_reviewed_severity
from pytest_medfaith.metrics.registry import METRICS
from pytest_medfaith.metrics.severity import is_major
from pytest_medfaith.records import Case, Chunk, Claim, Finding, Response, Severity, SliceRun, Verdict
from pytest_medfaith.safety.findings import safety_findings
from pytest_medfaith.severity.grading import graded
from pytest_medfaith.severity.rules import SHIPPED, load_severity
from pytest_medfaith.testing import scripted_checker

HERE = Path(__file__).parent
CHECKER_RULES = active_rules(frozenset(RULES))


def rows_of(name):
    return [json.loads(line) for line in (HERE / name).read_text(encoding="utf-8").splitlines()]


def grade_of(row):
    """Returns the severity of a row, as a checker with that verdict and the shipped rules gives it."""
    evidence, wanted = row["evidence"], content_keys(row["claim"])
    best = max(evidence_sentences(evidence), key=lambda sentence: share(wanted, sentence.keys))
    span = (best.start, best.end)
    chunk = Chunk(id="a", text=evidence)
    findings = [
        *chunk_findings(row["claim"], chunk, span, CHECKER_RULES),
        *safety_findings(row["claim"]),
    ]
    if row.get("category") == "missing context":  # as grounding finds it, which reads scores
        findings.append(Finding(rule="grounding", message="a restriction is left off", effect="weaken"))
    verdict = Verdict(
        claim=Claim(id="c", text=row["claim"]),
        label=row["verdict"],
        chunk_id="a",
        span=span,
        findings=tuple(findings),
    )
    return graded(verdict, evidence).severity


@pytest.mark.parametrize("row", rows_of("severity_claims.jsonl"), ids=lambda row: row["claim"][:50])
def test_written_claims_have_their_severity(row):
    found = grade_of(row)
    assert (found.category, found.risk) == (row["category"], row["risk"])


def test_agreement_on_claims_written_before_the_rules():
    rows = rows_of("severity_claims_apart.jsonl")
    assert len(rows) == 24
    found = [(row, grade_of(row)) for row in rows]
    assert sum(row["risk"] == grade.risk for row, grade in found) == 23
    assert sum(row["category"] == grade.category for row, grade in found) == 23


def test_agreement_on_claims_that_no_rule_had_read():
    """Every major error is found; of 11 minor errors 3 are, since what no rule knows counts as major."""
    found = Counter(
        (row["risk"] in ("moderate", "high"), grade_of(row).is_major)
        for row in rows_of("severity_claims_fresh.jsonl")
    )
    assert found == {(True, True): 29, (False, False): 3, (False, True): 8}


def verdict_of(text, label="refuted", **changes):
    return Verdict(claim=Claim(id="c", text=text), label=label, chunk_id="a", **changes)


@pytest.mark.parametrize("label", ["supported", "unscored"])
def test_only_errors_have_a_severity(label):
    assert graded(verdict_of("Take 50 mg of warfarin.", label), "").severity is None


def test_an_error_that_no_rule_knows_is_major():
    found = graded(verdict_of("Blorps glimmer."), "Blorps do not hum.")
    assert found.severity == Severity(category="wrong detail", risk="moderate", rule="otherwise")
    assert is_major(found)


def test_an_error_that_nobody_graded_is_major():
    assert is_major(verdict_of("Penicillin was discovered in 1828."))


def test_the_evidence_of_a_claim_that_nothing_speaks_of_says_nothing():
    verdict = verdict_of("The trial was run in Norway.", "unsupported")
    assert graded(verdict, "Chest pain is an emergency.").severity.risk == "low"


def test_hostile_texts_are_graded_in_time():
    for text in ("", " ", "a" * 200_000, "take " * 40_000, "[]*+?^$(", "é\u0000\u202e5 mg"):
        assert graded(verdict_of(text), text).severity.risk in ("moderate", "high")


# Files of a project
# ---------------------------------------------------------------------------------------------


def written(tmp_path, text):
    path = tmp_path / "severity.toml"
    path.write_text(text, encoding="utf-8")
    return (path,)


def test_a_projects_rule_goes_before_the_shipped_rules(tmp_path):
    rules = load_severity(
        written(tmp_path, '[[risk]]\nid = "parking"\nrisk = "none"\nclaim = ["car park*"]\n')
    )
    verdict = verdict_of("The car parks close at noon in an emergency.")
    assert graded(verdict, "").severity.risk == "high"
    assert graded(verdict, "", rules=rules).severity == Severity(
        category="wrong detail", risk="none", rule="parking"
    )


def test_a_project_switches_a_rule_off_and_says_what_holds_otherwise(tmp_path):
    text = 'off = ["history"]\n[otherwise]\nrisk = {refuted = "low"}\n'
    rules = load_severity(written(tmp_path, text))
    assert graded(verdict_of("Blorps were discovered in 1850."), "", rules=rules).severity.rule == "otherwise"
    assert graded(verdict_of("Blorps hum."), "", rules=rules).severity.risk == "low"
    assert graded(verdict_of("Blorps hum.", "unsupported"), "", rules=rules).severity.risk == "moderate"
    assert rules.signature != load_severity().signature


HIGH = '[[risk]]\nid = "mine"\nrisk = "high"\n'
BROKEN = {
    HIGH: "has no conditions, so it matches every error",
    HIGH + 'verdict = ["refuted"]\n': "has no conditions, so it matches every error",
    HIGH + "turned = false\n": "has no conditions, so it matches every error",
    HIGH + 'claim = ["a", "the", "in", "at", "most", "of", "first"]\n': "it matches everything: 'Aspirin was",
    HIGH + 'not = ["unicorn"]\n': "it matches everything",
    HIGH + 'claim = ["*"]\n': "'\\*' is no phrase; expected words, with two letters or more before a \\*",
    HIGH + 'claim = ["a*"]\n': "no phrase",
    HIGH + "claim = []\n": "claim is \\[\\], expected a list of texts",
    HIGH + 'claim = "dose"\n': "claim is 'dose', expected a list of texts",
    HIGH + 'claim = ["#dug"]\n': "#dug is unknown, expected one of #amount",
    HIGH + 'claims = ["dose"]\n': "unknown key 'claims', did you mean 'claim'",
    HIGH + 'verdict = ["wrong"]\nclaim = ["dose"]\n': "verdict is 'wrong'; expected one of refuted, "
    "unsupported",
    HIGH + 'turned = "yes"\n': "turned is 'yes', expected true or false",
    '[[risk]]\nid = "mine"\nrisk = "severe"\nclaim = ["dose"]\n': "risk is 'severe'; expected one of none, "
    "low",
    '[[risk]]\nrisk = "low"\nclaim = ["dose"]\n': "number 1': id is None",
    HIGH + 'claim = ["dose"]\n' + HIGH + 'claim = ["pill"]\n': "two risk rules have the id 'mine'",
    '[[risk]]\nid = "dose"\nrisk = "low"\nclaim = ["dose"]\n': "another risk rule has the id 'dose'; give "
    "your rule another id",
    '[[levels]]\nid = "x"\n': "unknown key 'levels'",
    'off = ["doses"]\n': "off names 'doses', which is no rule of severity, did you mean 'dose'",
    '[otherwise]\nrisk = "low"\n': "otherwise.risk is 'low', expected as in risk = {refuted",
    "[risk]\n": "risk is {}, expected tables that begin with \\[\\[risk\\]\\]",
    "risk = \n": "not TOML",
}


@pytest.mark.parametrize(("text", "said"), BROKEN.items(), ids=BROKEN.values())
def test_broken_rules_are_one_clear_error(tmp_path, text, said):
    with pytest.raises(DataError, match=said) as raised:
        load_severity(written(tmp_path, text))
    assert str(tmp_path / "severity.toml") in str(raised.value) or "dose" in text


def test_a_file_that_is_not_there():
    with pytest.raises(DataError, match="no such rules of severity"):
        load_severity((Path("nowhere.toml"),))


def test_every_shipped_rule_says_why():
    import sys

    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    table = tomllib.loads(SHIPPED.read_text(encoding="utf-8"))
    assert all(rule.get("why") for rule in table["risk"])


# Metrics, gates, labels
# --------------------------------------------------------------------------------------------

CHUNK = Chunk(
    id="c",
    text="Take 5 mg of apixaban twice a day. Penicillin was discovered in 1928. Apples are fruit.",
)
ANSWER = "Take 50 mg of apixaban twice a day. Penicillin was discovered in 1828. Apples are fruit."


def a_slice():
    def judged(_, claim):
        return "contradict" if ("50 mg" in claim or "1828" in claim) else "entail"

    report = evaluate_case(
        Case(id="one", question="How is apixaban taken?"),
        Response(answer=ANSWER, case_id="one", contexts=(CHUNK,)),
        checker=scripted_checker(judged),
    )
    run = SliceRun(slice="doses", retriever="bm25", checker="scripted", k=5)
    return slice_report(run, [report])


def test_major_metrics_count_major_errors():
    report = a_slice()
    assert report.metrics["hallucination"].value == pytest.approx(2 / 3)
    assert report.metrics["major_hallucination"].value == pytest.approx(1 / 3)
    assert report.metrics["major_error_rate"].value == pytest.approx(1 / 3)


def test_gates_bound_major_errors():
    judged = judge_gates(["major_hallucination <= 0.2", "major_error_rate <= 0.5"], a_slice())
    assert [gate.outcome for gate in judged.gates] == ["fail", "pass"]


def test_people_override_the_severity_and_its_metrics():
    report = a_slice()
    dose, year = report.reports[0].verdicts[:2]
    labels = [
        label_row(key=label_key("doses", report.reports[0], dose.claim), severity="low"),
        label_row(key=label_key("doses", report.reports[0], year.claim), severity="low"),
    ]
    found, changed = with_reviewed_severity(report, risks_of(labels))
    assert changed == 1
    assert found.reports[0].verdicts[0].severity == Severity(
        category="wrong recommendation", risk="low", rule="reviewers", by_rules="high"
    )
    assert found.metrics["major_hallucination"].value == 0
    assert found.reports[0].metrics["major_hallucination"] == 0
    assert found.metrics["hallucination"] == report.metrics["hallucination"]


def test_a_label_of_other_evidence_changes_no_severity():
    report = a_slice()
    assert with_reviewed_severity(report, risks_of([label_row(severity="none")])) == (report, 0)


def test_the_highest_of_several_labels_counts():
    assert risks_of([label_row(severity="low"), label_row(severity="high"), label_row(severity="none")]) == {
        "0123456789abcdef": "high"
    }


def test_a_comparison_reads_the_rules_alone():
    """Labels that were added after the baseline would else pay for a new major error."""
    report = a_slice()
    one = report.reports[0]
    risks = {label_key("doses", one, one.verdicts[0].claim): "none"}
    found, _ = with_reviewed_severity(report, risks)
    metric = METRICS["major_hallucination"]
    assert metric.measure(found.reports[0]) == (0, 3)
    assert case_baseline(found.reports[0], [metric]).fractions == {"major_hallucination": (1, 3)}
