"""The training data of the shipped weights is locked: another file is refused before any training."""

from pathlib import Path

import pytest

from pytest_medfaith.errors import DataError
from training.__main__ import app
from training.lock import LOCK, RECIPES, check_recipe, lock_data, read_lock

REPO = Path(__file__).parents[2]


@pytest.fixture
def project(tmp_path):
    repo, data = tmp_path / "repo", tmp_path / "data"
    (repo / "data" / "silver").mkdir(parents=True)
    (data / "nli").mkdir(parents=True)
    (repo / "data" / "silver" / "a.jsonl").write_text("{}\n")
    (repo / "data" / "silver" / "b.jsonl").write_text("{}\n")
    (data / "nli" / "dev.csv").write_text("premise,hypothesis,label\n")
    sources = tmp_path / "nli.toml"
    sources.write_text(
        '[sources.silver]\npath = "{repo}/data/silver"\n[sources.mnli]\npaths = ["{data}/nli/dev.csv"]\n'
    )
    recipe = tmp_path / "strong.toml"
    recipe.write_text('sources = "nli.toml"\nstages = []\n')
    lock = tmp_path / "data.lock"
    assert lock_data(data=data, repo=repo, recipes=[recipe], out=lock) == 3
    return repo, data, recipe, lock


def test_what_is_as_locked_passes(project):
    repo, data, recipe, lock = project
    check_recipe(recipe, data=data, repo=repo, lock=lock)
    assert sorted(read_lock(lock)) == [
        "{data}/nli/dev.csv",
        "{repo}/data/silver/a.jsonl",
        "{repo}/data/silver/b.jsonl",
    ]


@pytest.mark.parametrize("changed", ["repo/data/silver/b.jsonl", "data/nli/dev.csv"])
def test_a_changed_file_is_refused(project, tmp_path, changed):
    repo, data, recipe, lock = project
    (tmp_path / changed).write_text("something else\n")
    with pytest.raises(DataError, match=f"{Path(changed).name} is changed.*python -m training lock"):
        check_recipe(recipe, data=data, repo=repo, lock=lock)


def test_a_missing_file_is_refused(project):
    repo, data, recipe, lock = project
    (repo / "data" / "silver" / "a.jsonl").unlink()
    with pytest.raises(DataError, match=r"a\.jsonl is missing"):
        check_recipe(recipe, data=data, repo=repo, lock=lock)


def test_a_recipe_that_reads_nothing_locked_passes(project, tmp_path):
    repo, data, _, lock = project
    mine = tmp_path / "mine.toml"
    mine.write_text('[sources.mine]\npath = "{repo}/mine.jsonl"\n')
    check_recipe(mine, data=data, repo=repo, lock=lock)


def test_a_lock_is_not_written_of_files_that_are_not_there(project):
    repo, data, recipe, lock = project
    before = lock.read_text()
    (data / "nli" / "dev.csv").unlink()
    with pytest.raises(DataError, match=r"dev\.csv is not there"):
        lock_data(data=data, repo=repo, recipes=[recipe], out=lock)
    assert lock.read_text() == before


def test_a_broken_lock_names_its_line(tmp_path):
    lock = tmp_path / "data.lock"
    lock.write_text("<<<<<<< ours\n")
    with pytest.raises(DataError, match=r"data\.lock:1: .* is no line of a lock"):
        read_lock(lock)


def test_the_shipped_lock_holds_for_the_data_of_this_repository(tmp_path):
    ours = tmp_path / "ours.lock"
    lines = [f"{digest}  {name}" for name, digest in read_lock(LOCK).items() if name.startswith("{repo}/")]
    ours.write_text("\n".join(lines))
    for recipe in sorted(RECIPES.glob("*.toml")):
        check_recipe(recipe, data=tmp_path, repo=REPO, lock=ours)
    locked = {REPO / line.partition("{repo}/")[2] for line in lines}
    marked = set((REPO / "data" / "claims").glob("*.jsonl"))  # they train extractors, without a recipe
    assert marked
    assert locked == set((REPO / "data").rglob("*.jsonl")) - marked


def test_training_refuses_changed_data_before_it_trains(tmp_path, capsys):
    from pytest_medfaith.commands.parts import run

    with pytest.raises(SystemExit) as ended:
        run(
            app,
            ["train-nli", "--data", str(tmp_path), "--out", str(tmp_path / "out"), "--repo", str(tmp_path)],
        )
    assert ended.value.code == 2
    assert "is missing; data.lock says" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
