"""Trains the strong checker, an MPNet cross-encoder, in stages; an interrupted training resumes to the step.

A stage names how many pairs it takes of each source, its longest evidence and its batch size. General pairs
come first: they are short, and what a checker must learn takes many pairs. The rate rises once, stays, and
falls to almost nothing in a stage with `decay`. Weights are kept in fp32 and multiplied in bf16.
"""

from __future__ import annotations

import dataclasses
import fnmatch
import os
import random
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from pytest_medfaith.checking.student import pair_row
from pytest_medfaith.errors import DataError
from pytest_medfaith.records import LABELS
from training.batches import Bundle, bundled, padded
from training.losses import contrast_loss
from training.pairs import Pair
from training.recipe import load_sources, read_recipe
from training.student import save_student

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

RECIPE = Path(__file__).parent / "recipes" / "strong.toml"
PEAK = 4e-5  # rate of AdamW
CONTRAST = 0.3  # weight of the loss between minimal pairs beside the loss of each pair
NEIGHBOURS = 48  # batches within which pairs are sorted by length
SAVE_EVERY, LOG_EVERY = 400, 50
FROZEN = "embeddings.word_embeddings"
_LONGEST_CLAIM = 110  # tokens


@dataclass(frozen=True)
class Stage:
    """A part of a training.

    Attributes:
        name: of the stage.
        pairs: {source: how many of its pairs}; a source may be a pattern, `clusters_*`. Too few pairs repeat.
        max_words: words of evidence at most; longer pairs are left out.
        max_tokens: tokens of a pair at most; evidence is cut at its end.
        batch: pairs of a batch, at most.
        batch_tokens: tokens of a batch after padding, at most.
        decay: True lets the rate fall to almost nothing within this stage.
        part: share of the stage's batches that are trained; below 1 for a stage that was cut short.
    """

    name: str
    pairs: dict[str, int]
    max_words: int
    max_tokens: int
    batch: int = 32
    batch_tokens: int = 4400
    decay: bool = False
    part: float = 1.0


@dataclass(frozen=True)
class StrongRecipe:
    """Everything that decides the weights, apart from the base model and the data files.

    `sources` is the recipe file whose sources are used, without what it holds out or calibrates on.
    """

    sources: Path
    stages: list[Stage]
    seed: int = 17
    warm_up: int = 400  # steps until the rate reaches its peak


@dataclass
class Progress:
    """How far a training is, saved with the weights: finished stages, steps of the current one, totals."""

    done: list[str] = field(default_factory=list)
    in_stage: int = 0
    steps: int = 0
    pairs: int = 0
    tokens: int = 0


def read_strong_recipe(path: Path) -> StrongRecipe:
    """Returns the recipe in the TOML file `path`; its `sources` names another recipe in the same folder.

    Raises:
        DataError: an unknown field, or a stage without a field that it needs.
    """
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    try:
        stages = [Stage(**stage) for stage in table.pop("stages")]
        return StrongRecipe(sources=path.with_name(table.pop("sources")), stages=stages, **table)
    except (KeyError, TypeError) as error:
        what = f"{path}: no usable recipe ({error}); expected 'sources' and a list of 'stages'"
        raise DataError(what) from error


def stage_pairs(stage: Stage, train: dict[str, list[Pair]], *, seed: int) -> list[Bundle]:
    """Returns the pairs that a stage trains on, in random order, as lists of minimal pairs (bundles).

    Raises:
        DataError: a name that fits no source, or no pair that is short enough.
    """
    rng = random.Random(f"{seed}-{stage.name}")
    chosen: list[Bundle] = []
    for pattern, wanted in stage.pairs.items():
        names = [name for name in train if fnmatch.fnmatchcase(name, pattern)]
        bundles = [
            bundle for name in names for bundle in bundled(train[name]) if _longest(bundle) <= stage.max_words
        ]
        if not bundles:
            raise DataError(
                f"stage {stage.name!r}: no pair of {pattern!r} has up to {stage.max_words} words of evidence"
            )
        rng.shuffle(bundles)
        drawn, size = 0, sum(map(len, bundles))
        while drawn < wanted:
            for bundle in bundles:
                if drawn < wanted:
                    chosen.append(bundle)
                    drawn += len(bundle)
            if wanted <= size:
                break
    rng.shuffle(chosen)
    return chosen


def _longest(bundle: Bundle) -> int:
    """Returns the words of the longest evidence in a bundle."""
    return max(len(pair.evidence.split()) for pair in bundle)


@dataclass(frozen=True)
class Batch:
    """Token ids, label indices and bundle numbers of a step's pairs; pairs of a bundle are minimal pairs."""

    rows: list[list[int]]
    targets: list[int]
    bundles: list[int]


def stage_batches(stage: Stage, bundles: Iterable[Bundle], *, tokenizer: Path, seed: int) -> list[Batch]:
    """Returns the batches of a stage; pairs of a batch have similar lengths.

    Pairs are sorted by length within each stretch of `NEIGHBOURS` batches, whose order is then random.
    """
    rng = random.Random(f"{seed}-{stage.name}-batches")
    batches: list[Batch] = []
    for stretch in _stretches(bundles, size=stage.batch * NEIGHBOURS):
        rows = [[_row(pair, stage, tokenizer) for pair in bundle] for bundle in stretch]
        order = sorted(range(len(rows)), key=lambda i: max(map(len, rows[i])) * rng.uniform(0.93, 1.07))
        of_stretch = [
            _batch([stretch[i] for i in part], [rows[i] for i in part]) for part in _parts(order, rows, stage)
        ]
        rng.shuffle(of_stretch)
        batches += of_stretch
    return batches[: round(stage.part * len(batches))]


def _stretches(bundles: Iterable[Bundle], *, size: int) -> Iterable[list[Bundle]]:
    """Yields the bundles in lists of at least `size` pairs, the last of fewer."""
    stretch: list[Bundle] = []
    for bundle in bundles:
        stretch.append(bundle)
        if sum(map(len, stretch)) >= size:
            yield stretch
            stretch = []
    if stretch:
        yield stretch


def _row(pair: Pair, stage: Stage, tokenizer: Path) -> list[int]:
    """Returns the token ids of a pair."""
    return pair_row(
        pair.evidence,
        pair.claim,
        max_tokens=stage.max_tokens,
        tokenizer=tokenizer,
        claim_tokens=_LONGEST_CLAIM,
    )[0]


def _parts(order: list[int], rows: list[list[list[int]]], stage: Stage) -> Iterable[list[int]]:
    """Yields the bundles of each batch: up to `batch` pairs, and `batch_tokens` tokens after padding."""
    part: list[int] = []
    count = longest = 0
    for i in order:
        size, width = len(rows[i]), max(longest, *map(len, rows[i]))
        if part and (count + size > stage.batch or width * (count + size) > stage.batch_tokens):
            yield part
            part, count, width = [], 0, max(map(len, rows[i]))
        part.append(i)
        count, longest = count + size, width
    if part:
        yield part


def _batch(bundles: list[Bundle], rows: list[list[list[int]]]) -> Batch:
    """Returns the batch of some bundles and their token rows."""
    places = [(i, j) for i in range(len(bundles)) for j in range(len(bundles[i]))]
    return Batch(
        rows=[rows[i][j] for i, j in places],
        targets=[LABELS.index(bundles[i][j].label) for i, j in places],
        bundles=[i for i, _ in places],
    )


class Trainer:
    """A model in training: it computes in bf16, with weights and optimizer in fp32.

    `weights` holds the fp32 weights by name, without the frozen word embeddings.
    """

    def __init__(self, base: Path, *, seed: int) -> None:
        """Loads the model in the folder `base`; a base without a head of three labels gets a new one."""
        import torch
        from transformers import AutoModelForSequenceClassification, AutoTokenizer

        torch.manual_seed(seed)
        labels = dict(enumerate(LABELS))
        self.model = AutoModelForSequenceClassification.from_pretrained(
            base,
            num_labels=len(LABELS),
            id2label=labels,
            label2id={label: i for i, label in labels.items()},
            hidden_dropout_prob=0.0,
            attention_probs_dropout_prob=0.0,
        )
        self.tokenizer = AutoTokenizer.from_pretrained(base)
        self.weights = {
            name: parameter.detach().clone().float().requires_grad_()
            for name, parameter in self.model.named_parameters()
            if FROZEN not in name
        }
        matrices = [weight for weight in self.weights.values() if weight.dim() > 1]
        vectors = [weight for weight in self.weights.values() if weight.dim() <= 1]
        groups = [{"params": matrices, "weight_decay": 0.01}, {"params": vectors, "weight_decay": 0.0}]
        self.optimizer = torch.optim.AdamW(groups, lr=PEAK, betas=(0.9, 0.98), eps=1e-8, fused=True)
        self.progress = Progress()
        self.model.to(torch.bfloat16).train()
        for name, parameter in self.model.named_parameters():
            parameter.requires_grad = FROZEN not in name

    def step(self, batch: Batch, *, rate: float) -> float:
        """Trains on a batch at this learning rate; returns the batch's cross-entropy."""
        import torch

        width = padded(max(map(len, batch.rows)))
        padding = self.model.config.pad_token_id
        ids = torch.tensor([row + [padding] * (width - len(row)) for row in batch.rows])
        mask = torch.tensor([[1] * len(row) + [0] * (width - len(row)) for row in batch.rows])
        targets, bundles = torch.tensor(batch.targets), torch.tensor(batch.bundles)
        logits = self.model(input_ids=ids, attention_mask=mask).logits.float()
        loss = torch.nn.functional.cross_entropy(logits, targets)
        (loss + CONTRAST * contrast_loss(logits, targets, bundles)).backward()
        parameters = dict(self.model.named_parameters())
        for name, weight in self.weights.items():
            weight.grad, parameters[name].grad = parameters[name].grad.float(), None
        torch.nn.utils.clip_grad_norm_(self.weights.values(), 1.0)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.optimizer.step()
        self.optimizer.zero_grad()
        self._copy()
        self.progress.steps += 1
        self.progress.in_stage += 1
        self.progress.pairs += len(batch.rows)
        self.progress.tokens += int(mask.sum())
        return float(loss.item())

    def _copy(self) -> None:
        """Copies the fp32 weights into the bf16 model."""
        import torch

        parameters = dict(self.model.named_parameters())
        with torch.no_grad():
            for name, weight in self.weights.items():
                parameters[name].copy_(weight)

    def save(self, path: Path) -> None:
        """Writes weights, optimizer and progress to the file `path`, whole or not at all."""
        import torch

        weights = {name: weight.detach() for name, weight in self.weights.items()}
        state = {
            "weights": weights,
            "optimizer": self.optimizer.state_dict(),
            "progress": dataclasses.asdict(self.progress),
        }
        partial = path.with_suffix(".part")
        torch.save(state, partial)
        os.replace(partial, path)

    def resume(self, path: Path) -> None:
        """Restores what `save` wrote; only tensors and plain values are loaded."""
        import torch

        state = torch.load(path, weights_only=True)
        for name, weight in self.weights.items():
            weight.data.copy_(state["weights"][name])
        self.optimizer.load_state_dict(state["optimizer"])
        self.progress = Progress(**state["progress"])
        self._copy()

    def export(self, folder: Path) -> None:
        """Writes the model's folder: fp32 weights as safetensors, configuration, tokenizer."""
        import copy

        model = copy.deepcopy(self.model).float()
        model.load_state_dict(
            {**model.state_dict(), **{name: weight.detach() for name, weight in self.weights.items()}}
        )
        save_student(model, self.tokenizer, folder)


def train_strong(
    recipe: StrongRecipe,
    base: Path,
    out: Path,
    *,
    data: Path,
    repo: Path,
    progress: Callable[[str], None] = print,
) -> Path:
    """Trains the strong checker and returns the folder of its weights.

    A training that was interrupted resumes from its last save.

    Args:
        recipe: stages and seed.
        base: the folder that `fetch_mpnet` wrote, or one that `restore_classifier` wrote, whose head is kept.
        out: folder for the checkpoint and the weights.
        data: folder of the public data sets.
        repo: folder of this repository, with `data`.
        progress: called with a line now and then.
    """
    out.mkdir(parents=True, exist_ok=True)
    train = load_sources(read_recipe(recipe.sources, data=data, repo=repo)).train
    trainer, checkpoint = Trainer(base, seed=recipe.seed), out / "checkpoint.pt"
    if checkpoint.is_file():
        trainer.resume(checkpoint)
    for stage in recipe.stages:
        if stage.name in trainer.progress.done:
            continue
        bundles = stage_pairs(stage, train, seed=recipe.seed)
        batches = stage_batches(stage, bundles, tokenizer=base / "tokenizer.json", seed=recipe.seed)
        _train_stage(trainer, stage, batches, checkpoint, warm_up=recipe.warm_up, progress=progress)
        trainer.progress.done.append(stage.name)
        trainer.progress.in_stage = 0
        trainer.save(checkpoint)
    trainer.export(out / "final")
    return out / "final"


def _train_stage(
    trainer: Trainer,
    stage: Stage,
    batches: list[Batch],
    checkpoint: Path,
    *,
    warm_up: int,
    progress: Callable[[str], None],
) -> None:
    """Trains on the batches of a stage that are not done yet, and saves every `SAVE_EVERY` steps."""
    losses: list[float] = []
    began, tokens = time.monotonic(), trainer.progress.tokens
    while trainer.progress.in_stage < len(batches):
        number = trainer.progress.in_stage
        rate = learning_rate(
            trainer.progress.steps, share=number / len(batches), decay=stage.decay, warm_up=warm_up
        )
        losses.append(trainer.step(batches[number], rate=rate))
        if len(losses) % LOG_EVERY == 0:
            speed = (trainer.progress.tokens - tokens) / (time.monotonic() - began)
            recent = sum(losses[-LOG_EVERY:]) / LOG_EVERY
            progress(
                f"{stage.name}: step {number + 1} of {len(batches)}, loss {recent:.3f}, {speed:.0f} tokens/s"
            )
        if len(losses) % SAVE_EVERY == 0:
            trainer.save(checkpoint)


def learning_rate(steps: int, *, share: float, decay: bool, warm_up: int) -> float:
    """Returns the rate after `steps` steps: it rises to `PEAK` during `warm_up` steps, and stays there.

    In a stage with `decay` it falls to 3 % of that; `share` says how much of the stage is done, 0 to 1.
    """
    return PEAK * min(1.0, (steps + 1) / warm_up) * (1 - 0.97 * share if decay else 1.0)
