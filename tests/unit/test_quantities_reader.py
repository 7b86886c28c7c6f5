import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_medfaith.quantities.reader import read_quantities

YEAR = 365.25

# text, its one quantity: (words, low, high, dimension)
READ = [
    ("0.5 g", "0.5 g", 0.5, 0.5, "mass"),
    ("500mg", "500mg", 0.5, 0.5, "mass"),
    ("250 micrograms", "250 micrograms", 250e-6, 250e-6, "mass"),
    ("5-10 mg", "5-10 mg", 0.005, 0.01, "mass"),
    ("5 to 10 mg", "5 to 10 mg", 0.005, 0.01, "mass"),
    ("5 mg to 1 g", "5 mg to 1 g", 0.005, 1.0, "mass"),
    ("between 5 and 10 mg", "5 and 10 mg", 0.005, 0.01, "mass"),
    ("two tablespoons", "two tablespoons", 0.03, 0.03, "volume"),
    ("6 weeks", "6 weeks", 42, 42, "time"),
    ("lasts a day and a half", "a day and a half", 1.5, 1.5, "time"),
    ("for half an hour", "half an hour", 1 / 48, 1 / 48, "time"),
    ("in a week", "a week", 7, 7, "time"),
    ("2.5 million units", "2.5 million units", 2.5e6, 2.5e6, "unit"),
    ("one hundred and twenty women", "one hundred and twenty", 120, 120, "count"),
    ("1,240 women", "1,240", 1240, 1240, "count"),
    ("twelve and a half mg", "twelve and a half mg", 0.0125, 0.0125, "mass"),
    ("2 and a half tablets", "2 and a half", 2.5, 2.5, "count"),
    ("one and three quarters mg", "one and three quarters mg", 0.00175, 0.00175, "mass"),
    ("zero point five mg", "zero point five mg", 0.0005, 0.0005, "mass"),
    ("nought point two five mg", "nought point two five mg", 0.00025, 0.00025, "mass"),
    ("at this point three patients", "three", 3, 3, "count"),
    ("30 mL/min/1.73 m2", "30 mL/min/1.73 m2", 0.03 * 1440, 0.03 * 1440, "volume/time"),
    ("126 mg/dL", "126 mg/dL", 1.26, 1.26, "mass/volume"),
    ("7 mmol per litre", "7 mmol per litre", 0.007, 0.007, "amount/volume"),
    ("65 mm Hg", "65 mm Hg", 65, 65, "pressure"),
    ("100.4 °F", "100.4 °F", 38, 38, "temperature"),
    ("27.5%", "27.5%", 0.275, 0.275, "fraction"),
    ("12 per cent", "12 per cent", 0.12, 0.12, "fraction"),
    ("one in five", "one in five", 0.2, 0.2, "fraction"),
    ("3 out of 10", "3 out of 10", 0.3, 0.3, "fraction"),
    ("30 to 40 in every 100", "30 to 40 in every 100", 0.3, 0.4, "fraction"),
    ("two thirds", "two thirds", 2 / 3, 2 / 3, "fraction"),
    ("three times daily", "three times daily", 3, 3, "frequency"),
    ("every 12 hours", "every 12 hours", 2, 2, "frequency"),
    ("every four to six hours", "every four to six hours", 4, 6, "frequency"),
    ("at intervals of 8 hours", "intervals of 8 hours", 3, 3, "frequency"),
    ("on alternate days", "alternate days", 0.5, 0.5, "frequency"),
    ("b.i.d.", "b.i.d.", 2, 2, "frequency"),
    ("each morning and evening", "each morning and evening", 2, 2, "frequency"),
    ("every morning and every evening", "every morning and every evening", 2, 2, "frequency"),
    ("every morning, noon and night", "every morning, noon and night", 3, 3, "frequency"),
    ("every night", "every night", 1, 1, "frequency"),
    ("1\u00a0500 mg", "1\u00a0500 mg", 1.5, 1.5, "mass"),
    ("10\u2009000\u2009mg", "10\u2009000\u2009mg", 10, 10, "mass"),
    ("2\u202f500\u202fmg", "2\u202f500\u202fmg", 2.5, 2.5, "mass"),
    ("150 000 women", "150 000", 150_000, 150_000, "count"),  # no number is written "000"
    (".5 mg", ".5 mg", 0.0005, 0.0005, "mass"),
    ("2000 deaths", "2000", 2000, 2000, "count"),
    ("enrolled 2000 adult patients", "2000", 2000, 2000, "count"),
    ("raised by 1.8 °F", "1.8 °F", 1, 1, "temperature"),
    ("0.9 °F higher", "0.9 °F", 0.5, 0.5, "temperature"),
    ("a rise of about 9 °F", "9 °F", 5, 5, "temperature"),
    ("at an interval of 1 to 3 years", "1 to 3 years", YEAR, 3 * YEAR, "time"),
    ("twice as likely", "twice", 2, 2, "multiple"),
    ("a threefold rise", "threefold", 3, 3, "multiple"),
    ("2 x 500 mg at night", "2 x 500 mg", 1, 1, "mass"),
    ("lactulose 3x/day", "3x/day", 3, 3, "frequency"),
    ("× 2 daily", "× 2 daily", 2, 2, "frequency"),
    ("in their 80s", "in their 80s", 80 * 365.25, 89 * 365.25, "time"),
    ("septuagenarians", "septuagenarians", 70 * 365.25, 79 * 365.25, "time"),
    ("before the first birthday", "first birthday", 365.25, 365.25, "time"),
    ("under-fives with fever", "fives", 5 * 365.25, 5 * 365.25, "time"),
    ("for 6- to 8-year-olds", "6- to 8-year", 6 * 365.25, 8 * 365.25, "time"),
    ("12-to-17-year-old patients", "12-to-17-year-old", 12 * 365.25, 17 * 365.25, "time"),
    ("men of 65 and over", "65", 65 * 365.25, 65 * 365.25, "time"),
]

NOT_READ = [
    "COVID-19",
    "CYP2C9 and 5-HT1B",
    "type 2 diabetes",
    "stage 3 disease",
    "day 5 of the cycle",
    "in 2019",
    "the 3rd trial",
    "a review [12]",
    "p < 0.001",
    "95% CI 1.4 to 2.6",
    "n = 120",
    "2 500 mg tablets",
    "1 500 to 2000 mg",
    "an ellipsis...5 mg",
    "in 2000 deaths fell",
    "May 2019 patients",
    "the 2019 measles cases",
    "the 2019 outpatient registry",
    "a 2019 cohort study",
    "an interquartile range of 3 to 8",
    "a credible interval of 3 to 8",
    "one of them",
]


@pytest.mark.parametrize(("text", "words", "low", "high", "dimension"), READ)
def test_reads(text, words, low, high, dimension):
    (quantity,) = read_quantities(text)
    assert text[quantity.start : quantity.end] == words
    assert (quantity.low, quantity.high) == (pytest.approx(low), pytest.approx(high))
    assert quantity.dimension == dimension


@pytest.mark.parametrize("text", NOT_READ)
def test_leaves_out_what_names_or_dates(text):
    assert read_quantities(text) == ()


@pytest.mark.parametrize(
    ("text", "bound"),
    [
        ("at least 5 mg", "min"),
        ("≥65 years", "min"),
        ("more than 5 days", "min"),
        ("65 or older", "min"),
        ("over-65s", "min"),
        ("after 6 weeks", "min"),
        ("2.5 mg a day or more", "min"),
        ("up to 10 mg", "max"),
        ("<30 mL/min", "max"),
        ("no more than 40 mg", "max"),
        ("not more than 5 days", "max"),
        ("before 12 weeks", "max"),
        ("5% or less", "max"),
        ("from 12 weeks on", "min"),
        ("from 5 mg to 40 mg", ""),
        ("from 5-10 mg", ""),
        ("fell from 60% with placebo to 40%", ""),
        ("ranged from 20% in Asia to 40% in Europe", "min"),
        ("raised by 5 mg", ""),
        ("about 5 mg", ""),
    ],
)
def test_bounds(text, bound):
    (quantity, *_) = read_quantities(text)
    assert quantity.bound == bound


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("over 12 weeks", "over"),
        ("within 12 weeks", "within"),
        ("by 12 weeks", "by"),
        ("after about 12 weeks", "after"),
        ("lasted over 12 weeks", ""),
        ("for over 12 weeks", ""),
        ("more than 12 weeks", ""),
        ("people aged over 50", ""),
        ("over 12 mg", ""),
    ],
)
def test_the_word_of_a_bound_that_may_say_during_what_it_was(text, word):
    (quantity, *_) = read_quantities(text)
    assert quantity.loose == word


@pytest.mark.parametrize(
    ("text", "course"),
    [("rose from 20% to 60%", True), ("doses range from 5 to 40 mg", False), ("raised from 5 mg", False)],
)
def test_a_rise_is_told_from_a_range(text, course):
    (quantity,) = read_quantities(text)
    assert quantity.course is course


def test_a_dose_with_its_frequency_is_a_dose_a_day():
    dose, frequency = read_quantities("500 mg by mouth twice daily")
    assert (dose.times, dose.daily.low, frequency.dimension) == ((2.0, 2.0), 1.0, "frequency")
    (weekly,) = read_quantities("15 mg per week")
    assert weekly.daily.low == pytest.approx(0.015 / 7)
    limit, _period = read_quantities("200 mg in 24 hours")
    assert limit.times == (1.0, 1.0)


def test_no_doses_a_day_are_a_frequency_of_nothing():
    dose, frequency = read_quantities("5 mg in 0 doses")
    assert (frequency.low, frequency.high, dose.times) == (0, 0, (0, 0))


def test_ages_are_told_from_times():
    roles = [
        (quantity.role, quantity.low)
        for quantity in read_quantities("A 3-year-old child, adults aged 65, and people over 60 for 2 years")
    ]
    assert roles == [("age", 3 * YEAR), ("age", 65 * YEAR), ("age", 60 * YEAR), ("", 2 * YEAR)]


def test_a_list_shares_its_unit():
    assert [quantity.high for quantity in read_quantities("12.5, 25 and 50 mg")] == pytest.approx(
        [0.0125, 0.025, 0.05]
    )
    assert [
        quantity.dimension for quantity in read_quantities("322 minutes with melatonin and 303 with placebo")
    ] == ["time", "time"]


def test_a_year_is_no_whole_that_a_share_is_of():
    assert [quantity.dimension for quantity in read_quantities("12 in 2010, 1 in 2000")] == [
        "plain",
        "fraction",
    ]


def test_a_pair_keeps_both_numbers():
    assert [(quantity.high, quantity.role) for quantity in read_quantities("130/80 mm Hg")] == [
        (130.0, "first"),
        (80.0, "second"),
    ]


def test_changes_are_told_from_levels():
    assert [
        quantity.role for quantity in read_quantities("34% fewer flares, reduced by 20%, found in 12%")
    ] == ["change", "change", ""]


@given(st.text(max_size=300))
def test_any_text_gives_finite_quantities_within_it(text):
    for quantity in read_quantities(text):
        assert 0 <= quantity.start < quantity.end <= len(text)
        assert math.isfinite(quantity.low)
        assert math.isfinite(quantity.high)


@given(
    st.floats(min_value=0.001, max_value=9999),
    st.sampled_from(["mg", "g", "mcg", "mL", "mmol/L", "weeks", "%"]),
)
def test_a_written_amount_is_read_back(value, unit):
    number = f"{value:.3f}"
    (quantity,) = read_quantities(f"{number} {unit}")
    (one,) = read_quantities(f"1 {unit}")
    assert quantity.low == pytest.approx(float(number) * one.low)
