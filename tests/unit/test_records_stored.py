"""Records in a file: what comes back, in which order, and what a full disk does."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest

from pytest_medfaith.errors import CannotWrite
from pytest_medfaith.evaluation import slice_report
from pytest_medfaith.records import Case, Report, Response, SliceRun
from pytest_medfaith.records.stored import Form, Store, StoredDict, StoredReports, in_case_order

OPEN = Path("/proc/self/fd")


def report(name: str, answer: str = "Iron.") -> Report:
    return Report(case=Case(id=name, question="Why?"), response=Response(answer=answer, case_id=name))


def test_what_is_stored_comes_back_and_memory_does_not_hold_it(tmp_path):
    reports = StoredReports(tmp_path)
    kept = [report(name, "é" * 100_000) for name in ("b", "c", "a")]
    for one in kept:
        reports.append(one)
    assert list(reports) == kept
    assert reports[-1] == kept[-1]
    assert list(reports[:2]) == kept[:2]
    assert reports[0] is not reports[0]  # read anew: nothing keeps it
    assert [one.case.id for one in reports.in_case_order()] == ["a", "b", "c"]
    assert [one.case.id for one in in_case_order(kept)] == ["a", "b", "c"]
    reports.append(report("d"))  # behind what was read in between
    assert [one.case.id for one in reports] == ["b", "c", "a", "d"]
    assert list(tmp_path.iterdir()) == []  # the file has no name


def test_a_dict_keeps_its_order_and_takes_another_value(tmp_path):
    stored = StoredDict(tmp_path / "new", Form(int, int))
    stored["b"], stored["a"] = 1, 2
    stored["b"] = 3
    assert dict(stored) == {"b": 3, "a": 2}
    assert list(stored) == ["b", "a"]
    del stored["b"]
    assert "b" not in stored
    assert stored.get("b", 7) == 7


@pytest.mark.skipif(not OPEN.is_dir(), reason="needs a list of open files")
def test_no_file_stays_open(tmp_path):
    before = len(list(OPEN.iterdir()))
    stored = StoredReports(tmp_path)
    stored.append(report("a"))
    ordered = stored.in_case_order()
    del stored
    gc.collect()
    assert ordered[0].case.id == "a"  # the view holds the file
    del ordered
    gc.collect()
    assert len(list(OPEN.iterdir())) <= before


def test_a_full_disk_is_one_error(tmp_path):
    resource = pytest.importorskip("resource")
    reports, limits = StoredReports(tmp_path), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, limits[1]))
    try:
        with pytest.raises(CannotWrite, match="expected room on the disk"):
            reports.append(report("a", "é" * 100_000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def test_a_folder_that_cannot_be_made_is_one_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(CannotWrite, match="file"):
        StoredReports(tmp_path / "file")


def test_a_slice_of_stored_reports_is_that_of_reports_in_memory(tmp_path):
    kept, run = Store(tmp_path).reports(), SliceRun(slice="s", retriever="rrf", checker="fast", k=3)
    assert Store().reports() == []
    in_memory = [report("c"), report("a", ""), report("b")]
    for one in in_memory:
        kept.append(one)
    stored = slice_report(run, kept, expected=["a", "z"])
    wanted = slice_report(run, in_memory, expected=["a", "z"])
    assert isinstance(stored.reports, StoredReports)
    assert tuple(stored.reports) == wanted.reports
    assert stored.with_(reports=()) == wanted.with_(reports=())
