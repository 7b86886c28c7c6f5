import json
import shutil

import pytest

from pytest_medfaith.cli import main
from pytest_medfaith.gates.plausible import CHECKSUM, checksum

SUITE = """
import pytest

@pytest.mark.medfaith("mini")
def test_reported(medfaith_report):
    pass
"""
GATE = 'gates = ["hallucination no worse than baseline by 0.02"]\n'


@pytest.fixture(scope="module")
def written(project_at, run_pytest, tmp_path_factory):
    """A project whose baseline was written once; its tests work on copies of it."""
    made = project_at(tmp_path_factory.mktemp("written"))
    made.configure(GATE)
    made.test(SUITE)
    assert run_pytest(made.path, "--medfaith-update-baseline").returncode == 0
    return made.path


@pytest.fixture
def remembered(project, written):
    """The project with a baseline of what it measures."""
    shutil.copytree(written, project.path, dirs_exist_ok=True)
    return project


def spoil(project, count):
    """Adds `count` refuted claims to the answer about asthma."""
    rows = [json.loads(line) for line in (project.path / "responses.jsonl").read_text().splitlines()]
    rows[1]["answer"] += "".join(f" Moonlight number {i} sets off asthma." for i in range(count))
    (project.path / "responses.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def refused(result):
    """Returns what a run says that was refused before its first test."""
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.assert_outcomes()
    text = " ".join(result.stdout.str().split())
    assert "Traceback" not in text
    return text


def test_no_baseline_is_said_with_the_flag_before_anything_runs(project, workers):
    project.configure(GATE)
    project.test(SUITE)
    assert "no baseline is there yet; write one with pytest --medfaith-update-baseline" in refused(
        project.run(*workers)
    )


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


def test_a_part_of_the_cases_does_not_replace_the_baseline_of_all(project, workers):
    project.run("--medfaith-update-baseline")
    before = (project.path / "medfaith-baseline.json").read_bytes()
    text = refused(project.run("--medfaith-update-baseline", "-k", "iron", *workers))
    assert "1 of its 3 cases are selected" in text
    assert "without -k, --lf or --deselect" in text
    assert (project.path / "medfaith-baseline.json").read_bytes() == before


def test_another_set_up_is_a_usage_error_with_the_flag(remembered):
    chunks = (remembered.path / "corpus" / "chunks.jsonl").read_text()
    (remembered.path / "corpus" / "chunks.jsonl").write_text(chunks.replace("Cold air", "Icy air"))
    text = refused(remembered.run())
    assert "another set-up measured slice 'mini'" in text
    assert "with pytest --medfaith-update-baseline" in text


def test_a_baseline_of_another_kind_of_processor_is_compared_with_a_note(remembered, workers):
    path = remembered.path / "medfaith-baseline.json"
    baseline = json.loads(path.read_text())
    (entry,) = baseline["slices"]
    own = entry["signature"]["processor"]
    entry["signature"]["processor"] = "another kernel"
    entry[CHECKSUM] = checksum(entry)
    path.write_text(json.dumps(baseline))
    result = remembered.run(*workers)
    text = " ".join(result.stdout.str().split())
    assert result.ret == 0
    assert (
        "slice 'mini': its baseline was measured on a processor with another kernel, this run on one with "
        f"{own}." in text
    )
    remembered.run("--medfaith-update-baseline", *workers)
    assert "its baseline was measured on" not in remembered.run(*workers).stdout.str()


def test_missing_cases_are_a_usage_error(remembered):
    assert "2 of 3 cases of slice 'mini' are not in this run: asthma, gout" in refused(
        remembered.run("-k", "iron")
    )


def test_a_corrupt_baseline_is_named(project):
    project.configure(GATE)
    project.test(SUITE)
    (project.path / "medfaith-baseline.json").write_text("{")
    assert "medfaith-baseline.json cannot be read as JSON" in refused(project.run())
    (project.path / "medfaith-baseline.json").write_text('{"format_version": 99}')
    assert "a newer version wrote this baseline (format 99)" in refused(project.run())
    said = " ".join(project.run("--medfaith-update-baseline").stdout.str().split())
    assert "the file that was there could not be read" in said
    assert (project.path / "medfaith-baseline.json.unreadable").read_text() == '{"format_version": 99}'


def test_what_only_the_run_can_show_is_said_after_it(remembered):
    """A checker that a test brings along is unknown before: its weights are compared once it has answered."""
    conftest = (remembered.path / "conftest.py").read_text()
    (remembered.path / "conftest.py").write_text(
        conftest.replace("scripted_checker(label)", 'scripted_checker(label, name="another")')
    )
    result = remembered.run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.assert_outcomes(passed=3)
    assert "has no entry for slice 'mini', retriever 'bm25', checker 'another' and k=2" in " ".join(
        result.stdout.str().split()
    )


def test_a_baseline_that_cannot_be_written_is_said_before_the_run(project):
    project.test(SUITE)
    (project.path / "medfaith-baseline.json").mkdir()
    result = project.run("--medfaith-update-baseline")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["*the baseline *medfaith-baseline.json cannot be written*--medfaith-baseline FILE*"]
    )
    result.stdout.no_fnmatch_line("*collected*")


def test_a_run_that_was_cut_short_writes_no_baseline_and_says_so(project):
    project.test(SUITE)
    (project.path / "responses.jsonl").write_text(
        "".join((project.path / "responses.jsonl").read_text().splitlines(keepends=True)[:2])
    )
    result = project.run("--medfaith-update-baseline")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stdout.fnmatch_lines(["ERROR: slice 'mini' was cut short, 1 case(s) did not finish: gout*"])
    assert not (project.path / "medfaith-baseline.json").exists()


def test_claims_that_turned_are_shown_below_the_card(project):
    project.configure('gates = ["hallucination <= 0.3"]\n')
    project.test(SUITE)
    spoil(project, 8)
    result = project.run()
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        [
            "*FAIL*hallucination <= 0.3*",
            "mini: 9 claims not carried by the evidence, worst first",
            "*Moonlight*",
            "*... and 4 more*",
        ]
    )
    assert project.run("-v").stdout.str().count("REFUTED ") == 9


@pytest.mark.parametrize(("says", "status"), [("warn", 0), ("fail", 1), ("pass", 0)])
def test_inconclusive_is_what_the_user_says(project, says, status):
    project.configure(f'[tool.medfaith]\ninconclusive = "{says}"\n')
    project.test(SUITE)
    result = project.run("-k", "iron", "--medfaith-gate", "faithfulness >= 0.5 at 95%")
    assert result.ret == status
    result.stdout.fnmatch_lines(["INCONCLUSIVE  faithfulness >= 0.5 at 95%*one case has no interval*"])
    assert ("1 gate inconclusive: the run is not failed for it" in result.stdout.str()) == (says == "warn")


def test_inconclusive_is_one_of_three_words(project):
    (project.path / "medfaith.toml").write_text('inconclusive = "maybe"\n')
    result = project.run()
    result.stdout.fnmatch_lines(["*inconclusive is 'maybe', expected one of warn, fail, pass*"])


def test_a_changed_checker_of_ones_own_does_not_compare(remembered):
    """Its name is the same; what decides its verdicts is not."""
    assert remembered.run().ret == 0
    conftest = (remembered.path / "conftest.py").read_text()
    changed = conftest.replace(
        "scripted_checker(label)", 'dataclasses.replace(scripted_checker(label), signature="prompt 2")'
    )
    (remembered.path / "conftest.py").write_text("import dataclasses\n" + changed)
    result = remembered.run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert 'checkers.scripted.weights was "scripted:scripted", is "prompt 2"' in " ".join(
        result.stdout.str().split()
    )


def test_a_checker_of_ones_own_needs_a_name_of_its_own(project):
    project.test(SUITE)
    conftest = (project.path / "conftest.py").read_text()
    (project.path / "conftest.py").write_text(
        conftest.replace("scripted_checker(label)", 'scripted_checker(label, name="default")')
    )
    result = project.run()
    assert result.ret == 1
    assert "called 'default' as the configured one" in " ".join(result.stdout.str().split())


def test_a_metric_that_the_baseline_lacks_is_said_before_the_run(remembered):
    text = refused(remembered.run("--medfaith-gate", "recall@7 no worse than baseline"))
    assert "the baseline of slice 'mini' holds no value of recall@7" in text


def test_each_failed_gate_shows_what_stands_behind_it(project):
    """Where nothing turned in the comparison, a failed bound shows its refuted claim and no empty list."""
    project.configure(
        'gates = ["hallucination <= 0.05", "hallucination no worse than baseline by 0.02", "claim_recall >= '
        '0.99"]\n'
    )
    project.test(SUITE)
    project.run("--medfaith-update-baseline")
    text = project.run().stdout.str()
    assert "mini: 1 claim not carried by the evidence, worst first" in text
    assert "turned since the baseline" not in text
    assert "mini: 1 of 3 key gold claims not in the answer" in text


def test_a_passing_comparison_is_told_with_verbose(remembered):
    assert "nothing differs from the baseline" in remembered.run("--medfaith-verbose").stdout.str()


def test_a_kept_baseline_is_compared_with_by_its_number(project, monkeypatch):
    monkeypatch.setenv("GITHUB_SHA", "57d7bbd0" * 5)
    project.configure(GATE)
    project.test(SUITE)
    project.run("--medfaith-update-baseline").stdout.fnmatch_lines(
        ["baseline written: *medfaith-baseline.json, kept as 0001"]
    )
    spoil(project, 20)
    project.run("--medfaith-update-baseline").stdout.fnmatch_lines(["baseline written: *, kept as 0002"])
    assert project.run().ret == 0
    result = project.run("--medfaith-baseline=0001")
    result.stdout.fnmatch_lines(["*no worse than baseline*hallucination is 0.875, was 0.250;*"])
    assert "no kept baseline has the number 0007; " in refused(project.run("--medfaith-baseline=7"))
    update = project.run("--medfaith-baseline=0001", "--medfaith-update-baseline")
    assert update.ret == pytest.ExitCode.USAGE_ERROR
    update.stderr.fnmatch_lines(["*0001, a kept copy, which is never written over*"])


def test_the_command_lists_and_prunes(project, monkeypatch, capsys):
    monkeypatch.setenv("GITHUB_SHA", "57d7bbd0" * 5)
    monkeypatch.chdir(project.path)
    project.test(SUITE)
    command(["baseline", "list"])
    assert "none kept yet" in capsys.readouterr().out
    for count in (0, 1, 2):
        spoil(project, count)
        project.run("--medfaith-update-baseline")
    capsys.readouterr()
    command(["baseline", "list"])
    lines = capsys.readouterr().out.splitlines()
    assert [line[:4] for line in lines] == ["0001", "0002", "0003"]
    assert all("UTC  57d7bbd  mini: 3 cases" in line for line in lines)
    assert [line.endswith("(current)") for line in lines] == [False, False, True]
    command(["baseline", "prune", "--keep", "1"])
    assert "2 removed, 1 kept" in capsys.readouterr().out
    command(["baseline", "list"])
    assert capsys.readouterr().out.startswith("0003")


def command(arguments):
    with pytest.raises(SystemExit) as end:
        main(arguments)
    assert end.value.code == 0
