"""Answers the case of a test: recorded, made by the project's RAG, or by the reference RAG."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pytest_medfaith.answers.foreign import is_rows
from pytest_medfaith.answers.sampling import asked_samples, sampled_response
from pytest_medfaith.errors import MedfaithError
from pytest_medfaith.retrieval.cost import measured_steps
from pytest_medfaith.run.hooks import STEPS_MS, is_shipped, plain_errors, resources_of
from pytest_medfaith.run.targets import Target, found_by, recorded_response, reference_response

if TYPE_CHECKING:
    import pytest

    from pytest_medfaith.records import Hit, Response
    from pytest_medfaith.retrieval.ranking import Retriever


def query_of(request: pytest.FixtureRequest, target: Target) -> str:
    """Returns what the retriever is asked for a test's case: its question.

    Where the reference RAG will answer, it is the question with what it needs of earlier turns: "And for
    children?" becomes a question about the drug that was spoken of.
    """
    is_recorded = target.settings.responses is not None or not target.has_answer
    return (
        target.case.question
        if is_recorded or not is_shipped(request.node, "medfaith_rag")
        else target.standalone
    )


def find_hits(request: pytest.FixtureRequest, target: Target, retriever: Retriever | None) -> list[Hit]:
    """Returns what the retriever finds for the question of a test, best first.

    The milliseconds of each step of the retrieval are kept in the stash of the test, under `STEPS_MS`.

    Args:
        request: of the test.
        target: its slice and case; the slice's `k` is the most hits.
        retriever: None for a slice without a corpus; then the list is empty.
    """
    if retriever is None:
        return []
    with measured_steps() as request.node.stash[STEPS_MS]:
        return found_by(retriever, query_of(request, target), target)


def case_response(
    request: pytest.FixtureRequest,
    target: Target,
    *,
    rag: Any,
    hits: Sequence[Hit],
    retriever: Retriever | None,
) -> Response:
    """Returns the response to the case of a test.

    Args:
        request: of the test.
        target: its slice and case.
        rag: what the fixture medfaith_rag gives: a callable, rows of answers, or None. With None the recorded
            responses of the slice are replayed. A slice that has none is answered by the reference RAG.
        hits: what the retriever found for the question.
        retriever: None where there is nothing to retrieve from.
    """
    resources = resources_of(request.config)
    if rag is None or is_rows(rag):
        with plain_errors():
            if rag is None and target.settings.responses is None and retriever is not None:
                return reference_response(resources, target, hits)
            return recorded_response(resources, target, rows=rag)
    with plain_errors(MedfaithError):  # what the RAG itself raises keeps its traceback
        asked = target.case.question
        answers = asked_samples(rag, asked, resources.temperatures, history=target.turns)
    with plain_errors():
        return sampled_response(answers, case_id=target.case.id, hits=hits)
