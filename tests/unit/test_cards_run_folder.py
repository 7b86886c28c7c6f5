import builtins
import json
import math

import pytest
from card_samples import METRICS, case_report, slice_sample, value

from pytest_medfaith.cards import csv_claims
from pytest_medfaith.cards.run_folder import check_writable, write_run
from pytest_medfaith.cards.run_reading import read_run, read_summaries
from pytest_medfaith.errors import DataError
from pytest_medfaith.jsonl import read_rows

FILES = {
    "snippets.jsonl",
    "responses.jsonl",
    "claims.jsonl",
    "pairs.jsonl",
    "report.json",
    "card.md",
    "claims.csv",
    "signature.json",
}
SIGNATURE = {"checker": "nli-student", "thresholds": [0.5, 0.5], "seed": 0}


@pytest.fixture
def run(tmp_path):
    folder = tmp_path / "deep" / "run"
    write_run(
        folder,
        [slice_sample(retriever="bm25"), slice_sample(missing=("pcos-9",), partial=True)],
        signature=SIGNATURE,
    )
    return folder


def test_what_was_written_is_read_back(run):
    reports, signature = read_run(run)
    assert reports == [slice_sample(retriever="bm25"), slice_sample(missing=("pcos-9",), partial=True)]
    assert signature == SIGNATURE


def test_a_response_keeps_fields_of_its_own_that_are_called_as_those_of_the_run(tmp_path):
    report = slice_sample()
    one = report.reports[0]
    same_named = one.response.with_(extra={"k": 7, "retriever": "mine", "other": 1})
    write_run(
        tmp_path,
        [report.with_(reports=(one.with_(response=same_named), *report.reports[1:]))],
        signature=SIGNATURE,
    )
    assert read_run(tmp_path)[0][0].reports[0].response == same_named


def test_the_files_of_a_run(run):
    assert FILES | {"card.html"} == {path.name for path in run.iterdir()}


def test_a_remade_run_has_the_same_bytes(run, tmp_path):
    reports, signature = read_run(run)
    write_run(tmp_path / "again", reports, signature=signature)
    for path in run.iterdir():
        assert path.read_bytes() == (tmp_path / "again" / path.name).read_bytes(), path.name


def test_pairs_keep_their_logits_and_responses_can_be_replayed(run):
    pairs = [row for _, row in read_rows(run / "pairs.jsonl")]
    assert pairs[0]["logits"] == [-2.0, -1.0, 3.0]
    response = next(row for _, row in read_rows(run / "responses.jsonl"))
    assert {"case_id", "answer", "contexts", "retriever"} <= set(response)


def test_summaries_leave_the_cases_out(run):
    bm25, _ = read_summaries(run)
    assert bm25 == slice_sample(retriever="bm25", reports=())


def test_without_jinja_an_older_page_does_not_stay(run, monkeypatch):
    real = builtins.__import__

    def without_jinja(name, *args, **kwargs):
        if name.split(".")[0] in ("jinja2", "markupsafe"):  # the extra brings both
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without_jinja)
    write_run(run, [slice_sample()], signature={})
    assert {path.name for path in run.iterdir()} == FILES | {"history.jsonl"}


def test_a_run_that_breaks_off_is_no_run(run, monkeypatch):
    monkeypatch.setattr(csv_claims, "csv_pieces", lambda _: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write_run(run, [slice_sample()], signature={})
    with pytest.raises(
        DataError, match=r"holds no finished run \(signature.json is not there\); write one with"
    ):
        read_run(run)


def test_two_tests_that_write_one_slice(tmp_path):
    with pytest.raises(
        DataError,
        match=r"2 slice reports are of slice 'medquad-nih', retriever 'rrf'.*keep one test for each",
    ):
        write_run(tmp_path, [slice_sample(), slice_sample()], signature={})


def test_two_reports_of_one_case(tmp_path):
    with pytest.raises(DataError, match="holds 2 reports of case 'a'; keep one a case"):
        write_run(tmp_path, [slice_sample(reports=(case_report("a"), case_report("a")))], signature={})


def test_nan_is_refused_before_anything_is_replaced(run):
    before = (run / "report.json").read_bytes()
    broken = slice_sample(metrics={**METRICS, "faithfulness": value("faithfulness", math.nan)})
    with pytest.raises(DataError, match="the report cannot be written as JSON"):
        write_run(run, [broken], signature={})
    assert (run / "report.json").read_bytes() == before
    assert read_run(run)[1] == SIGNATURE


def test_a_value_that_json_cannot_hold_names_its_file(tmp_path):
    report = case_report()
    odd = report.with_(response=report.response.with_(meta={"when": object()}))
    with pytest.raises(DataError, match=r"responses.jsonl cannot be written as JSON"):
        write_run(tmp_path, [slice_sample(reports=(odd,))], signature={})


def test_a_newer_run(run):
    (run / "signature.json").write_text(json.dumps({"format_version": 99}))
    with pytest.raises(
        DataError,
        match=r"a newer version wrote this run \(format 99\).*pip install --upgrade pytest-medfaith",
    ):
        read_run(run)


@pytest.mark.parametrize("version", [None, "1", 0])
def test_an_odd_version(run, version):
    (run / "signature.json").write_text(json.dumps({"format_version": version}))
    with pytest.raises(DataError, match=r"format_version is .*expected 1; run the suite again"):
        read_run(run)


def test_a_corrupt_report(run):
    (run / "report.json").write_text("{")
    with pytest.raises(DataError, match=r"report.json cannot be read as JSON"):
        read_run(run)
    (run / "report.json").write_text('{"slices": [{}]}')
    with pytest.raises(DataError, match="does not hold what this version writes"):
        read_summaries(run)
    (run / "report.json").write_text("[]")
    with pytest.raises(DataError, match="holds list, expected an object"):
        read_summaries(run)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e999", '"0.8"'])
def test_a_number_that_is_none_is_refused_when_read(run, number):
    text = (run / "report.json").read_text()
    assert '"value": 0.82' in text
    (run / "report.json").write_text(text.replace('"value": 0.82', f'"value": {number}'))
    with pytest.raises(
        DataError, match=r"(NaN|Infinity) is no JSON number|field 'value' is .*, expected a (finite )?number"
    ):
        read_run(run)


def test_a_case_metric_that_is_none_is_refused_when_read(run):
    text = (run / "report.json").read_text()
    assert '"faithfulness": 0.3333333333333333' in text
    (run / "report.json").write_text(
        text.replace('"faithfulness": 0.3333333333333333', '"faithfulness": 1e999')
    )
    with pytest.raises(DataError, match=r"field 'metrics.faithfulness' is inf, expected a finite number"):
        read_run(run)


def test_files_that_do_not_fit_together(run):
    (run / "responses.jsonl").write_text("")
    with pytest.raises(DataError, match="holds 0 responses to case 'pcos-1'"):
        read_run(run)
    (run / "responses.jsonl").write_text('{"case_id": "x"}\n')
    with pytest.raises(DataError, match=r"responses.jsonl:1: field 'slice' is missing"):
        read_run(run)


def test_a_folder_that_cannot_be_written_is_found_before_the_run(tmp_path):
    (tmp_path / "file").write_text("in the way")
    for folder in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(
            DataError, match=r"cannot be written .*Give another one with --medfaith-report DIR"
        ):
            check_writable(folder)


def test_a_folder_that_can_be_written_stays_empty(tmp_path):
    check_writable(tmp_path / "new")
    assert list((tmp_path / "new").iterdir()) == []
