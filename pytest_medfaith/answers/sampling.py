"""Several answers to a question, at several temperatures, which self-consistency compares."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from pytest_medfaith.answers.responses import as_response, ask
from pytest_medfaith.errors import DataError
from pytest_medfaith.records import Hit, Response

_HOTTEST = 2.0  # the highest temperature that endpoints take


def temperatures_of(samples: int, temperatures: Sequence[float]) -> tuple[float, ...]:
    """Returns a temperature for each sample; the last of `temperatures` is repeated. () for 0 samples.

    Raises:
        DataError: a single sample, which has nothing to agree with; no temperature; or a temperature outside
            0 to 2.
    """
    if samples == 1:
        raise DataError("consistency is 1; expected 2 or more answers to each question, or 0 to ask once")
    if samples and (not temperatures or not all(0 <= one <= _HOTTEST for one in temperatures)):
        raise DataError(
            f"temperatures is {list(temperatures)}; expected numbers from 0 to {_HOTTEST:g}, as in [0, 0.8, "
            f"0.8]"
        )
    return tuple(temperatures[min(place, len(temperatures) - 1)] for place in range(samples))


def asked_samples(
    rag: Callable[..., Any], question: str, temperatures: Sequence[float], *, history: Sequence[Any] = ()
) -> list[Any]:
    """Returns what a RAG callable, plain or async, answers at each temperature; a single answer for ().

    A callable with an argument `temperature` gets it. Any other callable is asked as often, and varies by
    itself.

    Args:
        rag: the callable.
        question: the question.
        temperatures: a temperature for each answer.
        history: the earlier turns, given to each call.

    Raises:
        DataError: as in `ask`.
    """
    if not temperatures or not callable(rag):
        return [ask(rag, question, history)]
    takes = takes_temperature(rag)
    return [ask(partial(rag, temperature=one) if takes else rag, question, history) for one in temperatures]


def takes_temperature(rag: Callable[..., Any]) -> bool:
    """Returns whether a callable has an argument `temperature` that can be given by keyword."""
    try:
        found = inspect.signature(rag).parameters.get("temperature")
    except (TypeError, ValueError):  # a builtin tells no signature
        return False
    return found is not None and found.kind in (found.POSITIONAL_OR_KEYWORD, found.KEYWORD_ONLY)


def sampled_response(answers: Sequence[Any], *, case_id: str, hits: Sequence[Hit] = ()) -> Response:
    """Returns the first of `answers` as the response, with the texts of the others as its samples.

    Raises:
        DataError: an answer has no form that `as_response` knows.
    """
    first, *others = (as_response(answer, case_id=case_id, hits=hits) for answer in answers)
    return first.with_(samples=tuple(other.answer for other in others)) if others else first
