import re

import pytest
from gate_samples import SIGNATURE, case, report_of, slice_of

from pytest_medfaith.compare.cards import html_change, markdown_change, terminal_change
from pytest_medfaith.compare.runs import compare_runs
from pytest_medfaith.records import GateResult, SliceRun

BEFORE = slice_of({"a": "sss", "b": "rss", "c": "sss"})
AFTER = slice_of(
    {"a": "rrs", "b": "sss", "d": "sss"},
    gates=(GateResult(expression="hallucination <= 0.1", outcome="fail", value=0.3),),
)


@pytest.fixture
def change():
    return compare_runs(
        ([BEFORE], SIGNATURE), ([AFTER], {**SIGNATURE, "seed": 7}), names=("runs/main", "runs/branch")
    )


def test_the_terminal_says_the_set_up_first_and_claims_worst_first(change):
    text = terminal_change(change)
    parts = [
        "before runs/main\nafter  runs/branch: 1 of 1 gates failed",
        "The set-ups differ, so a difference below may be theirs:\n  seed was 0, is 7",
        (
            "iron / bm25 / k=3:\n2 cases in both, 2 cases with other verdicts, 0 only reworded\n"
            "only before: c\nonly after: d"
        ),
        "metric ",
        "Halluc ",
        (
            "2 cases with other verdicts, worst first:\n"
            "  a  supported 3 → 1, refuted 0 → 2\n  b  supported 2 → 3, refuted 1 → 0"
        ),
        "1 claim turned for the better:\n  b  refuted → supported: b says thing 0.",
        "2 claims turned for the worse or new and not supported, worst first:",
        "case a (was supported)\nREFUTED     a says thing 0.",
        "p: paired permutation test over cases, two-sided, Holm-corrected",
    ]
    places = [text.index(part) for part in parts]
    assert places == sorted(places)
    row = next(line for line in text.splitlines() if line.startswith("Halluc"))
    assert re.search(r"\| 0\.17 \[0\.00, 0\.33\] +\| 0\.33 \[.*\] +\| \+0\.17 .* worse +\| ", row)


def test_a_gain_of_a_metric_that_should_be_high_is_better():
    text = terminal_change(
        compare_runs(([slice_of({"a": "sr", "b": "sr"})], {}), ([slice_of({"a": "ss", "b": "ss"})], {}))
    )
    row = next(line for line in text.splitlines() if line.startswith("Faithful"))
    assert re.search(r"\+0\.50 .* better", row)


def test_five_are_told_unless_all_are_asked_for():
    names = [f"c{i}" for i in range(8)]
    change = compare_runs(
        ([slice_of(dict.fromkeys(names, "s"))], {}), ([slice_of(dict.fromkeys(names, "r"))], {})
    )
    assert terminal_change(change).count("REFUTED") == 5
    assert "... and 3 more" in terminal_change(change)
    assert terminal_change(change, most=None).count("REFUTED") == 8
    assert "--verbose" not in terminal_change(change, most=None)


def test_slices_of_one_run_alone_are_named():
    other = report_of([case("a", "s")], run=SliceRun(slice="sleep", retriever="rrf", checker="student", k=3))
    text = terminal_change(compare_runs(([BEFORE], {}), ([other], {})))
    assert text.endswith(
        "only before: iron / bm25 / k=3 / student\n\nonly after: sleep / rrf / k=3 / student"
    )


def test_markdown_escapes_what_the_runs_hold(change):
    evil = compare_runs(([BEFORE], {}), ([AFTER], {}), names=("<b>", "a|b"))
    assert "### medfaith: \\<b> → a\\|b" in markdown_change(evil)
    text = markdown_change(change)
    assert "| Halluc " in text
    assert "<details><summary>2 cases with other verdicts, 2 claims worse, 1 better</summary>" in text
    assert "- seed was 0, is 7" in text


def test_the_page_holds_everything_and_runs_nothing(change):
    evil = "<script>alert(1)</script>"
    before, after = (report_of([case("a", letter, texts=[evil])]) for letter in "sr")
    page = html_change(compare_runs(([before], {}), ([after], {}), names=(evil, "b")))
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert "seed was 0, is 7" in html_change(change)


def test_the_page_colours_what_chance_does_not_explain(change):
    assert 'class="worse"' not in html_change(change)
    names = [f"c{i:02}" for i in range(12)]
    clear = compare_runs(
        ([slice_of(dict.fromkeys(names, "ss"))], {}), ([slice_of(dict.fromkeys(names, "sr"))], {})
    )
    assert html_change(clear).count('class="worse"') == 2
