import pytest

from pytest_medfaith.entities.authority import authority_of
from pytest_medfaith.records import Chunk


def chunk(**fields):
    return Chunk(id="c", text="t", **fields)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"authority": "cohort", "source": "statpearls"}, "cohort"),
        ({"title": "2024 guideline on hypertension", "url": "https://doi.org/10.1/x"}, "guideline"),
        ({"title": "Screening for depression: recommendation statement"}, "guideline"),
        ({"title": "Metformin for PCOS: a systematic review of randomized trials"}, "systematic_review"),
        ({"title": "Letrozole versus clomiphene: a randomised trial"}, "rct"),
        ({"title": "Guideline-directed therapy after discharge: a double-blind trial"}, "rct"),
        ({"title": "Nut intake in a prospective cohort"}, "cohort"),
        ({"title": "Migraine: an overview"}, "review"),
        ({"title": "Heart failure overview", "source": "nih_medlineplus"}, "site"),
        ({"url": "https://www.nice.org.uk/guidance/ng1"}, "guideline"),
        ({"url": "https://www.cochranelibrary.com/cdsr/doi/10.1002/1"}, "systematic_review"),
        ({"url": "https://medlineplus.gov/asthma.html"}, "site"),
        ({"url": "https://www.ncbi.nlm.nih.gov/books/NBK430901/"}, "review"),
        ({"url": "https://pubmed.ncbi.nlm.nih.gov/123/"}, None),
        ({"url": "https://doi.org/10.1056/x", "title": "Rapid up-titration after heart failure"}, None),
        ({"url": "http://[broken"}, None),
        ({"url": "https://notnice.org.uk"}, None),
        ({}, None),
    ],
)
def test_authority(fields, expected):
    assert authority_of(chunk(**fields)) == expected
