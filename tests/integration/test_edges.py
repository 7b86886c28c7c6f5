"""Edges of the command line: no input is written over, no text commands a terminal, no killed run passes."""

import json
import os
import re
import shutil
import signal
import stat
import time
import unicodedata
from functools import partial

import pytest

from pytest_medfaith.cards.run_reading import read_run
from pytest_medfaith.cli import main
from pytest_medfaith.commands.init_project import init_project

FAST = "--medfaith-checker=fast"
HOSTILE = (
    "\x1b[31mred\x9b2J\x85::error::owned\x0c::warning::owned\u2028::notice::x\n"
    "::error::owned\n##[error]owned "
)


def rows(path, *records):
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


@pytest.fixture
def claims(tmp_path):
    return rows(tmp_path / "claims.jsonl", {"id": 1, "claim": "Iron helps.", "evidence": "Iron helps."})


@pytest.mark.parametrize("content", ["", "\n", " \n\n", "\ufeff"])
def test_a_file_without_rows_is_an_error(tmp_path, content, monkeypatch, capsys):
    (tmp_path / "empty.jsonl").write_text(content, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit, match="2"):
        main(["check", "empty.jsonl", "--out", "out.jsonl"])
    assert "empty.jsonl: no rows, so nothing would be checked" in capsys.readouterr().err
    assert not (tmp_path / "out.jsonl").exists()


PAIRS = {
    "check: out is the input": ("check", "claims.jsonl", "--out", "claims.jsonl"),
    "check: out is a link to it": ("check", "claims.jsonl", "--out", "link.jsonl"),
    "check: cache is the input": ("check", "claims.jsonl", "--out", "out.jsonl", "--cache", "claims.jsonl"),
    "check: cache is the output": ("check", "claims.jsonl", "--out", "out.jsonl", "--cache", "out.jsonl"),
    "check: cache is another file": ("check", "claims.jsonl", "--out", "out.jsonl", "--cache", "notes.txt"),
    "check: cache is a folder": ("check", "claims.jsonl", "--out", "out.jsonl", "--cache", "corpus"),
    "check: out is the calibration": (
        "check",
        "claims.jsonl",
        "--out",
        "notes.txt",
        "--calibration",
        "notes.txt",
    ),
    "audit: cache is a chunk file": ("audit", "corpus", "--cache", "corpus/a.jsonl"),
    "audit: cache is another file": ("audit", "corpus", "--cache", "notes.txt"),
    "calibrate: out is the input": ("calibrate", "claims.jsonl", "--out", "claims.jsonl"),
    "chunk: out is the source": ("chunk", "corpus/a.jsonl", "--source", "s", "--out", "corpus/a.jsonl"),
    "report: out is the run's": ("report", "run", "--format", "csv", "--out", "run/report.json"),
    "compare: out is a run's": ("compare", "run", "run", "--format", "markdown", "--out", "run/claims.jsonl"),
}


@pytest.mark.parametrize("arguments", PAIRS.values(), ids=PAIRS)
def test_what_is_read_or_is_another_file_is_not_written_over(
    tmp_path, claims, arguments, monkeypatch, capsys
):
    (tmp_path / "link.jsonl").symlink_to(claims)
    (tmp_path / "notes.txt").write_text("mine\n")
    (tmp_path / "corpus").mkdir()
    rows(tmp_path / "corpus" / "a.jsonl", {"id": "a", "text": "Iron helps."})
    (tmp_path / "run").mkdir()
    for name in ("report.json", "claims.jsonl"):
        (tmp_path / "run" / name).write_text("{}")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    assert ended.value.code == 2
    assert capsys.readouterr().err.startswith("medfaith: ")
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_results_go_to_a_pipe_and_leave_it_one(tmp_path, claims, start):
    ours, theirs = (os.fdopen(end, mode) for end, mode in zip(os.pipe(), "rw", strict=True))
    call = ("check", str(claims), "--out", "/dev/stdout", "--checker", "fast")
    with ours, (tmp_path / "err").open("w") as said:
        with theirs:
            running = start("medfaith", *call, folder=tmp_path, stdout=theirs, stderr=said)
        result = ours.read()
    assert running.wait() == 0, (tmp_path / "err").read_text()
    assert json.loads(result)["id"] == 1


def assert_tame(text):
    assert {sign for sign in text if unicodedata.category(sign) in ("Cc", "Cf", "Cs", "Zl", "Zp")} <= {"\n"}
    assert not [line for line in text.splitlines() if line.strip().startswith("::")]
    assert not re.search(r"##\w*\[", text)


def hostile_corpus(path):
    chunk = {
        "id": f"a{HOSTILE}",
        "title": HOSTILE,
        "url": f"https://example.org/{HOSTILE}",
        "text": f"{HOSTILE} Iron helps.",
    }
    return rows(path, chunk)


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_retrieve_shows_no_control_character(tmp_path, options, medfaith):
    corpus = hostile_corpus(tmp_path / "a.jsonl")
    result = medfaith(
        "retrieve", "iron", "--corpus", corpus, "--retriever", "bm25", "--k", "1", *options, folder=tmp_path
    )
    assert result.returncode == 0, result.stderr
    assert_tame(result.stdout)
    if options:
        assert json.loads(result.stdout)["chunk"]["title"] == HOSTILE


def test_retrieve_says_nothing_where_nothing_matches(tmp_path, medfaith):
    corpus = rows(
        tmp_path / "a.jsonl", {"id": "a", "text": "Iron helps."}, {"id": "b", "text": "Zinc helps."}
    )
    for query, found in (("copper", 0), ("iron", 1)):
        result = medfaith(
            "retrieve",
            query,
            "--corpus",
            corpus,
            "--retriever",
            "bm25",
            "--k",
            "2",
            "--json",
            folder=tmp_path,
        )
        assert (result.returncode, len(result.stdout.splitlines())) == (0, found)


def test_an_error_about_a_hostile_name_is_tame(tmp_path, medfaith):
    result = medfaith("check", f"no{HOSTILE}", "--out", "out.jsonl", folder=tmp_path)
    assert result.returncode == 2
    assert_tame(result.stderr)


@pytest.fixture
def project(tmp_path):
    root = tmp_path / "project"
    init_project(root)
    return root


@pytest.fixture
def run(run_pytest):
    return partial(run_pytest, PYTEST_ADDOPTS=FAST)


def hostile(project):
    corpus, gold, responses = (
        project / "medfaith" / name for name in ("corpus/samples.jsonl", "gold.jsonl", "responses.jsonl")
    )

    def change(path, mend):
        rows(path, *map(mend, map(json.loads, path.read_text(encoding="utf-8").splitlines())))

    change(gold, lambda row: {**row, "question": HOSTILE + row["question"]})
    change(
        corpus,
        lambda row: {
            **row,
            "title": HOSTILE,
            "url": row["url"] + HOSTILE,
            "text": f"{row['text']} {HOSTILE}",
        },
    )
    change(responses, lambda row: {**row, "answer": row["answer"].replace(" is ", f" is {HOSTILE}", 1)})


@pytest.mark.parametrize("options", [("-v",), ("--tb=line",)], ids=str)
def test_no_text_of_a_live_run_commands_the_terminal_or_github(run, project, options):
    hostile(project)
    lines = run(project, *options, "--medfaith-report", "out", GITHUB_ACTIONS="true", CI="true").stdout.split(
        "\n"
    )
    ours = [line for line in lines if line.startswith(("::error title=samples", "::error file=tests/"))]
    assert 1 <= len(ours) <= 2
    assert_tame("\n".join(line for line in lines if line not in ours))
    assert_tame((project / "out" / "card.md").read_text(encoding="utf-8"))
    assert_tame((project / "out" / "claims.csv").read_bytes().decode().replace("\r\n", "\n"))


def test_a_report_over_the_files_of_a_slice_is_refused(run, project, medfaith):
    before = (project / "medfaith" / "responses.jsonl").read_bytes()
    result = run(project, "--medfaith-report", "medfaith")
    assert result.returncode == pytest.ExitCode.USAGE_ERROR
    assert "holds responses.jsonl, which no run wrote" in result.stderr
    assert (project / "medfaith" / "responses.jsonl").read_bytes() == before
    evaluated = medfaith("evaluate", "samples", "--report", "medfaith", folder=project)
    assert evaluated.returncode == 2
    assert (project / "medfaith" / "responses.jsonl").read_bytes() == before


@pytest.fixture(scope="module")
def measured(tmp_path_factory, run_pytest):
    """The project with the folder of a finished run, measured once."""
    root = tmp_path_factory.mktemp("measured") / "project"
    init_project(root)
    finished_run(partial(run_pytest, PYTEST_ADDOPTS=FAST), root)
    return root


@pytest.fixture
def before(measured, project):
    """The finished run that a copy of the project begins with."""
    shutil.copytree(measured, project, dirs_exist_ok=True)
    return read_run(project / "out")


def finished_run(run, project):
    assert run(project, "--medfaith-report", "out").returncode == 1
    return read_run(project / "out")


def test_a_killed_run_leaves_no_result_and_loses_none(run, project, before, medfaith, start):
    waiting = (
        "\n\n@pytest.fixture(autouse=True)\ndef wait():\n    open('began', 'w').close()\n    time.sleep(60)\n"
    )
    (project / "conftest.py").write_text(f"import time\nimport pytest\n{waiting}")
    options = ("-p", "no:cacheprovider", "--medfaith-report", "out")
    with open(os.devnull, "w", encoding="utf-8") as nowhere:  # noqa: PTH123 - no file
        running = start("pytest", *options, folder=project, stdout=nowhere, stderr=nowhere)
    end = time.monotonic() + 60
    while not (project / "began").exists() and time.monotonic() < end:
        time.sleep(0.05)
    running.kill()
    assert running.wait() == -signal.SIGKILL
    assert "UNFINISHED" in (project / "out" / "card.md").read_text(encoding="utf-8")
    assert "no finished run" in medfaith("report", "out", folder=project).stderr
    assert read_run(project / "out" / "previous") == before
    (project / "conftest.py").unlink()
    assert finished_run(run, project)[0] == before[0]
    assert not (project / "out" / "previous").exists()


@pytest.mark.parametrize("option", ["--collect-only", "--help", "--fixtures", "--setup-plan"])
def test_what_runs_no_test_leaves_a_report_alone(run, project, before, option):
    run(project, "--medfaith-report", "out", option)
    assert read_run(project / "out") == before


@pytest.mark.usefixtures("before")
def test_a_run_whose_collection_fails_leaves_no_earlier_result(run, project):
    (project / "tests" / "test_broken.py").write_text("1 / 0\n")
    assert run(project, "--medfaith-report", "out").returncode == pytest.ExitCode.INTERRUPTED
    card = (project / "out" / "card.md").read_text(encoding="utf-8")
    assert "UNFINISHED: no result" in card
    assert "PASS" not in card


def test_reports_keep_to_umask(run, project):
    before = os.umask(umask := 0o077)
    try:
        run(project, "--medfaith-report", "out", "--medfaith-update-baseline")
    finally:
        os.umask(before)
    written = [
        *(project / "out").iterdir(),
        project / "medfaith-baseline.json",
        *(project / ".medfaith_cache").rglob("*"),
    ]
    assert len(written) > 10
    assert [path.name for path in written if stat.S_IMODE(path.stat().st_mode) & umask] == []


def test_a_report_folder_outside_the_project_moves_no_settings(run, project, tmp_path):
    """pytest takes the folder, which is there, for a test path, and what holds both folders for its root."""
    (outside := tmp_path / "a folder").mkdir()
    assert "1 failed, 4 passed" in run(project, "--medfaith-report", str(outside)).stdout
    assert (outside / "report.json").is_file()
