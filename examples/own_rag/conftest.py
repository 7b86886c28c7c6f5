from functools import partial

import pytest
from my_rag import answer_question


@pytest.fixture
def medfaith_rag(medfaith_retriever):
    """The system under test: it answers every slice in this folder live, so no recorded answer is read."""
    return partial(answer_question, retriever=medfaith_retriever)
