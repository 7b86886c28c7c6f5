"""Numbered copies of the baseline: written with it, found by number, pruned from the oldest."""

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone

import gate_samples
import pytest

from pytest_medfaith.errors import DataError, MissingBaseline
from pytest_medfaith.gates.baseline import read_baseline, write_baseline
from pytest_medfaith.gates.kept import kept_baseline, kept_baselines, kept_folder, prune_baselines

NOW = datetime(2026, 11, 29, 8, 42, 30, tzinfo=timezone.utc)
COMMIT = "57d7bbd0" * 5
VERDICTS = ("s", "ss", "sr", "su", "rr")


def keep(path, verdicts="s", *, now=NOW, commit=COMMIT):
    report = gate_samples.slice_of({"a": verdicts})
    return write_baseline(path, [report], signature=gate_samples.SIGNATURE, now=now, commit=commit).kept


@pytest.fixture
def path(tmp_path):
    return tmp_path / "medfaith-baseline.json"


def test_each_baseline_is_kept_under_the_next_number(path):
    assert [keep(path, one).name for one in VERDICTS[:3]] == [
        f"000{number}_20261129-0842_57d7bbd.json" for number in (1, 2, 3)
    ]
    assert kept_folder(path).name == "medfaith-baselines"
    first, *_, last = kept_baselines(path)
    assert (first.number, first.date, first.commit) == (1, NOW.replace(second=0), "57d7bbd")
    assert last.path.read_bytes() == path.read_bytes()
    assert (
        read_baseline(first.path).slices[0].cases["a"].claims
        != read_baseline(last.path).slices[0].cases["a"].claims
    )


def test_what_did_not_change_is_kept_once(path):
    first = keep(path)
    assert keep(path, now=NOW + timedelta(days=1)) == first
    assert len(kept_baselines(path)) == 1


def test_without_a_commit_and_in_another_zone(path):
    east = timezone(timedelta(hours=2))
    assert keep(path, now=NOW.astimezone(east), commit="").name == "0001_20261129-0842.json"
    assert kept_baselines(path)[0].commit == ""


def test_a_number_is_looked_up(path):
    names = [keep(path, one) for one in VERDICTS[:2]]
    assert [kept_baseline(path, number) for number in (1, 2)] == names
    with pytest.raises(
        MissingBaseline,
        match=r"^no kept baseline has the number 0009; .*medfaith-baselines holds 0001, 0002\. Run",
    ):
        kept_baseline(path, 9)
    (kept_folder(path) / "0002_20270101-0000.json").write_text("{}")
    with pytest.raises(
        DataError,
        match=r"0002_20261129-0842_57d7bbd\.json and 0002_20270101-0000\.json have one number; give the file",
    ):
        kept_baseline(path, 2)


def test_none_is_kept_yet(path):
    with pytest.raises(MissingBaseline, match=r"number 0001; .*holds none"):
        kept_baseline(path, 1)
    assert prune_baselines(path, keep=1) == []
    assert list(path.parent.iterdir()) == []


def test_the_oldest_go_and_the_numbers_go_on(path):
    names = [keep(path, one) for one in VERDICTS[:4]]
    (kept_folder(path) / "notes.md").write_text("mine")
    assert prune_baselines(path, keep=2) == names[:2]
    assert sorted(file.name for file in kept_folder(path).iterdir()) == [
        names[2].name,
        names[3].name,
        "notes.md",
    ]
    assert path.is_file()
    assert keep(path, "rr").name.startswith("0005_")
    assert not list(path.parent.glob(".*"))


def test_one_at_least_stays(path):
    with pytest.raises(ValueError, match=r"^keep is 0, expected 1 or more"):
        prune_baselines(path, keep=0)


def test_a_name_with_no_date_is_said(path):
    keep(path)
    (kept_folder(path) / "0002_20261399-0000.json").write_text("{}")
    with pytest.raises(DataError, match=r"'20261399-0000' in its name is no date"):
        kept_baselines(path)


def test_many_at_once_lose_none(path):
    def one(number):
        report = gate_samples.slice_of({"a": "s"}).with_(slice=f"slice-{number}")
        write_baseline(path, [report], signature=gate_samples.SIGNATURE, now=NOW)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(one, range(8)))
    assert [one.number for one in kept_baselines(path)] == list(range(1, 9))
    assert len(read_baseline(path).slices) == 8
