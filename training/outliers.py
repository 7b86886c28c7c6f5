"""Finds the few channels of a transformer's activations that are far larger than the rest.

Example: of the 768 channels that enter a feed-forward layer of MPNet, the median reaches 1.5 and the largest
45. In 8 bits for all of them a step would be 0.2, too coarse for most channels. Dettmers, Lewis, Belkada &
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

MOST = 8  # channels of a layer that are kept in float, at most
FACTOR = 4.0  # channels that reach more than so many times the median are kept in float
_MAX_TOKENS = 240


def outlying(ranges: Any) -> Any:
    """Returns the places of the channels that reach more than `FACTOR` times the median, in order.

    They are at most `MOST`, the largest ones.

    Args:
        ranges: largest absolute value of each channel, float32 (n_channels,).
    """
    import numpy as np

    largest = np.argsort(-ranges, kind="stable")[:MOST]
    return np.sort(largest[ranges[largest] > FACTOR * np.median(ranges)])


def ranges_on_pairs(folder: Path, pairs: Path, *, most: int = 200) -> dict[str, Any]:
    """Returns `activation_ranges` over the first pairs of a file in the format of data/kinds.

    Args:
        folder: model folder of transformers.
        pairs: the file.
        most: pairs to read.

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
    """Measures how large each input channel of each linear layer gets, in the classifier in `folder`.

    Args:
        folder: model folder of transformers.
        rows: (token ids, token types), as `pair_row` returns them; a model without token types ignores them.

    Returns:
        {layer: largest absolute value of each input channel, float32 (n_channels,)}.
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
