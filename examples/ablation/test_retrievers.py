"""The same questions under three retrievers: the card has a row for each."""

import pytest


@pytest.mark.medfaith("medquad-nih", retriever=["bm25", "dense", "rrf"], k=5)
def test_every_question_finds_something(medfaith_report):
    assert medfaith_report.hits
