"""Clauses in another order say the same; values that change places say something else."""

import pytest

from pytest_medfaith.checking.rules.numbers import numbers
from pytest_medfaith.quantities.quantity import opposed_bounds
from pytest_medfaith.quantities.reader import read_quantities
from pytest_medfaith.quantities.steps import step_of

MENOPAUSE = "Women under 50 go on for 2 years after the last period, women aged 50 or over for 1 year."
METFORMIN = (
    "The metformin dose should be reviewed if the eGFR falls below 45 mL/min, and metformin should be "
    "stopped if it falls below 30."
)
APIXABAN = "Apixaban is given as 10 mg twice daily for the first 7 days, followed by 5 mg twice daily."


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        (
            "Women aged 50 or over go on for 1 year after the last period, women under 50 for 2 years.",
            MENOPAUSE,
        ),
        (
            (
                "Metformin should be stopped if the eGFR falls below 30 mL/min, and its dose should be "
                "reviewed if it falls below 45."
            ),
            METFORMIN,
        ),
        ("Apixaban is given as 5 mg twice daily after a first 7 days of 10 mg twice daily.", APIXABAN),
    ],
)
def test_clauses_in_another_order_do_not_clash(claim, evidence):
    assert numbers(claim, evidence) == []


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        (
            "Women under 50 go on for 1 year after the last period, women aged 50 or over for 2 years.",
            MENOPAUSE,
        ),
        (
            (
                "The metformin dose should be reviewed if the eGFR falls below 30 mL/min, and metformin "
                "should be stopped if it falls below 45."
            ),
            METFORMIN,
        ),
        (
            "Apixaban is given as 5 mg twice daily for the first 7 days, followed by 10 mg twice daily.",
            APIXABAN,
        ),
    ],
)
def test_values_that_change_places_clash(claim, evidence):
    assert [finding.effect for finding in numbers(claim, evidence)][:1] == ["refute"]


@pytest.mark.parametrize(
    ("text", "step"),
    [
        ("Pressure fell by 30 mmHg.", "by"),
        ("Pressure fell to 130 mmHg.", "to"),
        ("The dose is raised in steps of 5 mg.", "by"),
        ("The dose goes up to 20 mg.", "to"),
        ("The dose is lowered every week until it reaches 20 mg.", "to"),
        ("It can be increased by a maximum of 50 mg.", "by"),
        ("Take it by mouth, up to 20 mg.", None),
        ("The drug is given to 20 people.", None),
    ],
)
def test_the_part_of_a_quantity_in_a_change(text, step):
    assert step_of(read_quantities(text)[-1], text) == step


def test_a_difference_is_held_against_no_end_of_a_change():
    evidence = "Blood pressure dropped from 160 to 140 mmHg."
    assert numbers("Blood pressure dropped by 20 mmHg.", evidence) == []
    assert numbers("Blood pressure dropped to 150 mmHg.", evidence) != []


@pytest.mark.parametrize(
    ("one", "other", "opposed"),
    [
        ("feed at least every 3 hours", "feeds no more than 3 hours apart", False),
        ("feed at least every 3 hours", "feeds at least 3 hours apart", True),
        ("begins within 2 days", "begins after 2 days", True),
        ("begins within 2 days", "begins over 2 days", False),
    ],
)
def test_bounds_that_oppose_each_other(one, other, opposed):
    (mine,), (theirs,) = read_quantities(one), read_quantities(other)
    assert opposed_bounds(mine, theirs) is opposed
