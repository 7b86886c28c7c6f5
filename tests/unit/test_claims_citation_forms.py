"""Citations as people write them, and numbers in brackets that are none; both lists are written by hand."""

from pathlib import Path

import pytest

from pytest_medfaith.claims.citations import parse_citations, read_citations
from pytest_medfaith.records import Chunk

DATA = Path(__file__).parents[1] / "data" / "citations"
CITED = [line.split(" => ") for line in (DATA / "cited.txt").read_text(encoding="utf-8").splitlines()]
NOT_CITED = (DATA / "not_cited.txt").read_text(encoding="utf-8").splitlines()
CONTEXTS = [
    Chunk(
        id="nih-iron-1", title="Iron: fact sheet", url="https://ods.od.nih.gov/factsheets/Iron", text="Iron."
    ),
    Chunk(
        id="nih-iron-2",
        title="Iron in pregnancy",
        url="https://www.nhs.uk/conditions/iron-deficiency-anaemia/",
        text="Iron in pregnancy.",
    ),
    Chunk(id="trial", title="A trial", pmid="31535829", text="A trial of iron."),
]


def markers(text, contexts=CONTEXTS):
    return [citation.marker for citation in parse_citations(text, contexts)]


def test_there_are_enough_of_each():
    assert len({text for text, _ in CITED}) == len(CITED) >= 60
    assert len(set(NOT_CITED)) == len(NOT_CITED) >= 60


@pytest.mark.parametrize(("text", "expected"), CITED, ids=[text for text, _ in CITED])
def test_a_citation_is_read(text, expected):
    assert markers(text) == expected.split(" | ")


@pytest.mark.parametrize("text", NOT_CITED)
def test_a_bracket_that_cites_nothing_is_text(text):
    assert markers(text) == []
    assert markers(text, []) == []


@pytest.mark.parametrize(("text", "expected"), CITED, ids=[text for text, _ in CITED])
def test_a_citation_is_no_word_of_its_sentence(text, expected):
    words = "".join(
        letter for letter in read_citations(text, CONTEXTS).text if letter.isalnum() or letter == " "
    )
    assert "iron tablets" in words.lower()
    assert not any(marker in words for marker in expected.split(" | ") if not marker.isdigit())
