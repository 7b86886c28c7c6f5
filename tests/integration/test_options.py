import json

import pytest

TWO_SLICES = """
[tool.medfaith.slices.second]
cases = "gold.jsonl"
corpus = ["corpus"]
responses = "responses.jsonl"
retriever = "bm25"
k = 3
gates = ["faithfulness >= 0.5"]
"""
TWO_TESTS = """
import pytest

@pytest.mark.medfaith("mini")
def test_mini(medfaith_report):
    pass

@pytest.mark.medfaith("second")
def test_second(medfaith_report):
    pass
"""


def test_slice_runs_only_these(project, workers):
    project.configure(TWO_SLICES)
    project.test(TWO_TESTS)
    result = project.run("--medfaith-slice", "second", *workers)
    result.assert_outcomes(passed=3, deselected=0 if workers else 1)
    result.stdout.fnmatch_lines(["*second*bm25*"])
    result.stdout.no_fnmatch_line("*mini*bm25*")


def test_an_unknown_slice_on_the_command_line_is_an_error(project):
    result = project.run("--medfaith-slice", "mni")
    assert result.ret == 2
    result.stdout.fnmatch_lines(["*slice 'mni' is unknown; did you mean 'mini'?*"])


@pytest.mark.parametrize(
    ("arguments", "shown"), [((), "*mini*bm25*2*"), (("--medfaith-k", "4"), "*mini*bm25*4*")]
)
def test_k_on_the_command_line_beats_the_configuration(project, arguments, shown):
    project.run(*arguments).stdout.fnmatch_lines([shown])


def test_k_of_the_marker_beats_the_configuration_and_the_command_line_beats_the_marker(project):
    project.test(TWO_TESTS.replace('"mini"', '"mini", k=3'))
    project.configure(TWO_SLICES)
    project.run("--medfaith-slice", "mini").stdout.fnmatch_lines(["*mini*bm25*3*"])
    project.run("--medfaith-slice", "mini", "--medfaith-k", "5").stdout.fnmatch_lines(["*mini*bm25*5*"])


def test_retrievers_on_the_command_line_make_an_ablation(project, workers):
    result = project.run("--medfaith-retriever", "bm25", "--medfaith-retriever", "dense", *workers)
    result.assert_outcomes(passed=4, failed=2)
    result.stdout.fnmatch_lines(["*mini*bm25*", "*mini*dense*"])


def test_limit_takes_the_first_cases_and_a_seed_a_sample(project):
    project.run("--medfaith-limit", "1", "--collect-only", "-q").stdout.fnmatch_lines(
        ["*test_faithful[[]iron[]]"]
    )
    collected = {
        project.run(
            "--medfaith-limit", "1", "--medfaith-seed", str(seed), "--collect-only", "-q"
        ).stdout.lines[0]
        for seed in range(6)
    }
    assert len(collected) > 1


def test_a_gate_on_the_command_line_is_judged(project, workers):
    result = project.run("--medfaith-gate", "hallucination <= 0.01", *workers)
    assert result.ret == 1
    result.stdout.fnmatch_lines(["*hallucination <= 0.01*0.25*"])


def test_a_gate_that_fails_fails_a_run_whose_tests_pass(project, workers):
    project.test(TWO_TESTS.partition('@pytest.mark.medfaith("second")')[0])
    assert project.run(*workers).ret == 0
    assert project.run("--medfaith-gate", "faithfulness >= 0.8", *workers).ret == 1


def test_a_gate_that_does_not_parse_points_at_the_place(project):
    result = project.run("--medfaith-gate", "hallucination < 0.01")
    assert result.ret == 2
    result.stdout.fnmatch_lines(["*this gate does not parse*", "*hallucination < 0.01*"])


def test_report_writes_the_run_folder(project, workers):
    project.run("--medfaith-report", "out", *workers)
    out = project.path / "out"
    assert {
        "snippets.jsonl",
        "responses.jsonl",
        "claims.jsonl",
        "pairs.jsonl",
        "report.json",
        "card.md",
        "signature.json",
    } <= {p.name for p in out.iterdir()}
    pairs = [json.loads(line) for line in (out / "pairs.jsonl").read_text().splitlines()]
    assert all(len(pair["logits"]) == 3 for pair in pairs)
    assert "| mini" in (out / "card.md").read_text()


def test_the_report_is_the_same_with_and_without_workers(project):
    project.run("--medfaith-report", "one")
    project.run("--medfaith-report", "two", "-n", "2")
    for name in (
        "report.json",
        "claims.jsonl",
        "pairs.jsonl",
        "snippets.jsonl",
        "responses.jsonl",
        "card.md",
    ):
        assert (project.path / "one" / name).read_bytes() == (project.path / "two" / name).read_bytes(), name


def test_verbose_shows_intervals(project):
    project.run("--medfaith-verbose").stdout.re_match_lines([r".*0\.75 \[0\.\d+, 1\.00\].*"])


def test_every_option_is_in_the_help(project, pytestconfig):
    options = [name.replace("_", "-") for name in vars(pytestconfig.option) if name.startswith("medfaith_")]
    assert "medfaith-update-baseline" in options
    project.run("--help").stdout.fnmatch_lines_random([f"*--{option}*" for option in options])


def test_gates_and_metrics_are_in_junit(project, workers):
    project.run("--junitxml", "junit.xml", "--medfaith-gate", "faithfulness >= 0.5", *workers)
    xml = (project.path / "junit.xml").read_text()
    assert 'name="medfaith.mini.bm25.scripted.k2.faithfulness" value="0.75"' in xml
    assert 'name="medfaith.mini.bm25.scripted.k2.gate[faithfulness &gt;= 0.5]" value="pass"' in xml
    assert xml.count('name="medfaith.faithfulness"') == 2


def test_an_unwritable_report_folder_is_said_before_the_run(project):
    (project.path / "out").write_text("a file stands where the folder should be")
    result = project.run("--medfaith-report", "out")
    assert result.ret == 4
    result.stderr.fnmatch_lines(
        ["*the report folder *out cannot be written*Give another one with --medfaith-report DIR*"]
    )
    result.stdout.no_fnmatch_line("*collected*")


@pytest.mark.parametrize("option", ["--medfaith-k", "--medfaith-limit"])
@pytest.mark.parametrize("value", ["0", "-3", "many"])
def test_a_count_below_one_is_a_usage_error(project, option, value):
    result = project.run(option, value)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*argument {option}: '{value}' is no whole number of 1 or more*"])


def test_the_report_folder_remembers_its_runs_for_the_trend(project):
    for _ in range(3):
        project.run("--medfaith-report", "out", "--medfaith-gate", "faithfulness >= 0.1")
    assert len((project.path / "out" / "history.jsonl").read_text().splitlines()) == 2
    assert "Faithful over 3 runs" in (project.path / "out" / "card.html").read_text(encoding="utf-8")


def test_a_history_that_cannot_be_read_is_said_before_the_run(project):
    (project.path / "out").mkdir()
    (project.path / "out" / "history.jsonl").write_text("{")
    result = project.run("--medfaith-report", "out")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*history.jsonl:1: not JSON*"])
    result.stdout.no_fnmatch_line("*collected*")


def test_a_failure_follows_the_width_of_the_terminal(project, monkeypatch, workers):
    rows = [json.loads(line) for line in (project.path / "responses.jsonl").read_text().splitlines()]
    rows[1]["answer"] = (
        "Moonlight, " + "and walking outside in the cold air of a long night, " * 3 + "sets off asthma."
    )
    (project.path / "responses.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    longest = {}
    for columns in (60, 120):
        monkeypatch.setenv("COLUMNS", str(columns))
        lines = project.run("-k", "asthma", *workers).outlines
        longest[columns] = max(len(line) for line in lines if line.startswith("E  "))
    assert 50 < longest[60] <= 60
    assert 90 < longest[120] <= 100


def test_v_shows_every_claim_that_failed(project):
    wrong = " ".join(f"Moonlight number {i} sets off asthma." for i in range(8))
    rows = [json.loads(line) for line in (project.path / "responses.jsonl").read_text().splitlines()]
    rows[1]["answer"] = wrong
    (project.path / "responses.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    project.run("-k", "asthma").stdout.fnmatch_lines(["*... and 3 more (-v shows all)"])
    project.run("-k", "asthma", "-v").stdout.no_fnmatch_line("*more (-v shows all)")
