import json
import os

import pytest
from card_samples import METRICS, slice_sample, value

from pytest_medfaith.cards.history import KEPT, read_history, write_history
from pytest_medfaith.cards.run_folder import check_writable, write_run
from pytest_medfaith.errors import DataError
from pytest_medfaith.jsonl import read_rows


def faithfulness(report):
    return report.metrics["faithfulness"].value


def sample(number, **changes):
    return slice_sample(metrics={**METRICS, "faithfulness": value("faithfulness", number)}, **changes)


def test_each_run_in_a_folder_leaves_a_point_for_the_next(tmp_path):
    for hour, number in enumerate((0.5, 0.6, 0.7)):
        write_run(tmp_path, [sample(number)], signature={})
        os.utime(tmp_path / "signature.json", (3600 * hour, 3600 * hour))
    history = read_history(tmp_path)
    assert [(label, faithfulness(reports[0])) for label, reports in history] == [
        ("1970-01-01 00:00", 0.5),
        ("1970-01-01 01:00", 0.6),
    ]
    page = (tmp_path / "card.html").read_text(encoding="utf-8")
    assert "Faithful over 3 runs" in page
    assert "1970-01-01 01:00: 0.60, 3 cases" in page


def test_a_first_run_has_no_history(tmp_path):
    write_run(tmp_path, [sample(0.5)], signature={})
    assert read_history(tmp_path) == []
    assert not (tmp_path / "history.jsonl").exists()


def test_a_run_that_was_cut_short_or_cannot_be_read_is_no_point(tmp_path):
    write_run(tmp_path, [sample(0.5, partial=True)], signature={})
    write_run(tmp_path, [sample(0.6)], signature={})
    (tmp_path / "report.json").write_text("{")
    write_run(tmp_path, [sample(0.7)], signature={})
    assert read_history(tmp_path) == []


def test_old_points_go(tmp_path):
    write_history(tmp_path, [(f"run {i}", [sample(0.5)]) for i in range(KEPT + 3)])
    assert [label for label, _ in read_history(tmp_path)] == [f"run {i}" for i in range(3, KEPT + 3)]


def test_what_came_back_is_what_was_written(tmp_path):
    write_history(tmp_path, [("a", [sample(0.5), sample(0.6, retriever="bm25")]), ("b", [sample(0.7)])])
    (_, (first, second)), (_, (third,)) = read_history(tmp_path)
    assert (faithfulness(first), second.retriever, faithfulness(third)) == (0.5, "bm25", 0.7)
    assert first.metrics["recall@k"] == METRICS["recall@k"]
    assert first.metrics["context_precision"].value is None


@pytest.mark.parametrize(
    "line",
    [
        '{"run": "a"}',
        '{"run": "a", "metrics": {"faithfulness": {"value": 1e999}}}',
        '{"run": "a", "metrics": []}',
        "{",
        "[1]",
    ],
)
def test_a_line_that_is_no_history_is_said_before_the_run(tmp_path, line):
    (tmp_path / "history.jsonl").write_text(line + "\n")
    with pytest.raises(DataError, match=r"history\.jsonl:1: "):
        check_writable(tmp_path)


def test_rows_are_plain(tmp_path):
    write_history(tmp_path, [("a", [sample(0.5)])])
    row = next(row for _, row in read_rows(tmp_path / "history.jsonl"))
    assert json.dumps(row["metrics"]["faithfulness"]) == '{"value": 0.5, "low": null, "high": null, "n": 3}'
