"""What a test measured, on its way to the process that sums up."""

import json

import numpy as np
import pytest
from gate_samples import RUN, case

from pytest_medfaith.errors import DataError
from pytest_medfaith.records import Chunk, Hit, Report
from pytest_medfaith.run.results import Result, plain_report

REPORT = case("a", "sr?", latency=5.0)
HIT = Hit(chunk=Chunk(id="c", text="Iron treats anaemia."), rank=1, score=0.5, ranks={"bm25": 1})


def with_response(**changes):
    return REPORT.with_(response=REPORT.response.with_(**changes))


def read_back(report):
    """Returns what a file of `report` holds."""
    return Report.from_dict(json.loads(json.dumps(report.to_dict())))


def test_a_result_leaves_a_worker_as_json_and_arrives_whole():
    result = Result(run=RUN, report=REPORT, gates=("hallucination <= 0.1",), checker={"weights": "w"})
    assert Result.from_row(json.loads(json.dumps(result.to_row()))) == result


@pytest.mark.parametrize(
    "report",
    [
        REPORT,
        REPORT.with_(hits=(HIT,), searched=True),
        with_response(meta={"seen": [1, {"by": None}], "sure": 0.25}),
        REPORT.with_(case=REPORT.case.with_(extra={"ward": "3 – Süd"})),
    ],
)
def test_a_plain_report_is_passed_on_as_it_is_and_never_serialised(report, monkeypatch):
    assert read_back(report) == report
    monkeypatch.setattr(Report, "to_dict", None)
    assert plain_report(report) is report


@pytest.mark.parametrize(
    "report",
    [
        with_response(latency_ms=5),
        with_response(latency_ms=np.float64(5)),
        with_response(citations=["1"]),
        with_response(citations=None),
        with_response(meta={"rows": (1, 2)}),
        with_response(meta={3: "a number as key"}),
        REPORT.with_(hits=(HIT.with_(rank=np.int64(1)),)),
        REPORT.with_(hits=[HIT]),
        REPORT.with_(extra={"more": (1,)}),
    ],
)
def test_any_other_report_becomes_what_its_file_would_hold(report):
    made = plain_report(report)
    assert made is not report
    assert made == read_back(made)
    assert json.dumps(made.to_dict()) == json.dumps(read_back(made).to_dict())
    assert plain_report(made) is made


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"latency_ms": "fast"}, "field 'latency_ms' is 'fast', expected a number"),
        ({"meta": {"seen": {1, 2}}}, "it holds a set"),
        ({"meta": {"share": float("inf")}}, "Out of range float values"),
        ({"meta": {"\ud83d": 1}}, "surrogates not allowed"),
        ({"answer": None}, "field 'answer' is missing"),
    ],
)
def test_a_value_without_a_plain_form_is_an_error_of_its_case(changes, why):
    with pytest.raises(DataError, match=rf"case 'a' cannot be summed up: .*{why}.*; give plain texts"):
        plain_report(with_response(**changes))
