import json

SUITE = """
import pytest

@pytest.mark.medfaith("mini")
def test_reported(medfaith_report):
    pass
"""
GATE = 'gates = ["hallucination no worse than baseline by 0.02"]\n'


def spoil(project, count):
    """Adds `count` refuted claims to the answer about asthma."""
    rows = [json.loads(line) for line in (project.path / "responses.jsonl").read_text().splitlines()]
    rows[1]["answer"] += "".join(f" Moonlight number {i} sets off asthma." for i in range(count))
    (project.path / "responses.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_no_baseline_is_said_with_the_flag_before_anything_runs(project, workers):
    project.configure(GATE)
    project.test(SUITE)
    result = project.run(*workers)
    assert result.ret in (1, 2)
    result.stdout.fnmatch_lines(["*no baseline is there yet; write one with pytest --medfaith-update-baseline*"])
    result.stdout.no_fnmatch_line("*Traceback*")


def test_a_baseline_is_written_and_the_next_run_is_compared_with_it(project, workers):
    project.configure(GATE)
    project.test(SUITE)
    first = project.run("--medfaith-update-baseline", *workers)
    assert first.ret == 0
    first.stdout.fnmatch_lines(["*baseline written: *medfaith-baseline.json*"])
    written = (project.path / "medfaith-baseline.json").read_bytes()
    second = project.run(*workers)
    assert second.ret == 0
    second.stdout.fnmatch_lines(["*hallucination no worse than baseline by 0.02*"])
    project.run("--medfaith-update-baseline", *workers)
    assert (project.path / "medfaith-baseline.json").read_bytes() == written


def test_another_set_up_is_a_usage_error_with_the_flag(project):
    project.configure(GATE)
    project.test(SUITE)
    project.run("--medfaith-update-baseline")
    chunks = (project.path / "corpus" / "chunks.jsonl").read_text()
    (project.path / "corpus" / "chunks.jsonl").write_text(chunks.replace("Cold air", "Icy air"))
    result = project.run()
    assert result.ret == 4
    result.stdout.fnmatch_lines(["*another set-up measured slice 'mini'*"])
    assert "--medfaith-update-baseline" in result.stdout.str()


def test_missing_cases_are_a_usage_error(project):
    project.configure(GATE)
    project.test(SUITE)
    project.run("--medfaith-update-baseline")
    result = project.run("-k", "iron")
    assert result.ret == 4
    assert "cases of slice 'mini' are not in this run" in " ".join(result.stdout.str().split())


def test_a_corrupt_baseline_is_named(project):
    project.configure(GATE)
    project.test(SUITE)
    (project.path / "medfaith-baseline.json").write_text("{")
    result = project.run()
    assert result.ret == 2
    result.stdout.fnmatch_lines(["*medfaith-baseline.json cannot be read as JSON*"])


def test_claims_that_turned_are_shown_below_the_card(project):
    project.configure('gates = ["hallucination <= 0.3"]\n')
    project.test(SUITE)
    spoil(project, 8)
    result = project.run()
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        ["*FAIL*hallucination <= 0.3*", "mini: 9 claims not carried by the evidence, worst first", "*Moonlight*", "*... and 4 more*"]
    )


def test_inconclusive_is_what_the_user_says(project):
    (project.path / "medfaith.toml").write_text(
        (project.path / "pyproject.toml")
        .read_text()
        .partition("[tool.medfaith.slices.mini]")[2]
        .join(['inconclusive = "fail"\n[slices.mini]', ""])
    )
    project.test(SUITE)
    assert project.run("--medfaith-gate", "abstention <= 0.9 at 95%").ret in (0, 1)
    (project.path / "medfaith.toml").write_text('inconclusive = "maybe"\n')
    result = project.run()
    result.stdout.fnmatch_lines(["*inconclusive is 'maybe', expected one of warn, fail, pass*"])
