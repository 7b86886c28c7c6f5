"""A run that dies leaves no result behind, neither its result nor an earlier one, and loses none."""

import pytest
from card_samples import slice_sample

from pytest_medfaith.cards import markdown, run_begin
from pytest_medfaith.cards.history import read_history
from pytest_medfaith.cards.run_begin import begin_run, check_report_folder
from pytest_medfaith.cards.run_folder import PREVIOUS, RUN_FILES, check_writable, write_run
from pytest_medfaith.cards.run_reading import read_run
from pytest_medfaith.config import Settings, SliceSettings
from pytest_medfaith.errors import DataError
from pytest_medfaith.jsonl import write_text

SIGNATURE = {"checker": "x"}


@pytest.fixture
def run(tmp_path):
    folder = tmp_path / "run"
    write_run(folder, [slice_sample()], signature=SIGNATURE)
    return folder


def test_what_an_earlier_run_left_is_no_result_once_the_next_began(run):
    cards = {
        name: (run / name).read_bytes() for name in ("card.md", "card.html", "report.json", "claims.csv")
    }
    begin_run(run)
    assert sorted(path.name for path in run.iterdir()) == [
        "card.html",
        "card.md",
        "history.jsonl",
        "previous",
    ]
    for name in ("card.md", "card.html"):
        assert "UNFINISHED" in (run / name).read_text(encoding="utf-8")
        assert "previous/" in (run / name).read_text(encoding="utf-8")
    with pytest.raises(DataError, match="holds no finished run"):
        read_run(run)
    assert read_run(run / PREVIOUS) == ([slice_sample()], SIGNATURE)
    assert {name: (run / PREVIOUS / name).read_bytes() for name in cards} == cards


def test_a_new_folder_is_marked_too(tmp_path):
    begin_run(tmp_path / "new")
    assert "UNFINISHED" in (tmp_path / "new" / "card.md").read_text(encoding="utf-8")
    assert "previous" not in (tmp_path / "new" / "card.md").read_text(encoding="utf-8")


def test_the_finished_run_takes_the_place_of_all(run):
    begin_run(run)
    write_run(run, [slice_sample(k=7)], signature=SIGNATURE)
    assert not (run / PREVIOUS).exists()
    assert read_run(run)[0] == [slice_sample(k=7)]
    assert "UNFINISHED" not in (run / "card.html").read_text(encoding="utf-8") + (run / "card.md").read_text(
        encoding="utf-8"
    )
    assert [reports[0].k for _, reports in read_history(run)] == [10]


def test_many_runs_that_die_keep_the_last_finished_one(run):
    for _ in range(3):
        begin_run(run)
    assert read_run(run / PREVIOUS)[0] == [slice_sample()]
    assert len(read_history(run)) == 1


@pytest.mark.parametrize("step", range(12))
def test_a_kill_at_any_step_of_the_start_loses_nothing(run, monkeypatch, step):
    steps = iter(range(100))

    class Killed(BaseException):
        pass

    def stop_at(function):
        def stopped(*args, **kwargs):
            if next(steps) == step:
                raise Killed
            return function(*args, **kwargs)

        return stopped

    with monkeypatch.context() as patched:
        patched.setattr(run_begin.Path, "replace", stop_at(run_begin.Path.replace))
        patched.setattr(run_begin, "write_text", stop_at(write_text))
        with pytest.raises(Killed):
            begin_run(run)
    begin_run(run)
    assert read_run(run / PREVIOUS)[0] == [slice_sample()]
    with pytest.raises(DataError, match="no finished run"):
        read_run(run)


def test_a_write_that_fails_leaves_the_mark(run, monkeypatch):
    begin_run(run)
    monkeypatch.setattr(markdown, "markdown_card", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write_run(run, [slice_sample(k=7)], signature=SIGNATURE)
    assert "UNFINISHED" in (run / "card.md").read_text(encoding="utf-8")
    assert read_run(run / PREVIOUS)[0] == [slice_sample()]


@pytest.mark.parametrize("name", sorted(set(RUN_FILES) - {"report.json", "signature.json", "history.jsonl"}))
def test_a_folder_with_files_of_something_else_is_refused(tmp_path, name):
    (tmp_path / name).write_text("mine\n")
    with pytest.raises(DataError, match=f"holds {name}, which no run wrote"):
        check_writable(tmp_path)
    with pytest.raises(DataError, match="which no run wrote"):
        begin_run(tmp_path)
    assert (tmp_path / name).read_text() == "mine\n"


def test_a_folder_of_other_files_is_fine(tmp_path):
    (tmp_path / "notes.md").write_text("mine\n")
    (tmp_path / "previous").mkdir()
    (tmp_path / "previous" / "notes.md").write_text("mine\n")
    begin_run(tmp_path)
    write_run(tmp_path, [slice_sample()], signature=SIGNATURE)
    assert (tmp_path / "notes.md").exists()
    assert (tmp_path / "previous" / "notes.md").exists()


@pytest.mark.parametrize(
    "role", ["cases", "responses", "corpus", "corpus folder", "calibration", "safety", "baseline"]
)
def test_what_the_project_reads_is_not_written_over(run, role):
    name = {"cases": "claims.jsonl", "baseline": "report.json", "calibration": "report.json"}.get(
        role, "responses.jsonl"
    )
    path = run / name
    spec = SliceSettings(
        name="samples",
        cases=str(path) if role == "cases" else "kqa:file",
        responses=path if role == "responses" else None,
        corpus=(path,) if role == "corpus" else (run,) if role == "corpus folder" else (),
    )
    settings = Settings(
        root=run,
        slices={"samples": spec},
        calibration=(path,) if role == "calibration" else (),
        safety=(path,) if role == "safety" else (),
    )
    with pytest.raises(DataError, match="a file that this project reads and would be written over"):
        check_report_folder(run, settings, baseline=path if role == "baseline" else run / "none.json")
    check_report_folder(run.parent / "elsewhere", settings, baseline=run / "none.json")
