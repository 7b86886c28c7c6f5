"""The same questions under three retrievers: a card with three rows, which shows what each retriever finds."""

import pytest


@pytest.mark.medfaith("medquad-nih", retriever=["bm25", "dense", "rrf"], k=5)
def test_every_question_finds_something(medfaith_report):
    assert medfaith_report.hits
