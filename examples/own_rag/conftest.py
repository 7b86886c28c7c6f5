from functools import partial

import pytest
from my_rag import answer_question


@pytest.fixture
def medfaith_rag(medfaith_retriever):
    """The system under test: from now on every slice in this folder is answered live instead of replayed."""
    return partial(answer_question, retriever=medfaith_retriever)
