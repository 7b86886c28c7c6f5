"""A failure ends at the user's line: the package's frames are hidden."""

import re

import pytest

HEAD = """
import pytest
from pytest_medfaith import *
from pytest_medfaith.testing import containment_checker

CHECKER = containment_checker()
"""
# A line that fails, and what is said of it.
FAILING = {
    "faithfulness": (
        'assert_faithfulness("Iron helps.", ["Gout hurts."], checker=CHECKER)',
        "faithfulness is 0.000",
    ),
    "unmeasured": ('assert_faithfulness("", ["Gout hurts."], checker=CHECKER)', "could not be measured"),
    "hallucination": ('assert_no_hallucination("Iron helps.", [], checker=CHECKER)', "there are no contexts"),
    "safety": ('assert_no_safety_errors("Take 8 g of paracetamol a day.")', "paracetamol"),
    "recall": (
        'assert_claim_recall("Iron helps.", ["Iron helps."], gold_claims=["Gout hurts."], checker=CHECKER)',
        "claim_recall is 0.000",
    ),
    "cited": ('assert_cited("Iron helps.", ["Iron helps."], checker=CHECKER)', "citation_coverage is 0.000"),
    "no contexts": ('assert_faithfulness("Iron helps.")', "contexts is missing"),
    "no answer": ("assert_faithfulness(None, [])", "the answer is None"),
    "no chunk": ('assert_faithfulness("Iron helps.", [5], checker=CHECKER)', "context 1 is 5"),
    "bound": (
        'assert_faithfulness("Iron helps.", ["Iron helps."], at_least=5, checker=CHECKER)',
        "the bound on faithfulness is 5",
    ),
    "check": ('check_answer("Iron helps.", 5, checker=CHECKER)', "contexts"),
    "checker": ('load_checker("fast", rules_off=["doses"])', "doses"),
    "retriever": ('build_retriever("no.module:name", [])', "no.module"),
    "fixture": ("medfaith_check(b'Iron', [])", "the answer is a bytes"),
}


@pytest.fixture(scope="module")
def shown(tmp_path_factory, run_pytest):
    """What pytest shows of each failing line, in one run of them all."""
    folder = tmp_path_factory.mktemp("frames")
    tests = "".join(
        f"\ndef test_{number}(medfaith_check):\n    {code}\n"
        for number, (code, _) in enumerate(FAILING.values())
    )
    (folder / "pytest.ini").write_text("[pytest]\n")
    (folder / "test_frames.py").write_text(HEAD + tests)
    output = run_pytest(folder, "-p", "no:randomly", "-W", "ignore", "test_frames.py").stdout
    parts = re.split(r"^_+ test_(\d+) _+$", output, flags=re.MULTILINE)
    return {
        list(FAILING)[int(number)]: text.partition("====")[0]
        for number, text in zip(parts[1::2], parts[2::2], strict=True)
    }


@pytest.mark.parametrize("name", FAILING)
def test_the_users_line_stands_last(shown, name):
    code, said = FAILING[name]
    places = re.findall(r"^\S+\.py:\d+: .*$", shown[name], re.MULTILINE)
    assert len(places) == 1, places
    assert places[0].startswith("test_frames.py:")
    assert re.findall(r"^>.*$", shown[name], re.MULTILINE) == [f">       {code}"]
    assert said in shown[name]


def test_full_trace_shows_them(pytester):
    pytester.makepyfile(f"{HEAD}\ndef test_answer():\n    {FAILING['no chunk'][0]}\n")
    result = pytester.runpytest_subprocess("-p", "no:randomly", "--full-trace")
    result.stdout.fnmatch_lines(["*contexts.py:*DataError*"])


def test_what_the_users_own_code_raises_keeps_its_frames(pytester):
    pytester.makepyfile(
        f"""{HEAD}
def broken(answer, question):
    raise ValueError("no claims today")

def test_answer():
    check_answer("Iron helps.", ["Iron helps."], checker=CHECKER, extractor=broken)
"""
    )
    result = pytester.runpytest_subprocess("-p", "no:randomly")
    result.stdout.fnmatch_lines(['>       raise ValueError("no claims today")', "*no claims today*"])
