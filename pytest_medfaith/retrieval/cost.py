"""What retrieval costs: milliseconds of each step, and bytes of the index.

A project's own retriever can report its steps by `with timed("encode"): ...`, and its size by an attribute
`index_bytes`, a number or a function that returns it.
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
TOTAL = "total"  # key of the whole time, beside the keys of the steps
AnyRetriever = TypeVar("AnyRetriever")
_steps_ms: ContextVar[dict[str, float] | None] = ContextVar("medfaith_steps_ms", default=None)


@contextmanager
def timed(step: Step) -> Iterator[None]:
    """Adds the time that the block takes to `step` of the retrieval that is being measured, if any."""
    steps = _steps_ms.get()
    begun = time.perf_counter()
    try:
        yield
    finally:
        if steps is not None:
            steps[step] = steps.get(step, 0.0) + 1000 * (time.perf_counter() - begun)


@contextmanager
def measured_steps() -> Iterator[dict[str, float]]:
    """Yields a dict that holds the milliseconds of each retrieval step in the block, once the block ends.

    Example: {"encode": 4.1, "search": 0.3, "total": 4.6}; "total" is the time of the whole block.
    """
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
    """Returns the same `retriever`, with attributes that tell its index's size and its approximate indexes.

    Args:
        retriever: a function or a partial, which can have attributes.
        size: in bytes, or a function that returns it (None where it is unknown).
        indexes: {name of the dense retriever: its approximate index}; None where search is exact.
    """
    retriever.index_bytes = size  # type: ignore[attr-defined]
    retriever.vector_indexes = dict(indexes or {})  # type: ignore[attr-defined]
    return retriever


def vector_indexes(*retrievers: Any) -> dict[str, VectorIndex]:
    """Returns the approximate indexes of several retrievers together, by the name of the dense retriever.

    A retriever without such indexes, and any callable, adds none.
    """
    return {name: index for one in retrievers for name, index in getattr(one, "vector_indexes", {}).items()}


def index_bytes(retriever: Any) -> int | None:
    """Returns the bytes of a retriever's index; None where the retriever does not tell them.

    Raises:
        DataError: its `index_bytes` is not a whole number of 0 or more.
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
    """Returns the bytes of all indexes together; None if any retriever does not tell its size."""
    sizes = [index_bytes(retriever) for retriever in retrievers]
    return None if None in sizes else sum(filter(None, sizes))
