"""The training loop: changes weights batch by batch, at a rate that rises, then falls."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from training.batches import Row
from training.optimizers import learning_rate
from training.student import halved, logits_of, multiplies_bf16

LOG_EVERY = 50
B = TypeVar("B")


def run_steps(
    model: Any,
    batches: Sequence[B],
    *,
    rows_of: Callable[[B], list[Row]],
    loss_of: Callable[[Any, B], tuple[Any, float]],
    optimizers: Sequence[Any],
    name: str,
    device: str = "cpu",
    progress: Callable[[str], None] = print,
) -> None:
    """Trains `model` on each of `batches`, in order, changing its weights in place.

    Args:
        model: a classifier of transformers, on `device`.
        batches: what each step learns from.
        rows_of: function from a batch to its token rows.
        loss_of: function (logits (n_rows, 3) in fp32, batch) -> (loss to lower, figure for `progress`).
        optimizers: each group of their parameters holds its peak rate as `initial_lr`.
        name: at the beginning of each line of progress.
        device: "cpu" or "cuda".
        progress: called with a line every `LOG_EVERY` steps.
    """
    import torch

    shown, tokens, began = list[float](), 0, time.monotonic()
    in_bf16 = multiplies_bf16(device)
    model.train()
    for number, batch in enumerate(batches):
        rows = rows_of(batch)
        logits = logits_of(model, rows, device=device, weights=halved(model) if in_bf16 else None).float()
        loss, figure = loss_of(logits, batch)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for optimizer in optimizers:
            for group in optimizer.param_groups:
                group["lr"] = learning_rate(number, len(batches), group["initial_lr"])
            optimizer.step()
            optimizer.zero_grad()
        shown.append(figure)
        tokens += sum(len(row[0]) for row in rows)
        if len(shown) % LOG_EVERY == 0:
            recent = sum(shown[-LOG_EVERY:]) / LOG_EVERY
            speed = tokens / (time.monotonic() - began)
            progress(f"{name}: step {len(shown)} of {len(batches)}, loss {recent:.3f}, {speed:.0f} tokens/s")
