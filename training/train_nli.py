"""Trains the fast checker, a MiniLM cross-encoder, by a recipe; a run resumes after each phase."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_medfaith.checking.student import pair_row
from pytest_medfaith.records import LABELS
from training.batches import Bundle, Row, bundled, length_bucketed_batches
from training.loop import run_steps
from training.losses import contrast_loss
from training.optimizers import muon_in_fp32, optimizers_of
from training.pairs import Pair
from training.recipe import Phase, Recipe, load_sources
from training.student import (
    average_weights,
    base_folder,
    best_device,
    load_student,
    multiplies_bf16,
    save_student,
)


def phase_bundles(phase: Phase, train: dict[str, list[Pair]], *, epoch: int, seed: int) -> list[Bundle]:
    """Returns what an epoch trains on, in random order: lists of minimal pairs (bundles).

    Each source gives the share that the phase names; 0.5 is a random half, 2.5 the whole source twice and a
    half.
    """
    rng = random.Random(f"{seed}-{phase.name}-{epoch}")
    chosen: list[Bundle] = []
    for name, share in phase.shares.items():
        bundles = bundled(train[name])
        whole, part = divmod(share, 1.0)
        chosen += bundles * int(whole)
        chosen += rng.sample(bundles, round(part * len(bundles)))
    rng.shuffle(chosen)
    return chosen


@dataclass(frozen=True)
class Batch:
    """What a training step learns from.

    Attributes:
        rows: (token ids, token types) of each pair.
        targets: index of each pair's label in entail, neutral, contradict.
        bundles: number of each pair's bundle; pairs of the same bundle are minimal pairs.
    """

    rows: list[Row]
    targets: list[int]
    bundles: list[int]


def phase_batches(recipe: Recipe, phase: Phase, train: dict[str, list[Pair]]) -> Iterator[Batch]:
    """Yields the batches of a phase, epoch after epoch; minimal pairs are in the same batch."""
    for epoch in range(phase.epochs):
        bundles = phase_bundles(phase, train, epoch=epoch, seed=recipe.seed)
        rows = [
            [pair_row(pair.evidence, pair.claim, max_tokens=recipe.max_tokens) for pair in bundle]
            for bundle in bundles
        ]
        lengths = [max(len(row[0]) for row in bundle) for bundle in rows]
        seed = f"{recipe.seed}-{phase.name}-{epoch}"
        for batch in length_bucketed_batches(
            lengths,
            batch_tokens=phase.batch_tokens or recipe.batch_tokens,
            seed=seed,
            sizes=list(map(len, bundles)),
        ):
            places = [(i, j) for i in batch for j in range(len(bundles[i]))]
            targets = [LABELS.index(bundles[i][j].label) for i, j in places]
            yield Batch([rows[i][j] for i, j in places], targets, [i for i, _ in places])


def train_nli(recipe: Recipe, out: Path, *, progress: Callable[[str], None] = print) -> Path:
    """Trains the checker and returns the folder of its weights (safetensors, tokenizer, config).

    The weights after each phase are kept in `out`, in a folder with the phase's name. A run that finds such a
    folder goes on from there.

    Args:
        recipe: data, phases and hyper-parameters.
        out: folder for the phases.
        progress: called with a line now and then.
    """
    train = load_sources(recipe).train
    folder = base_folder(recipe.base)
    for phase in recipe.phases:
        finished = out / phase.name
        if not (finished / "config.json").exists():
            with nullcontext() if multiplies_bf16(best_device()) else muon_in_fp32():
                _train_phase(recipe, phase, train, folder, finished, progress)
        folder = finished
    return folder


def _train_phase(
    recipe: Recipe,
    phase: Phase,
    train: dict[str, list[Pair]],
    start: Path,
    finished: Path,
    progress: Callable[[str], None],
) -> None:
    """Trains a phase from the weights in `start`, and writes the new ones to `finished`."""
    import torch

    torch.manual_seed(recipe.seed)
    model, tokenizer = load_student(start, dropout=recipe.dropout, freeze=recipe.freeze)
    device = best_device()
    model.to(device)
    cross_entropy = torch.nn.CrossEntropyLoss(label_smoothing=recipe.label_smoothing)

    def loss_of(logits: Any, batch: Batch) -> tuple[Any, float]:
        targets = torch.tensor(batch.targets, device=device)
        loss = cross_entropy(logits, targets)
        shown = float(loss.item())
        if phase.contrast:
            bundles = torch.tensor(batch.bundles, device=device)
            loss = loss + phase.contrast * contrast_loss(logits, targets, bundles)
        return loss, shown

    run_steps(
        model,
        list(phase_batches(recipe, phase, train)),
        rows_of=lambda batch: batch.rows,
        loss_of=loss_of,
        optimizers=optimizers_of(model, rate=phase.learning_rate, matrix_rate=phase.matrix_rate),
        name=phase.name,
        device=device,
        progress=progress,
    )
    average_weights(model.cpu(), [finished.with_name(name) for name in phase.average])
    save_student(model, tokenizer, finished)
