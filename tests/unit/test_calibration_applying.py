import json

import pytest

from pytest_medfaith.calibration.applying import (
    FittedCalibration,
    calibrated,
    read_calibration,
    write_calibration,
)
from pytest_medfaith.calibration.isotonic import Isotonic
from pytest_medfaith.checking.policy import Thresholds
from pytest_medfaith.errors import DataError
from pytest_medfaith.records import Chunk
from pytest_medfaith.run.resources import Resources
from pytest_medfaith.testing import scripted_checker

CHECKER = scripted_checker(lambda _evidence, _claim: "entail")
STEEP = ((0.0, 0.1), (1.0, 0.9))
FITTED = FittedCalibration(
    checker=CHECKER.name,
    weights=CHECKER.signature,
    temperature=2.0,
    thresholds=Thresholds(entail=0.6, contradict=0.7, odds=1.3),
    isotonic=Isotonic((STEEP, STEEP, STEEP)),
)


def test_a_checker_reads_probabilities_as_calibrated():
    plain, mild = CHECKER("Iron helps.", [Chunk(id="a", text="Iron helps.")]), calibrated(CHECKER, FITTED)
    verdict = mild("Iron helps.", [Chunk(id="a", text="Iron helps.")])
    assert (plain.score, verdict.threshold) == (pytest.approx(0.995, abs=0.001), 0.6)
    assert 0.6 < verdict.score < 0.85


def test_a_calibration_goes_to_its_file_and_back(tmp_path):
    for fitted in (
        FITTED,
        FittedCalibration(checker="x", weights="y", temperature=1.5, thresholds=Thresholds()),
    ):
        write_calibration(tmp_path / "c.json", fitted, facts={"seed": 3})
        assert read_calibration(tmp_path / "c.json") == fitted


def test_a_file_from_before_the_odds_means_even_ones(tmp_path):
    write_calibration(tmp_path / "c.json", FITTED, facts={})
    row = json.loads((tmp_path / "c.json").read_text())
    del row["contradict_odds"]
    (tmp_path / "c.json").write_text(json.dumps(row))
    assert read_calibration(tmp_path / "c.json").thresholds == Thresholds(
        entail=0.6, contradict=0.7, odds=1.0
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"format_version": 2},
            "c.json: format_version is 2, expected 1; write it again with medfaith calibrate",
        ),
        ({"checker": None}, "c.json: checker is None, expected text"),
        ({"temperature": 0}, "c.json: temperature is 0, expected a number above 0"),
        ({"contradict_odds": 0}, "c.json: contradict_odds is 0, expected a number above 0"),
        ({"temperature": "1"}, "c.json: temperature is '1', expected a number above 0"),
        ({"entail_threshold": 1.5}, r"c.json: thresholds are 1.5 and 0.7; expected numbers between 0 and 1"),
        ({"isotonic": {"entail": [[0, 1]]}}, r"c.json: isotonic.entail leaves 0 to 1"),
        ({"isotonic": [1]}, "c.json: .*; write it again"),
    ],
)
def test_a_file_that_says_something_else_is_named_with_key_and_value(tmp_path, change, message):
    write_calibration(tmp_path / "c.json", FITTED, facts={})
    row = json.loads((tmp_path / "c.json").read_text())
    (tmp_path / "c.json").write_text(json.dumps({**row, **change}))
    with pytest.raises(DataError, match=message):
        read_calibration(tmp_path / "c.json")


def test_a_file_that_is_not_there_or_no_json_says_how_to_write_it(tmp_path):
    (tmp_path / "broken.json").write_text("{")
    for name in ("none.json", "broken.json"):
        with pytest.raises(
            DataError,
            match=rf"{name}: no calibration can be read there .*write one with medfaith calibrate ROWS --out",
        ):
            read_calibration(tmp_path / name)


def _project(tmp_path, weights, extra=""):
    fitted = FittedCalibration(
        checker="default",
        weights=weights,
        temperature=3.25,
        thresholds=Thresholds(entail=0.61, contradict=0.62),
    )
    write_calibration(tmp_path / "fitted.json", fitted, facts={})
    (tmp_path / "medfaith.toml").write_text(f'calibration = "fitted.json"\n{extra}')
    return Resources(root=tmp_path)


def test_a_project_names_its_calibration_and_its_own_threshold_beats_it(tmp_path):
    weights = Resources(root=tmp_path).checker("default").signature
    checker = _project(tmp_path, weights, "contradict_threshold = 0.5\ncontradict_odds = 2.0\n").checker(
        "default"
    )
    assert (checker.temperature, checker.thresholds) == (
        3.25,
        Thresholds(entail=0.61, contradict=0.5, odds=2.0),
    )


def test_a_calibration_of_other_weights_is_refused(tmp_path):
    with pytest.raises(
        DataError,
        match=r"fitted.json: the calibration was fitted for checker 'default' with weights 0123, but .*fit "
        r"it again",
    ):
        _project(tmp_path, "0123").checker("default")
