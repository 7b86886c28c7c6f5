"""Trains a student epoch by epoch, stops early by its score on dev, and resumes to the very step.

A training's folder holds `state.pt` (what it resumes from), `metrics.jsonl` (a line for each epoch) and
`best` (the weights of the epoch with the best score on dev).
"""

from __future__ import annotations

import json
import math
import os
import random
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from pytest_medfaith.errors import DataError
from pytest_medfaith.jsonl import write_text
from training.optimizers import learning_rate, optimizers_of
from training.student import best_device

B = TypeVar("B")


@dataclass(frozen=True, kw_only=True)
class EpochSettings:
    """How long and how fast a student learns.

    Attributes:
        epochs: passes over the rows, at most.
        rate: peak rate of AdamW, see `learning_rate`.
        patience: it stops after so many epochs without a better score on dev; 0 never stops early.
        save_every: steps between two saved states.
        seed: of new weights, of dropout and of the order of rows.

    Raises:
        ValueError: a number out of its range.
    """

    epochs: int = 3
    rate: float = 5e-5
    patience: int = 2
    save_every: int = 200
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuses numbers out of their ranges (ValueError)."""
        if self.epochs < 1 or self.rate <= 0 or self.patience < 0 or self.save_every < 1:
            raise ValueError(
                f"{self} makes no sense; expected epochs and save_every of 1 or more, a rate above 0 and a "
                "patience of 0 or more"
            )


@dataclass
class _State:
    """How far a training is; saved with the weights.

    Attributes:
        of: names data and settings; a training resumes only with the same.
        epoch: finished epochs.
        step: finished steps of the current epoch.
        steps: finished steps of all epochs.
        loss: sum over the steps of the current epoch.
        seconds: that the current epoch took.
        best: best score on dev so far.
        best_epoch: its epoch, from 0; -1 before the first.
        lines: of metrics.jsonl.
        finished: whether training is over.
    """

    of: str
    epoch: int = 0
    step: int = 0
    steps: int = 0
    loss: float = 0.0
    seconds: float = 0.0
    best: float = -math.inf
    best_epoch: int = -1
    lines: list[dict[str, Any]] = field(default_factory=list)
    finished: bool = False


@dataclass(frozen=True, kw_only=True)
class Lesson:
    """What a student learns from, and how it is scored.

    Attributes:
        batches_of: function from an epoch's number to its batches; the same number gives the same batches.
        loss_of: function from a batch to the loss to lower, a tensor.
        scores: returns the scores on dev, of which the one called `judged_by` decides; higher is better.
        judged_by: name of a score.
        of: names data and settings; a training resumes only with the same.
    """

    batches_of: Callable[[int], Sequence[Any]]
    loss_of: Callable[[Any], Any]
    scores: Callable[[], Mapping[str, float]]
    judged_by: str
    of: str


def train_epochs(
    model: Any,
    lesson: Lesson,
    settings: EpochSettings,
    out: Path,
    *,
    save: Callable[[Path], object],
    progress: Callable[[str], None] = print,
    stop_after: int | None = None,
) -> Path:
    """Trains `model` and returns the folder of its best weights, or `out` after `stop_after` steps.

    A training that was interrupted resumes from its last saved state, with the same weights in the end as
    without the interruption.

    Args:
        model: of transformers; it is moved to the GPU if there is one.
        lesson: what it learns from.
        settings: how long and how fast.
        out: folder of the training.
        save: writes the model to a folder that does not exist.
        progress: called with a line each epoch.
        stop_after: steps after which the training is left, as if interrupted; None never.

    Raises:
        DataError: the folder holds a training of other data or settings, there is no batch, or a loss or
            score is not finite.
    """
    device = best_device()
    model.to(device)
    optimizers = optimizers_of(model, rate=settings.rate)
    state = _restored(out, lesson.of, model, optimizers)
    lengths = [len(lesson.batches_of(epoch)) for epoch in range(settings.epochs)]
    if not all(lengths):
        raise DataError(f"{out}: an epoch has no batch; expected rows that are short enough for the model")
    while not state.finished:
        for batch in lesson.batches_of(state.epoch)[state.step :]:
            _step(model, lesson, optimizers, state, batch, total=sum(lengths))
            if state.steps % settings.save_every == 0:
                _save_state(out, state, model, optimizers)
            if state.steps == stop_after:
                return out
        _end_epoch(out, lesson, settings, state, save, progress)
        _save_state(out, state, model, optimizers)
    return out / "best"


def _step(
    model: Any, lesson: Lesson, optimizers: Sequence[Any], state: _State, batch: Any, *, total: int
) -> None:
    """Trains on a batch: changes the weights, and counts it in `state`."""
    import torch

    began = time.monotonic()
    model.train()
    loss = lesson.loss_of(batch)
    value = float(loss.item())
    if not math.isfinite(value):
        raise DataError(f"the loss of step {state.steps + 1} is {value}; lower the rate, or look at its rows")
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    for optimizer in optimizers:
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(state.steps, total, group["initial_lr"])
        optimizer.step()
        optimizer.zero_grad()
    state.step, state.steps, state.loss = state.step + 1, state.steps + 1, state.loss + value
    state.seconds += time.monotonic() - began


def _end_epoch(
    out: Path,
    lesson: Lesson,
    settings: EpochSettings,
    state: _State,
    save: Callable[[Path], object],
    progress: Callable[[str], None],
) -> None:
    """Scores the student on dev, keeps its weights if they are the best so far, and writes a line."""
    scores = lesson.scores()
    value = scores[lesson.judged_by]
    if not math.isfinite(value):
        raise DataError(f"{lesson.judged_by} of epoch {state.epoch + 1} is {value}; expected a finite number")
    if value > state.best:
        state.best, state.best_epoch = value, state.epoch
        shutil.rmtree(out / "best", ignore_errors=True)
        save(out / "best")
    line = {
        "epoch": state.epoch + 1,
        "steps": state.steps,
        "loss": round(state.loss / state.step, 5),
        **{name: round(score, 5) for name, score in scores.items()},
        "seconds": round(state.seconds, 1),
        "best": state.best_epoch == state.epoch,
    }
    state.lines.append(line)
    write_text(out / "metrics.jsonl", "".join(json.dumps(each) + "\n" for each in state.lines))
    progress(", ".join(f"{name} {number}" for name, number in line.items()))
    waited = state.epoch - state.best_epoch
    state.epoch, state.step, state.loss, state.seconds = state.epoch + 1, 0, 0.0, 0.0
    stopped = bool(settings.patience) and waited >= settings.patience
    state.finished = stopped or state.epoch == settings.epochs


def _save_state(out: Path, state: _State, model: Any, optimizers: Sequence[Any]) -> None:
    """Writes weights, optimizers, random numbers and progress, whole or not at all."""
    import torch

    out.mkdir(parents=True, exist_ok=True)
    content = {
        "state": json.dumps(asdict(state)),
        "model": model.state_dict(),
        "optimizers": [optimizer.state_dict() for optimizer in optimizers],
        "random": torch.get_rng_state(),
        "random_of_gpus": torch.cuda.get_rng_state_all() if torch.cuda.is_available() else [],
    }
    partial = out / "state.pt.part"
    torch.save(content, partial)
    os.replace(partial, out / "state.pt")


def _restored(out: Path, of: str, model: Any, optimizers: Sequence[Any]) -> _State:
    """Returns the state to resume from, after restoring model, optimizers and random numbers.

    Without a saved state it returns a new one.

    Raises:
        DataError: the state is of other data or settings.
    """
    import torch

    path = out / "state.pt"
    if not path.is_file():
        return _State(of)
    content = torch.load(path, weights_only=True)
    state = _State(**json.loads(content["state"]))
    if state.of != of:
        raise DataError(
            f"{out} holds a training of other rows or settings; name another folder, or remove it to begin "
            "anew"
        )
    model.load_state_dict(content["model"])
    for optimizer, kept in zip(optimizers, content["optimizers"], strict=True):
        optimizer.load_state_dict(kept)
    torch.set_rng_state(content["random"].cpu())
    if content["random_of_gpus"] and torch.cuda.is_available():
        torch.cuda.set_rng_state_all([each.cpu() for each in content["random_of_gpus"]])
    return state


def fix_seeds(seed: int) -> None:
    """Seeds the random numbers of Python and torch; new weights of a head are drawn from the latter."""
    import torch

    random.seed(seed)
    torch.manual_seed(seed)
