import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_medfaith.corpus.normalise import normalise
from pytest_medfaith.corpus.sections import Document, read_markdown, read_plain_text


def outline(document: Document) -> list[tuple[tuple[str, ...], str]]:
    return [(section.path, section.text) for section in document.sections]


def spans_are_true(document: Document) -> bool:
    return all(document.text[section.start : section.end] == section.text for section in document.sections)


MARKDOWN = """# Asthma

Asthma narrows the airways.

## Treatment

### Relievers

Salbutamol works within minutes.
It lasts 4 hours.

### Controllers ###

- Budesonide
- Formoterol

Prevention
----------

Avoid smoke.
"""


def test_markdown_headings_of_both_kinds_cut_and_nest():
    document = read_markdown(MARKDOWN)
    assert document.title == "Asthma"
    assert outline(document) == [
        (("Asthma",), "Asthma narrows the airways."),
        (("Asthma", "Treatment", "Relievers"), "Salbutamol works within minutes. It lasts 4 hours."),
        (("Asthma", "Treatment", "Controllers"), "- Budesonide\n- Formoterol"),
        (("Asthma", "Prevention"), "Avoid smoke."),
    ]
    assert spans_are_true(document)


def test_markdown_offsets_are_offsets_into_a_clean_file():
    for section in read_markdown(MARKDOWN).sections:
        assert MARKDOWN[section.start : section.end].split() == section.text.split()


def test_markdown_marks_go_and_what_they_mark_stays():
    text = (
        "Take **500 mg** of *metformin* with [food](https://x.org/a_(b) 'no').\n\n![pill](p.png) `HbA1c` < 7 "
        "&lt; 8 &alpha;-blocker, 10<sup>-3</sup> m, **bold *and* not**, 2*3*4, snake_case_name <!-- hidden "
        "-->\\*"
    )
    (section,) = read_markdown(text).sections
    assert "Take 500 mg of metformin with" in section.text
    assert "pill HbA1c < 7 < 8 α-blocker, 10⁻³ m" in section.text
    assert "2*3*4, snake_case_name" in section.text
    assert "hidden" not in section.text
    assert section.text.endswith("*")


def test_markdown_fences_front_matter_tables():
    document = read_markdown(
        "---\ntitle: Dosing\nurl: https://example.org/dose\n---\n\n```\n# no heading\n```\n\n| Drug | Dose "
        "|\n|---|---|\n| A | 5 mg |\n"
    )
    assert (document.title, document.url) == ("Dosing", "https://example.org/dose")
    assert outline(document) == [((), "```\n# no heading\n```\n\n| Drug | Dose |\n|---|---|\n| A | 5 mg |")]
    assert spans_are_true(document)


PLAIN = """TYPE 2 DIABETES

1. Treatment

Metformin is the first drug for most adults with type 2 diabetes, unless the
kidneys have failed.

1.1 Second-line drugs

Take one of these:
1. an SGLT2 inhibitor
2. a GLP-1 agonist

2) When to call
Call if sugar is above 300 mg/dL.
CONTRAINDICATIONS:
eGFR below 30.
"""


def test_plain_text_numbered_and_capital_headings():
    document = read_plain_text(PLAIN)
    assert document.title == "TYPE 2 DIABETES"
    assert outline(document) == [
        (
            ("TYPE 2 DIABETES", "Treatment"),
            (
                "Metformin is the first drug for most adults with type 2 diabetes, unless the kidneys have "
                "failed."
            ),
        ),
        (
            ("TYPE 2 DIABETES", "Treatment", "Second-line drugs"),
            "Take one of these:\n1. an SGLT2 inhibitor\n2. a GLP-1 agonist",
        ),
        (("TYPE 2 DIABETES", "When to call"), "Call if sugar is above 300 mg/dL."),
        (("CONTRAINDICATIONS",), "eGFR below 30."),
    ]
    assert spans_are_true(document)
    for section in document.sections:
        assert PLAIN[section.start : section.end].replace("\n", " ") == section.text.replace("\n", " ")


@pytest.mark.parametrize(
    "text",
    [
        "1. Wash your hands\n\n2. Dry them\n\n3. Rest",
        "Take:\n1. Aspirin\n2. Rest",
        "10 mg daily",
        "COPD.",
        "IL-6",
        "12 Patients died.",
        "The drug was stopped in all\nPATIENTS WHO BLED\nand restarted later.",
    ],
)
def test_lists_doses_and_sentences_are_no_headings(text):
    assert [section.path for section in read_plain_text(text).sections] == [()]


def test_short_lines_stay_apart_and_wrapped_lines_join():
    (section,) = read_plain_text(
        "Dose\n500 mg twice\nThis line was broken by an editor at about sixty\nColumns and goes on."
    ).sections
    assert (
        section.text
        == "Dose\n500 mg twice\nThis line was broken by an editor at about sixty Columns and goes on."
    )


def test_an_abstract_stays_whole():
    sections = read_markdown("# A trial\n\n## Abstract\n\nAims. Methods.\n\n## Methods\n\nWe did.").sections
    assert [(section.path[-1], section.whole) for section in sections] == [
        ("Abstract", True),
        ("Methods", False),
    ]


def test_text_without_a_word_is_no_section():
    assert read_plain_text("***\n---\n").sections == ()
    assert read_markdown("").sections == ()


lines = st.lists(
    st.one_of(
        st.sampled_from(
            [
                "",
                "# Top",
                "## Sub",
                "===",
                "---",
                "1. One",
                "1.1 Deep",
                "DOSAGE",
                "- item",
                "```",
                "a b. C d",
                "| x | y |",
            ]
        ),
        st.text(),
    ),
    max_size=12,
)


@given(lines)
def test_sections_are_spans_in_order_of_a_normalised_text(parts):
    for document in (read_markdown("\n".join(parts)), read_plain_text("\n".join(parts))):
        assert spans_are_true(document)
        assert normalise(document.text) == document.text.strip()
        ends = [0, *(section.end for section in document.sections)]
        assert all(end <= section.start for end, section in zip(ends, document.sections, strict=False))


def test_markdown_comparisons_that_look_like_tags_stay():
    text = "Levels a <b and c> d were high, HR 5 <i and p> 3."
    assert read_markdown(text).text == text
    assert (
        read_markdown('Take <span class="dose">5 mg</span><br/> <a href=x>daily</a>.').text
        == "Take 5 mg daily."
    )
