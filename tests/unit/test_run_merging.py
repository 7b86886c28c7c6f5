"""Shards that are no whole run together are refused, each with what is wrong."""

import json

import pytest
from card_samples import METRICS, case_report

from pytest_medfaith.cards.run_folder import write_run
from pytest_medfaith.errors import DataError
from pytest_medfaith.records import SliceReport, SliceRun
from pytest_medfaith.run.merging import merge_runs
from pytest_medfaith.run.options import Options
from pytest_medfaith.run.resources import Resources
from pytest_medfaith.run.shards import Shard, check_shard, parse_shard

RUN = SliceRun(slice="s", retriever="bm25", checker="default", k=2)
CASES = {1: ["a", "b"], 2: [], 3: ["c"]}
SIGNATURE = {"version": "1", "seed": 3, "safety": "x", "checkers": {}}
EXPECTED = [
    {
        "run": RUN.to_dict(),
        "cases": ["a", "b", "c"],
        "possible": [],
        "gates": {"test_s.py::test": ["hallucination <= 0.5"]},
        "skipped": {},
        "size": 3,
        "place": 0,
    }
]


@pytest.fixture
def shards(tmp_path):
    """Returns the folders of three shards, of which the second has no case."""
    folders = []
    for index, names in CASES.items():
        reports = tuple(case_report(name).with_(retriever="bm25", checker="scripted", k=2) for name in names)
        shown = {**RUN.to_dict(), "checker": "scripted"}
        slices = [SliceReport(**shown, reports=reports, metrics=METRICS)] if names else []
        signature = {**SIGNATURE, "checkers": {"scripted": "y"} if names else {}}
        record = {"index": index, "of": 3, "expected": EXPECTED, "baseline": "", "errors": []}
        folders.append(tmp_path / f"shard-{index}")
        write_run(folders[-1], slices, signature=signature, shard=record)
    return folders


def merged(tmp_path, folders, out=None):
    return merge_runs(Resources(root=tmp_path, options=Options(report=out)), folders)


def edit(folder, change):
    document = json.loads((folder / "signature.json").read_text())
    change(document)
    (folder / "signature.json").write_text(json.dumps(document))


def test_whole_runs_come_together_and_their_gates_are_judged(tmp_path, shards):
    end = merged(tmp_path, [*reversed(shards)], tmp_path / "out")
    (report,) = end.reports
    assert [one.case.id for one in report.reports] == ["a", "b", "c"]
    assert (report.checker, report.partial, report.missing) == ("scripted", False, ())
    assert [(gate.expression, gate.outcome) for gate in report.gates] == [("hallucination <= 0.5", "pass")]
    document = json.loads((tmp_path / "out" / "signature.json").read_text())
    assert document["signature"] == {**SIGNATURE, "checkers": {"scripted": "y"}}
    assert "shard" not in document


def test_a_case_that_no_shard_finished_is_missing_from_the_whole(tmp_path, shards):
    def forget(told):
        told["shard"]["expected"][0]["cases"].append("d")

    for folder in shards:
        edit(folder, forget)
    (report,) = merged(tmp_path, shards).reports
    assert (report.missing, report.partial) == (("d",), True)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda told: told["signature"].update(seed=5),
            (
                r"other settings .*: the signature, seed is 5, and "
                r"was 3"
            ),
        ),
        (
            lambda told: told["signature"]["checkers"].update(scripted="z"),
            ("the signature, checkers, scripted is 'z'"),
        ),
        (lambda told: told["shard"]["expected"][0]["cases"].append("new"), "the cases of slice 's'.* differ"),
        (
            lambda told: told["shard"]["expected"][0].update(gates={"t": []}),
            "the gates of slice 's'.* differ",
        ),
        (lambda told: told["shard"]["expected"].clear(), "only one of them measures slice 's'"),
        (lambda told: told["shard"].update(baseline="b" * 64), "beside different baselines"),
        (
            lambda told: told["shard"].update(errors=["two tests disagree"]),
            ("shard 3/3 is unusable: two tests disagree"),
        ),
        (lambda told: told["shard"].pop("of"), "its shard cannot be read"),
        (lambda told: told["shard"].update(of=4), "the shards are of several runs"),
        (lambda told: told["shard"].update(index=1), "are both shard 1/3; expected each shard once"),
        (lambda told: told.pop("shard"), "holds a whole run and no shard"),
    ],
    ids=[
        "seed",
        "checker",
        "cases",
        "gates",
        "rows",
        "baseline",
        "unusable",
        "broken",
        "of",
        "twice",
        "whole",
    ],
)
def test_shards_of_different_runs_are_refused(tmp_path, shards, change, message):
    edit(shards[2], change)
    with pytest.raises(DataError, match=message):
        merged(tmp_path, shards)


def test_a_missing_shard_is_refused_also_where_it_has_no_case(tmp_path, shards):
    with pytest.raises(DataError, match="shard 2/3 is missing, and its cases with it"):
        merged(tmp_path, [shards[0], shards[2]])
    (shards[1] / "signature.json").unlink()
    with pytest.raises(DataError, match="holds no finished run"):
        merged(tmp_path, shards)


def test_a_baseline_that_the_shards_did_not_see_is_refused(tmp_path, shards):
    (tmp_path / "medfaith-baseline.json").write_text("{}")
    for folder in shards:
        edit(folder, lambda told: told["shard"].update(baseline="b" * 64))
    with pytest.raises(DataError, match="is not the baseline that the shards ran beside"):
        merged(tmp_path, shards)


def test_a_case_in_two_shards_is_refused(tmp_path, shards):
    for path in shards[0].iterdir():
        if path.name != "signature.json":
            (shards[1] / path.name).write_bytes(path.read_bytes())
    with pytest.raises(DataError, match="both hold case 'a' of slice 's'"):
        merged(tmp_path, shards)


def test_a_run_without_a_slice_has_nothing_to_merge(tmp_path, shards):
    for folder in shards:
        edit(folder, lambda told: told["shard"]["expected"].clear())
    with pytest.raises(DataError, match="which no test of the run expects"):
        merged(tmp_path, shards)
    edit(shards[1], lambda told: told["shard"].update(index=1, of=1))
    with pytest.raises(DataError, match="no test of the shards measures a slice"):
        merged(tmp_path, [shards[1]])


def test_the_folder_of_a_shard_is_not_written_over(tmp_path, shards):
    before = (shards[0] / "report.json").read_bytes()
    with pytest.raises(DataError, match="the folder of a shard, which it would replace"):
        merged(tmp_path, shards, shards[0])
    assert (shards[0] / "report.json").read_bytes() == before


@pytest.mark.parametrize("text", ["", "2", "3/2", "a/b", "1/0", "0/2", "-1/2", "1/2/3", "²/3"])
def test_what_is_no_shard_is_refused(text):
    with pytest.raises(DataError, match="expected a shard of all, such as 2/5"):
        parse_shard(text)


def test_a_case_keeps_its_shard_where_cases_are_added():
    """The shards of some ids, written out: whoever changes the hash splits every project anew."""
    names = ["iron", "asthma", "gout", "zinc", "b12", "flu"]
    assert [next(i for i in (1, 2, 3) if Shard(i, 3).holds(name)) for name in names] == [3, 1, 1, 2, 1, 3]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"report": None}, "without --medfaith-report DIR"),
        ({"update_baseline": True}, "a part of the cases; leave it out here, and give --update-baseline to"),
        ({"audit": True}, "--medfaith-audit is given with --medfaith-shard 1/2"),
    ],
)
def test_options_that_a_shard_cannot_follow(tmp_path, options, message):
    with pytest.raises(DataError, match=message):
        check_shard(Options(**{"shard": Shard(1, 2), "report": tmp_path, **options}))
    check_shard(Options(shard=Shard(1, 2), report=tmp_path))
