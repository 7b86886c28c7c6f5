"""What a retrieval costs: the time of its steps, and the size of its index.

A retriever of a project may tell its steps by `with timed("encode"): ...`, and its size by an attribute
`index_bytes`, a number or a callable that returns it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Literal, TypeVar

from pytest_medfaith.errors import DataError, shown
from pytest_medfaith.records import VectorIndex

Step = Literal["encode", "search", "fuse", "rerank"]
TOTAL = "total"  # beside the steps: all of the retrieval
AnyRetriever = TypeVar("AnyRetriever")
_steps_ms: ContextVar[dict[str, float] | None] = ContextVar("medfaith_steps_ms", default=None)


@contextmanager
def timed(step: Step) -> Iterator[None]:
    """Adds the time of the block to `step` of the retrieval that is being measured, if any is."""
    steps = _steps_ms.get()
    begun = time.perf_counter()
    try:
        yield
    finally:
        if steps is not None:
            steps[step] = steps.get(step, 0.0) + 1000 * (time.perf_counter() - begun)


@contextmanager
def measured_steps() -> Iterator[dict[str, float]]:
    """Yields {step: ms} of the retrieval in the block; it is filled, with `TOTAL`, when the block ends."""
    steps: dict[str, float] = {}
    token, begun = _steps_ms.set(steps), time.perf_counter()
    try:
        yield steps
    finally:
        steps[TOTAL] = 1000 * (time.perf_counter() - begun)
        _steps_ms.reset(token)


def sized(
    retriever: AnyRetriever,
    size: int | Callable[[], int | None],
    indexes: Mapping[str, VectorIndex] | None = None,
) -> AnyRetriever:
    """Returns `retriever`, which now tells the bytes of its index, and which approximate indexes it searches.

    Args:
        retriever: a function or a partial, which takes attributes.
        size: in bytes, or what returns it.
        indexes: {name of the dense retriever: its approximate index}; None where there is none.
    """
    retriever.index_bytes = size  # type: ignore[attr-defined]
    retriever.vector_indexes = dict(indexes or {})  # type: ignore[attr-defined]
    return retriever


def vector_indexes(*retrievers: Any) -> dict[str, VectorIndex]:
    """Returns the approximate indexes that some retrievers search, by the name of the dense retriever."""
    return {name: index for one in retrievers for name, index in getattr(one, "vector_indexes", {}).items()}


def index_bytes(retriever: Any) -> int | None:
    """Returns the bytes of a retriever's index, None where it does not tell them.

    Raises:
        DataError: it tells something else than a number of 0 or more.
    """
    told = getattr(retriever, "index_bytes", None)
    size = told() if callable(told) else told
    if size is not None and (isinstance(size, bool) or not isinstance(size, int) or size < 0):
        raise DataError(
            f"the retriever tells an index_bytes of {shown(size)}; expected a whole number of 0 or more, or "
            "None where it does not know"
        )
    return size


def sum_of_sizes(*retrievers: Any) -> int | None:
    """Returns the bytes of several indexes together, None where one of them is not told."""
    sizes = [index_bytes(retriever) for retriever in retrievers]
    return None if None in sizes else sum(filter(None, sizes))
