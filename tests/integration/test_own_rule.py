"""A project names its rules in the settings; they run beside the shipped rules."""

import json

import pytest

RULES = '''
import re
from pytest_medfaith.records import Finding

BRANDS = re.compile(r"Ferrokid|Airlux")


def no_brand_names(claim, evidence):
    """An answer that names a brand where the evidence names the drug is not backed by it."""
    found = BRANDS.search(claim)
    if found is None or BRANDS.search(evidence):
        return []
    message = f"{found[0]} is a brand name"
    return [Finding(rule="any", message=message, claim_span=found.span(), effect="refute")]


def noted(claim, evidence):
    return [Finding(rule="noted", message="seen")]


def numbers(claim, evidence):
    return []
'''
CONFTEST = """
import dataclasses
import pytest
from pytest_medfaith.testing import scripted_checker

@pytest.fixture
def medfaith_checker(medfaith_checker):
    scripted = scripted_checker(lambda evidence, claim: "entail")
    mine = medfaith_checker
    return dataclasses.replace(scripted, rules=mine.rules, added_rules=mine.added_rules)
"""
ANSWER = """
CONTEXTS = ["Iron tablets treat iron deficiency in adults and in children."]

def verdicts(check):
    return check("Ferrokid tablets treat iron deficiency in children.", contexts=CONTEXTS).verdicts
"""


@pytest.fixture
def package(project, monkeypatch):
    (project.path / "my_pkg").mkdir()
    (project.path / "my_pkg" / "__init__.py").touch()
    (project.path / "my_pkg" / "rules.py").write_text(RULES)
    (project.path / "conftest.py").write_text(CONFTEST)
    (project.path / "pyproject.toml").write_text('[tool.medfaith]\nrules = ["my_pkg.rules:no_brand_names"]\n')
    monkeypatch.setenv("PYTHONPATH", str(project.path))
    return project


def test_a_rule_of_the_project_overrules_the_model_and_is_named_in_the_findings(package, workers):
    package.test(
        ANSWER
        + """
def test_brand(medfaith_check):
    (verdict,) = verdicts(medfaith_check)
    assert (verdict.label, verdict.reason) == ("refuted", "decided by the rule no_brand_names")
    assert [finding.rule for finding in verdict.findings] == ["no_brand_names"]
    assert verdict.claim.text[slice(*verdict.findings[0].claim_span)] == "Ferrokid"

def test_evidence_that_names_the_brand(medfaith_check):
    contexts = ["Airlux opens the airways within minutes."]
    (verdict,) = medfaith_check("Airlux opens the airways.", contexts=contexts).verdicts
    assert (verdict.label, verdict.findings) == ("supported", ())
"""
    )
    package.run(*workers).assert_outcomes(passed=2)


@pytest.mark.parametrize("how", ["settings", "option"])
def test_a_rule_of_the_project_can_be_switched_off(package, how):
    package.test(
        ANSWER
        + """
def test_brand(medfaith_check):
    (verdict,) = verdicts(medfaith_check)
    assert (verdict.label, verdict.findings) == ("supported", ())
"""
    )
    option = ("--medfaith-rules-off", "no_brand_names") if how == "option" else ()
    if how == "settings":
        with (package.path / "pyproject.toml").open("a") as configuration:
            configuration.write('rules_off = ["no_brand_names"]\n')
    package.run(*option).assert_outcomes(passed=1)


def test_a_finding_that_only_notes_is_told_and_changes_no_verdict(package):
    (package.path / "pyproject.toml").write_text('[tool.medfaith]\nrules = ["my_pkg.rules:noted"]\n')
    package.test(
        ANSWER
        + """
def test_noted(medfaith_check):
    (verdict,) = verdicts(medfaith_check)
    assert verdict.label == "supported"
    assert [(finding.rule, finding.message) for finding in verdict.findings] == [("noted", "seen")]
"""
    )
    package.run().assert_outcomes(passed=1)


def test_the_signature_of_a_checker_holds_the_rule_and_changes_with_it(package):
    package.test(
        """
from pytest_medfaith.run.signature import checker_signature

def test_signature(medfaith_checker):
    rules = checker_signature(medfaith_checker)["rules"]
    print([rule for rule in rules if "brand" in rule], "numbers" in rules)
"""
    )
    first = package.run("-s").stdout.str()
    (package.path / "my_pkg" / "rules.py").write_text(RULES.replace("is a brand name", "is a brand"))
    second = package.run("-s").stdout.str()
    told = [next(line for line in out.splitlines() if "no_brand_names@" in line) for out in (first, second)]
    assert told[0] != told[1]
    assert all("'my_pkg.rules:no_brand_names@" in line and line.endswith("] True") for line in told)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("my_pkg.rules:nobody", "the rule 'my_pkg.rules:nobody' cannot be imported"),
        ("my_pkg.rules", "the rule 'my_pkg.rules' is no dotted name; expected package.module:name"),
        (
            "my_pkg.rules:BRANDS",
            "the rule 'my_pkg.rules:BRANDS' is a Pattern; expected a callable (claim, evidence) -> findings",
        ),
        ("my_pkg.rules:numbers", "the rule 'my_pkg.rules:numbers' is called 'numbers', as another rule is"),
    ],
)
def test_a_wrong_name_is_an_error_that_says_what_is_expected(package, name, message):
    (package.path / "pyproject.toml").write_text(f"[tool.medfaith]\nrules = [{json.dumps(name)}]\n")
    package.test("def test_brand(medfaith_check):\n    pass\n")
    result = package.run()
    result.assert_outcomes(errors=1)
    assert message in result.stdout.str()


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("raise KeyError('dose')", "the rule 'my_pkg.rules:odd' raised KeyError: 'dose'"),
        ("return None", "the rule 'my_pkg.rules:odd' returned None; expected a list of"),
        (
            "return [Finding(rule='a', message='b', effect='kill')]",
            "a finding of the effect 'kill'; expected one of refute, weaken, note",
        ),
        (
            "return [Finding(rule='a', message='b', claim_span=(0, 999))]",
            "gave the span (0, 999) of a text of 51 characters",
        ),
    ],
)
def test_a_rule_that_raises_or_returns_something_else_is_named(package, body, message):
    (package.path / "my_pkg" / "rules.py").write_text(
        f"from pytest_medfaith.records import Finding\ndef odd(claim, evidence):\n    {body}\n"
    )
    (package.path / "pyproject.toml").write_text('[tool.medfaith]\nrules = ["my_pkg.rules:odd"]\n')
    package.test(ANSWER + "def test_brand(medfaith_check):\n    verdicts(medfaith_check)\n")
    result = package.run()
    result.assert_outcomes(failed=1)
    assert message in result.stdout.str().replace("\nE  ", "").replace("       ", " ")


def test_an_unknown_rule_to_switch_off_lists_the_projects_too(package):
    with (package.path / "pyproject.toml").open("a") as configuration:
        configuration.write('rules_off = ["no_brands"]\n')
    package.test("def test_brand(medfaith_check):\n    pass\n")
    result = package.run()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*no rule is named 'no_brands'*no_brand_names*"])
