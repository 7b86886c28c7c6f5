"""Puts pairs into batches: minimal pairs together, rows of similar length together."""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import Any

from training.pairs import Pair

Row = tuple[list[int], list[int]]  # token ids, token types
# Minimal pairs: a claim against texts that differ in one spot. In most sources a bundle is a single pair.
Bundle = list[Pair]


def bundled(pairs: Iterable[Pair]) -> list[Bundle]:
    """Returns `pairs` as bundles: the minimal pairs of a claim together, any other pair alone.

    Bundles are in the order of their first pairs.
    """
    bundles: dict[str, Bundle] = {}
    for number, pair in enumerate(pairs):
        bundles.setdefault(pair.bundle or str(number), []).append(pair)
    return list(bundles.values())


def length_bucketed_batches(
    lengths: list[int], *, batch_tokens: int, seed: str, sizes: list[int] | None = None
) -> list[list[int]]:
    """Returns places of items in batches of similar length, the batches in random order.

    Example: lengths 8, 8 and 160 at 200 tokens a batch give the batches [0, 1] and [2].

    Args:
        lengths: tokens of each item; for an item of several rows, those of its longest row.
        batch_tokens: tokens of a batch at most, rows times padded length; a longer item is a batch alone.
        seed: of the order.
        sizes: rows of each item; None means one each.
    """
    rng = random.Random(seed)
    lengths = [padded(length) for length in lengths]
    sizes = sizes or [1] * len(lengths)
    order = sorted(range(len(lengths)), key=lambda i: lengths[i] * rng.uniform(0.9, 1.1))
    batches: list[list[int]] = []
    batch: list[int] = []
    longest = rows = 0
    for i in order:
        if batch and max(longest, lengths[i]) * (rows + sizes[i]) > batch_tokens:
            batches.append(batch)
            batch, longest, rows = [], 0, 0
        batch.append(i)
        longest, rows = max(longest, lengths[i]), rows + sizes[i]
    if batch:
        batches.append(batch)
    rng.shuffle(batches)
    return batches


def padded(length: int) -> int:
    """Returns `length` rounded up to a multiple of 8: 16 for 9.

    Kernels are compiled for each shape, so there should be few shapes.
    """
    return -(-length // 8) * 8


def pad(rows: list[list[int]]) -> Any:
    """Returns token rows, at least one, as an int64 tensor (n_rows, width), filled up at the end with 0.

    The width is a multiple of 8.
    """
    import torch

    width = padded(max(map(len, rows)))
    return torch.tensor([row + [0] * (width - len(row)) for row in rows])
