"""Takes the first or a random part of a stream."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

T = TypeVar("T")


def sample(items: Iterable[T], *, limit: int | None = None, seed: int | None = None) -> Iterator[T]:
    """Yields all of `items`, the first `limit`, or with a seed a random `limit` of them in their own order.

    The random part is drawn in one pass (reservoir sampling, Vitter 1985, algorithm R), so only `limit` items are held; the same
    items, limit and seed give the same part.

    Raises:
        ValueError: `limit` is below 1.
    """
    if limit is not None and limit < 1:
        raise ValueError(f"limit is {limit}, expected 1 or more; leave it out to take everything")
    if limit is None or seed is None:
        return islice(items, limit)
    return iter(_reservoir(items, limit, random.Random(seed)))


def _reservoir(items: Iterable[T], limit: int, rng: random.Random) -> list[T]:
    held: list[tuple[int, T]] = []
    for place, item in enumerate(items):
        if place < limit:
            held.append((place, item))
        elif (slot := rng.randrange(place + 1)) < limit:
            held[slot] = (place, item)
    return [item for _, item in sorted(held, key=lambda pair: pair[0])]
