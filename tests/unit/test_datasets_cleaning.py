"""HTML goes, medicine stays."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_medfaith.datasets.cleaning import one_line, plain_text


@pytest.mark.parametrize(
    ("marked", "plain"),
    [
        ("<p>One.</p><p>Two.</p>", "One.\n\nTwo."),
        ("A<br/>B<BR>C", "A\nB\nC"),
        ("Take:<ul><li>iron</li><li>vitamin <b>C</b></li></ul>", "Take:\n\n- iron\n\n- vitamin C"),
        ('See <a href="https://x.example.org/?a=1&amp;b=2" target=_blank>this page</a>.', "See this page."),
        ("salt &amp; water, 37&nbsp;&deg;C, &#946;-carotene &#x3bb;", "salt & water, 37 °C, β-carotene λ"),
        ("before<!-- a note --> after<script>alert('x < y')</script>", "before after"),
        ("a\r\nb\rc", "a\nb\nc"),
        ("a\n\n\n\n  b \t c", "a\n\nb c"),
        ("\ufeffbell\x07 zero\u200bwidth", "bell zerowidth"),
        ("cafe\u0301", "caf\u00e9"),
        (
            "H<sub>2</sub>O, 10<sup>9</sup>/L, x<sup>-1</sup>, mg/m<SUP class='u'> 2 </SUP>, 1<sup>st</sup>",
            "H2O, 10⁹/L, x⁻¹, mg/m², 1st",
        ),
        ("<hr noshade>a<br clear=all>b", "a\nb"),
    ],
)
def test_marked_text_becomes_plain(marked, plain):
    assert plain_text(marked) == plain


@pytest.mark.parametrize(
    "text",
    [
        "P < 0.05 and n > 30",
        "age <18 years, BMI>=30 kg/m²",
        "doses <or = 6 or> 10 mg",
        "if a<b and c>d then 5 ± 2 µg",
        "TNF-β, IFN-λ, x⁻¹, 10⁹/L, Na⁺",
        "R&D at AT&T; &unknown; &copy left",
        "5 mg/kg/day · 0.5-1.0 mL",
    ],
)
def test_medical_text_stays(text):
    assert plain_text(text) == text


def test_one_line():
    assert one_line("<p>What is</p>\n <p>fever?</p>") == "What is fever?"


@given(st.text(alphabet=st.characters(exclude_characters="<>&", exclude_categories=("Cs",))))
def test_text_without_markup_is_cleaned_once_and_for_all(text):
    once = plain_text(text)
    assert plain_text(once) == once
    assert "".join(once.split()) == "".join(plain_text(text.replace("\n", " ")).split())
