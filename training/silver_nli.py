"""Trains a checker on silver rows: on their labels or the teacher's probabilities, from easy to hard.

The model is a sequence classifier of transformers on any encoder. If the base has a head with three known
labels, training starts from it, with its labels put into our order. Any other base gets a new head.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from pytest_medfaith.checking.classifier import label_columns
from pytest_medfaith.checking.readable import LONGEST_CLAIM
from pytest_medfaith.distill.files import read_pairs
from pytest_medfaith.distill.records import SilverPair
from pytest_medfaith.errors import DataError
from pytest_medfaith.records import LABELS
from training.batches import length_bucketed_batches
from training.epochs import EpochSettings, Lesson, fix_seeds, train_epochs
from training.losses import silver_loss
from training.student import base_folder, best_device, load_student, save_student


@dataclass(frozen=True, kw_only=True)
class NliSettings:
    """How a checker learns from silver rows.

    Attributes:
        base: a model folder, or an installed package with a model.
        soft: True learns the teacher's probabilities where it gave some; False its labels only.
        curriculum: True begins with the easiest rows, and takes more in each epoch until half of the epochs
            are done; a single epoch takes all rows from easy to hard.
        entity_weight: weight of the entity-overlap regulariser, see `silver_loss`; 0 leaves it out.
        max_tokens: tokens of a pair; evidence is cut, never the claim.
        batch_tokens: tokens of a step, at most.
        epochs: how long and how fast it learns.
    """

    base: str
    soft: bool = False
    curriculum: bool = False
    entity_weight: float = 0.0
    max_tokens: int = 256
    batch_tokens: int = 4096
    epochs: EpochSettings = field(default_factory=EpochSettings)


@dataclass(frozen=True)
class _Rows:
    """Silver rows as tokens, without rows whose claim is too long to leave room for evidence.

    Attributes:
        inputs: the tokenizer's output for each row.
        rows: the rows.
    """

    inputs: list[Mapping[str, list[int]]]
    rows: list[SilverPair]

    @property
    def lengths(self) -> list[int]:
        """Tokens of each row."""
        return [len(each["input_ids"]) for each in self.inputs]


def train_silver_nli(
    silver: Path,
    out: Path,
    settings: NliSettings,
    *,
    progress: Callable[[str], None] = print,
    stop_after: int | None = None,
) -> Path:
    """Trains on the rows of train, and returns the folder of the weights with the best macro-F1 on dev.

    Arguments are those of `training.silver_extractor.train_tagger`.

    Raises:
        DataError: malformed rows, a base without a usable head, a weight of the entity-overlap regulariser
            where it is 0 for all rows, or a training of other rows in `out`.
    """
    fix_seeds(settings.epochs.seed)
    base = base_folder(settings.base)
    train, dev = read_pairs(silver, "train"), read_pairs(silver, "dev")
    model, tokenizer = load_student(base, dropout=0.1)
    order_head(model, base)
    kept, measured = (_tokenized(tokenizer, rows, settings) for rows in (train, dev))
    for line in _told(kept.rows, len(train), silver, settings):
        progress(line)

    def loss_of(batch: Sequence[int]) -> Any:
        logits = model(**_padded(tokenizer, [kept.inputs[i] for i in batch])).logits.float()
        return silver_loss(
            logits, [kept.rows[i] for i in batch], soft=settings.soft, entity_weight=settings.entity_weight
        )

    lesson = Lesson(
        batches_of=lambda epoch: epoch_batches(kept.lengths, epoch, settings),
        loss_of=loss_of,
        scores=lambda: _scores(model, tokenizer, measured),
        judged_by="dev_macro_f1",
        of=_fingerprint(settings, [*train, *dev]),
    )
    save = partial(save_student, model, tokenizer)
    return train_epochs(
        model, lesson, settings.epochs, out, save=save, progress=progress, stop_after=stop_after
    )


def _told(rows: Sequence[SilverPair], given: int, silver: Path, settings: NliSettings) -> Iterator[str]:
    """Yields lines of progress about the rows that are learned, out of `given` in the file."""
    if settings.entity_weight:
        yield _entities_told(rows, silver)
    if dropped := given - len(rows):
        yield f"{dropped} of {given} rows have a claim of more than half of {settings.max_tokens} tokens"


def _entities_told(rows: Sequence[SilverPair], silver: Path) -> str:
    """Returns a line: for how many rows the entity-overlap regulariser matters.

    Raises:
        DataError: for none, as with rows made with `linker = "none"`: the option would do nothing.
    """
    apart = [row for row in rows if row.label != "entail"]
    named = [row.entity_overlap for row in apart if row.entity_overlap is not None]
    counts = sum(overlap < 1 for overlap in named)
    if not counts:
        why = (
            "in each of these the claim and the evidence name the same concepts"
            if named
            else 'rows have no concepts where they were made with `linker = "none"`, or the linker knows no '
            "word of them; make them again with a linker (`medfaith distill silver`)"
        )
        raise DataError(
            f"--entity-weight does nothing on the rows of {silver}: of {len(apart)} pairs of train that are "
            f"not entailed, {len(named)} name a concept; {why}. Or leave --entity-weight out"
        )
    return f"--entity-weight counts for {counts} of {len(apart)} pairs of train that are not entailed"


def _fingerprint(settings: NliSettings, rows: Sequence[SilverPair]) -> str:
    """Returns a hash that names a training, 16 hexadecimal digits, by its settings and its rows."""
    digest = hashlib.sha256(repr(asdict(settings)).encode())
    for row in rows:
        digest.update(repr((row.claim, row.evidence, row.label, row.probs)).encode())
        if settings.entity_weight:
            digest.update(repr(row.entity_overlap).encode())
    return digest.hexdigest()[:16]


def _tokenized(tokenizer: Any, rows: Sequence[SilverPair], settings: NliSettings) -> _Rows:
    """Returns rows as tokens; DataError if the tokenizer cannot pad, or no row is short enough."""
    if tokenizer.pad_token is None:
        raise DataError(f"the tokenizer of {settings.base} has no padding token; expected that of an encoder")
    most = min(settings.max_tokens, tokenizer.model_max_length)
    claims = tokenizer([row.claim for row in rows], add_special_tokens=False)["input_ids"]
    kept = [row for row, ids in zip(rows, claims, strict=True) if len(ids) <= LONGEST_CLAIM * most]
    if not kept:
        raise DataError(
            f"no claim leaves room for its evidence within {most} tokens; expected shorter claims"
        )
    read = tokenizer(
        [row.evidence for row in kept],
        [row.claim for row in kept],
        truncation="only_first",
        max_length=most,
    )
    return _Rows([{name: read[name][i] for name in read} for i in range(len(kept))], kept)


def _padded(tokenizer: Any, inputs: Sequence[Mapping[str, list[int]]]) -> Any:
    """Returns tensors (n, longest) of some rows, on the device of the training."""
    return tokenizer.pad(list(inputs), return_tensors="pt").to(best_device())


def epoch_batches(lengths: list[int], epoch: int, settings: NliSettings) -> list[list[int]]:
    """Returns the batches of an epoch, as places of rows; the rows come from easy to hard.

    Example: with a curriculum of four epochs, the first learns from the easier half of the rows, the others
    from all. Within an epoch, batches of similar length come in random order. A single epoch with a
    curriculum keeps the order of the rows.

    Args:
        lengths: tokens of each row, the easiest row first.
        epoch: its number, from 0.
        settings: seed, number of epochs, tokens of a batch, and whether there is a curriculum. The same
            settings give the same batches.
    """
    seed = f"{settings.epochs.seed}-{epoch}"
    if settings.curriculum and settings.epochs.epochs == 1:
        return _in_order(lengths, settings.batch_tokens)
    share = min(1.0, (epoch + 1) / max(1, settings.epochs.epochs // 2)) if settings.curriculum else 1.0
    easiest = lengths[: max(1, math.ceil(share * len(lengths)))]
    return length_bucketed_batches(easiest, batch_tokens=settings.batch_tokens, seed=seed)


def _in_order(lengths: Sequence[int], batch_tokens: int) -> list[list[int]]:
    """Returns places of rows in batches of up to `batch_tokens`, in the order of the rows."""
    batches: list[list[int]] = [[]]
    for place, length in enumerate(lengths):
        longest = max([length, *(lengths[i] for i in batches[-1])])
        if batches[-1] and longest * (len(batches[-1]) + 1) > batch_tokens:
            batches.append([])
        batches[-1].append(place)
    return batches


def _scores(model: Any, tokenizer: Any, dev: _Rows) -> dict[str, float]:
    """Returns {"dev_macro_f1", "dev_accuracy"} of the model on dev."""
    import torch

    model.eval()
    predicted: list[int] = []
    with torch.inference_mode():
        for start in range(0, len(dev.rows), 16):
            logits = model(**_padded(tokenizer, dev.inputs[start : start + 16])).logits
            predicted += logits.argmax(dim=1).tolist()
    truth = [LABELS.index(row.label) for row in dev.rows]
    right = sum(one == other for one, other in zip(truth, predicted, strict=True))
    return {"dev_macro_f1": macro_f1(truth, predicted), "dev_accuracy": right / len(truth)}


def macro_f1(truth: Sequence[int], predicted: Sequence[int]) -> float:
    """Returns the mean F1, 0 to 1, over the labels in either list; both are equally long, and not empty."""
    scores = []
    for label in {*truth, *predicted}:
        both = sum(one == other == label for one, other in zip(truth, predicted, strict=True))
        scores.append(2 * both / (list(truth).count(label) + list(predicted).count(label)))
    return sum(scores) / len(scores)


def order_head(model: Any, base: Path) -> None:
    """Puts the outputs of a base's head into the order entail, neutral, contradict.

    A base without three known labels is left as it is: LABEL_0 does not say what it means.

    Raises:
        DataError: the base has three known labels, but its last layer has another number of outputs.
    """
    import torch
    from transformers import AutoConfig

    try:
        columns = label_columns(AutoConfig.from_pretrained(base).id2label)
    except DataError:
        return
    if set(columns) != set(LABELS):
        return
    wanted = [columns[label] for label in LABELS]
    last = [layer for layer in model.modules() if isinstance(layer, torch.nn.Linear)][-1]
    if last.out_features != len(LABELS):
        raise DataError(f"{base}: the last layer has {last.out_features} outputs, expected {len(LABELS)}")
    with torch.no_grad():
        last.weight.copy_(last.weight[wanted].clone())
        last.bias.copy_(last.bias[wanted].clone())
