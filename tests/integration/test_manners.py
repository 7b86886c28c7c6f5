"""What people type every day does what it always does, and the card stays right."""

import json
import re
import xml.etree.ElementTree as ET
from collections import Counter

import pytest

GATE = ("--medfaith-gate", "faithfulness >= 0.1")


def test_k_runs_these_cases_and_the_card_is_of_them(project, workers):
    result = project.run("-k", "iron or gout", *GATE, *workers)
    result.assert_outcomes(passed=2, deselected=0 if workers else 1)
    result.stdout.fnmatch_lines(["2 cases (1 abstained)*", "PASS  faithfulness >= 0.1*"])
    result.stdout.no_fnmatch_line("*PARTIAL*")


def test_lf_runs_what_failed(project):
    (project.path / "pyproject.toml").write_text(project.CONFIGURATION.replace(" -p no:cacheprovider", ""))
    project.run().assert_outcomes(passed=2, failed=1)
    result = project.run("--lf")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["collected 1 item", "1 case (0 abstained)*"])


def test_x_stops_and_what_did_not_run_is_missing(project):
    result = project.run("-x", *GATE)
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            "PARTIAL: 1 of 3 cases missing: gout*",
            "FAIL  faithfulness >= 0.1: 1 of 3 cases did not finish: gout*",
        ]
    )


def test_collect_only_lists_and_judges_nothing(project, workers):
    arguments = ("--medfaith-report", "out", "--medfaith-gate", "hallucination no worse than baseline")
    result = project.run("--collect-only", *arguments, *workers)
    assert result.ret == 0
    result.stdout.fnmatch_lines(["*3 tests collected*"])
    result.stdout.no_fnmatch_line("*= medfaith =*")
    assert not (project.path / "out").exists()


def test_without_the_plugin_other_tests_run_and_assertions_work(project):
    project.test(
        """
from pytest_medfaith import assert_faithfulness
from pytest_medfaith.testing import containment_checker

def test_answer():
    assert_faithfulness("Iron helps.", contexts=["Iron helps."], checker=containment_checker())
"""
    )
    result = project.run("-p", "no:medfaith")
    result.assert_outcomes(passed=1)
    result.stdout.no_fnmatch_line("*medfaith*=*")


def test_durations_are_shown_beside_the_card(project):
    result = project.run("--durations", "2", "--durations-min", "0")
    result.stdout.fnmatch_lines(["*= medfaith =*", "*slowest 2 durations*"])


def test_a_shuffled_run_gives_the_same_report(project):
    pytest.importorskip("pytest_randomly", reason="needs pytest-randomly")
    orders = []
    for name, arguments in {
        "plain": (),
        "one": ("-p", "randomly", "--randomly-seed", "1"),
        "two": ("-p", "randomly", "--randomly-seed", "4", "-n", "2"),
    }.items():
        result = project.run("-v", "--medfaith-report", name, *GATE, *arguments)
        orders.append(re.findall(r"test_faithful\[(\w+)\] (?:PASSED|FAILED)", result.stdout.str()))
    assert orders[0] != orders[1]
    for name in ("report.json", "claims.jsonl", "pairs.jsonl", "card.md"):
        assert (
            len({(project.path / folder / name).read_bytes() for folder in ("plain", "one", "two")}) == 1
        ), name


FLAKY = """
from pathlib import Path

import pytest

@pytest.fixture
def medfaith_response(medfaith_response, medfaith_case):
    tried = Path(f"tried-{medfaith_case.id}")
    if medfaith_case.id == "asthma" and tried.exists():
        return medfaith_response.with_(answer="A reliever inhaler opens the airways in asthma [1].")
    tried.touch()
    return medfaith_response
"""


def test_a_case_that_runs_again_counts_once_with_its_last_answer(project, workers):
    pytest.importorskip("pytest_rerunfailures", reason="needs pytest-rerunfailures")
    project.test(FLAKY + project.TEST)
    arguments = (
        "-p",
        "rerunfailures",
        "--reruns",
        "1",
        "--junitxml",
        "junit.xml",
        "--medfaith-gate",
        "hallucination <= 0",
    )
    result = project.run(*arguments, *workers)
    assert result.ret == 0
    result.stdout.fnmatch_lines(
        ["3 cases (1 abstained), 3 claims: 3 supported*", "PASS  hallucination <= 0*", "*3 passed, 1 rerun*"]
    )
    note = (
        "the tests of 1 case ran again and measured something else, such as another answer; "
        "the last counts: asthma"
    )
    assert note in " ".join(result.stdout.str().split())
    cases = ET.parse(project.path / "junit.xml").iter("testcase")  # noqa: S314 - pytest wrote it
    scores = [
        [one.get("value") for one in case.iter("property") if one.get("name") == "medfaith.faithfulness"]
        for case in cases
    ]
    # The refusal has no score; each try of the second case has a score.
    assert sorted(scores) == [[], ["0.5"], ["1"], ["1"]]


INTERRUPTED = """
import os
import signal
import time
from pathlib import Path

import pytest

def wait_for(name):
    end = time.monotonic() + 60
    while not Path(name).exists():
        assert time.monotonic() < end, f"{name} did not happen"
        time.sleep(0.01)

@pytest.fixture
def medfaith_response(medfaith_response, medfaith_case, pytestconfig):
    if medfaith_case.id == "gout":
        wait_for("two-arrived")
        os.kill(int(Path("pid").read_text()), signal.SIGINT)
        wait_for("heard")
    return medfaith_response

@pytest.mark.medfaith("mini")
def test_reported(medfaith_report):
    pass
"""

# What the process does that was started, and no worker of it.
ITS_CONFTEST = """
import os
import signal
from pathlib import Path

arrived, main = [], []

def pytest_configure(config):
    if not hasattr(config, "workerinput"):
        main.append(config)
        Path("pid").write_text(str(os.getpid()))
        # A shell's background job passes on that it ignores the signal.
        signal.signal(signal.SIGINT, signal.default_int_handler)

@pytest.hookimpl(trylast=True)
def pytest_runtest_logreport(report):
    arrived.append(report.when)
    if arrived.count("teardown") == 2 and main:
        Path("two-arrived").touch()

def pytest_keyboard_interrupt():
    Path("heard").touch()
"""


@pytest.mark.parametrize("workers", [(), ("-n", "1")], ids=["one-process", "one-worker"])
def test_an_interrupted_run_leaves_a_card_and_a_folder_marked_partial(project, workers):
    project.test(INTERRUPTED)
    with (project.path / "conftest.py").open("a") as conftest:
        conftest.write(ITS_CONFTEST)
    result = project.run("--medfaith-report", "out", *GATE, *workers)
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines(
        [
            "2 cases (0 abstained)*",
            "PARTIAL: 1 of 3 cases missing: gout*",
            "FAIL  faithfulness >= 0.1*did not finish*",
        ]
    )
    (row,) = json.loads((project.path / "out" / "report.json").read_text())["slices"]
    assert (row["partial"], row["missing"], len(row["cases"])) == (True, ["gout"], 2)
    assert (project.path / "out" / "signature.json").is_file()
    assert "PARTIAL" in (project.path / "out" / "card.md").read_text()


def test_a_row_that_a_crash_left_empty_is_shown_as_missing(project):
    project.test(
        """
import os
import pytest

@pytest.fixture
def medfaith_response(medfaith_target, medfaith_response):
    if medfaith_target.settings.retriever == "dense":
        os._exit(1)
    return medfaith_response

@pytest.mark.medfaith("mini", retriever=["bm25", "dense"], limit=1)
def test_one(medfaith_report):
    pass
"""
    )
    result = project.run(*GATE, "-n", "1")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            "mini / bm25 / k=2*",
            "PASS  faithfulness*",
            "mini / dense / k=2*",
            "PARTIAL: 1 of 1 case missing: iron*",
            "FAIL*none of the 1 cases finished*",
        ]
    )


COUNTING = """
import os

import pytest_medfaith.checking.loading as loading
import pytest_medfaith.run.resources as resources
from pytest_medfaith.testing import scripted_checker

def counted(make, name):
    def made(*arguments, **options):
        with open("loaded.txt", "a") as log:
            log.write(f"{name} {os.getpid()}\\n")
        return make(*arguments, **options)
    return made

def entailing(name, **_):
    return scripted_checker(lambda evidence, claim: "entail", name=name)

loading.load_checker = counted(entailing, "checker")
resources.build_retriever = counted(resources.build_retriever, "retriever")
resources.read_chunks = counted(resources.read_chunks, "corpus")
"""


def test_models_and_corpora_are_loaded_once_a_process(project, workers):
    (project.path / "conftest.py").write_text(COUNTING)
    project.test(project.TEST + project.TEST.replace("test_faithful", "test_again"))
    project.run(*workers).assert_outcomes(passed=6)
    loaded = (project.path / "loaded.txt").read_text().splitlines()
    assert len(loaded) == len(set(loaded))
    assert {line.split()[0] for line in loaded} == {"checker", "retriever", "corpus"}


SERIALISING = """
from pytest_medfaith.records import Report

def logged(name, call):
    def made(*arguments):
        with open("serialised.txt", "a") as log:
            log.write(name + "\\n")
        return call(*arguments)
    return made

Report.to_dict = logged("written", Report.to_dict)
Report.from_dict = classmethod(logged("read", Report.from_dict.__func__))
"""


def test_a_report_is_serialised_once_on_its_way_from_a_worker_and_never_without_workers(project, workers):
    (project.path / "conftest.py").write_text(project.CONFTEST + SERIALISING)
    project.run(*workers).stdout.fnmatch_lines(["*mini*"])
    log = project.path / "serialised.txt"
    done = Counter(log.read_text().split() if log.exists() else ())
    assert done == (Counter(written=3, read=3) if workers else Counter())


DISAGREEING = """
@pytest.fixture
def medfaith_checker(request):
    other = scripted_checker(lambda evidence, claim: "neutral", name="other")
    return other if "stern" in request.node.name else scripted_checker(label)
"""


def test_two_tests_that_measure_one_slice_differently_are_a_usage_error(project, workers):
    (project.path / "conftest.py").write_text(project.CONFTEST.partition("@pytest.fixture")[0] + DISAGREEING)
    project.test(
        """
import pytest

@pytest.mark.medfaith("mini")
def test_kind(medfaith_report):
    pass

@pytest.mark.medfaith("mini")
def test_stern(medfaith_report):
    pass
"""
    )
    result = project.run(*workers)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    text = " ".join(result.stdout.str().split())
    assert (
        "ERROR: 3 case(s) of slice 'mini', retriever 'bm25', checker 'default' and k=2 came out differently "
        "in different tests" in text
    )
    assert "configure the slice twice under two names" in text


HITS_ONLY = """
import pytest

@pytest.mark.medfaith("mini", hallucination_at_most=0.0)
def test_hits(medfaith_hits):
    assert medfaith_hits
"""


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            (),
            (
                "the gates of slice 'mini' would not be judged, since no test measures it; ask for the "
                "fixture medfaith_report"
            ),
        ),
        (
            ("--medfaith-update-baseline",),
            "--medfaith-update-baseline was given, but no test measures a slice",
        ),
        (("--medfaith-slice", "second"), "--medfaith-slice was given, but no test is marked with 'second'"),
    ],
)
def test_what_nobody_would_judge_is_no_success(project, arguments, said, workers):
    project.configure('[tool.medfaith.slices.second]\ncases = "gold.jsonl"\nresponses = "responses.jsonl"\n')
    project.test(HITS_ONLY)
    result = project.run(*arguments, *workers)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert said in " ".join(result.stdout.str().split())


def test_tests_picked_by_name_need_not_judge_the_gates(project):
    project.test(HITS_ONLY)
    assert project.run("-k", "hits").ret == 0


def test_two_markers_on_one_test_are_refused(project):
    project.configure('[tool.medfaith.slices.second]\ncases = "gold.jsonl"\nresponses = "responses.jsonl"\n')
    project.test(
        HITS_ONLY.replace("@pytest", '@pytest.mark.medfaith("second")\n@pytest', 1).replace(
            "import pytest", "import pytest", 1
        )
    )
    result = project.run()
    assert result.ret != 0
    assert "this test has two markers medfaith" in " ".join(result.stdout.str().split())


def test_where_every_worker_dies_an_earlier_run_does_not_pass_for_this_one(project):
    project.test("import pytest\n\n@pytest.mark.medfaith('mini')\ndef test_one(medfaith_report):\n    pass\n")
    project.run("--medfaith-report", "out")
    assert (project.path / "out" / "signature.json").is_file()
    with (project.path / "conftest.py").open("a") as conftest:
        conftest.write("\nimport os\n\n@pytest.fixture\ndef medfaith_response():\n    os._exit(1)\n")
    result = project.run("--medfaith-report", "out", "-n", "1", "--max-worker-restart", "0")
    assert result.ret != 0
    assert "no test reported before its worker died" in " ".join(result.stdout.str().split())
    assert not (project.path / "out" / "signature.json").exists()
