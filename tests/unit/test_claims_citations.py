import pytest

from pytest_medfaith.claims.citations import parse_citations, read_citations
from pytest_medfaith.claims.layout import read_layout

MARKERS = {
    "a number": ("Iron helps [1].", ["1"]),
    "a list": ("Iron helps [1, 2].", ["1", "2"]),
    "a list with semicolons": ("Iron helps [1; 3].", ["1", "3"]),
    "a range": ("Iron helps [1-3].", ["1", "2", "3"]),
    "a range with a dash": ("Iron helps [2\u20134, 7].", ["2", "3", "4", "7"]),
    "neighbours": ("Iron helps [1][2].", ["1", "2"]),
    "a footnote": ("Iron helps [^1].", ["1"]),
    "a named source": ("Iron helps [Source 2] and (Document 3).", ["2", "3"]),
    "a PMID in round brackets": ("Iron helps (PMID 12345678).", ["PMID 12345678"]),
    "a PMID in square brackets": (
        "Iron helps [PMID: 12345678; PMID 2345678].",
        ["PMID 12345678", "PMID 2345678"],
    ),
    "a bare PMID": ("Iron helps, PMID: 12345678.", ["PMID 12345678"]),
    "a link": ("Iron helps [4](https://example.org/4).", ["4"]),
    "twice the same in a bracket": ("Iron helps [1, 1].", ["1"]),
}
NO_MARKERS = [
    "The 95% CI [1, 3] excludes 0.",
    "The range was [12-18].",
    "Sodium [120-180] is read off.",
    "See [2020].",
    "Take [5 mg].",
    "[0]",
    "[3-1]",
    "[]",
    "x[i]",
]


@pytest.mark.parametrize(("text", "markers"), MARKERS.values(), ids=MARKERS)
def test_markers_are_parsed(text, markers):
    assert [citation.marker for citation in parse_citations(text)] == markers


@pytest.mark.parametrize("text", NO_MARKERS)
def test_other_brackets_are_text(text):
    assert parse_citations(text) == []
    assert read_citations(text).text == text


def test_a_citation_spans_its_bracket():
    text = "Iron [1, 2] helps (PMID 12345678)."
    assert [text[citation.start : citation.end] for citation in parse_citations(text)] == [
        "[1, 2]",
        "[1, 2]",
        "(PMID 12345678)",
    ]


def test_a_footnote_definition_is_no_citation():
    assert [citation.marker for citation in parse_citations("Iron helps.[^2]\n[^2]: Smith 2020.")] == ["2"]


BLANKED = {
    "before the stop": ("Iron helps [1].", "Iron helps."),
    "behind the stop": ("Iron helps.[1] Tea does not.[2]", "Iron helps. Tea does not."),
    "within": ("Iron [1] and zinc [2] help.", "Iron and zinc help."),
    "a row": ("Iron helps [1], [2] and [3].", "Iron helps."),
    "in brackets": ("Iron helps (see [1, 2]).", "Iron helps."),
    "double brackets": ("Iron helps [[1]].", "Iron helps."),
    "none": ("Iron  helps .", "Iron  helps ."),
}


@pytest.mark.parametrize(("text", "expected"), BLANKED.values(), ids=BLANKED)
def test_blanks_leave_the_words_of_the_text(text, expected):
    assert "".join(read_citations(text).text.split()) == "".join(expected.split())


def test_masking_keeps_every_offset():
    text = "Iron helps [1], [2] (see [3]) now."
    assert read_citations(text).text == "Iron helps          " + " " * 9 + " now."
    assert len(read_citations(text).text) == len(text)


def cited(answer):
    found = read_citations(answer)
    sentences = read_layout(found.text).sentences
    pairs = zip(sentences, found.markers_of(sentences), strict=True)
    return [
        (found.text[one.start : one.end], markers) for one, markers in pairs if one.block.kind != "heading"
    ]


def test_a_sentence_owns_the_markers_in_it_and_right_behind_it():
    assert cited("Iron helps [1] the blood [2]. Tea does not.[3] Milk neither. [4]\nZinc is fine.") == [
        ("Iron helps     the blood    .", ("1", "2")),
        ("Tea does not.", ("3",)),
        ("Milk neither.", ("4",)),
        ("Zinc is fine.", ()),
    ]


def test_a_marker_that_opens_a_line_belongs_to_that_line():
    assert cited("- Iron helps.\n- [2] Tea does not.") == [("Iron helps.", ()), ("Tea does not.", ("2",))]


def test_headings_and_reference_lists_are_no_sentences():
    assert cited("# Iron\nIt helps [1].\n\n## References\n[1] Smith 2020.") == [("It helps    .", ("1",))]


def test_an_answer_of_markers_only_has_no_sentence():
    assert cited("[1][2]") == []
