"""A metric of a project, named in its settings: on every card, in gates and baselines, on workers too."""

import json
import shutil
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "own_metric"
CHECKER = """
import pytest
from pytest_medfaith.testing import scripted_checker

@pytest.fixture
def medfaith_checker():
    return scripted_checker(lambda evidence, claim: "entail")
"""
# As the installed script runs: the folder is not on the path by itself.
SCRIPT = "import sys; sys.path.remove(''); from pytest_medfaith.cli import main; main()"
CARD = "brand_names: 0.25 [0.00, 0.50] over 2 of 2 cases (claims that name a brand / claims)"
BASELINE_GATE = "brand_names no worse than baseline"


@pytest.fixture
def example(pytester):
    """The example of the docs, with a checker that needs no model."""
    shutil.copytree(EXAMPLE, pytester.path, dirs_exist_ok=True)
    (pytester.path / "conftest.py").write_text(CHECKER)
    return pytester


def run(example, *arguments):
    return example.runpytest_subprocess("-p", "no:cacheprovider", *arguments)


def edit(example, name, old, new):
    text = (example.path / name).read_text()
    assert text.count(old) == 1
    (example.path / name).write_text(text.replace(old, new))


def test_the_example_passes_and_every_card_shows_its_metric(example, workers):
    result = run(example, "--medfaith-verbose", "--medfaith-report", "out", *workers)
    assert result.ret == 0
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines([CARD.replace("[", "[[]"), "PASS  brand_names <= 40%: brand_names is 0.250*"])
    out = example.path / "out"
    assert CARD in (out / "card.md").read_text()
    assert "<dt>brand_names</dt><dd>claims that name a brand / claims</dd>" in (out / "card.html").read_text()
    (row,) = json.loads((out / "report.json").read_text())["slices"]
    assert row["metrics"]["brand_names"] == {"value": 0.25, "low": 0.0, "high": 0.5, "n": 2}
    assert row["definitions"] == {"brand_names": "claims that name a brand / claims"}
    measured = {one["case"]["id"]: one["metrics"]["brand_names"] for one in row["cases"]}
    assert measured == {"headache": 0.5, "fever": 0.0}


def test_gates_of_command_line_and_marker_bound_it_and_a_plain_card_stays_short(example):
    edit(example, "test_pain.py", '"pain")', '"pain", brand_names_at_most=0.2)')
    result = run(example, "--medfaith-gate", "brand_names <= 0.1")
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        [
            "PASS  brand_names <= 40%: 0.250",
            "FAIL  brand_names <= 0.2: brand_names is 0.250*over 2 cases; wanted at most 0.2",
            "FAIL  brand_names <= 0.1: brand_names is 0.250*over 2 cases; wanted at most 0.1",
        ]
    )
    result.stdout.no_fnmatch_line("*over 2 of 2 cases*")


def test_a_baseline_remembers_it_and_a_worse_run_is_seen(example):
    questions = [{"id": f"q{i}", "question": "What helps?"} for i in range(8)]
    answers = [
        {
            "case_id": f"q{i}",
            "answer": "Ibuprofen helps.",
            "contexts": [{"id": "c", "text": "Ibuprofen helps."}],
        }
        for i in range(8)
    ]

    def write(name, rows):
        (example.path / name).write_text("".join(json.dumps(row) + "\n" for row in rows))

    write("questions.jsonl", questions)
    write("answers.jsonl", answers)
    edit(example, "test_pain.py", 'assert medfaith_report.metrics["brand_names"] <= 0.5', "pass")
    edit(example, "pyproject.toml", '["brand_names <= 40%"]', f'["{BASELINE_GATE}"]')
    assert run(example, "--medfaith-update-baseline").ret == 0
    (entry,) = json.loads((example.path / "medfaith-baseline.json").read_text())["slices"]
    assert entry["metrics"]["brand_names"]["value"] == 0
    assert run(example).ret == 0
    write("answers.jsonl", [{**row, "answer": "Advil helps."} for row in answers])
    result = run(example)
    assert result.ret == 1
    result.stdout.fnmatch_lines([f"FAIL  {BASELINE_GATE}: brand_names is 1.000, was 0.000; worse by 1.000*"])


def test_a_baseline_without_it_is_said_before_the_first_test(example):
    run(example, "--medfaith-update-baseline")
    edit(example, "house_metrics.py", 'name="brand_names"', 'name="brands"')
    edit(example, "pyproject.toml", '["brand_names <= 40%"]', '["brands no worse than baseline"]')
    result = run(example)
    assert result.ret == 4
    result.stdout.fnmatch_lines(
        ["*the baseline of slice 'pain' holds no value of brands; store one with pytest --medfaith-upd*"]
    )


def test_a_name_that_leads_nowhere_is_one_message(example):
    edit(example, "pyproject.toml", ":brand_names", ":brands")
    result = run(example)
    assert result.ret != 0
    result.stdout.fnmatch_lines(
        ["*the metric 'house_metrics:brands' cannot be imported (module 'house_metrics' has no attribute*"]
    )
    assert "INTERNALERROR" not in result.stdout.str() + result.stderr.str()


def test_the_name_of_a_shipped_metric_is_refused(example):
    edit(example, "house_metrics.py", 'name="brand_names"', 'name="hallucination"')
    result = run(example)
    assert result.ret != 0
    result.stdout.fnmatch_lines(
        ["*the metric 'house_metrics:brand_names' has the name 'hallucination', which a shipped one has*"]
    )


def test_a_value_out_of_range_fails_the_test_of_its_case(example):
    edit(example, "house_metrics.py", "for text in texts), len(texts)", "for text in texts) + 2, len(texts)")
    result = run(example)
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        ["*metric 'brand_names' of case 'headache' is 3 / 2 = 1.5, expected a value in its range, 0 to 1*"]
    )
    assert "INTERNALERROR" not in result.stdout.str()


def test_a_second_run_in_the_same_process_does_not_know_it(example):
    (example.path / "other").mkdir()
    for name in ("pyproject.toml", "questions.jsonl", "answers.jsonl"):
        shutil.copy(example.path / name, example.path / "other")
    shutil.copy(example.path / "test_pain.py", example.path / "other" / "test_other.py")
    edit(example, "other/pyproject.toml", 'metrics = ["house_metrics:brand_names"]\n', "")
    script = (
        "import pytest; print('first', pytest.main(['test_pain.py'])); "
        "pytest.main(['--rootdir=other', '-c', 'other/pyproject.toml', 'other'])"
    )
    result = example.run(sys.executable, "-c", script)
    result.stdout.fnmatch_lines(["first 0", "*no metric is called 'brand_names'*"])


def test_the_command_line_knows_it_too(example):
    edit(
        example,
        "pyproject.toml",
        "[tool.medfaith.slices.pain]\n",
        '[tool.medfaith.slices.pain]\nchecker = "fast"\n',
    )
    result = example.run(sys.executable, "-c", SCRIPT, "evaluate", "pain", "--verbose", "--report", "out")
    result.stdout.fnmatch_lines(["*brand_names: 0.25 *claims that name a brand / claims*"])
    compared = example.run(sys.executable, "-c", SCRIPT, "compare", "out", "out")
    assert compared.ret == 0
    compared.stdout.fnmatch_lines(["*brand_names*"])


def test_a_check_without_a_slice_measures_it(example):
    (example.path / "test_pain.py").write_text(
        "def test_x(medfaith_check):\n"
        "    report = medfaith_check('Advil helps. Rest helps.', contexts=['Advil helps. Rest helps.'])\n"
        "    assert report.metrics['brand_names'] == 0.5\n"
    )
    run(example).assert_outcomes(passed=1)
