"""Baselines that no run can have measured: edited by hand, merged wrongly, made up."""

import json
import multiprocessing
import warnings

import pytest
from gate_samples import SIGNATURE, case, report_of, slice_of

from pytest_medfaith.errors import DataError
from pytest_medfaith.gates.baseline import read_baseline, write_baseline
from pytest_medfaith.gates.plausible import checksum
from pytest_medfaith.lock import locked

REPORT = report_of([case("a", "su?", latency=120.0), case("b", "sr", latency=80.0)])


def written(tmp_path, report=REPORT):
    path = tmp_path / "medfaith-baseline.json"
    write_baseline(path, [report], signature=SIGNATURE)
    return path


def edited(tmp_path, change, *, sign):
    """Returns a baseline whose only entry went through `change`, with a fitting checksum or the old one."""
    path = written(tmp_path)
    document = json.loads(path.read_text())
    change(document["slices"][0])
    if sign:
        document["slices"][0]["sha256"] = checksum(document["slices"][0])
    path.write_text(json.dumps(document))
    return path


def fraction(name, part, whole, *, of="a"):
    return lambda entry: entry["cases"][of]["fractions"].update({name: [part, whole]})


def metric(name, **values):
    return lambda entry: entry["metrics"][name].update(values)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (fraction("hallucination", 5, 2), "hallucination is 5 / 2, expected a part of 0 to 1 of the whole"),
        (fraction("hallucination", -5, 2), "hallucination is -5 / 2, expected a part"),
        (fraction("hallucination", 1, -2), "expected a positive denominator"),
        (fraction("hallucination", 1e308, 2), "hallucination is 1e\\+308 / 2, expected a part"),
        (fraction("hallucination", 1e-300, 2), "but its claims say 0 / 2"),
        (fraction("hallucination", 0, 1e300), "expected a whole denominator of at most 1000000"),
        (fraction("hallucination", 0, 1e-300), "expected a whole denominator"),
        (fraction("hallucination", 0, 2.5), "expected a whole denominator"),
        (fraction("hallucination", 0, 1), "but its claims say 0 / 2"),
        (fraction("hallucination", 1, 2), "but its claims say 0 / 2"),
        (fraction("faithfulness", 0, 2), "but its claims say 1 / 2"),
        (fraction("unscored", 0, 3), "but its claims say 1 / 3"),
        (fraction("conflict", 1, 4), "but the case has 3 claims"),
        (fraction("safety_error_rate", 0.5, 2), "expected a whole numerator"),
        (fraction("abstention", 0.5, 1), "expected a whole numerator"),
        (fraction("abstention", 7, 9), "but its cases make"),
        (fraction("hit@k", 0.5, 1), "but its cases make"),
        (fraction("ndcg@k", 2, 1), "expected a part of 0 to 1"),
        (fraction("latency_p50", -1, 1), "expected a part"),
        (fraction("latency_p50", 500, 1), "latency_p50 is 100.0 over 2 cases, but its cases make 290"),
        (metric("hallucination", value=0.1), "hallucination is 0.1 over 2 cases, but its cases make 0.25"),
        (metric("hallucination", value=1.5), "expected values from 0 to 1"),
        (metric("hallucination", low=-1.0), "expected values from 0 to 1"),
        (metric("hallucination", high=1e308), "expected values from 0 to 1"),
        (metric("hallucination", low=0.9, high=0.1), "the lower first"),
        (metric("hallucination", n=7), "over 7 cases, but 2 cases hold it"),
        (lambda entry: entry.update(k=0), "k is 0, expected 1 or more"),
        (lambda entry: entry["cases"].pop("a"), "but 1 cases hold it"),
        (lambda entry: entry["cases"].update(c=entry["cases"]["b"]), "but 3 cases hold it"),
    ],
)
@pytest.mark.parametrize("sign", [False, True], ids=["old checksum", "fitting checksum"])
def test_what_no_run_measures_is_refused(tmp_path, change, said, sign):
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # numpy would say overflow
        with pytest.raises(
            DataError, match=rf"slice 'iron'.*{said}.*write it anew with pytest --medfaith-update-baseline"
        ):
            read_baseline(edited(tmp_path, change, sign=sign))


@pytest.mark.parametrize(
    "change",
    [
        lambda entry: entry["signature"].update(seed=1),
        lambda entry: entry.update(k=5),
        lambda entry: entry.update(retriever="rrf"),
        lambda entry: entry["cases"]["a"]["claims"][0].__setitem__(1, "a says another thing."),
        lambda entry: entry["cases"].update(z=entry["cases"].pop("a")),
        lambda entry: entry.update(note="reviewed"),
        lambda entry: entry["metrics"]["hallucination"].update(low=0.1),
        lambda entry: entry["metrics"].pop("hallucination"),
        lambda entry: (
            entry["cases"]["a"]["fractions"].pop("conflict") and entry["metrics"]["conflict"].update(n=1)
        ),
    ],
)
def test_an_edit_that_could_have_been_measured_is_said(tmp_path, change):
    with pytest.raises(
        DataError,
        match=r"slice 'iron' was edited after it was written: its checksum is that of other content",
    ):
        read_baseline(edited(tmp_path, change, sign=False))


def test_an_entry_without_checksum_is_refused(tmp_path):
    with pytest.raises(DataError, match="slice 'iron' has no checksum"):
        read_baseline(edited(tmp_path, lambda entry: entry.pop("sha256"), sign=False))


def test_the_layout_may_change_and_entries_of_two_branches_may_be_merged(tmp_path):
    path = written(tmp_path)
    first = json.loads(path.read_text())
    path.write_text(json.dumps(first, indent=7))
    assert len(read_baseline(path).slices) == 1
    second = json.loads(written(tmp_path, REPORT.with_(slice="sleep")).read_text())
    path.write_text(json.dumps({"format_version": 1, "slices": [*first["slices"], second["slices"][-1]]}))
    assert [entry.slice for entry in read_baseline(path).slices] == ["iron", "sleep"]


@pytest.mark.parametrize(
    "text",
    [
        '{"format_version": 1, "format_version": 1, "slices": []}',
        '{"format_version": 1, "slices": [], "slices": []}',
        '{"format_version": 1, "slices": [{"slice": "iron", "cases": {"a": {}, "a": {}}}]}',
    ],
)
def test_a_key_that_stands_twice_is_refused(tmp_path, text):
    (tmp_path / "b.json").write_text(text)
    with pytest.raises(DataError, match="stands twice in one object"):
        read_baseline(tmp_path / "b.json")


@pytest.mark.parametrize(
    "text",
    ["[" * 100_000, '{"a":' * 100_000, '{"format_version": 1, "slices": ' + "[" * 5000 + "]" * 5000 + "}"],
)
def test_deep_nesting_is_a_message(tmp_path, text):
    (tmp_path / "b.json").write_text(text)
    with pytest.raises(DataError, match="write it anew"):
        read_baseline(tmp_path / "b.json")


def _update(path, name, barrier):
    barrier.wait()
    write_baseline(path, [slice_of({"a": "sr", "b": "ss"}).with_(slice=name)], signature=SIGNATURE)


def test_updates_at_the_same_moment_lose_no_slice(tmp_path):
    path = tmp_path / "medfaith-baseline.json"
    context = multiprocessing.get_context("fork")
    for again in range(3):
        names = [f"slice-{again}-{number}" for number in range(4)]
        barrier = context.Barrier(len(names))
        runs = [context.Process(target=_update, args=(path, name, barrier)) for name in names]
        for run in runs:
            run.start()
        for run in runs:
            run.join()
        assert {run.exitcode for run in runs} == {0}
    assert len(read_baseline(path).slices) == 12
    assert list(tmp_path.iterdir()) == [path]


def test_a_lock_that_is_held_all_the_time_is_named_and_one_left_over_is_not_minded(tmp_path):
    path = tmp_path / "b.json"
    with (
        locked(path),
        pytest.raises(DataError, match=r"\.b\.json\.lock is held by another run"),
        locked(path, wait=0.05),
    ):
        pass
    (tmp_path / ".b.json.lock").write_text("")
    with locked(path, wait=0.05):
        pass
    assert list(tmp_path.iterdir()) == []
