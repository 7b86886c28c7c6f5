"""Certified thresholds: what is promised, for how many labels, and what a file of it must hold."""

import dataclasses
import json
import random
from functools import cache

import pytest

from pytest_medfaith.calibration.applying import calibrated, read_calibration, write_calibration
from pytest_medfaith.calibration.certifying import certified_facts, certified_lines, certify_checker
from pytest_medfaith.calibration.rows import LabelledRow
from pytest_medfaith.calibration.selective import Judged, certify, labels_needed, p_value
from pytest_medfaith.errors import DataError
from pytest_medfaith.evaluation import evaluate_case
from pytest_medfaith.records import Case, Chunk, Response
from pytest_medfaith.run.resources import Resources
from pytest_medfaith.run.signature import checker_signature
from pytest_medfaith.testing import scripted_checker


def judged(count, *, wrong_below=0.0, share=0.0, seed=0, group=None):
    """Returns verdicts scored from 0 to 1: wrong below `wrong_below`, above it with the chance `share`."""
    source = random.Random(seed)
    rows = []
    for number in range(count):
        score = source.random()
        wrong = score < wrong_below or source.random() < share
        rows.append(Judged(score, wrong, number if group is None else group(number)))
    return rows


def test_the_p_value_is_the_exact_binomial():
    assert p_value(0, 45, 0.05) == pytest.approx(0.95**45)
    assert p_value(1, 3, 0.5) == pytest.approx(0.5)
    assert p_value(0, 0, 0.05) == 1


def test_all_verdicts_stand_where_none_is_wrong():
    found = certify(judged(100), risk=0.05)
    assert (found.least, found.kept, found.wrong) == (0.0, 100, 0)


def test_a_threshold_leaves_the_wrong_ones_below():
    found = certify(judged(2000, wrong_below=0.3), risk=0.05)
    assert 0.15 < found.least < 0.31
    assert found.wrong / found.kept < 0.05
    assert certify(judged(2000, wrong_below=0.3, share=0.04), risk=0.05).kept < found.kept


def test_too_few_labels_say_how_many_are_needed():
    found = certify(judged(60), risk=0.05)
    assert (found.least, found.needed) == (None, 67)
    assert certify(judged(67), risk=0.05).least == 0.0
    assert certify([], risk=0.05).needed == 67


def test_no_number_of_labels_helps_a_checker_that_is_wrong_too_often():
    found = certify(judged(400, share=0.3), risk=0.05)
    assert (found.least, found.needed) == (None, None)


def test_labels_needed_certify():
    for share in (0.0, 0.01, 0.03):
        count = labels_needed(share, risk=0.05, level=0.1 / 3)
        assert p_value(round(share * count + 0.499), count, 0.05) <= 0.1 / 3


def test_rows_of_a_group_count_once():
    found = certify(judged(300, group=lambda number: number // 10), risk=0.05)
    assert (found.least, found.rows, found.counted) == (None, 300, 30)


def test_tied_scores_stand_or_fall_together():
    sure = [Judged(score=1.0, is_wrong=False, group=n) for n in range(200)]
    rows = sure + [Judged(score=0.5, is_wrong=True, group=200 + n) for n in range(200)]
    assert certify(rows, risk=0.05).least == 0.5


def test_equal_seeds_give_equal_thresholds():
    rows = judged(500, wrong_below=0.2, group=lambda number: number // 2)
    assert certify(rows, risk=0.1, seed=3) == certify(rows, risk=0.1, seed=3)


def test_the_promise_holds_in_nine_of_ten_runs():
    """The chance of an error is 1 - score: the true risk above a threshold t is (1 - t) / 2."""
    broken = 0
    for seed in range(300):
        source = random.Random(seed)
        scores = [source.random() for _ in range(400)]
        rows = [Judged(score, source.random() > score, n) for n, score in enumerate(scores)]
        found = certify(rows, risk=0.2)
        broken += found.least is not None and (1 - found.least) / 2 > 0.2
    assert broken <= 30 + 3 * 5.2  # a tenth, and three standard errors


# With a checker
# ------------------------------------------------------------------------------------------------------


def score_texts(pairs):
    """Returns logits: 0.995 for an entailed text, 0.73 for a claim that is called unsure."""
    import numpy as np

    rows = {True: (1.8, 0.0, 0.0), False: (6.0, 0.0, 0.0)}
    return np.array([rows["unsure" in claim] for _, claim in pairs], dtype=np.float32)


CHECKER = dataclasses.replace(scripted_checker(lambda *_: "entail"), score_texts=score_texts)


def rows_of(sure=120, unsure=120):
    """Returns rows that the checker supports: surely and rightly, or unsurely and half of them wrongly."""
    rows = [LabelledRow(f"iron {n} helps", (f"iron {n}",), "entail", n) for n in range(sure)]
    return rows + [
        LabelledRow(f"unsure {n}", ("iron",), "entail" if n % 2 else "neutral", sure + n)
        for n in range(unsure)
    ]


@cache
def certified():
    """What a checker of 240 rows is promised: once for all tests, which change no part of it."""
    return certify_checker(rows_of(), CHECKER, risk=0.05)


def test_a_checker_is_certified_and_leaves_open_what_it_is_unsure_of():
    found = certified()
    careful = calibrated(CHECKER, found.fitted)
    chunks = (Chunk(id="a", text="iron 1"),)
    report = evaluate_case(
        Case(id="one", question="What helps?"),
        Response(answer="Iron 1 helps. Zinc is unsure at best.", case_id="one", contexts=chunks),
        checker=careful,
    )
    assert [verdict.label for verdict in report.verdicts] == ["supported", "uncertain"]
    assert report.selective
    assert found.fitted.selective.refuted is None
    lines = certified_lines(found, risk=0.05)
    assert lines[0].startswith("supported: above 0.7")
    assert (
        "refuted: nothing can be promised (0 labelled verdicts, 0 wrong); about 67 would certify" in lines[1]
    )


def test_nothing_to_promise_is_an_error_that_says_how_many_labels_are_needed():
    with pytest.raises(DataError, match=r"can be certified at a risk of 0\.05: supported: .*about 67 would"):
        certify_checker(rows_of(sure=30, unsure=0), CHECKER, risk=0.05)


def test_a_certified_calibration_goes_to_its_file_and_back(tmp_path):
    found = certified()
    path = tmp_path / "c.json"
    write_calibration(path, found.fitted, facts=certified_facts(found, seed=0))
    assert read_calibration(path) == found.fitted


def test_a_promise_is_not_kept_under_other_rules():
    fitted = certified().fitted
    with pytest.raises(DataError, match="under other rules: negation, "):
        calibrated(dataclasses.replace(CHECKER, rules=frozenset({"negation"})), fitted)


def test_the_signature_names_the_thresholds():
    fitted = certified().fitted
    assert "selective" not in checker_signature(CHECKER)
    assert checker_signature(calibrated(CHECKER, fitted))["selective"]["risk"] == 0.05


@pytest.mark.parametrize(
    "change",
    [
        {"supported": None},
        {"supported": 1.2},
        {"risk": "low"},
        {"rules": "none"},
        {"confidence": None},
        {"supported": True},
    ],
)
def test_broken_files_are_one_clear_error(tmp_path, change):
    found = certified()
    path = tmp_path / "c.json"
    write_calibration(path, found.fitted, facts={})
    row = json.loads(path.read_text())
    row["selective"] |= change
    path.write_text(json.dumps(row))
    with pytest.raises(
        DataError, match=r"c\.json: selective is .* write it again with medfaith calibrate --risk"
    ):
        read_calibration(path)


def test_settings_that_move_thresholds_break_no_promise(tmp_path, monkeypatch):
    fitted = certified().fitted
    write_calibration(tmp_path / "c.json", fitted, facts={})
    (tmp_path / "medfaith.toml").write_text('calibration = "c.json"\nentail_threshold = 0.2\n')
    monkeypatch.setattr("pytest_medfaith.checking.loading.load_checker", lambda *_, **__: CHECKER)
    with pytest.raises(DataError, match="entail_threshold, and the calibration promises a risk"):
        Resources(root=tmp_path).checker(CHECKER.name)
