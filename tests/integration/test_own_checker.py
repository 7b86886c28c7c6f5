"""A project judges with its callable: as a fixture, in an assertion, or named in the settings."""

import json
import sys

import pytest

JUDGE = '''
def judge(claim, chunks):
    """Trusts whatever a chunk says word for word."""
    if any(claim.text in chunk.text for chunk in chunks):
        return "supported"
    return ("refuted", 0.9) if "Moonlight" in claim.text else "unsupported"
'''
OVERRIDDEN = """
import pytest
from my_pkg.judge import judge

@pytest.fixture
def medfaith_checker():
    return judge
"""


@pytest.fixture
def package(project, monkeypatch):
    (project.path / "my_pkg").mkdir()
    (project.path / "my_pkg" / "__init__.py").touch()
    (project.path / "my_pkg" / "judge.py").write_text(JUDGE)
    (project.path / "conftest.py").write_text("")
    monkeypatch.setenv("PYTHONPATH", str(project.path))
    project.test(
        """
import pytest

@pytest.mark.medfaith("mini")
def test_reported(medfaith_report):
    pass
"""
    )
    return project


@pytest.mark.parametrize("how", ["fixture", "settings", "option"])
def test_a_callable_takes_the_checkers_place(package, workers, how):
    name = "judge" if how == "fixture" else "my_pkg.judge:judge"
    if how == "fixture":
        (package.path / "conftest.py").write_text(OVERRIDDEN)
    if how == "settings":
        package.configure(f'checker = "{name}"\n')
    option = ("--medfaith-checker", name) if how == "option" else ()
    result = package.run("--medfaith-report", "out", *option, *workers)
    result.assert_outcomes(passed=3)
    result.stdout.fnmatch_lines([f"*{name}*"])
    claims = [json.loads(line) for line in (package.path / "out" / "claims.jsonl").read_text().splitlines()]
    labels = {claim["claim"]["text"]: claim["label"] for claim in claims if claim["of"] == "answer"}
    assert labels["Iron tablets treat iron deficiency."] == "supported"
    assert labels["Moonlight sets off asthma."] == "refuted"
    assert (package.path / "out" / "pairs.jsonl").read_text() == ""


UNWANTED = """
import pytest

@pytest.fixture(scope="{scope}")
def medfaith_checker():
    raise RuntimeError("the fixture's body runs")
    yield
"""


@pytest.mark.parametrize("scope", ["function", "session"])
def test_the_command_line_beats_a_fixture(package, scope):
    (package.path / "conftest.py").write_text(UNWANTED.format(scope=scope))
    package.run("--medfaith-limit", "1").assert_outcomes(errors=1)
    name = "my_pkg.judge:judge"
    result = package.run("--medfaith-checker", name, "--medfaith-report", "out")
    result.assert_outcomes(passed=3)
    claims = [json.loads(line) for line in (package.path / "out" / "claims.jsonl").read_text().splitlines()]
    assert {claim["label"] for claim in claims if claim["claim"]["text"].startswith("Moonlight")} == {
        "refuted"
    }
    assert name in (package.path / "out" / "report.json").read_text()


def test_a_fixture_of_the_session_and_two_checkers_of_the_command_line_are_one_message(package):
    (package.path / "conftest.py").write_text(UNWANTED.format(scope="session"))
    names = ("--medfaith-checker", "my_pkg.judge:judge", "--medfaith-checker", "my_pkg.judge:other")
    with (package.path / "my_pkg" / "judge.py").open("a") as file:
        file.write("\nother = lambda claim, chunks: judge(claim, chunks)\n")
    result = package.run(*names)
    result.stdout.fnmatch_lines(["*is made once for each session; leave out its scope*"])
    result.stdout.no_fnmatch_line("*_finalizers*")
    assert result.ret == pytest.ExitCode.USAGE_ERROR  # no row could be measured


def test_a_fixture_that_builds_on_the_checker_gets_that_of_the_command_line(package):
    (package.path / "conftest.py").write_text(
        "import pytest\n@pytest.fixture\ndef medfaith_checker(medfaith_checker):\n"
        "    assert medfaith_checker.name == 'my_pkg.judge:judge'\n    return medfaith_checker\n"
    )
    package.run("--medfaith-checker", "my_pkg.judge:judge", "--medfaith-limit", "1").assert_outcomes(passed=1)


def test_metrics_of_the_contexts_ask_for_each_chunk_alone(package):
    (package.path / "conftest.py").write_text(OVERRIDDEN)
    package.test(
        """
import pytest

@pytest.mark.medfaith("mini", limit=1)
def test_contexts(medfaith_report):
    verdict = medfaith_report.verdicts[0]
    assert (verdict.label, verdict.supporting, verdict.chunk_id) == ("supported", ("iron-1",), "iron-1")
    assert medfaith_report.entailments.chunk_gold == ((True, False),)
    assert medfaith_report.context_precision == 0.5
    assert medfaith_report.context_utilization == 1.0
"""
    )
    package.run().assert_outcomes(passed=1)


def test_a_callable_serves_a_single_assertion(package):
    package.test(
        """
import pytest
from my_pkg.judge import judge
from pytest_medfaith import assert_faithfulness, assert_no_hallucination

def test_held():
    iron = "Iron tablets treat iron deficiency."
    assert_faithfulness(iron, contexts=[iron], checker=judge)

def test_not_held():
    with pytest.raises(AssertionError, match="hallucination is 1.000"):
        contexts = ["Cold air sets off asthma."]
        assert_no_hallucination("Moonlight sets off asthma.", contexts=contexts, checker=judge)
"""
    )
    package.run().assert_outcomes(passed=2)


def test_an_async_callable_is_awaited(package):
    (package.path / "my_pkg" / "judge.py").write_text(JUDGE.replace("def judge", "async def judge"))
    (package.path / "conftest.py").write_text(OVERRIDDEN)
    package.run().assert_outcomes(passed=3)


def test_a_baseline_holds_the_callables_signature_and_another_callable_is_another_set_up(package, workers):
    package.configure('checker = "my_pkg.judge:judge"\ngates = ["faithfulness no worse than baseline"]\n')
    package.run("--medfaith-update-baseline", *workers)
    signature = json.loads((package.path / "medfaith-baseline.json").read_text())
    assert "my_pkg.judge:judge@" in json.dumps(signature)
    assert package.run(*workers).ret == pytest.ExitCode.OK
    (package.path / "my_pkg" / "judge.py").write_text(JUDGE.replace("Moonlight", "Moon"))
    result = package.run(*workers)
    assert result.ret != pytest.ExitCode.OK
    assert "my_pkg.judge:judge@" in result.stdout.str() + result.stderr.str()


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            "return 'yes'",
            (
                "the checker 'judge' returned 'yes', which is no verdict; expected a Verdict, one of "
                "supported, refuted"
            ),
        ),
        ("return 'supported', 1.5", "has the score 1.5; expected a number from 0 to 1"),
        ("return None", "returned None, which is no verdict"),
        ("raise KeyError('dose')", "the checker 'judge' raised KeyError: 'dose' (*judge.py:2)"),
    ],
)
def test_a_result_without_sense_is_an_error_that_names_it(package, body, message):
    (package.path / "my_pkg" / "judge.py").write_text(f"def judge(claim, chunks):\n    {body}\n")
    (package.path / "conftest.py").write_text(OVERRIDDEN)
    result = package.run("-k", "iron")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([f"*{message}*"])


def test_a_fixture_that_gives_no_checker_says_what_it_expects(package):
    (package.path / "conftest.py").write_text(
        "import pytest\n@pytest.fixture\ndef medfaith_checker():\n    return 'default'\n"
    )
    result = package.run("-k", "iron")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(
        ["*the checker is 'default'; expected a Checker*or a callable (claim, chunks) -> verdict*"]
    )


@pytest.mark.parametrize("name", ["my_pkg.judge:nobody", "no_such_pkg.judge:judge"])
def test_a_dotted_name_that_leads_nowhere_says_so(package, name):
    result = package.run("--medfaith-checker", name)
    assert result.ret != pytest.ExitCode.OK
    result.stdout.fnmatch_lines([f"*the checker '{name}' cannot be imported*"])


def test_the_command_line_checks_rows_with_a_callable(package):
    rows = [
        {
            "id": 1,
            "claim": "Moonlight sets off asthma.",
            "evidence": ["Cold air sets off asthma.", "Iron is a metal."],
        },
        {"id": 2, "claim": "Iron is a metal.", "evidence": ["Cold air sets off asthma.", "Iron is a metal."]},
        {"id": 3, "claim": "Iron is a metal.", "evidence": []},
    ]
    (package.path / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    command = [sys.executable, "-c", "from pytest_medfaith.cli import main; main()", "check", "in.jsonl"]
    result = package.pytester.run(*command, "--out", "out.jsonl", "--checker", "my_pkg.judge:judge")
    assert result.ret == 0
    first, second, third = (
        json.loads(line) for line in (package.path / "out.jsonl").read_text().splitlines()
    )
    assert (first["label"], first["probs"], first["evidence_index"]) == ("contradict", None, None)
    assert (second["label"], second["probs"], second["evidence_index"]) == ("entail", None, 1)
    assert third["label"] == "unscored"
