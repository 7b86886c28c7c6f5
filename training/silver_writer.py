"""Trains a writer: a model such as T5 that writes an answer's claims out, learned from silver answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from pytest_medfaith.claims.student import PROMPT, SEPARATOR
from pytest_medfaith.distill.files import read_answers
from pytest_medfaith.distill.records import SilverAnswer
from training.batches import length_bucketed_batches
from training.epochs import Lesson, fix_seeds, train_epochs
from training.silver_extractor import ExtractorSettings, fingerprint
from training.student import base_folder, best_device, quieten, save_student

_IGNORED = -100
Row = Mapping[str, list[int]]


def train_writer(
    silver: Path,
    out: Path,
    settings: ExtractorSettings,
    *,
    progress: Callable[[str], None] = print,
    stop_after: int | None = None,
) -> Path:
    """Trains on the answers of train, and returns the folder of the weights with the least loss on dev.

    Arguments are those of `train_tagger`.

    Raises:
        DataError: malformed rows.
    """
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

    fix_seeds(settings.epochs.seed)
    quieten()
    base = base_folder(settings.base)
    train, dev = read_answers(silver, "train"), read_answers(silver, "dev")
    tokenizer = AutoTokenizer.from_pretrained(base)
    student = _Writer(AutoModelForSeq2SeqLM.from_pretrained(base), tokenizer, settings.max_tokens)
    learned = student.read(train)
    lengths = [len(row["input_ids"]) + len(row["labels"]) for row in learned]
    lesson = Lesson(
        batches_of=lambda epoch: length_bucketed_batches(
            lengths, batch_tokens=settings.batch_tokens, seed=f"{settings.epochs.seed}-{epoch}"
        ),
        loss_of=lambda batch: student.loss_of([learned[i] for i in batch]),
        scores=partial(student.scores, student.read(dev)),
        judged_by="dev_score",
        of=fingerprint("writer", settings, [*train, *dev]),
    )
    return train_epochs(
        student.model,
        lesson,
        settings.epochs,
        out,
        save=partial(save_student, student.model, tokenizer),
        progress=progress,
        stop_after=stop_after,
    )


@dataclass(frozen=True)
class _Writer:
    """A model with encoder and decoder in training.

    Attributes:
        model: of transformers.
        tokenizer: of transformers.
        most: tokens that it reads and writes at a time.
    """

    model: Any
    tokenizer: Any
    most: int

    def read(self, rows: Sequence[SilverAnswer]) -> list[Row]:
        """Returns answers as token ids ("input_ids") and their claims, joined by `SEPARATOR`, as "labels"."""
        made: list[Row] = []
        for row in rows:
            claims = f" {SEPARATOR} ".join(claim.text.replace(SEPARATOR, "/") for claim in row.claims)
            texts = {"input_ids": PROMPT + row.answer, "labels": claims}
            made.append(
                {
                    name: list(self.tokenizer(text, truncation=True, max_length=self.most)["input_ids"])
                    for name, text in texts.items()
                }
            )
        return made

    def loss_of(self, rows: Sequence[Row]) -> Any:
        """Returns the mean cross-entropy over the tokens that must be written."""
        import torch

        device = best_device()
        inputs = self.tokenizer.pad({"input_ids": [row["input_ids"] for row in rows]}, return_tensors="pt")
        width = max(len(row["labels"]) for row in rows)
        labels = [row["labels"] + [_IGNORED] * (width - len(row["labels"])) for row in rows]
        read = {name: inputs[name].to(device) for name in ("input_ids", "attention_mask")}
        return self.model(**read, labels=torch.tensor(labels, device=device)).loss

    def scores(self, rows: Sequence[Row]) -> dict[str, float]:
        """Returns {"dev_loss": loss, "dev_score": -loss}, since higher scores must be better."""
        import torch

        self.model.eval()
        with torch.inference_mode():
            losses = [float(self.loss_of([row]).item()) for row in rows]
        mean = sum(losses) / len(losses)
        return {"dev_loss": mean, "dev_score": -mean}
