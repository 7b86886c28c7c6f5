"""A file that is no cache of ours is never written to, and never lost."""

import sqlite3
from contextlib import closing

import numpy as np
import pytest

from pytest_medfaith.errors import DataError
from pytest_medfaith.models import onnx
from pytest_medfaith.scoring.cache import check_cache, content_key, fill


def filled(path):
    known = {}
    fill(known, ["a", "b"], lambda texts: np.ones((len(texts), 3)), key=str.encode, dtype="<f4", cache=path)
    return known


@pytest.mark.parametrize(
    "content",
    [
        b'{"id": 1}\n',
        b"\0" * 100,
        b"SQLite format 2\0",
        b"PK\x03\x04",
        b"# notes",
        b"\xff\xfe",
        b"\n",
        b"%PDF-1.7",
        b"a",
    ],
)
def test_another_file_is_refused(tmp_path, content):
    path = tmp_path / "notes"
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"is not a cache of scores but another file.*name a new file"):
        check_cache(path)
    assert path.read_bytes() == content


def test_a_database_of_something_else_is_refused(tmp_path):
    path = tmp_path / "history.sqlite"
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("CREATE TABLE visits (a)")
    before = path.read_bytes()
    with pytest.raises(DataError, match="is a database of something else \\(table 'visits'\\)"):
        check_cache(path)
    assert path.read_bytes() == before


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(DataError, match="is no file"):
        check_cache(tmp_path)


def test_a_cache_a_new_file_and_an_empty_one_are_fine(tmp_path):
    (tmp_path / "empty").touch()
    check_cache(None)
    check_cache(tmp_path / "new")
    check_cache(tmp_path / "empty")
    filled(tmp_path / "made")
    check_cache(tmp_path / "made")


@pytest.mark.parametrize("lost", [1, 2, 3, 4, 5, 8, 12, 20, 60, 1000, 4089])
def test_numbers_that_lost_bytes_are_made_again(tmp_path, lost):
    path = tmp_path / "pairs.sqlite"
    filled(path)
    path.write_bytes(path.read_bytes()[:-lost])
    for _ in range(2):
        assert all((row == 1).all() for row in filled(path).values())


@pytest.mark.parametrize("damage", ["cut", "zeroed", "half", "overwritten", "no header", "text"])
def test_a_damaged_cache_is_put_aside_and_made_again(tmp_path, damage):
    path = tmp_path / "pairs.sqlite"
    filled(path)
    whole = path.read_bytes()
    broken = {
        "cut": whole[:150],
        "half": whole[: len(whole) // 2],
        "zeroed": whole[:100] + b"\0" * (len(whole) - 100),
        "overwritten": whole[:100] + b"x" * (len(whole) - 100),
        "no header": b"\0" * 100 + whole[100:],
        "text": b"no database" * 50,
    }[damage]
    path.write_bytes(broken)
    assert sorted(filled(path)) == ["a", "b"]
    assert sorted(filled(path)) == ["a", "b"]
    assert path.with_name("pairs.sqlite.damaged").read_bytes() == broken
    check_cache(path)


def test_what_another_kind_of_processor_made_is_not_taken_from_a_cache(monkeypatch):
    here = content_key("weights", "Iron helps.", "Iron helps adults.")
    assert here == content_key("weights", "Iron helps.", "Iron helps adults.")
    monkeypatch.setattr(onnx, "processor_kernel", lambda: "another kernel")
    assert content_key("weights", "Iron helps.", "Iron helps adults.") != here
