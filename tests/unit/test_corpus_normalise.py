import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_medfaith.corpus.normalise import normalise, one_line, superscript


@pytest.mark.parametrize(
    "text",
    [
        "TNF-α fell by 30 ± 5 % (p < 0.05).",
        "Give 0.5 mg/kg every 8 h, ≤ 40 µg/min; 10⁻³ mol, ½ tablet.",
        "¹³¹I, Ca²⁺, H₂O, β₂-agonists, 37 °C, ≥ 18 years",
        "Paragraph one.\n\nParagraph two.\n- item\n- item",
    ],
)
def test_biomedical_terms_and_clean_text_come_back_unchanged(text):
    assert normalise(text) == text


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("\ufeffDose\r\nTwice daily\r\n", "Dose\nTwice daily"),
        ("5\u00a0mg\u2009\t daily", "5 mg daily"),
        ("one \n \n\n\n two", "one\n\ntwo"),
        ("hyper\u00adten\u200bsion", "hypertension"),
        ("Sjo\u0308gren", "Sjögren"),
        ("page one\x0cpage two\x07", "page one\npage two"),
        ("bad \ud800 half", "bad half"),
    ],
)
def test_white_space_line_ends_and_invisible_characters(raw, expected):
    assert normalise(raw) == expected


@given(st.text())
def test_normalise_is_idempotent_and_nfc(text):
    once = normalise(text)
    assert normalise(once) == once
    assert unicodedata.is_normalized("NFC", once)
    assert "  " not in once
    assert "\n\n\n" not in once


@given(st.text())
def test_one_line_is_normalised_and_has_no_line_end(text):
    line = one_line(text)
    assert "\n" not in line
    assert normalise(line) == line


@pytest.mark.parametrize(
    ("raised", "shown"),
    [("-3", "⁻³"), ("2+", "²⁺"), ("131", "¹³¹"), ("1,2", "¹,²"), ("th", "th"), ("[12]", "[12]")],
)
def test_raised_numbers_never_join_the_number_before_them(raised, shown):
    assert superscript(raised) == shown
