import json
import math
import random

import jsonschema
import pytest
from card_samples import METRICS, case_report, slice_sample, value

from pytest_medfaith.cards.json_card import json_card, report_schema
from pytest_medfaith.errors import DataError

SLICES = [
    slice_sample(missing=("a",), partial=True),
    slice_sample(retriever="bm25", gates=()),
    slice_sample(reports=(), metrics={}, k=5),
]


def test_the_schema_is_a_schema_and_the_card_follows_it():
    schema = report_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(json.loads(json_card(SLICES)), schema)
    jsonschema.validate(json.loads(json_card([])), schema)


@pytest.mark.parametrize(
    ("path", "wrong"),
    [
        (["format_version"], 2),
        (["slices", 0, "k"], 0),
        (["slices", 0, "gates", 0, "outcome"], "maybe"),
        (["slices", 0, "cases", 0, "claims", 0, "label"], "true"),
        (["slices", 0, "metrics", "faithfulness"], 0.8),
        (["slices", 0, "counts", "missing"], None),
    ],
)
def test_the_schema_refuses_other_things(path, wrong):
    document = json.loads(json_card(SLICES[:1]))
    place = document
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = wrong
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, report_schema())


def test_the_same_reports_give_the_same_bytes_in_any_order():
    def shuffled(report, seed):
        cases = list(report.reports)
        random.Random(seed).shuffle(cases)
        metrics = dict(sorted(report.metrics.items(), reverse=bool(seed % 2)))
        return report.with_(reports=tuple(cases), metrics=metrics)

    cards = {
        json_card([shuffled(report, seed) for report in SLICES[:: 1 if seed % 2 else -1]])
        for seed in range(6)
    }
    assert len(cards) == 1


def test_what_is_counted_and_what_has_no_value():
    row = json.loads(json_card([slice_sample()]))["slices"][0]
    assert row["counts"]["unscored"] == 1
    assert row["counts"]["skipped"] == {"empty answer": 1200, "id used before": 1}
    assert row["metrics"]["context_precision"] == {"value": None, "low": None, "high": None, "n": 0}
    assert [claim["label"] for claim in row["cases"][0]["claims"]] == ["refuted", "supported", "unsupported"]


def test_nan_is_an_error():
    broken = {**METRICS, "faithfulness": value("faithfulness", 0.5, math.nan, 1.0)}
    with pytest.raises(DataError, match=r"the report cannot be written as JSON .*keep finite numbers"):
        json_card([slice_sample(metrics=broken)])
    with pytest.raises(DataError, match="cannot be written as JSON"):
        json_card([slice_sample(reports=(case_report().with_(metrics={"faithfulness": math.inf}),))])
