"""Optimizers, which change the weights, and the learning rate at each step."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


def learning_rate(done: int, total: int, peak: float) -> float:
    """Returns the learning rate of step `done` (from 0) of `total`.

    It rises to `peak` over a twentieth of the steps, then falls along half a cosine to a twentieth of `peak`.
    """
    warm_up = max(1, total // 20)
    if done < warm_up:
        return peak * (done + 1) / warm_up
    return peak * (0.05 + 0.95 * 0.5 * (1 + math.cos(math.pi * (done - warm_up) / max(1, total - warm_up))))


def optimizers_of(model: Any, *, rate: float, matrix_rate: float | None = None) -> list[Any]:
    """Returns AdamW for the weights; with a `matrix_rate`, also Muon for the layers' matrices.

    Both rates are peaks. Muon (Jordan et al. 2024) makes a step equally long in every direction of a matrix,
    so that a small model learns more from each pair: docs/training.md. Its rate is scaled to the length of
    AdamW's steps (Liu et al. 2025).
    """
    import torch

    moving = {name: parameter for name, parameter in model.named_parameters() if parameter.requires_grad}
    matrices = {name for name in moving if matrix_rate and ".layer." in name and moving[name].ndim == 2}
    rest = [moving[name] for name in moving if name not in matrices]
    groups = [{"params": rest, "initial_lr": rate}]
    optimizers: list[Any] = [torch.optim.AdamW(groups, weight_decay=0.01)]
    if matrices:
        groups = [{"params": [moving[name] for name in sorted(matrices)], "initial_lr": matrix_rate}]
        optimizers.append(torch.optim.Muon(groups, weight_decay=0.01, adjust_lr_fn="match_rms_adamw"))
    return optimizers


@contextmanager
def muon_in_fp32() -> Iterator[None]:
    """Makes torch's Muon multiply in fp32 in the block.

    In bf16 it takes 42 s a step on a CPU without instructions for bf16.
    """
    import torch

    def orthogonal(matrix: Any, coefficients: tuple[float, float, float], steps: int, eps: float) -> Any:
        a, b, c = coefficients
        x = matrix.T if matrix.shape[0] > matrix.shape[1] else matrix
        x = x / x.norm().clamp(min=eps)
        for _ in range(steps):
            gram = x @ x.T
            x = torch.addmm(x, torch.addmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
        return x.T if matrix.shape[0] > matrix.shape[1] else x

    muon: Any = torch.optim._muon  # noqa: SLF001 - no setting
    shipped = muon._zeropower_via_newtonschulz  # noqa: SLF001
    muon._zeropower_via_newtonschulz = orthogonal  # noqa: SLF001
    try:
        yield
    finally:
        muon._zeropower_via_newtonschulz = shipped  # noqa: SLF001
