"""A gate that nobody judges is no gate: every way found in which one vanished with exit status 0."""

import json

import pytest

USAGE = pytest.ExitCode.USAGE_ERROR
GATED = """
import pytest

@pytest.mark.medfaith("mini", hallucination_at_most=0.1)
def test_gated({arguments}):
    {body}
"""
LOOKS_ONLY = GATED.format(arguments="medfaith_case", body="assert medfaith_case.id")


def said(result):
    return " ".join(result.stdout.str().split())


@pytest.mark.parametrize(
    "code",
    [
        pytest.param(GATED.format(arguments="", body="pass"), id="no argument"),
        pytest.param(GATED.format(arguments="tmp_path", body="pass"), id="another fixture"),
        pytest.param(GATED.format(arguments="medfaith_checker", body="pass"), id="no fixture of the case"),
        pytest.param(GATED.format(arguments="medfaith_settings", body="pass"), id="settings"),
        pytest.param(
            "import pytest\n\n@pytest.mark.medfaith('mini')\nclass TestIt:\n"
            "    def test_one(self):\n        pass\n",
            id="in a class",
        ),
        pytest.param(
            "import pytest\npytestmark = pytest.mark.medfaith('mini')\n\ndef test_one():\n    pass\n",
            id="by the module",
        ),
    ],
)
def test_a_marked_test_that_measures_nothing_is_a_collection_error(project, code):
    project.test(code)
    result = project.run()
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.assert_outcomes(errors=1)
    assert "asks for none of its cases, so it measures nothing" in said(result)
    assert "Traceback" not in said(result)


CASE = """
import unittest

import pytest

{module}

{marked}
class TestIt(unittest.TestCase):
    {method}
    def test_one(self):
        pass
"""
MARK = '@pytest.mark.medfaith("mini", hallucination_at_most=0.0)'


@pytest.mark.parametrize(
    "places",
    [
        {"marked": MARK},
        {"method": MARK},
        {"module": f"pytestmark = {MARK[1:]}"},
        {"module": f"pytestmark = [{MARK[1:]}]"},
    ],
    ids=["class", "method", "module", "list"],
)
def test_a_marked_test_case_is_a_collection_error(project, places):
    project.test(CASE.format(**{"module": "", "marked": "", "method": "", **places}))
    result = project.run()
    assert result.ret == pytest.ExitCode.INTERRUPTED
    assert (
        "TestIt is marked with medfaith and is a unittest.TestCase, which pytest runs once, without cases"
        in said(result)
    )


def test_a_test_case_beside_it_is_left_alone(project):
    project.test(project.TEST + CASE.format(module="", marked="", method=""))
    project.run().assert_outcomes(passed=3, failed=1)


def test_a_mark_on_a_parameter_is_refused(project):
    project.test(
        "import pytest\n\n"
        "@pytest.mark.parametrize('x', [pytest.param(1, marks=pytest.mark.medfaith('mini'))])\n"
        "def test_one(x):\n    pass\n"
    )
    result = project.run()
    assert result.ret == USAGE
    assert "is marked with medfaith and has no cases" in said(result)


SECOND = """
[tool.medfaith.slices.second]
cases = "gold.jsonl"
responses = "responses.jsonl"
corpus = ["corpus"]
k = 2
"""
TWO = {
    "class and function": (
        "import pytest\n\n@pytest.mark.medfaith('second')\nclass TestIt:\n    @pytest.mark.medfaith('mini')\n"
        "    def test_one(self, medfaith_report):\n        pass\n"
    ),
    "module": (
        "import pytest\npytestmark = [pytest.mark.medfaith('mini'), pytest.mark.medfaith('second')]\n\n"
        "def test_one(medfaith_report):\n    pass\n"
    ),
    "class twice": (
        "import pytest\n\n@pytest.mark.medfaith('second')\n@pytest.mark.medfaith('mini')\nclass TestIt:\n"
        "    def test_one(self, medfaith_report):\n        pass\n"
    ),
    "bounds of the class": (
        "import pytest\n\n@pytest.mark.medfaith('mini', hallucination_at_most=0.0)\nclass TestIt:\n"
        "    @pytest.mark.medfaith('mini')\n    def test_one(self, medfaith_report):\n        pass\n"
    ),
}


@pytest.mark.parametrize("code", TWO.values(), ids=TWO)
def test_markers_of_two_slices_are_refused(project, code):
    project.configure(SECOND)
    project.test(code)
    result = project.run()
    assert result.ret != 0
    assert "this test has two markers medfaith" in said(result)


DYNAMIC = GATED.format(arguments="request", body="request.getfixturevalue('medfaith_report')")


def test_a_report_asked_for_while_the_test_runs_is_judged(project, workers):
    project.test(DYNAMIC)
    result = project.run(*workers)
    result.assert_outcomes(passed=3)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert "FAIL hallucination <= 0.1: hallucination is 0.250" in said(result)


def test_a_report_asked_for_by_some_cases_leaves_the_others_missing(project, workers):
    project.test(
        GATED.format(
            arguments="request, medfaith_case",
            body="medfaith_case.id == 'iron' and request.getfixturevalue('medfaith_report')",
        )
    )
    result = project.run("-k", "gated", *workers)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert "2 of 3 cases did not finish: asthma, gout" in said(result)


def test_a_test_that_never_asks_for_it_fails(project, workers):
    project.test(GATED.format(arguments="request", body="assert request"))
    result = project.run(*workers)
    result.assert_outcomes(failed=3)
    assert "passed without measuring its case" in said(result)


@pytest.mark.parametrize(
    "arguments", [("-m", "medfaith"), ("--ff",), ("--nf",), ("-m", "not slow")], ids=" ".join
)
def test_orders_and_mark_expressions_do_not_excuse_it(project, arguments):
    project.test(LOOKS_ONLY)
    (project.path / "pyproject.toml").write_text(project.CONFIGURATION.replace("-p no:cacheprovider ", ""))
    result = project.run(*arguments)
    assert result.ret == USAGE
    assert "the gates of slice 'mini' would not be judged, since no test measures it" in said(result)


def test_nor_do_test_paths_of_the_settings(project, workers):
    project.test(LOOKS_ONLY)
    text = project.CONFIGURATION.replace(
        "[tool.pytest.ini_options]", '[tool.pytest.ini_options]\ntestpaths = ["test_suite.py"]'
    )
    (project.path / "pyproject.toml").write_text(text)
    result = project.run(*workers)
    assert result.ret == USAGE
    assert "the gates of slice 'mini' would not be judged" in said(result)


def test_what_a_selection_leaves_unjudged_is_said(project, workers):
    project.test(
        project.TEST.replace('"mini"', '"mini", hallucination_at_most=0.1')
        + "\n\ndef test_plain():\n    pass\n"
    )
    result = project.run("-k", "plain", *workers)
    result.assert_outcomes(passed=1)
    assert "the gates of slice 'mini' are not judged in this run, since no selected test measures it" in said(
        result
    )
    result = project.run("-k", "iron", *workers)
    assert "slice 'mini': its gates are judged over 1 of its 3 cases; the others were not selected" in said(
        result
    )


PLAIN = "def test_plain():\n    pass\n"


@pytest.mark.parametrize(
    "option",
    [("--medfaith-gate", "hallucination <= 0.05"), ("--medfaith-audit",), ("--medfaith-update-baseline",)],
)
@pytest.mark.parametrize(
    "code", [PLAIN, LOOKS_ONLY.replace(", hallucination_at_most=0.1", "")], ids=["plain", "case only"]
)
def test_an_option_that_asks_for_a_slice_needs_a_test_of_one(project, option, code):
    project.test(code)
    for more in ((), ("-k", "test"), ("test_suite.py",)):
        result = project.run(*option, *more)
        assert result.ret == USAGE
        assert f"{option[0]} was given, but no test measures a slice" in said(result)


def test_the_same_option_among_the_settings_does_not_stop_single_tests(project, workers):
    text = project.CONFIGURATION.replace(
        'addopts = "', "addopts = \"--medfaith-gate='hallucination <= 0.05' "
    )
    (project.path / "pyproject.toml").write_text(text)
    (project.path / "test_plain.py").write_text(PLAIN)
    assert project.run("test_plain.py", *workers).ret == 0
    project.test(PLAIN)
    assert project.run(*workers).ret == USAGE


def test_a_gate_on_the_command_line_that_does_not_parse_is_refused(project):
    for gate in ("faithfulness <= 0.05", "ndcg@10 <= 100%", "hallucination <= 1"):
        result = project.run("--medfaith-gate", gate)
        assert result.ret != 0
        assert "this gate does not parse" in said(result)


UNREADABLE = [
    ("responses.jsonl", None, "responses.jsonl: no such file"),
    ("responses.jsonl", "{", "responses.jsonl:1: not JSON"),
    (
        "responses.jsonl",
        '{"case_id": "iron", "answer": "x", "context": []}\n',
        "key 'context' is unknown; did you mean 'contexts'?",
    ),
    ("responses.jsonl", "", "responses.jsonl answers none of the cases of slice 'mini'"),
    (
        "responses.jsonl",
        '{"case_id": "irn", "answer": "x", "contexts": []}\n',
        "such as iron; it answers irn. Expected a row a case",
    ),
    ("corpus/chunks.jsonl", None, "the corpus folder holds no .jsonl file"),
    ("corpus/chunks.jsonl", "", "holds no chunk; an empty corpus can support nothing"),
]


def said_once(project, file, text, message, *workers):
    path = project.path / file
    path.unlink() if text is None else path.write_text(text)
    result = project.run(*workers)
    assert result.ret == USAGE
    assert said(result).count(message) == 1
    assert "passed" not in result.parseoutcomes()


@pytest.mark.parametrize(("file", "text", "message"), UNREADABLE)
def test_a_file_that_cannot_be_read_is_said_once_before_the_first_test(project, file, text, message):
    said_once(project, file, text, message)


@pytest.mark.parametrize("case", [UNREADABLE[0], UNREADABLE[-1]], ids=["answers", "corpus"])
def test_workers_say_it_once_too(project, case):
    """What is said does not depend on workers, so a file of each kind is enough."""
    said_once(project, *case, "-n", "2")


def test_a_live_rag_needs_no_responses_file(project):
    (project.path / "responses.jsonl").unlink()
    with (project.path / "conftest.py").open("a") as conftest:
        conftest.write(
            "\n@pytest.fixture\ndef medfaith_rag():\n    text = 'Iron tablets treat iron deficiency.'\n"
            "    return lambda question: (text, [text])\n"
        )
    result = project.run()
    result.assert_outcomes(passed=3)
    assert "contexts given by the answer (3 cases)" in said(result)


def test_a_live_rag_that_is_judged_by_the_slices_retriever_says_so(project):
    with (project.path / "conftest.py").open("a") as conftest:
        conftest.write(
            "\n@pytest.fixture\ndef medfaith_rag():\n"
            "    return lambda question: 'Iron tablets treat iron deficiency.'\n"
        )
    assert "contexts given by the slice's retriever (3 cases)" in said(project.run())


def test_a_live_rag_with_its_evidence_under_an_unknown_key_fails(project):
    with (project.path / "conftest.py").open("a") as conftest:
        conftest.write(
            "\n@pytest.fixture\ndef medfaith_rag():\n"
            "    return lambda question: {'answer': 'Iron helps.', 'evidence_used': []}\n"
        )
    result = project.run()
    result.assert_outcomes(errors=3)
    assert "no contexts under a known key, and 'evidence_used', which is not known" in said(result)


def test_a_k_above_the_corpus_gives_what_there_is_with_a_note(project, workers):
    result = project.run("--medfaith-k", "50", *workers)
    result.assert_outcomes(passed=2, failed=1)
    assert (
        said(result).count(
            "k is 50 and its corpus holds 5 chunks, so each question is given all of them at most"
        )
        == 1
    )


def test_answers_that_no_case_asks_for_are_said(project, workers):
    with (project.path / "responses.jsonl").open("a") as responses:
        responses.write(json.dumps({"case_id": "irn", "answer": "Iron.", "contexts": []}) + "\n")
    result = project.run("--medfaith-limit", "1", *workers)
    assert "responses.jsonl answers 1 case that" in said(result)
    assert "gold.jsonl does not hold: irn" in said(result)


class TestSlicesThatAnswerNothing:
    ROWS = (("iron", "Iron tablets treat iron deficiency [1]."), ("asthma", ""), ("gout", ""))
    CODE = (
        'import pytest\n\n@pytest.mark.medfaith("mini"{bounds})\ndef test_one(medfaith_report):\n    pass\n'
    )

    def responses(self, project, rows, **more):
        rows = [
            {"case_id": name, "answer": answer, "contexts": [{"id": "iron-1"}], **more}
            for name, answer in rows
        ]
        (project.path / "responses.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))

    @pytest.mark.parametrize("bounds", ["", ", faithfulness_at_least=0.9"])
    @pytest.mark.parametrize("answer", ["", "I do not know.", "Hello!"])
    def test_fails(self, project, bounds, answer):
        self.responses(project, [(name, text or answer) for name, text in self.ROWS])
        project.test(self.CODE.format(bounds=bounds))
        result = project.run()
        result.assert_outcomes(passed=3)
        assert result.ret == pytest.ExitCode.TESTS_FAILED

    def test_may_be_asked_for(self, project):
        self.responses(project, [(name, text or "I do not know.") for name, text in self.ROWS])
        project.test(self.CODE.format(bounds=", abstention_at_least=0.6"))
        assert project.run().ret == 0

    def test_no_contexts_fail_unless_they_are_optional(self, project, workers):
        self.responses(
            project, [(name, "Iron tablets treat iron deficiency.") for name, _ in self.ROWS], contexts=[]
        )
        project.test(self.CODE.format(bounds=", hallucination_at_most=0.1"))
        result = project.run(*workers)
        assert result.ret == pytest.ExitCode.TESTS_FAILED
        assert "3 of 3 cases failed" in said(result)
        assert "3 cases without contexts" in said(result)
        project.configure('contexts = "optional"\n')
        assert project.run(*workers).ret == 0
        project.configure('contexts = "sometimes"\n')
        assert "expected one of recorded, retrieved, per-claim, required, optional" in said(project.run())

    def test_unscored_claims_fail_unless_some_are_allowed(self, project):
        foreign = "Iron tablets treat iron deficiency. Железо нужно принимать натощак каждый день."
        self.responses(project, [(name, foreign) for name, _ in self.ROWS])
        conftest = project.CONFTEST.replace(
            "return scripted_checker(label)",
            "return __import__('dataclasses').replace(scripted_checker(label), latin_only=True)",
        )
        (project.path / "conftest.py").write_text(conftest)
        project.test(self.CODE.format(bounds=", faithfulness_at_least=0.9"))
        result = project.run()
        assert result.ret == pytest.ExitCode.TESTS_FAILED
        assert "3 of 6 claims could not be scored" in said(result)
        project.test(self.CODE.format(bounds=", faithfulness_at_least=0.9, unscored_at_most=0.5"))
        assert project.run().ret == 0
