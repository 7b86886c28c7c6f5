import dataclasses
import json

import numpy as np
import pytest

from pytest_medfaith.calibration.explanation import (
    calibration_facts,
    calibration_notes,
    calibration_table,
    write_report,
)
from pytest_medfaith.calibration.fit import fit_calibration
from pytest_medfaith.calibration.rows import LabelledRow, read_labelled_rows, split_rows
from pytest_medfaith.checking.checker import Checker
from pytest_medfaith.commands.check_rows import read_check_rows
from pytest_medfaith.errors import DataError
from pytest_medfaith.records import LABELS

N = 900


@pytest.fixture(autouse=True)
def _every_text_is_near(monkeypatch):
    """Spares these tests the sentence encoder: nothing here depends on what the thousands of texts say."""
    monkeypatch.setattr(
        "pytest_medfaith.models.onnx.embed_texts", lambda texts, **_: np.ones((len(texts), 1))
    )


def sample(*, sharpness=3.0, two_way=False):
    """Returns labelled rows and a checker that says the truth of them with honest odds.

    `sharpness` multiplies the logits of the checker.
    """
    rng = np.random.default_rng(5)
    honest = rng.normal(scale=1.5, size=(N, 3))
    probs = np.exp(honest) / np.exp(honest).sum(axis=1, keepdims=True)
    rows = [
        LabelledRow(f"Claim w{i}.", (f"Text w{i}.",), LABELS[rng.choice(3, p=probs[i])], group=i)
        for i in range(N)
    ]
    logits = honest * sharpness
    if two_way:
        logits[:, 2] = -20.0

    def score_texts(pairs):
        return logits[[int(claim.split("w")[1].rstrip(".")) for _, claim in pairs]]

    return rows, Checker("honest", "weights-1", score_texts)


def test_a_temperature_is_fitted_on_one_part_and_helps_on_the_other():
    run = fit_calibration(*sample(), seed=1)
    assert run.fitted.temperature == pytest.approx(3.0, rel=0.2)
    assert (run.rows_fitted, run.rows_held_out, run.rows_unscored) == (630, 270, 0)
    assert run.after.metrics["ece"].high < run.before.metrics["ece"].value
    assert run.after.metrics["brier"].value < run.before.metrics["brier"].value
    assert (run.fitted.checker, run.fitted.weights) == ("honest", "weights-1")


def test_curves_help_too_and_the_same_seed_gives_the_same_run():
    rows, checker = sample()
    run, again, other = (fit_calibration(rows, checker, method="isotonic", seed=seed) for seed in (1, 1, 2))
    assert run.after.metrics["ece"].value < run.before.metrics["ece"].value / 2
    assert run.fitted.temperature == 1.0
    assert run == again
    assert run.fitted != other.fitted


def test_a_wanted_precision_is_about_reached_on_the_rows_kept_out():
    run = fit_calibration(*sample(), precision=0.85)
    loose = fit_calibration(*sample(), precision=0.6)
    for name in ("entail_precision", "contradict_precision"):
        assert run.after.metrics[name].value > 0.78
        assert run.after.metrics[name].n < loose.after.metrics[name].n


def test_a_two_way_checker_is_fitted_without_contradict():
    run = fit_calibration(*sample(two_way=True), precision=0.6)
    assert run.two_way
    assert run.fitted.thresholds.contradict == 0.5
    assert run.after.metrics["contradict_precision"].value is None
    assert "two-way and never refutes" in calibration_notes(run)[-1]


def test_rows_that_cannot_be_scored_are_left_out_and_counted():
    rows, checker = sample()
    bad = [
        LabelledRow("...", ("Text.",), "entail", group=N),
        LabelledRow("Claim w1.", (" ",), "entail", group=N + 1),
    ]
    run = fit_calibration([*rows, *bad], checker)
    assert run.rows_unscored == 2
    assert "2 rows could not be scored" in calibration_notes(run)[1]


def test_a_label_without_rows_and_an_unreachable_precision_are_named():
    rows, checker = sample()
    with pytest.raises(
        DataError, match="none is labelled neutral; expected rows of each of entail, neutral, contradict"
    ):
        fit_calibration([row for row in rows if row.label != "neutral"], checker)
    with pytest.raises(
        ValueError, match=r"no threshold reaches a precision of 0\.999 for entail over 10 or more decisions"
    ):
        fit_calibration(
            [dataclasses.replace(row, label=LABELS[i % 3]) for i, row in enumerate(rows)],
            checker,
            precision=0.999,
        )


def test_the_account_holds_table_facts_and_diagrams(tmp_path):
    run = fit_calibration(*sample(), precision=0.8)
    assert [line.split()[0] for line in calibration_table(run).splitlines()[1:]] == [
        *(
            "ece",
            "brier",
            "roc_auc",
            "f1",
            "accuracy",
            "entail_precision",
            "contradict_precision",
            "thresholds",
        ),
    ]
    facts = json.loads(json.dumps(calibration_facts(run, precision=0.8, seed=0), allow_nan=False))
    assert facts["after"]["ece"]["value"] < facts["before"]["ece"]["value"]
    assert [path.name for path in write_report(tmp_path, run)] == [
        "calibration.md",
        "reliability-before.svg",
        "reliability-after.svg",
    ]
    assert "<svg" in (tmp_path / "reliability-after.svg").read_text()
    assert "| ece" in (tmp_path / "calibration.md").read_text()


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_rows_that_share_a_claim_or_an_evidence_text_stay_together(tmp_path):
    shared = [
        {
            "claim": f"Claim {i // 2}",
            "evidence": [f"text {i}", f"TEXT  {i + 1}"] if i < 6 else f"own {i}",
            "label": "entail",
        }
        for i in range(40)
    ]
    rows = read_labelled_rows(write(tmp_path / "rows.jsonl", shared))
    assert (
        len({row.group for row in rows[:7]}) == 2
    )  # six chained through their texts, the seventh with the eighth through its claim
    fitting, held_out = split_rows(rows, seed=0)
    assert sorted([*fitting, *held_out]) == list(range(40))
    assert 0 < len(held_out) <= 12
    assert not {rows[place].group for place in fitting} & {rows[place].group for place in held_out}
    assert split_rows(rows, seed=0) == (fitting, held_out) != split_rows(rows, seed=1)


def test_rows_that_all_hang_together_cannot_be_split():
    with pytest.raises(
        DataError, match=r"5 rows cannot be split: .* they hang together in 1 group\(s\), the smallest of 5"
    ):
        split_rows([LabelledRow("One claim.", (f"t{i}",), "entail") for i in range(5)], seed=0)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"claim": 3, "evidence": "x", "label": "entail"}, "rows.jsonl:1: field 'claim' is 3, expected text"),
        (
            {"claim": "x", "evidence": [1], "label": "entail"},
            r"rows.jsonl:1: field 'evidence' is a list of 1, expected text or a list of texts",
        ),
        (
            {"claim": "x", "evidence": "y", "label": "yes"},
            "rows.jsonl:1: field 'label' is 'yes', expected one of entail, neutral, contradict",
        ),
        ({"claim": "x", "evidence": "y"}, "rows.jsonl:1: field 'label' is None"),
    ],
)
def test_a_row_that_is_wrong_is_named(tmp_path, row, message):
    with pytest.raises(DataError, match=message):
        read_labelled_rows(write(tmp_path / "rows.jsonl", [row]))


def test_no_rows_are_an_error(tmp_path):
    with pytest.raises(DataError, match=r"rows\.jsonl: no rows"):
        read_labelled_rows(write(tmp_path / "rows.jsonl", []))


def written_rows(tmp_path, rows):
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


SHARED = [
    {
        "claim": f"Claim {n}.",
        "evidence": ["One text.", f"Text {n % 3}."],
        "label": LABELS[n % 3],
        "case": f"case-{n % 10}",
    }
    for n in range(60)
]


@pytest.mark.parametrize("key", ["case_id", "case", "answer_id", "answer"])
def test_claims_that_share_contexts_are_split_by_case(tmp_path, key):
    rows = read_labelled_rows(
        written_rows(
            tmp_path, [{**{k: v for k, v in row.items() if k != "case"}, key: row["case"]} for row in SHARED]
        )
    )
    fitting, held_out = split_rows(rows, seed=1)
    assert len(held_out) == 18
    assert not {rows[place].of for place in fitting} & {rows[place].of for place in held_out}


def test_equal_claims_of_two_cases_hang_together(tmp_path):
    rows = read_labelled_rows(written_rows(tmp_path, [*SHARED, {**SHARED[0], "case": "case-1"}]))
    assert len({row.group for row in rows}) == 9


def test_a_case_that_some_rows_lack_splits_nothing(tmp_path):
    rows = read_labelled_rows(written_rows(tmp_path, [*SHARED[:-1], {**SHARED[-1], "case": " "}]))
    with pytest.raises(
        DataError, match=r"through claims or evidence .* or say of which answer each claim is \('case_id'\)"
    ):
        split_rows(rows, seed=1)


def test_a_single_case_cannot_be_split(tmp_path):
    rows = read_labelled_rows(written_rows(tmp_path, [{**row, "case": 1} for row in SHARED]))
    with pytest.raises(
        DataError,
        match=r"through claims or cases that they share .* in 1 group\(s\).*; add rows of other cases",
    ):
        split_rows(rows, seed=1)


def test_the_account_says_by_what_the_rows_were_split():
    rows, checker = sample()
    assert "share no claim and no evidence" in calibration_notes(fit_calibration(rows, checker))[0]
    cases = [dataclasses.replace(row, of=f"case-{place}") for place, row in enumerate(rows)]
    assert "share no claim and no case" in calibration_notes(fit_calibration(cases, checker))[0]


def test_check_makes_the_ids_that_rows_lack(tmp_path):
    rows = [{"claim": "A.", "evidence": "B."}, {"id": 0, "claim": "A.", "evidence": ["B."]}]
    assert [row.id for row in read_check_rows(written_rows(tmp_path, rows))] == ["line-1", 0]
    with pytest.raises(DataError, match=r"rows\.jsonl:1: field 'evidence' is missing"):
        read_check_rows(written_rows(tmp_path, [{"claim": "A."}]))
    with pytest.raises(DataError, match="no rows, so nothing would be checked"):
        read_check_rows(written_rows(tmp_path, []))
