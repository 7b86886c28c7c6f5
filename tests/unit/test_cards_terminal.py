import math

import pytest
from card_samples import METRICS, slice_sample, value

from pytest_medfaith.cards.terminal import result_card
from pytest_medfaith.cards.wording import clip, decimals
from pytest_medfaith.errors import DataError
from pytest_medfaith.plain import one_line
from pytest_medfaith.records import GateResult

HEADER = ["Slice", "Retriever", "K", "Rec@K", "nDCG@K", "Faithful", "Halluc", "C-Recall", "C-Prec", "C-Util"]


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.split("|")]


def test_columns_and_values():
    header, _, row = result_card([slice_sample()]).splitlines()[:3]
    assert cells(header) == HEADER
    assert cells(row) == ["medquad-nih", "rrf", "10", "0.91", "0.81", "0.82", "<0.01", "0.60", "-", "-"]


def test_an_ablation_has_a_row_each_and_its_counts_apart():
    card = result_card(
        [slice_sample(retriever="bm25"), slice_sample(retriever="dense", missing=("a",), partial=True)]
    )
    assert [cells(line)[1] for line in card.splitlines()[2:4]] == ["bm25", "dense"]
    dense = card.split("medquad-nih / dense / k=10:")[1]
    assert "PARTIAL: 1 of 4 cases missing: a; the numbers are of the others" in dense
    assert "PARTIAL" not in card.split("medquad-nih / dense / k=10:")[0]


def test_rows_that_differ_by_checker_only_say_so():
    card = result_card([slice_sample(checker="student"), slice_sample(checker="teacher")])
    assert [cells(line)[3] for line in card.splitlines()[:4] if "|" in line] == [
        "Checker",
        "student",
        "teacher",
    ]


def test_counts_do_not_vanish():
    card = result_card([slice_sample()])
    assert (
        "3 cases (1 abstained), 5 claims: 2 supported, 1 refuted, 1 unsupported, 1 unscored; 1 conflict"
        in card
    )
    assert "6 gold claims: 3 clinician, 3 llm-written" in card
    assert "1201 records skipped while the cases were read: 1,200 empty answer, 1 id used before" in card
    assert "PARTIAL" not in card


def test_a_run_cut_short_without_known_missing_cases_is_partial_too():
    assert "PARTIAL: the run was cut short" in result_card([slice_sample(partial=True)])


def test_many_missing_cases_are_counted_not_listed():
    card = result_card([slice_sample(missing=tuple("abcdefg"), partial=True)])
    assert "7 of 10 cases missing: a, b, c, d, e and 2 more" in card


def test_gates_show_outcome_value_and_reason():
    lines = result_card([slice_sample()]).splitlines()
    assert "PASS  faithfulness >= 0.80: 0.820" in lines
    assert "FAIL  hallucination <= 0.001: hallucination is 0.004; wanted at most 0.001" in lines
    assert "INCONCLUSIVE  claim_recall >= 0.5 at 95%: too few cases" in lines


def test_the_lines_of_a_gate_stay_lines():
    gate = GateResult(
        expression="hallucination no worse than baseline by 0.02",
        outcome="fail",
        message="0.04 before, 0.09 now\n3 claims turned",
    )
    card = result_card([slice_sample(gates=(gate,))])
    assert card.endswith(
        "FAIL  hallucination no worse than baseline by 0.02: 0.04 before, 0.09 now\n      3 claims turned"
    )


def test_verbose_shows_intervals_and_what_was_measured_over_fewer_cases():
    card = result_card([slice_sample()], verbose=True)
    assert cells(card.splitlines()[2])[5] == "0.82 [0.76, 0.88]"
    assert "measured over 2 of 3 cases: Faithful, Halluc" in card
    assert "measured over" not in result_card([slice_sample()])


@pytest.mark.parametrize("verbose", [False, True])
def test_the_table_fits_a_narrow_terminal(verbose):
    card = result_card([slice_sample(), slice_sample(retriever="bm25")], verbose=verbose, width=80)
    table = card.split("\n\n")[0]
    assert max(map(len, table.splitlines())) <= 80
    assert all(column in table for column in HEADER)
    assert ("0.82 [0.76, 0.88]" in table) == verbose


def test_no_slice_is_said():
    assert result_card([]) == "no slice was evaluated"


def test_a_metric_that_is_not_finite_is_an_error():
    broken = {**METRICS, "faithfulness": value("faithfulness", math.nan)}
    with pytest.raises(DataError, match="number nan, expected a finite one"):
        result_card([slice_sample(metrics=broken)])


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.0, "0.00"),
        (0.004, "<0.01"),
        (0.005, "0.01"),
        (0.996, ">0.99"),
        (1.0, "1.00"),
        (0.5, "0.50"),
        (12.5, "12.50"),
    ],
)
def test_rounding_claims_no_perfection(number, text):
    assert decimals(number) == text


def test_texts_cannot_steer_the_terminal():
    assert one_line("a\x1b[31mred\x07\n\tb\u202e") == "a[31mred b"
    assert clip("one two three", 8) == "one two…"
    assert clip("short", 8) == "short"
