"""Pairs as batches: minimal pairs together, rows of like length together."""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import Any

from training.pairs import Pair

Row = tuple[list[int], list[int]]  # token ids, token types
Bundle = list[
    Pair
]  # minimal pairs: a claim against texts that differ in one spot; most sources have bundles of one pair


def bundled(pairs: Iterable[Pair]) -> list[Bundle]:
    """Returns `pairs` with the minimal pairs of each claim together, in order of the first."""
    bundles: dict[str, Bundle] = {}
    for number, pair in enumerate(pairs):
        bundles.setdefault(pair.bundle or str(number), []).append(pair)
    return list(bundles.values())


def length_bucketed_batches(
    lengths: list[int], *, batch_tokens: int, seed: str, sizes: list[int] | None = None
) -> list[list[int]]:
    """Returns batches of indices of near-equal length, each of at most `batch_tokens` after padding, in random order.

    Example: lengths 8, 8 and 160 at 200 tokens a batch give the batches [0, 1] and [2].

    Args:
        lengths: tokens of each item, of its longest row where it has several.
        batch_tokens: rows times their padded length, at most; an item that is longer makes a batch alone.
        seed: of the order.
        sizes: rows of each item; None: a single row each.
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
    """Returns `length` rounded up to a multiple of 8: kernels are made for each shape, so shapes should be few."""
    return -(-length // 8) * 8


def pad(rows: list[list[int]]) -> Any:
    """Returns token rows as a tensor (n_rows, width), filled up with 0 to the padded length of the longest."""
    import torch

    width = padded(max(map(len, rows)))
    return torch.tensor([row + [0] * (width - len(row)) for row in rows])
