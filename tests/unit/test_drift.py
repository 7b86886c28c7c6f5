"""The rate of a live system: the test that may be read at any time, the history, and the logs."""

from __future__ import annotations

import json
import random

import numpy as np
import pytest

from pytest_medfaith.checking.judge import as_checker
from pytest_medfaith.drift.betting import betting_test, rate_interval
from pytest_medfaith.drift.card import verdict_line, watch_svg, watch_text
from pytest_medfaith.drift.history import History, Seen
from pytest_medfaith.drift.log import read_log
from pytest_medfaith.drift.watching import parse_bound, watch, watched_signature
from pytest_medfaith.errors import DataError
from pytest_medfaith.metrics.registry import METRICS
from pytest_medfaith.run.resources import Resources


def answers(rate, count, seed):
    """Returns shares of wrong claims of answers with 1 to 8 claims."""
    drawn = np.random.default_rng(seed)
    claims = drawn.integers(1, 9, count)
    return drawn.binomial(claims, rate) / claims


def test_a_rate_at_its_bound_raises_few_alarms_over_a_thousand_looks():
    alarms = sum(betting_test(answers(0.05, 1000, seed), 0.05).crossed is not None for seed in range(200))
    assert alarms <= 20  # 10 are expected at most; 20 would be a chance of 0.002


def test_a_rate_above_its_bound_is_found_also_after_a_long_good_time():
    at_once = [betting_test(answers(0.1, 600, seed), 0.05).crossed for seed in range(30)]
    assert all(at_once)
    late = [np.concatenate([answers(0.02, 2000, seed), answers(0.1, 600, seed + 99)]) for seed in range(30)]
    crossed = [betting_test(values, 0.05).crossed for values in late]
    assert all(found and found > 2000 for found in crossed)
    assert np.median(crossed) - 2000 < 3 * np.median(at_once)


def test_what_later_answers_say_takes_no_alarm_back_and_none_is_said_early():
    bad = answers(0.3, 200, 1)
    crossed = betting_test(bad, 0.05).crossed
    assert crossed is not None
    assert betting_test(bad[: crossed - 1], 0.05).crossed is None
    assert betting_test([*bad, *[0.0] * 5000], 0.05).crossed == crossed


@pytest.mark.parametrize(("value", "crossed"), [(0.0, False), (1.0, True)])
def test_a_bound_of_nothing_is_refuted_by_any_error_alone(value, crossed):
    assert (betting_test([0.0] * 50 + [value], 0.0).crossed is not None) == crossed


def test_intervals_hold_the_rate_and_are_narrow_with_many_answers():
    for rate, count in ((0.05, 40), (0.3, 40), (0.05, 200)):
        ends = [rate_interval(answers(rate, count, seed)) for seed in range(40)]
        assert sum(low <= rate <= high for low, high in ends) >= 36
    assert rate_interval([]) is None
    low, high = rate_interval([0.0] * 100 + [1.0] * 100)  # a rate that changed
    assert low < 0.5 < high
    low, high = rate_interval([0.0] * 500)
    assert low == 0.0
    assert high < 0.05


@pytest.mark.parametrize("values", [[1.5], [-0.1], [float("nan")]])
def test_values_that_are_no_rates_are_refused(values):
    with pytest.raises(ValueError, match="not a number from 0 to 1"):
        betting_test(values, 0.05)


# Logs


def rows_of(path):
    return [(one.id, one.day, one.question, one.response.answer) for one in read_log(path, [])]


def write(path, *rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def test_a_folder_of_logs_is_read_by_name_and_rows_of_two_files_count_once(tmp_path):
    first = {
        "id": "a",
        "question": "q",
        "answer": "A.",
        "contexts": ["A."],
        "timestamp": "2026-11-02T23:30:00-02:00",
    }
    second = {"case_id": "b", "answer": "B.", "contexts": [], "at": 1_793_620_800}
    write(tmp_path / "2.jsonl", first, {"answer": "C.", "contexts": ["C."]})
    write(tmp_path / "1.jsonl", first, second)
    (tmp_path / "notes.txt").write_text("no log", encoding="utf-8")
    rows = rows_of(tmp_path)
    assert rows[:2] == [("a", "2026-11-03", "q", "A."), ("b", "2026-11-02", "", "B.")]
    assert len(rows) == 3
    assert rows[2][3] == "C."


def test_one_id_with_two_answers_is_refused(tmp_path):
    write(tmp_path / "1.jsonl", {"id": "a", "answer": "A.", "contexts": ["A."]})
    write(tmp_path / "2.jsonl", {"id": "a", "answer": "B.", "contexts": ["A."]})
    with pytest.raises(DataError, match="the id 'a' has another answer"):
        read_log(tmp_path, [])


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"answer": "A.", "contexts": ["A."], "timestamp": "yesterday"}, "timestamp is 'yesterday'"),
        ({"answer": "A.", "context": ["A."], "contxts": 1}, r"log.jsonl:1: .*did you mean 'contexts'"),
    ],
)
def test_a_row_that_cannot_be_read_is_named(tmp_path, row, said):
    write(tmp_path / "log.jsonl", row)
    with pytest.raises(DataError, match=said):
        read_log(tmp_path / "log.jsonl", [])


def test_an_empty_log_is_an_error(tmp_path):
    (tmp_path / "log.jsonl").write_text("", encoding="utf-8")
    with pytest.raises(DataError):
        read_log(tmp_path / "log.jsonl", [])
    with pytest.raises(DataError, match="no such log"):
        read_log(tmp_path / "nowhere", [])


# Watching


def judge(claim, _chunks):
    return "unscored" if "odd" in claim.text else "refuted" if "wrong" in claim.text else "supported"


@pytest.fixture
def project(tmp_path):
    (tmp_path / "pyproject.toml").write_text(
        "[tool.medfaith.slices.live]\ncases = 'cases.jsonl'\nchecker = 'scripted'\n", encoding="utf-8"
    )
    resources = Resources(root=tmp_path)
    resources._loaded["checker", "scripted"] = as_checker(judge, name="scripted")
    return resources


def logged(tmp_path, texts, *, start=0, **fields):
    path = tmp_path / "log.jsonl"
    rows = [
        {"id": f"r{start + i}", "answer": text, "contexts": ["x"], **fields} for i, text in enumerate(texts)
    ]
    write(path, *rows)
    return read_log(path, [])


def watching(project, tmp_path, log, *, expression="hallucination <= 0.05", signature="", **given):
    settings, bound = project.settings.slice("live"), parse_bound(expression, METRICS)
    history = History(
        tmp_path / "history.sqlite",
        watched=bound.metric,
        signature=signature or watched_signature(project, settings),
    )
    return watch(project, settings, log, bound=bound, history=history, **given)


def test_an_answer_is_checked_once_and_what_was_found_is_kept(project, tmp_path):
    first = watching(project, tmp_path, logged(tmp_path, ["Ice is cold."] * 30))
    assert (first.new, len(first.valued), first.crossed) == (30, 30, None)
    again = watching(project, tmp_path, logged(tmp_path, ["Ice is cold."] * 30))
    assert (again.new, len(again.valued)) == (0, 30)
    bad = watching(project, tmp_path, logged(tmp_path, ["Ice is wrong."] * 20, start=30, at="2026-11-30"))
    assert bad.crossed is not None
    assert bad.crossed.day == "2026-11-30"
    assert verdict_line(bad).startswith("ALARM hallucination <= 0.05: refuted at answer ")


def test_a_metric_that_must_be_high_is_tested_the_other_way(project, tmp_path):
    bad = watching(
        project, tmp_path, logged(tmp_path, ["Ice is wrong."] * 60), expression="faithfulness >= 0.9"
    )
    assert bad.crossed is not None
    good = watching(
        project, tmp_path, logged(tmp_path, ["Ice is cold."] * 60, start=90), expression="faithfulness >= 0.9"
    )
    assert good.crossed is not None  # the alarm of before stands


def test_a_sample_leaves_answers_out_for_ever_and_is_drawn_before_they_are_judged(project, tmp_path):
    log = logged(tmp_path, [random.Random(i).choice(["Ice is cold.", "Ice is wrong."]) for i in range(100)])
    first = watching(project, tmp_path, log, sample=10, seed=1)
    assert (first.new, first.left_out, len(first.valued)) == (100, 90, 10)
    again = watching(project, tmp_path, log, sample=10, seed=2)
    assert (again.new, len(again.valued)) == (0, 10)


def test_values_of_another_checker_or_other_rules_are_not_mixed(project, tmp_path):
    watching(project, tmp_path, logged(tmp_path, ["Ice is wrong."] * 40), signature="another")
    now = watching(project, tmp_path, logged(tmp_path, ["Ice is cold."] * 5, start=40))
    assert (len(now.valued), now.others, now.crossed) == (5, 40, None)
    assert "40 answers were judged by another checker or other rules" in watch_text(now)


def test_a_day_may_begin_the_test_anew(project, tmp_path):
    watching(project, tmp_path, logged(tmp_path, ["Ice is wrong."] * 40, at="2026-11-01"))
    log = logged(tmp_path, ["Ice is cold."] * 40, start=40, at="2026-11-20")
    assert watching(project, tmp_path, log).crossed is not None
    assert watching(project, tmp_path, log, since="2026-11-10").crossed is None


@pytest.mark.parametrize(
    ("texts", "contexts", "said"),
    [
        (["I don't know."] * 9 + ["Ice is cold."], ["x"], "9 of 10 answers are refusals"),
        (["Ice is cold."] * 10, [], "no answer has a value of hallucination"),
        ([""] * 9 + ["Ice is cold."], ["x"], "9 of 10 answers could not be checked"),
        (
            [f"Ice is cold. Ice {i} is odd." for i in range(9)] + ["Ice is cold."],
            ["x"],
            "9 of 10 answers have claims that are unscored or uncertain",
        ),
    ],
)
def test_answers_that_say_nothing_are_no_good_rate(project, tmp_path, texts, contexts, said):
    found = watching(project, tmp_path, logged(tmp_path, texts, contexts=contexts))
    assert said in found.unusable
    assert verdict_line(found).startswith("UNUSABLE")


def test_the_card_has_a_row_for_each_day_and_the_plot_a_point(project, tmp_path):
    watching(project, tmp_path, logged(tmp_path, ["Ice is cold."] * 3, at="2026-11-01"))
    found = watching(
        project, tmp_path, logged(tmp_path, ["Ice is cold.", "I don't know."], start=3, at="2026-11-02")
    )
    lines = watch_text(found).splitlines()
    assert lines[1].split()[:5] == ["2026-11-01", "3", "0", "0", "0"]
    assert lines[2].split()[:5] == ["2026-11-02", "2", "1", "0", "0"]
    assert lines[3].startswith("all")
    assert watch_svg(found).count("<circle") == 2


@pytest.mark.parametrize(
    "expression",
    [
        "hallucination no worse than baseline",
        "hallucination <= 0.05 at 95%",
        "latency_p95 <= 200",
        "nonsense",
    ],
)
def test_a_bound_that_cannot_be_watched_is_refused(expression):
    with pytest.raises(ValueError, match=r"bound|gate"):
        parse_bound(expression, METRICS)


def test_a_file_that_is_no_history_is_left_alone(tmp_path):
    path = tmp_path / "history.sqlite"
    path.write_text("not a database, and longer than a header of SQLite would be" * 5, encoding="utf-8")
    before = path.read_bytes()
    with pytest.raises(DataError, match="cannot be read as a history"):
        History(path, watched="x", signature="y")
    assert path.read_bytes() == before


def test_two_runs_that_keep_the_same_answer_keep_it_once(tmp_path):
    history = History(tmp_path / "h.sqlite", watched="x", signature="y")
    other = History(tmp_path / "h.sqlite", watched="x", signature="y")
    history.add([Seen("a", "", "checked", 0.0)])
    other.add([Seen("a", "", "checked", 1.0), Seen("b", "", "checked", 1.0)])
    assert [(one.id, one.value) for one in history.of_this_checker()] == [("a", 0.0), ("b", 1.0)]
