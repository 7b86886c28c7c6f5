"""The rows of an ablation against its first row: differences, intervals, p values, Holm."""

import dataclasses
import itertools

import pytest
from gate_samples import RUN, case, report_of

from pytest_medfaith.cards.ablation_card import ablation_text, ablations_csv, ablations_svg
from pytest_medfaith.compare.ablation import ablations

FIRST = {"a": "su", "b": "sr", "c": "ss", "d": "uu", "e": "rs"}
SECOND = {"a": "ss", "b": "ss", "c": "ss", "d": "su", "e": "ss"}


def row(verdicts, *, retriever, place, **changes):
    run = dataclasses.replace(RUN, retriever=retriever)
    return report_of([case(name, letters) for name, letters in verdicts.items()], run=run).with_(
        place=place, **changes
    )


def compared(*rows):
    (ablation,) = ablations(rows)
    return ablation


def of(ablation, metric, number=1):
    return next(one for one in ablation.rows[number].differences if one.metric == metric)


def two_sided(first, second, letter):
    """The share of all swaps that are at least as far out, written out; twice that of the nearer side."""
    pairs = [(first[name].count(letter), second[name].count(letter)) for name in first]
    total = sum(len(letters) for letters in first.values())

    def change(swaps):
        return sum((a - b if swap else b - a) for (a, b), swap in zip(pairs, swaps, strict=True)) / total

    measured = change([0] * len(pairs))
    every = [change(swaps) for swaps in itertools.product((0, 1), repeat=len(pairs))]
    up, down = (sum(one >= measured for one in every), sum(one <= measured for one in every))
    return min(1.0, 2 * min(up, down) / len(every))


def test_a_difference_is_paired_and_two_sided():
    ablation = compared(row(FIRST, retriever="bm25", place=0), row(SECOND, retriever="rrf", place=1))
    one = of(ablation, "faithfulness")
    assert (one.n, one.differ) == (5, 4)
    assert (one.first, one.value) == (0.5, 0.9)
    assert one.low < 0.4 < one.high
    p_values = {
        metric: two_sided(FIRST, SECOND, letter)
        for metric, letter in (("faithfulness", "s"), ("hallucination", "r"))
    }
    assert p_values["faithfulness"] == 2 / 16
    assert one.p == min(1.0, ablation.tests * p_values["faithfulness"])
    assert of(ablation, "hallucination").value == 0.0


def test_the_sign_of_a_difference_is_that_of_the_value_whatever_is_better():
    rows = [row(SECOND, retriever="bm25", place=0), row(FIRST, retriever="rrf", place=1)]
    one = of(compared(*rows), "hallucination")
    assert one.value - one.first == pytest.approx(0.2)
    assert one.high > 0.2 > one.low


def test_the_first_row_is_the_one_asked_for_first_not_the_first_of_the_card():
    rows = [row(FIRST, retriever="a", place=1), row(SECOND, retriever="z", place=0)]
    ablation = compared(*rows)
    assert [one.report.retriever for one in ablation.rows] == ["z", "a"]
    assert of(ablation, "faithfulness").first == 0.9


def test_p_values_are_corrected_over_all_rows_together():
    alone = compared(row(FIRST, retriever="bm25", place=0), row(SECOND, retriever="rrf", place=1))
    more = [row(SECOND, retriever=f"r{i}", place=2 + i) for i in range(3)]
    together = compared(row(FIRST, retriever="bm25", place=0), row(SECOND, retriever="rrf", place=1), *more)
    assert together.tests == 4 * alone.tests
    assert of(together, "faithfulness").p >= of(alone, "faithfulness").p


def test_only_cases_of_both_rows_are_paired():
    short = {name: SECOND[name] for name in ("a", "b")}
    one = of(
        compared(row(FIRST, retriever="bm25", place=0), row(short, retriever="rrf", place=1)), "faithfulness"
    )
    assert (one.n, one.first, one.value) == (2, 0.5, 1.0)


def test_a_single_case_has_a_difference_and_no_interval():
    one = of(
        compared(row({"a": "su"}, retriever="bm25", place=0), row({"a": "ss"}, retriever="rrf", place=1)),
        "faithfulness",
    )
    assert (one.low, one.high, one.p) == (None, None, 1.0)


def test_rows_that_were_not_asked_for_together_are_no_ablation():
    assert ablations([row(FIRST, retriever="bm25", place=0), row(SECOND, retriever="rrf", place=0)]) == []


def test_a_first_row_without_a_case_is_a_problem():
    ablation = compared(
        row({}, retriever="bm25", place=0, failure="gone"), row(SECOND, retriever="rrf", place=1)
    )
    assert "the first row, iron / bm25 / k=3, has no case that finished" in ablation.problem
    assert "ERROR: the first row" in ablation_text(ablation)
    assert "nothing to compare" in ablations_svg([ablation])


def test_rows_that_are_equal_say_so_and_a_failed_row_is_drawn():
    ablation = compared(
        row(FIRST, retriever="bm25", place=0),
        row(FIRST, retriever="rrf", place=1),
        row({}, retriever="gone", place=2, failure="no <model>"),
    )
    assert ablation.tests == 0
    text = ablation_text(ablation)
    assert "rrf: the same in every case: Rec@K, nDCG@K, Faithful" in text
    assert "FAILED: gone: no <model>" in text
    assert "failed: no &lt;model&gt;" in ablations_svg([ablation])
    assert ablations_csv([ablation]).splitlines()[-1] == "iron,gone,student,3,recorded,,,,,,,,,no <model>"


def test_a_name_cannot_command_a_spreadsheet():
    ablation = compared(row(FIRST, retriever="=cmd()", place=0), row(SECOND, retriever="rrf", place=1))
    assert ablations_csv([ablation]).splitlines()[1].startswith("iron,'=cmd(),")
