"""A labels file is read as it was written, and what is broken in it gets one clear message."""

import json

import pytest
from card_samples import LETROZOLE, METFORMIN, case_report
from label_samples import label_row

from pytest_medfaith.errors import DataError
from pytest_medfaith.jsonl import write_records
from pytest_medfaith.labels.rows import (
    LabelRow,
    checker_fingerprint,
    claim_key,
    judged_contexts,
    label_key,
    read_labels,
)
from pytest_medfaith.records import Claim

CLAIM = Claim(id="c1", text="It lowers insulin.", context="Metformin is a biguanide.")


def test_labels_come_back_as_they_were_written(tmp_path):
    rows = [label_row(severity="high", reviewer="AB"), label_row(key="f" * 16, label="no_claim")]
    write_records(tmp_path / "labels.jsonl", rows)
    assert read_labels(tmp_path / "labels.jsonl") == rows


def test_the_key_follows_claim_context_case_slice_and_evidence():
    key = claim_key("pcos", "a", CLAIM, [METFORMIN, LETROZOLE])
    others = [
        claim_key("other", "a", CLAIM, [METFORMIN, LETROZOLE]),
        claim_key("pcos", "b", CLAIM, [METFORMIN, LETROZOLE]),
        claim_key("pcos", "a", CLAIM.with_(text="It raises insulin."), [METFORMIN, LETROZOLE]),
        claim_key("pcos", "a", CLAIM.with_(context="Letrozole is a drug."), [METFORMIN, LETROZOLE]),
        claim_key("pcos", "a", CLAIM, [LETROZOLE, METFORMIN]),
        claim_key("pcos", "a", CLAIM, [METFORMIN.with_(text="Other words."), LETROZOLE]),
    ]
    assert len({key, *others}) == 7
    renamed = METFORMIN.with_(id="x", title="y")
    assert claim_key("pcos", "a", CLAIM.with_(id="c9", start=3, end=8), [renamed, LETROZOLE]) == key


def test_the_key_of_a_known_claim_stays():
    """Labels files of today are read by later versions."""
    assert claim_key("pcos", "a", CLAIM, [METFORMIN.with_(text="Größe")]) == "e4528b63efc38418"


def test_a_claim_with_contexts_for_itself_is_keyed_by_those():
    report = case_report()
    claim = report.verdicts[0].claim
    assert judged_contexts(report, claim) == [METFORMIN, LETROZOLE]
    found = report.retrieval.with_(claims={claim.id: (LETROZOLE.id,)})
    per_claim = report.with_(contexts_mode="per-claim", retrieval=found)
    assert judged_contexts(per_claim, claim) == [LETROZOLE]
    assert label_key("pcos", per_claim, claim) == claim_key("pcos", report.case.id, claim, [LETROZOLE])


def test_the_fingerprint_is_of_the_signature_not_of_the_name_alone():
    def fingerprint(**signature):
        return checker_fingerprint("fast", {"checkers": {"fast": signature}, "seed": 0})

    assert fingerprint(entail=0.5, odds=1) == fingerprint(odds=1, entail=0.5)
    assert fingerprint(entail=0.5) != fingerprint(entail=0.6)
    assert fingerprint(entail=0.5).startswith("fast@")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"label": "wrong"}, r"labels.jsonl:1: field 'label' is 'wrong', expected one of supported, refuted"),
        ({"weight": 0}, r"labels.jsonl:1: field 'weight' is 0.0, expected a finite number above 0"),
        ({"weight": -1.5}, r"field 'weight' is -1.5"),
        ({"weight": True}, r"field 'weight' is True, expected a number"),
        ({"key": "ABC"}, r"field 'key' is 'ABC', expected 16 hexadecimal digits"),
        ({"severity": "major"}, r"field 'severity' is 'major', expected one of none, low, moderate, high"),
        (
            {"label": "supported", "severity": "low"},
            r"field 'severity' is 'low' beside the label 'supported'",
        ),
        ({"verdict": None}, r"labels.jsonl:1: field 'verdict' is missing from this labelrow"),
    ],
)
def test_a_broken_field_is_named_with_file_and_line(tmp_path, changes, message):
    path = tmp_path / "labels.jsonl"
    path.write_text(json.dumps(label_row().to_dict() | changes) + "\n")
    with pytest.raises(DataError, match=message):
        read_labels(path)


@pytest.mark.parametrize("weight", ["NaN", "Infinity", "1e999"])
def test_a_weight_that_is_not_finite_is_refused(tmp_path, weight):
    path = tmp_path / "labels.jsonl"
    path.write_text(json.dumps(label_row().to_dict()).replace("2.5", weight))
    with pytest.raises(DataError, match=r"labels\.jsonl:1: "):
        read_labels(path)
    with pytest.raises(DataError, match="field 'weight'"):
        LabelRow(**{**label_row().to_dict(), "weight": float(weight.lower())})


@pytest.mark.parametrize("marker", ["<<<<<<< HEAD", "=======", ">>>>>>> branch", "||||||| base"])
def test_a_merge_conflict_is_named(tmp_path, marker):
    path = tmp_path / "labels.jsonl"
    path.write_text(f"{json.dumps(label_row().to_dict())}\n{marker}\n")
    with pytest.raises(DataError, match=r"labels\.jsonl:2: a marker of a merge conflict"):
        read_labels(path)


def test_a_claim_that_a_reviewer_labelled_twice_is_refused(tmp_path):
    path = tmp_path / "labels.jsonl"
    write_records(path, [label_row(reviewer="AB"), label_row(reviewer="CD"), label_row(reviewer="AB")])
    with pytest.raises(DataError, match=r"labels\.jsonl:3: .* reviewer 'AB' labelled this claim on line 1"):
        read_labels(path)


def test_no_file_and_half_a_line(tmp_path):
    with pytest.raises(DataError, match="no such file"):
        read_labels(tmp_path / "labels.jsonl")
    (tmp_path / "labels.jsonl").write_text('{"slice": "pcos", ')
    with pytest.raises(DataError, match=r"labels\.jsonl:1: not JSON"):
        read_labels(tmp_path / "labels.jsonl")
