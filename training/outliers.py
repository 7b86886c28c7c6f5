"""Finds the few channels of a transformer's activations that are far larger than the rest.

Example: of 768 channels that enter a feed-forward layer of MPNet the median reaches 1.5 and the largest 45.
    In
8 bits for all of them a step is 0.2, a third of what most channels ever hold. Dettmers, Lewis, Belkada &
Zettlemoyer (2022), "LLM.int8()", keep such channels in float.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from pytest_medfaith.checking.student import pair_row
from pytest_medfaith.errors import DataError
from training.pairs import read_written

MOST = 8  # channels of a layer that are kept apart
FACTOR = 4.0  # how many times as large as the median channel they are, at least
_MAX_TOKENS = 240


def outlying(ranges: Any) -> Any:
    """Returns the indices of the channels whose range is more than `FACTOR` times the median.

    They are in order, and at most `MOST`: the largest.

    Args:
        ranges: largest absolute value of each channel, float32 (n_channels,).
    """
    import numpy as np

    largest = np.argsort(-ranges, kind="stable")[:MOST]
    return np.sort(largest[ranges[largest] > FACTOR * np.median(ranges)])


def ranges_on_pairs(folder: Path, pairs: Path, *, most: int = 200) -> dict[str, Any]:
    """Measures `activation_ranges` on the first pairs of a file in the format of data/kinds.

    Raises:
        DataError: the file holds no pair.
    """
    rows = [
        pair_row(
            pair.evidence,
            pair.claim,
            max_tokens=_MAX_TOKENS,
            tokenizer=folder / "tokenizer.json",
            claim_tokens=_MAX_TOKENS // 2,
        )
        for pair in islice(read_written(pairs), most)
    ]
    if not rows:
        raise DataError(f"{pairs}: holds no pair")
    return activation_ranges(folder, rows)


def activation_ranges(folder: Path, rows: Sequence[tuple[Sequence[int], Sequence[int]]]) -> dict[str, Any]:
    """Measures how large each channel gets that enters a linear layer of the classifier in `folder`.

    Args:
        folder: model folder of transformers.
        rows: tokens and token types, as `pair_row` returns them; a model without types reads the tokens
            alone.

    Returns:
        Largest absolute value of each channel, float32 (n_channels,), by the name of the layer that it
        enters.
    """
    import numpy as np
    import torch
    from transformers import AutoModelForSequenceClassification

    model = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    ranges: dict[str, Any] = {}

    def watch(name: str) -> Any:
        def seen(_module: Any, inputs: tuple[Any, ...]) -> None:
            largest = inputs[0].detach().abs().flatten(0, -2).amax(0).numpy()
            ranges[name] = np.maximum(ranges[name], largest) if name in ranges else largest

        return seen

    for name, module in model.named_modules():
        if isinstance(module, torch.nn.Linear) and ".layer." in name:
            module.register_forward_pre_hook(watch(name))
    typed = getattr(model.config, "type_vocab_size", 0) > 1
    with torch.no_grad():
        for ids, types in rows:
            inputs = {"input_ids": torch.tensor([ids])}
            model(**inputs, **({"token_type_ids": torch.tensor([types])} if typed else {}))
    return ranges
