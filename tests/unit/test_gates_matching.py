import dataclasses

import pytest
from gate_samples import SIGNATURE, slice_of

from pytest_medfaith.errors import MissingBaseline
from pytest_medfaith.gates.baseline import read_baseline, write_baseline
from pytest_medfaith.gates.matching import check_before_run, other_processor, slice_baseline
from pytest_medfaith.records import SliceRun

REPORT = slice_of({"b": "sr", "a": "su?"})
UPDATE = "pytest --medfaith-update-baseline"
RUN = SliceRun(slice="iron", retriever="bm25", checker="student", k=3)


def baseline_in(folder):
    write_baseline(folder / "medfaith-baseline.json", [REPORT], signature=SIGNATURE)
    return read_baseline(folder / "medfaith-baseline.json")


def test_what_another_slice_uses_does_not_matter(tmp_path):
    baseline = baseline_in(tmp_path)
    other = {
        **SIGNATURE,
        "corpora": {"iron": "c1", "sleep": "changed"},
        "checkers": {"student": SIGNATURE["checkers"]["student"]},
    }
    assert slice_baseline(baseline, REPORT.run, signature=other, case_ids=["a", "b"]).slice == "iron"


def test_another_set_up_is_refused_by_name_and_value(tmp_path):
    baseline = baseline_in(tmp_path)
    other = {**SIGNATURE, "checkers": {"student": {"weights": "w1", "entail": 0.7}}, "encoder": "e"}
    with pytest.raises(
        MissingBaseline,
        match=r"slice 'iron'.*: checkers.student.entail was 0.5, is 0.7; "
        rf"encoder was absent, is \"e\"\. .* with {UPDATE}",
    ):
        slice_baseline(baseline, REPORT.run, signature=other, case_ids=["a", "b"])


def test_another_kind_of_processor_is_compared_and_noted(tmp_path):
    write_baseline(
        tmp_path / "medfaith-baseline.json", [REPORT], signature={**SIGNATURE, "processor": "AVX-512 VNNI"}
    )
    baseline, now = read_baseline(tmp_path / "medfaith-baseline.json"), {**SIGNATURE, "processor": "AVX2"}
    entry = slice_baseline(baseline, REPORT.run, signature=now, case_ids=["a", "b"])
    check_before_run(baseline, REPORT.run, signature=now, case_ids=["a", "b"])
    assert other_processor(entry, now).startswith(
        "slice 'iron': its baseline was measured on a processor with AVX-512 VNNI, this run on one with AVX2."
    )
    assert other_processor(entry, {**SIGNATURE, "processor": "AVX-512 VNNI"}) == ""


def test_a_slice_that_is_not_there_is_refused_with_those_that_are(tmp_path):
    baseline = baseline_in(tmp_path)
    with pytest.raises(
        MissingBaseline,
        match=rf"no entry for slice 'iron', .* and k=5; it holds slice 'iron', .* and k=3\. .*{UPDATE}",
    ):
        slice_baseline(baseline, REPORT.with_(k=5).run, signature=SIGNATURE, case_ids=["a", "b"])


def test_cases_that_do_not_run_are_refused(tmp_path):
    with pytest.raises(
        MissingBaseline,
        match=r"1 of 2 cases of slice 'iron' are not in this run: b; "
        rf".*-k, --lf or --medfaith-limit.*{UPDATE}",
    ):
        slice_baseline(baseline_in(tmp_path), REPORT.run, signature=SIGNATURE, case_ids=["a"])


def test_cases_that_the_baseline_lacks_are_refused_five_by_name(tmp_path):
    with pytest.raises(
        MissingBaseline, match=rf"6 cases .* not in its baseline: c0, c1, c2, c3, c4, \.\.\.; .*{UPDATE}"
    ):
        slice_baseline(
            baseline_in(tmp_path),
            REPORT.run,
            signature=SIGNATURE,
            case_ids=["a", "b", *(f"c{number}" for number in range(6))],
        )


def test_before_a_run_its_own_entry_must_fit(tmp_path):
    baseline = baseline_in(tmp_path)
    check_before_run(baseline, RUN, signature=SIGNATURE, case_ids=["a", "b"])
    for signature, case_ids, message in (
        ({**SIGNATURE, "seed": 7}, ["a", "b"], "seed was 0, is 7"),
        (
            {**SIGNATURE, "checkers": {"student": {"weights": "w2", "entail": 0.5}}},
            ["a", "b"],
            "checkers.student.weights was",
        ),
        (SIGNATURE, ["a"], "1 of 2 cases of slice 'iron' are not in this run: b"),
    ):
        with pytest.raises(MissingBaseline, match=message):
            check_before_run(baseline, RUN, signature=signature, case_ids=case_ids)
    with pytest.raises(MissingBaseline, match="no entry for slice 'sleep'"):
        check_before_run(
            baseline, dataclasses.replace(RUN, slice="sleep"), signature=SIGNATURE, case_ids=["a", "b"]
        )


def test_before_a_run_an_entry_of_another_checker_will_do_since_a_test_may_bring_its_own(tmp_path):
    baseline = baseline_in(tmp_path)
    run = dataclasses.replace(RUN, checker="default")
    check_before_run(
        baseline, run, signature={**SIGNATURE, "checkers": {"default": {"weights": "d"}}}, case_ids=["a", "b"]
    )
    with pytest.raises(MissingBaseline, match="seed was 0, is 7"):
        check_before_run(baseline, run, signature={**SIGNATURE, "seed": 7}, case_ids=["a", "b"])
