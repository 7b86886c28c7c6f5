"""The same questions under three retrievers: one card, three rows, to see which finds the passages that matter."""

import pytest


@pytest.mark.medfaith("medquad-nih", retriever=["bm25", "dense", "rrf"], k=5)
def test_every_answer_was_given_something_to_go_on(medfaith_report):
    assert medfaith_report.hits
