"""Takes the first items of a stream, or a random part of it."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

T = TypeVar("T")


def sample(items: Iterable[T], *, limit: int | None = None, seed: int | None = None) -> Iterator[T]:
    """Yields all of `items`, or `limit` of them: the first, or with a seed a random part in the given order.

    The random part is drawn in a single pass (reservoir sampling, Vitter 1985, algorithm R), so `limit` items
    are in memory. The same items, limit and seed give the same part.

    Args:
        items: what to take from.
        limit: at most so many; None takes all.
        seed: of the random part; None takes the first items.

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
